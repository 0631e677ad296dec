"""Where a face canvas lies in a picture, and which of its points the picture's samples see."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import torch
import torch.nn.functional as functional
from torch import Tensor

from greenroom.base.flow import Pixels
from greenroom.pixels.colour import split

_SLACK = 1e-3  # pixels: an edge so near to a whole pixel lies on it


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the picture with even edges, in pixels."""

    x: int
    y: int
    width: int
    height: int

    def luma(self, nv12: Pixels) -> Pixels:
        """View (height, width) of the Y in the box."""
        return split(nv12)[0][self.y : self.y + self.height, self.x : self.x + self.width]

    def chroma(self, nv12: Pixels) -> Pixels:
        """View (height / 2, width) of the U and V in the box, side by side."""
        rows = slice(self.y // 2, (self.y + self.height) // 2)
        return split(nv12)[1][rows, self.x : self.x + self.width]


def covering_box(matrix: Tensor, canvas: tuple[int, int], picture: tuple[int, int]) -> Box:
    """The smallest box that holds all of the canvas (h, w) that the picture (H, W) shows."""
    left, top, right, bottom = _extent(matrix, canvas)
    x, y = (2 * floor(max(edge, 0) / 2) for edge in (left, top))
    x_end, y_end = min(2 * ceil(right / 2), picture[1]), min(2 * ceil(bottom / 2), picture[0])
    return Box(x, y, max(x_end - x, 0), max(y_end - y, 0))


def upright_box(matrix: Tensor, canvas: tuple[int, int], picture: tuple[int, int]) -> Box | None:
    """The box that an unturned, unreduced canvas fills to its even edges, or None without one."""
    (x_scale, x_skew, _), (y_skew, y_scale, _) = matrix.tolist()
    if x_skew or y_skew or x_scale < 1 or y_scale < 1:
        return None
    edges = _extent(matrix, canvas)
    left, top, right, bottom = (2 * round(edge / 2) for edge in edges)
    on_edge = all(abs(2 * round(edge / 2) - edge) < _SLACK for edge in edges)
    if not on_edge or left < 0 or top < 0 or right > picture[1] or bottom > picture[0]:
        return None
    return Box(left, top, right - left, bottom - top)


def _extent(matrix: Tensor, canvas: tuple[int, int]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the canvas in the picture, where pixel p is p ... p + 1."""
    height, width = canvas
    corners = [(x - 0.5, y - 0.5, 1.0) for x in (0, width) for y in (0, height)]
    at = torch.tensor(corners, dtype=torch.float64) @ matrix.cpu().double().T + 0.5
    left, top, right, bottom = at.amin(0).tolist() + at.amax(0).tolist()
    return left, top, right, bottom


class Place:
    """The points of a canvas (h, w), laid by `matrix` (2, 3), that the samples of a box see.

    Points are (x, y), -1 and 1 on the outer edges of the canvas, as `look_up` takes them: `luma`
    (height, width, 2) at the centres of pixels, `chroma` (height / 2, width / 2, 2) at the centres
    of 2 x 2 blocks. `column` (2,) is the way from a luma column to the next.
    """

    def __init__(self, matrix: Tensor, canvas: tuple[int, int], box: Box) -> None:
        matrix = matrix.double()
        self._turn, self._shift = torch.linalg.inv(matrix[:, :2]), matrix[:, 2]
        self._size = torch.tensor([canvas[1], canvas[0]], device=matrix.device)
        self.luma = self._points(box, step=1, offset=0.0)
        self.chroma = self._points(box, step=2, offset=0.5)
        self.column = (2 * self._turn[:, 0] / self._size).float()

    def _points(self, box: Box, *, step: int, offset: float) -> Tensor:
        device = self._shift.device
        rows = torch.arange(box.y, box.y + box.height, step, device=device).double() + offset
        columns = torch.arange(box.x, box.x + box.width, step, device=device).double() + offset
        y, x = torch.meshgrid(rows, columns, indexing="ij")
        pixels = (torch.stack([x, y], -1) - self._shift) @ self._turn.T
        points: Tensor = (2 * pixels + 1) / self._size - 1
        return points.float()

    def left(self, planes: Tensor) -> Tensor:
        """Planes (C, rows, columns) of the canvas, made ready to be looked up for chroma.

        Each pixel is the mean of itself and the point one luma column to its left. Looked up at the
        centre of a block, that is the mean of this block and the one a column before it, which
        together weigh the columns around a left-sited sample by 1-2-1.
        """
        axes = [(2 * torch.arange(n, device=planes.device) + 1) / n - 1 for n in planes.shape[1:]]
        y, x = torch.meshgrid(*axes, indexing="ij")
        return (planes + look_up(planes, torch.stack([x, y], -1) - self.column)) / 2

    def masks(self, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The mask (m, m) for luma (height, width) and for chroma; 0 beyond the canvas."""
        plane = mask.float()[None]
        sharp, soft = look_up(plane, self.luma), look_up(self.left(plane), self.chroma)
        inside = ((points.abs() <= 1).all(-1) for points in (self.luma, self.chroma))
        return sharp[0] * next(inside), soft[0] * next(inside)


def look_up(planes: Tensor, points: Tensor) -> Tensor:
    """Interpolate planes (C, rows, columns) bilinearly at points (..., ..., 2); edges repeated.

    Points are (x, y), with -1 and 1 on the outer edges of the planes.
    """
    found: Tensor = functional.grid_sample(
        planes[None], points[None], mode="bilinear", padding_mode="border", align_corners=False
    )
    return found[0]
