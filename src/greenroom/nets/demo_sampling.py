"""Sampling for the fast demo renderer: linear interpolation as weighted sums of table rows.

A map of n positions is one gather of n bags; positions beyond an edge take the edge, as in `demo`.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from greenroom.nets.demo import CANVAS


class Bags:
    """Sums of `size` weighted rows of a table: linear interpolation of a whole map in one call."""

    def __init__(self, bags: int, size: int) -> None:
        self.offsets = torch.arange(0, bags * size, size, dtype=torch.int32)

    def __call__(self, table: Tensor, index: Tensor, weight: Tensor) -> Tensor:
        """Table (rows, c), index int32 and weight with `size` entries per bag -> (bags, c)."""
        rows, shares = index.view(-1), weight.view(-1)
        return torch.embedding_bag(table, rows, self.offsets, False, 0, False, shares)[0]


def edge_padded(x: Tensor) -> Tensor:
    """(..., c) with its last entries repeated once along every axis but c, as a table (rows, c).

    So that the upper neighbour of the last cell exists; its weight is always zero.
    """
    for dim in range(x.dim() - 1):
        x = torch.cat([x, x.narrow(dim, x.shape[dim] - 1, 1)], dim)
    return x.reshape(-1, x.shape[-1]).contiguous()


def shift_matrices(cells: int, shift: Tensor) -> Tensor:
    """Matrices (n, cells, cells) that sample a line of cells moved by `shift` (n,).

    The line spans -1 ... 1; beyond its ends the end cell goes on.
    """
    place = torch.arange(cells, dtype=torch.float32)
    wanted = (place + shift[:, None] * (cells / 2)).clamp_(0, cells - 1)
    return (1 - (wanted[..., None] - place).abs_()).clamp_(min=0)


def bilinear_matrix(cells: int, wanted: int) -> Tensor:
    """The matrix (wanted, cells) that resizes a line as F.interpolate does."""
    return F.interpolate(torch.eye(cells)[None], size=wanted, mode="linear", align_corners=False)[
        0
    ].T.contiguous()


class VolumeSampler:
    """Trilinear samples of a volume at every cell moved by a coarse field."""

    def __init__(self, side: int, depth: int) -> None:
        self.side, self.depth = side, depth
        sizes = (side, side, depth)  # x, y, z
        self.bags = Bags(side * side * depth, 8)
        self.last = torch.tensor(sizes)[:, None] - 1.0
        self.half = torch.tensor(sizes)[:, None] / 2
        y, x, z = torch.meshgrid(
            torch.arange(side), torch.arange(side), torch.arange(depth), indexing="ij"
        )
        self.cells = torch.stack([x, y, z]).flatten(1).float()
        self.stride = torch.tensor([1.0, side + 1, (side + 1) ** 2])
        corners = torch.tensor([[corner >> i & 1 for i in range(3)] for corner in range(8)])
        self.corners = (corners.float() @ self.stride)[None]

    def __call__(self, cells: Tensor, field: Tensor) -> tuple[Tensor, Tensor]:
        """Table of cells, field (r, r, depth * 3 + 1) -> (side, side, depth * c), (side, side, 1).

        The field holds the offsets x, y, z of each depth and the occlusion, which comes back.
        """
        side = self.side
        fine = F.interpolate(
            field.permute(2, 0, 1)[None], size=(side, side), mode="bilinear", align_corners=False
        )[0].permute(1, 2, 0)
        offset = (
            fine[..., :-1].reshape(side, side, self.depth, 3).permute(3, 0, 1, 2).reshape(3, -1)
        )
        place = torch.addcmul(self.cells, offset, self.half)
        place = torch.minimum(place.clamp_(min=0), self.last)
        low = place.floor()
        index = (self.stride @ low)[:, None] + self.corners
        upper = place.sub_(low)
        x, y, z = torch.stack([1 - upper, upper], 1)
        weight = z[:, None, None] * y[:, None] * x
        rows = self.bags(cells, index.int(), weight.view(8, -1).T.contiguous())
        return rows.view(side, side, -1), fine[..., -1:]


class SourceSampler:
    """The moved source at half size: the mean of four bilinear samples each."""

    def __init__(self, coarse: int, side: int = CANVAS, band: int = 128) -> None:
        self.side, self.band = side, band  # rows at once: what a core's cache holds
        self.bags = Bags(band * side // 2, 2)
        self.spread = bilinear_matrix(coarse, side)
        line = torch.arange(side).float()
        self.columns = line.expand(band, side).contiguous()
        self.rows = line[:, None].expand(side, side).contiguous()

    def __call__(self, pixels: Tensor, flow: Tensor) -> Tensor:
        """Table of pixels, flow (r, r, 2) -> (side / 2, side / 2, 4)."""
        across = (flow * (self.side / 2)).permute(2, 0, 1) @ self.spread.T
        half = flow.new_empty(self.side // 2, self.side // 2, pixels.shape[-1])
        for top in range(0, self.side, self.band):
            pairs = self._pairs(pixels, across, slice(top, top + self.band))
            torch.add(pairs[0::2], pairs[1::2], out=half[top // 2 : (top + self.band) // 2])
        return half

    def _pairs(self, pixels: Tensor, across: Tensor, band: slice) -> Tensor:
        """Sums of two neighbours of a row, at a quarter of their weight: (band, side / 2, 4)."""
        left, right = self._place(self.columns, self.spread[band] @ across[0])
        above, below = self._place(self.rows[band], self.spread[band] @ across[1])
        first = torch.add(left, above, alpha=self.side + 1).int()
        below.mul_(0.25)
        total = left.new_zeros(self.band * self.side // 2, pixels.shape[-1])
        for i, vertical in enumerate((0.25 - below, below)):
            for j, horizontal in enumerate((1 - right, right)):
                corner = pixels[i * (self.side + 1) + j :]  # the same index, another corner
                total += self.bags(corner, first, vertical * horizontal)
        return total.view(self.band, self.side // 2, -1)

    def _place(self, base: Tensor, offset: Tensor) -> tuple[Tensor, Tensor]:
        """Whole and broken part of where each pixel is taken from, along one axis."""
        place = offset.add_(base).clamp_(0, self.side - 1)
        low = place.floor()
        return low, place.sub_(low)
