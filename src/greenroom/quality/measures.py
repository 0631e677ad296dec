"""How near a picture is to its truth: PSNR and SSIM, of the whole face canvas, the mouth, the eyes.

Faces are measured as a viewer sees them: laid over an opaque colour and clipped to 0 ... 1.
A mean over pictures is the mean of their decibels, as is usual for held-out frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

STUDIO_BLUE = (20, 50, 110)  # RGB, the colour behind every measured face
LUMA = (0.30, 0.59, 0.11)
MOUTH_POINTS = (6, 12, 14, 17)  # upper lip, lower lip, corners
PUPIL_POINTS = (11, 15)
MOUTH_SIZE = (112, 128)  # height, width in pixels of a 512 canvas
EYE_SIZE = (56, 80)
_CANVAS = 512  # the canvas on which the boxes are given
_SMALLEST_ERROR = 1e-9  # equal pictures count as 90 dB
_SSIM_WINDOW, _SSIM_SIGMA = 11, 1.5  # Wang et al. 2004
_SSIM_C1, _SSIM_C2 = 0.01**2, 0.03**2


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of pixels: rows top ... bottom - 1, columns left ... right - 1."""

    top: int
    bottom: int
    left: int
    right: int

    def cut(self, picture: Tensor) -> Tensor:
        """That part of a picture (..., h, w)."""
        return picture[..., self.top : self.bottom, self.left : self.right]


@dataclass(frozen=True, slots=True)
class Nearness:
    """PSNR in dB and SSIM of one region, means over N pictures."""

    psnr: float
    ssim: float


@dataclass(frozen=True, slots=True)
class FaceNearness:
    """How near N faces are to their truth, by region."""

    whole: Nearness
    mouth: Nearness
    eyes: Nearness

    def __str__(self) -> str:
        regions = (("whole", self.whole), ("mouth", self.mouth), ("eyes", self.eyes))
        return " | ".join(f"{name} {at.psnr:.2f} dB {at.ssim:.4f}" for name, at in regions)


def over(faces: Tensor, colour: tuple[int, int, int] = STUDIO_BLUE) -> Tensor:
    """Premultiplied RGBA (N, 4, h, w) in 0 ... 1 laid over an 8-bit RGB colour: (N, 3, h, w)."""
    assert faces.shape[-3] == 4
    behind = torch.tensor(colour, dtype=faces.dtype, device=faces.device).view(3, 1, 1) / 255
    return (faces[..., :3, :, :] + (1 - faces[..., 3:, :, :]) * behind).clamp(0, 1)


def psnr(error: Tensor) -> Tensor:
    """Peak signal-to-noise ratio in dB from a mean squared error at full scale 1."""
    return -10 * torch.log10(error.clamp_min(_SMALLEST_ERROR))


def error_map(picture: Tensor, truth: Tensor) -> Tensor:
    """Squared error (N, h, w) of RGB pictures (N, 3, h, w), the mean of the three channels."""
    return (picture - truth).square().mean(-3)


def ssim_map(picture: Tensor, truth: Tensor) -> Tensor:
    """Structural similarity (N, h, w) of the luma of RGB pictures (N, 3, h, w) in 0 ... 1.

    Gaussian window of 11 pixels, sigma 1.5 (Wang et al. 2004), zeros beyond the edges.
    """
    weights = torch.tensor(LUMA, dtype=truth.dtype, device=truth.device).view(3, 1, 1)
    x, y = ((rgb * weights).sum(-3, keepdim=True) for rgb in (picture, truth))
    mean_x, mean_y = _smooth(x), _smooth(y)
    var_x = _smooth(x * x) - mean_x.square()
    var_y = _smooth(y * y) - mean_y.square()
    both = _smooth(x * y) - mean_x * mean_y
    above = (2 * mean_x * mean_y + _SSIM_C1) * (2 * both + _SSIM_C2)
    below = (mean_x.square() + mean_y.square() + _SSIM_C1) * (var_x + var_y + _SSIM_C2)
    return (above / below)[:, 0]


def _smooth(luma: Tensor) -> Tensor:
    half = _SSIM_WINDOW // 2
    offset = torch.arange(-half, half + 1, dtype=luma.dtype, device=luma.device)
    window = torch.exp(-0.5 * (offset / _SSIM_SIGMA).square())
    window = window / window.sum()
    across = F.conv2d(luma, window.view(1, 1, 1, -1), padding=(0, half))
    return F.conv2d(across, window.view(1, 1, -1, 1), padding=(half, 0))


def mouth_box(points: Tensor, canvas: int = _CANVAS) -> Box:
    """The mouth on a square canvas, around the driven points (21, 3) in -1 ... 1."""
    return _box_around(points[list(MOUTH_POINTS)].mean(0), MOUTH_SIZE, canvas)


def eye_boxes(points: Tensor, canvas: int = _CANVAS) -> tuple[Box, Box]:
    """The two eyes on a square canvas, around the driven pupils."""
    left, right = (_box_around(points[i], EYE_SIZE, canvas) for i in PUPIL_POINTS)
    return left, right


def _box_around(point: Tensor, size: tuple[int, int], canvas: int) -> Box:
    x, y = ((float(c) + 1) * canvas / 2 for c in point[:2])
    height, width = (side * canvas / _CANVAS for side in size)
    return Box(
        max(math.floor(y - height / 2), 0),
        min(math.floor(y + height / 2), canvas),
        max(math.floor(x - width / 2), 0),
        min(math.floor(x + width / 2), canvas),
    )


def nearness(faces: Tensor, truth: Tensor, points: Tensor) -> FaceNearness:
    """Compare painted faces with rendered truth.

    `faces` and `truth` are premultiplied RGBA (N, 4, s, s) in 0 ... 1, `points` the driven points
    (N, 21, 3) that place mouth and eyes. The error of the eyes is the mean of both boxes.
    """
    assert faces.shape == truth.shape
    assert len(points) == len(truth)
    seen, wanted = over(faces.float()), over(truth.float())
    errors, alike = error_map(seen, wanted), ssim_map(seen, wanted)
    canvas = truth.shape[-1]
    whole = [(Box(0, canvas, 0, canvas),)] * len(points)
    mouth = [(mouth_box(point, canvas),) for point in points]
    eyes = [eye_boxes(point, canvas) for point in points]
    return FaceNearness(
        _mean(errors, alike, whole), _mean(errors, alike, mouth), _mean(errors, alike, eyes)
    )


def _mean(errors: Tensor, alike: Tensor, boxes: Sequence[tuple[Box, ...]]) -> Nearness:
    def region(maps: Tensor) -> Tensor:
        rows = zip(maps, boxes, strict=True)
        return torch.stack([torch.stack([b.cut(m).mean() for b in bs]).mean() for m, bs in rows])

    return Nearness(float(psnr(region(errors)).mean()), float(region(alike).mean()))
