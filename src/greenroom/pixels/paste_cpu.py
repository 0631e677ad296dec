"""The fast way from a face to a picture on one CPU thread, for canvases that lie upright.

It takes the steps of paste.py, one OpenCV or numpy call over a plane at a time. What counts on a
CPU is how much memory is touched, so planes are fixed-point: Y, U and V in 1/256 of a code value,
keep and 1 - a in 1/65535, the detail in bytes and looked up only where it shows (detail.py).

Against the reference, a byte differs by 2 at most, and by more than 1 once in a thousand at most.
OpenCV before 5 rounds the places of a look-up to 1/32 pixel, which adds to luma 1/32 of the step
between neighbours in the detail: on a portrait 3 at most, and still one in a thousand. Code values
below 0, from colours above their own opacity, become 0 here.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from greenroom.base.flow import Faces, Pixels, Placement
from greenroom.pixels.colour import OFFSETS, RGB_TO_CODE, Plane
from greenroom.pixels.detail import CODE, ONE, Detail, Fixed
from greenroom.pixels.place import Box, Place

Region = tuple[slice, slice]


class BoxPaste:
    """Pastes faces on canvases (h, w) that fill `box`; see `PasteBack`."""

    def __init__(self, placement: Placement, canvas: tuple[int, int], box: Box) -> None:
        self._box = box
        place = Place(placement.matrix.cpu(), canvas, box)
        masks = place.masks(placement.mask.cpu())
        self._blend_luma, self._blend_chroma = (_Blend(mask.numpy()) for mask in masks)
        behind = placement.backdrop
        self._backdrop = None if behind is None else [_wide(side) for side in self._views(behind)]
        self._detail = None if placement.detail is None else Detail(placement.detail, place)
        self._column = float(place.column[0]) * canvas[1] / 2  # of the picture, in canvas pixels

    def paste(self, faces: Faces, picture: Pixels, row: int) -> Pixels:
        """Put one face of a batch into an NV12 picture -> a new picture."""
        (y, luma_clear), (u, v, chroma_clear) = self._face(faces, row)
        old = self._views(picture)
        behind = self._backdrop or [_wide(side) for side in old]
        out = np.array(picture)
        self._blend_luma(y, luma_clear, behind[0], old[0], self._box.luma(out))
        pair = [
            self._blend_chroma(plane, chroma_clear, *sides)
            for plane, *sides in zip((u, v), behind[1:], old[1:], strict=True)
        ]
        cv2.merge(pair, dst=self._box.chroma(out).reshape(*u.shape, 2))
        return out

    def _face(self, faces: Faces, row: int) -> tuple[list[Fixed], list[Fixed]]:
        """Y and 1 - a for luma, and U, V and 1 - a for chroma."""
        y, u, v, clear, keep = _canvas(faces, row)
        width, height = self._box.width, self._box.height
        size, half = (width, height), (width // 2, height // 2)
        luma = [cv2.resize(plane, size) for plane in (y, clear)]
        chroma = [cv2.resize(self._left(plane), half) for plane in (u, v, clear)]
        if faces.keep is not None:
            assert faces.flow is not None
            assert self._detail is not None, "a face that keeps detail needs Placement.detail"
            luma.append(cv2.resize(keep, size))
            chroma.append(cv2.resize(self._left(keep), half))
            self._detail.add(faces.flow[row].float().numpy(), luma, chroma)
        return luma[:2], chroma[:3]

    def _left(self, plane: Fixed) -> Fixed:
        """As `Place.left`, for columns of no more than a pixel of the canvas."""
        here, before, mean = plane[:, 1:], plane[:, :-1], plane.copy()
        share = self._column / 2
        cv2.addWeighted(here, 1 - share, before, share, 0, dst=mean[:, 1:])
        return mean

    def _views(self, nv12: Pixels) -> tuple[Pixels, Pixels, Pixels]:
        chroma = self._box.chroma(nv12)
        return self._box.luma(nv12), chroma[:, 0::2], chroma[:, 1::2]


def _canvas(faces: Faces, row: int) -> list[Fixed]:
    """(1 - keep) (Y, U, V), 1 - (1 - keep) a and keep on the canvas (h, w)."""
    red, green, blue, *rest = _planes(faces.colour[row].float())
    opacity = rest[0] if rest else np.ones_like(red)
    keep = np.zeros_like(red) if faces.keep is None else faces.keep[row, 0].float().numpy()
    own = 1 - keep
    planes: list[Fixed] = []
    for (of_red, of_green, of_blue), offset in zip(RGB_TO_CODE, OFFSETS, strict=True):
        plane: Plane = cv2.addWeighted(red, of_red, green, of_green, 0)
        plane += cv2.addWeighted(blue, of_blue, opacity, offset, 0)
        planes.append(cv2.multiply(plane, own, scale=CODE, dtype=cv2.CV_16U))  # saturates
    opaque = cv2.multiply(own, opacity, scale=ONE, dtype=cv2.CV_16U)
    kept = cv2.addWeighted(keep, ONE, keep, 0, 0, dtype=cv2.CV_16U)
    return [*planes, cv2.bitwise_not(opaque), kept]


def _planes(colour: Tensor) -> list[Plane]:
    """The planes of (C, h, w); split at once where its pixels lie whole in memory."""
    pixels = colour.movedim(0, -1)
    planes: list[Plane] = list(
        cv2.split(pixels.numpy()) if pixels.is_contiguous() else colour.numpy()
    )
    return planes


def _wide(side: Pixels) -> Fixed:
    wide: Fixed = side.astype(np.uint16)
    return wide


class _Blend:
    """Lays one plane of the face over the backdrop and mixes it with the picture by the mask."""

    def __init__(self, mask: Plane) -> None:
        self._edges = [(region, 1 - mask[region]) for region in _not_one(mask)]

    def __call__(
        self,
        face: Fixed,
        clear: Fixed,
        backdrop: Fixed,
        picture: Pixels,
        out: Pixels | None = None,
    ) -> Pixels:
        mixed: Fixed = cv2.multiply(clear, backdrop, scale=CODE / ONE)
        mixed = cv2.add(face, mixed, dst=mixed)
        for region, rest in self._edges:
            new = mixed[region].astype(np.float32)
            new += rest * (picture[region] * np.float32(CODE) - new)
            mixed[region] = new
        blended: NDArray[Any] = cv2.convertScaleAbs(mixed, dst=out, alpha=1 / CODE)
        return blended


def _not_one(mask: Plane) -> list[Region]:
    """Rectangles that hold whatever is not 1 in a mask: a frame around its middle, or all."""
    one = mask == 1
    rows, columns = np.flatnonzero(one.any(1)), np.flatnonzero(one.any(0))
    if len(rows) == 0:
        return [np.s_[:, :]]
    middle = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    if not one[middle].all():
        return [np.s_[:, :]]
    down, across = middle
    return [
        np.s_[: down.start, :],
        np.s_[down.stop :, :],
        np.s_[down, : across.start],
        np.s_[down, across.stop :],
    ]
