"""RGB and NV12 by BT.709 in limited range, and the place of chroma.

A code value is what a byte of NV12 holds: luma 16 ... 235, chroma 16 ... 240 around 128 (ITU-R
BT.709-6, items 3 and 4). Chroma is left-sited, as H.264 means where a stream says nothing and as
clips from cameras are: sample (i, j) lies on luma column 2 j, half-way between rows 2 i and
2 i + 1. It is made by the weights 1-2-1 along the row and 1-1 down the column, edges repeated.
Rounding is half up. The torch functions are the reference; the numpy ones are fast and within one
level of it.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from greenroom.base.flow import Pixels

Plane = NDArray[Any]  # float32; what OpenCV returns is typed no closer

_KR, _KB = 0.2126, 0.0722  # BT.709, item 3.2
_KG = 1 - _KR - _KB
OFFSETS = (16.0, 128.0, 128.0)

# Code values from R'G'B' in 0 ... 1, before the offsets; one row each for Y, U and V.
RGB_TO_CODE = np.array(
    [
        [219 * _KR, 219 * _KG, 219 * _KB],
        [-112 * _KR / (1 - _KB), -112 * _KG / (1 - _KB), 112],
        [112, -112 * _KG / (1 - _KR), -112 * _KB / (1 - _KR)],
    ]
)
CODE_TO_RGB = np.linalg.inv(RGB_TO_CODE)


def split(nv12: Pixels) -> tuple[Pixels, Pixels]:
    """Views of one NV12 picture: luma (H, W) and chroma (H / 2, W), U and V side by side."""
    height = nv12.shape[0] * 2 // 3
    assert nv12.shape[0] * 2 == height * 3
    assert height % 2 == 0
    assert nv12.shape[1] % 2 == 0
    return nv12[:height], nv12[height:]


# --- reference ------------------------------------------------------------------------------------


def rgb_to_code(rgb: Tensor) -> Tensor:
    """(..., 3, H, W) RGB in 0 ... 1 -> Y, U and V as unrounded code values, same shape."""
    matrix = torch.as_tensor(RGB_TO_CODE, device=rgb.device, dtype=rgb.dtype)
    offsets = torch.tensor(OFFSETS, device=rgb.device, dtype=rgb.dtype)
    return torch.einsum("ij,...jhw->...ihw", matrix, rgb) + offsets[:, None, None]


def code_to_rgb(code: Tensor) -> Tensor:
    """The inverse of `rgb_to_code`."""
    matrix = torch.as_tensor(CODE_TO_RGB, device=code.device, dtype=code.dtype)
    offsets = torch.tensor(OFFSETS, device=code.device, dtype=code.dtype)
    return torch.einsum("ij,...jhw->...ihw", matrix, code - offsets[:, None, None])


def premultiplied_code(rgba: Tensor) -> Tensor:
    """(4, H, W) premultiplied RGBA or (3, H, W) opaque RGB in 0 ... 1 -> a Y, a U, a V and 1 - a.

    Y, U and V are code values; they then compose as (a Y) + (1 - a) Y_behind.
    """
    opacity = rgba[3:] if len(rgba) == 4 else torch.ones_like(rgba[:1])
    matrix = torch.as_tensor(RGB_TO_CODE, device=rgba.device, dtype=rgba.dtype)
    offsets = torch.tensor(OFFSETS, device=rgba.device, dtype=rgba.dtype)
    code = torch.einsum("ij,jhw->ihw", matrix, rgba[:3]) + offsets[:, None, None] * opacity
    return torch.cat([code, 1 - opacity])


def rgb_to_nv12_reference(rgb: Tensor) -> Tensor:
    """(3, H, W) RGB in 0 ... 1, H and W even -> NV12 (H * 3 // 2, W) uint8."""
    code = rgb_to_code(rgb)
    weights = torch.tensor([[1.0, 2.0, 1.0]] * 2, device=rgb.device, dtype=rgb.dtype) / 8
    padded = functional.pad(code[None, 1:], (1, 1, 0, 0), mode="replicate")[0][:, None]
    chroma = functional.conv2d(padded, weights[None, None], stride=2)[:, 0]
    rows = torch.cat([code[0], chroma.permute(1, 2, 0).flatten(1)])
    return (rows + 0.5).floor().clamp(0, 255).to(torch.uint8)


def nv12_to_rgb_reference(nv12: Tensor) -> Tensor:
    """NV12 (H * 3 // 2, W) uint8 -> (3, H, W) RGB in 0 ... 1, chroma interpolated linearly."""
    height = nv12.shape[0] * 2 // 3
    chroma = torch.stack([nv12[height:, 0::2], nv12[height:, 1::2]]).float()
    chroma = functional.interpolate(
        chroma[None], size=(height, chroma.shape[2]), mode="bilinear", align_corners=False
    )[0]
    after = torch.cat([chroma[..., 1:], chroma[..., -1:]], -1)
    chroma = torch.stack([chroma, (chroma + after) / 2], -1).flatten(2)
    return code_to_rgb(torch.cat([nv12[None, :height].float(), chroma])).clamp(0, 1)


# --- fast -----------------------------------------------------------------------------------------


def rounded(values: Plane) -> Pixels:
    """Bytes of float code values, half up, kept in 0 ... 255."""
    out: Pixels = np.clip(values + np.float32(0.5), 0, 255).astype(np.uint8)
    return out


def left_sited(plane: Plane) -> Plane:
    """(rows, W) -> (rows, W / 2): every second column by the weights 1-2-1, edges repeated."""
    rows, width = plane.shape
    after = cv2.resize(plane, (width // 2, rows))  # means of columns 2 j and 2 j + 1
    before = np.empty_like(after)  # means of columns 2 j - 1 and 2 j
    before[:, 0] = plane[:, 0]
    if width > 2:
        before[:, 1:] = cv2.resize(plane[:, 1:-1], (width // 2 - 1, rows))
    return cv2.addWeighted(after, 0.5, before, 0.5, 0)


def rgb_to_nv12(rgb: Pixels | Plane) -> Pixels:
    """RGB (H, W, 3) in 0 ... 255, H and W even -> NV12 (H * 3 // 2, W)."""
    height, width = rgb.shape[:2]
    assert height % 2 == 0
    assert width % 2 == 0
    code = cv2.transform(np.asarray(rgb, np.float32), _affine(RGB_TO_CODE / 255, OFFSETS))
    out = np.empty((height * 3 // 2, width), np.uint8)
    out[:height] = rounded(code[..., 0])
    for k in (0, 1):
        halved = cv2.resize(code[..., k + 1], (width, height // 2))  # means of two rows
        out[height:, k::2] = rounded(left_sited(halved))
    return out


def nv12_to_rgb(nv12: Pixels) -> Pixels:
    """NV12 (H * 3 // 2, W) -> RGB (H, W, 3) uint8, chroma interpolated linearly."""
    luma, pairs = split(nv12)
    height, width = luma.shape
    code = np.empty((height, width, 3), np.float32)
    code[..., 0] = luma
    for k in (0, 1):
        chroma = cv2.resize(pairs[:, k::2].astype(np.float32), (width // 2, height))
        code[:, 0::2, k + 1] = chroma
        code[:, 1:-1:2, k + 1] = (chroma[:, :-1] + chroma[:, 1:]) / 2
        code[:, -1, k + 1] = chroma[:, -1]
    matrix = CODE_TO_RGB * 255
    return rounded(cv2.transform(code, _affine(matrix, -matrix @ OFFSETS)))


def compose_still(rgba: Pixels, backdrop: Pixels) -> Pixels:
    """Lay premultiplied RGBA (H, W, 4) over RGB (H, W, 3) -> NV12 (H * 3 // 2, W)."""
    assert rgba.shape[:2] == backdrop.shape[:2]
    clear = 1 - rgba[..., 3:].astype(np.float32) / 255
    return rgb_to_nv12(rgba[..., :3] + clear * backdrop)


def _affine(matrix: NDArray[np.float64], offsets: ArrayLike) -> Plane:
    """The (3, 4) that cv2.transform takes."""
    return np.column_stack([matrix, np.asarray(offsets)]).astype(np.float32)
