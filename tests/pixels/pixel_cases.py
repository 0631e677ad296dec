"""Faces, placements and pictures for the tests of pasting."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

import cv2
import numpy as np
import torch
from torch import Tensor

from greenroom.base.flow import Faces, Pixels, Placement
from greenroom.pixels.colour import compose_still, rgb_to_nv12, split

Size = tuple[int, int]


def upright(canvas: Size, left: float, top: float, width: float, height: float) -> Tensor:
    """The matrix that lays a canvas (h, w) over a box, outer edges on outer edges."""
    x, y = width / canvas[1], height / canvas[0]
    return torch.tensor([[x, 0, left + (x - 1) / 2], [0, y, top + (y - 1) / 2]])


def turned(canvas: Size, degrees: float, scale: float, x: float, y: float) -> Tensor:
    """The matrix that turns a canvas about its middle and puts that on (x, y) of the picture."""
    angle = np.deg2rad(degrees)
    turn = scale * torch.tensor([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle = torch.tensor([(canvas[1] - 1) / 2, (canvas[0] - 1) / 2]).double()
    return torch.cat([turn, (torch.tensor([x, y]) - turn @ middle)[:, None]], 1).float()


def feathered(side: int, width: int) -> Tensor:
    """A mask (side, side) of ones that falls to 0 at its edges along a smooth step."""
    ramp = (np.minimum(np.arange(side), np.arange(side)[::-1]) / width).clip(0, 1)
    mask = np.outer(ramp, ramp)
    return torch.tensor(mask * mask * (3 - 2 * mask), dtype=torch.float32)


def smooth(rng: np.random.Generator, *size: int, blur: float, low: float, high: float) -> Tensor:
    """Planes (..., rows, columns) of blurred noise, each from `low` to `high`."""
    planes = rng.standard_normal(size).astype(np.float32)
    for index in np.ndindex(size[:-2]):
        plane = cv2.GaussianBlur(planes[index], (0, 0), blur)
        planes[index] = (plane - plane.min()) / max(np.ptp(plane), 1e-6)
    return torch.tensor(planes) * (high - low) + low


def noise_rgba(rng: np.random.Generator, *size: int) -> Tensor:
    """Premultiplied white noise (..., 4, h, w)."""
    rgba = torch.tensor(rng.random((*size[:-2], 4, *size[-2:]), dtype=np.float32))
    rgba[..., :3, :, :] *= rgba[..., 3:, :, :]
    return rgba


def noise_nv12(rng: np.random.Generator, height: int, width: int) -> Pixels:
    return rng.integers(16, 236, (height * 3 // 2, width), dtype=np.uint8)


def moving(rng: np.random.Generator, colour: Tensor, cells: int = 32, reach: float = 0.1) -> Faces:
    """Faces that keep some detail, moved by up to `reach` of half the canvas."""
    count, _, height, width = colour.shape
    return Faces(
        colour,
        smooth(rng, count, 1, height, width, blur=8, low=0, high=1),
        smooth(rng, count, 2, cells, cells, blur=3, low=-reach, high=reach),
    )


@cache
def read(name: str) -> Pixels:
    """A picture of the bundled anchor, RGB or premultiplied RGBA."""
    with as_file(files("greenroom") / "assets" / "avatars" / "vera" / name) as path:
        picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    assert picture is not None
    order = [2, 1, 0, 3][: picture.shape[2]]
    return np.ascontiguousarray(picture[..., order]).astype(np.uint8)


@cache
def anchor_placement() -> Placement:
    """The bundled anchor: a canvas of 512 pixels on 1000 x 1000 at (40, 30) of 1080 x 1920."""
    matrix = upright((512, 512), 40, 30, 1000, 1000)
    return Placement(
        matrix, feathered(1000, 36), rgb_to_nv12(read("studio.png")), read("source.png")
    )


@cache
def anchor_picture() -> Pixels:
    """The bundled anchor at rest before her studio, the box made of what detail holds."""
    body = read("body.png").copy()
    body[30:1030, 40:1040] = read("source.png")
    return compose_still(body, read("studio.png"))


def differences(one: Pixels, other: Pixels) -> tuple[np.ndarray, np.ndarray]:
    """Levels between two NV12 pictures, of luma and of chroma."""
    pairs = zip(split(one), split(other), strict=True)
    luma, chroma = (np.abs(a.astype(int) - b) for a, b in pairs)
    return luma, chroma
