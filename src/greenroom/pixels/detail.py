"""The high-resolution source of a face, borrowed where a flow moves it: the CPU's fast way.

To look a moved picture up costs more than all else in pasting, so a flow is first asked what it
shows where: nothing of the source, something opaque, or something in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray

from greenroom.base.flow import Pixels
from greenroom.pixels.colour import Plane, premultiplied_code, rounded
from greenroom.pixels.place import Place

Fixed = NDArray[Any]  # uint16; what OpenCV returns is typed no closer
Bytes = NDArray[Any]  # uint8
Region = tuple[slice, slice]

CODE = 256  # one code value in fixed-point planes of Y, U and V
ONE = 65535  # one, in fixed-point planes of keep and of 1 - a

_BANDS = 8  # the source is looked up in at most so many bands of rows
_EMPTY, _OPAQUE, _MIXED = range(3)


class Detail:
    """A source picture (S, S, 4) that spans an upright canvas, for luma and for chroma."""

    def __init__(self, source: Pixels, place: Place) -> None:
        rgba = torch.from_numpy(source.astype(np.float32) / 255).movedim(-1, 0)
        code = premultiplied_code(rgba)
        code[3] = 255 * rgba[3]
        y, _, _, opacity = rounded(code.numpy())
        u_v_opacity = rounded(place.left(code).numpy())[[1, 2, 3, 3]]  # four go faster than three
        self._luma = y, opacity
        self._chroma = np.ascontiguousarray(np.moveaxis(u_v_opacity, 0, -1))
        self._rows, self._columns = y.shape
        self._luma_grid, self._chroma_grid = self._grid(place.luma), self._grid(place.chroma)
        self._visible = cv2.integral(source.max(-1, initial=0).clip(0, 1))
        self._open = cv2.integral((source[..., 3] < 255).astype(np.uint8))
        height, width = place.luma.shape[:2]
        pitch = max(self._columns / width, self._rows / height)
        self._reach = 3 + 2 * pitch  # of look-up and rounding, in pixels of the source

    def _grid(self, points: torch.Tensor) -> _Grid:
        x, y = points[0, :, 0].numpy(), points[:, 0, 1].numpy()
        return _Grid((x + 1) * (self._columns / 2) - 0.5, (y + 1) * (self._rows / 2) - 0.5)

    def add(self, flow: Plane, luma: list[Fixed], chroma: list[Fixed]) -> None:
        """Add keep * source to Y, U and V and take keep * a from 1 - (1 - keep) a, in place.

        `luma` is Y, 1 - (1 - keep) a and keep, `chroma` U, V and the same; `flow` (2, r, r) is as
        in `Faces`.
        """
        x, y = flow[0] * np.float32(self._columns / 2), flow[1] * np.float32(self._rows / 2)
        cells = self._cells(x, y)
        self._add_luma(luma, self._luma_grid.moved(x, y), cells)
        self._add_chroma(chroma, self._chroma_grid.moved(x, y), cells)

    def _add_luma(self, planes: list[Fixed], places: Places, cells: _Cells) -> None:
        y, clear, keep = planes
        for region in cells.shown(keep.shape):
            _add(y[region], _look_up(self._luma[0], places, region), keep[region])
        for kind, region in cells.runs(keep.shape):
            if kind == _OPAQUE:
                cv2.subtract(clear[region], keep[region], dst=clear[region])
            elif kind == _MIXED:
                _take(clear[region], _look_up(self._luma[1], places, region), keep[region])

    def _add_chroma(self, planes: list[Fixed], places: Places, cells: _Cells) -> None:
        u, v, clear, keep = planes
        for region in cells.shown(keep.shape):
            found = cv2.split(_look_up(self._chroma, places, region))
            _add(u[region], found[0], keep[region])
            _add(v[region], found[1], keep[region])
            _take(clear[region], found[2], keep[region])

    def _cells(self, x: Plane, y: Plane) -> _Cells:
        """What each cell of a flow (r, r) in pixels shows, rows of cells joined to bands.

        Within a cell, flow lies between the least and the greatest of the cells around it, so the
        cell sees no more of the source than a rectangle; sums over its area tell what is in there.
        """
        rows, columns = x.shape
        starts = np.arange(0, rows, -(-rows // _BANDS))
        edges = np.append(starts, rows) / rows
        down, across = edges[:, None] * self._rows, np.arange(columns + 1) / columns * self._columns
        least_x, least_y = (np.minimum.reduceat(_around(cv2.erode, p), starts) for p in (x, y))
        most_x, most_y = (np.maximum.reduceat(_around(cv2.dilate, p), starts) for p in (x, y))
        left = (across[:-1] + least_x - self._reach).astype(int).clip(0, self._columns - 1)
        right = (across[1:] + most_x + self._reach).astype(int).clip(left + 1, self._columns)
        top = (down[:-1] + least_y - self._reach).astype(int).clip(0, self._rows - 1)
        bottom = (down[1:] + most_y + self._reach).astype(int).clip(top + 1, self._rows)

        def some(sums: NDArray[Any]) -> NDArray[np.bool_]:
            below, above = sums[bottom, right] - sums[bottom, left], sums[top, right]
            inside: NDArray[Any] = below - (above - sums[top, left])
            return inside > 0

        solid = np.where(some(self._open), _MIXED, _OPAQUE)
        return _Cells(np.where(some(self._visible), solid, _EMPTY), edges)


Places = tuple[Plane, Plane]  # x and y in the source of each sample, in pixels


class _Grid:
    """Where the samples of an upright canvas lie in the source, in pixels: x (w,) and y (h,)."""

    def __init__(self, x: Plane, y: Plane) -> None:
        self._x, self._y = x, y[:, None]

    def moved(self, x: Plane, y: Plane) -> Places:
        """The places (h, w) after a flow (r, r) in pixels."""
        width, height = len(self._x), len(self._y)
        columns = cv2.resize(x, (width, len(x))) + self._x  # while there are few rows
        moved_y = cv2.resize(y, (width, height))
        return cv2.resize(columns, (width, height)), np.add(moved_y, self._y, out=moved_y)


@dataclass(frozen=True, slots=True)
class _Cells:
    """What the cells of a flow show: a kind each (bands, r), and the edges of bands in 0 ... 1."""

    kinds: NDArray[np.int_]
    edges: NDArray[np.float64]

    def shown(self, size: tuple[int, ...]) -> Iterator[Region]:
        """Of a plane (h, w), for each band, all from the first to the last cell not empty."""
        for band, kinds in enumerate(self.kinds):
            cells = np.flatnonzero(kinds != _EMPTY)
            if len(cells):
                yield from self._region(size, band, cells[0], cells[-1] + 1)

    def runs(self, size: tuple[int, ...]) -> Iterator[tuple[int, Region]]:
        """Of a plane (h, w), for each band, its runs of cells of one kind."""
        for band, kinds in enumerate(self.kinds):
            first = 0
            for kind, cells in groupby(kinds.tolist()):
                last = first + len(list(cells))
                for region in self._region(size, band, first, last):
                    yield kind, region
                first = last

    def _region(self, size: tuple[int, ...], band: int, first: int, last: int) -> Iterator[Region]:
        """The part of a plane that cells first ... last - 1 of a band cover, if it has pixels."""
        (height, width), cells = size, self.kinds.shape[1]
        top, bottom = (self.edges[band : band + 2] * height).astype(int)
        left, right = first * width // cells, last * width // cells
        if top < bottom and left < right:
            yield slice(top, bottom), slice(left, right)


def _around(extreme: Callable[..., Any], plane: Plane) -> Plane:
    """The least or the greatest of the 3 x 3 cells around each cell."""
    found: Plane = extreme(plane, np.ones((3, 3), np.uint8), borderType=cv2.BORDER_REPLICATE)
    return found


def _look_up(source: Bytes, places: Places, region: Region) -> Bytes:
    x, y = (side[region] for side in places)
    return cv2.remap(source, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def _add(own: Fixed, code: Bytes, keep: Fixed) -> None:
    kept = cv2.multiply(code.astype(np.uint16), keep, scale=CODE / ONE)
    cv2.add(own, kept, dst=own)


def _take(clear: Fixed, opacity: Bytes, keep: Fixed) -> None:
    kept = cv2.multiply(opacity.astype(np.uint16), keep, scale=1 / 255)
    cv2.subtract(clear, kept, dst=clear)
