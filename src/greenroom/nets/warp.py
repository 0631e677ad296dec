"""Ditto's warp network W: moves the feature volume from source to driven points (spec 2.5).

Coordinates run from -1 to 1 between the centres of the outer cells, yet are sampled as if they
ran between the outer edges (align_corners False). The public weights were trained so; keep it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from greenroom.nets.blocks import ConvNorm2d, ConvNorm3d, FoldablePairs

HEATMAP_VARIANCE = 0.01  # of the Gaussian around a point, in squared coordinates
HALVE = (1, 2, 2)  # depth is never pooled


def identity_grid(size: torch.Size, device: torch.device) -> Tensor:
    """Coordinates (D, H, W, 3) of every cell, last axis x, y, z, in float32; size is (D, H, W)."""

    def axis(count: int) -> Tensor:
        return 2 * torch.arange(count, device=device, dtype=torch.float32) / (count - 1) - 1

    z, y, x = torch.meshgrid(*map(axis, size), indexing="ij")
    return torch.stack([x, y, z], -1)


def heatmaps(grid: Tensor, kp: Tensor) -> Tensor:
    """One Gaussian per point: grid (D, H, W, 3), kp (B, points, 3) -> (B, points, D, H, W)."""
    distance = (grid - kp[:, :, None, None, None]).square().sum(-1)
    return torch.exp(-0.5 * distance / HEATMAP_VARIANCE)


def sample(volume: Tensor, grid: Tensor) -> Tensor:
    """Read (B, C, D, H, W) at grid (B, d, h, w, 3), zero outside; the arithmetic is the grid's."""
    read = F.grid_sample(volume.to(grid.dtype), grid, padding_mode="zeros", align_corners=False)
    return read.to(volume.dtype)


class HourglassEncoder(nn.Module):
    """Five (or any number of) halvings; returns the input and every level, finest first."""

    def __init__(self, inputs: int, base: int, blocks: int) -> None:
        super().__init__()
        widths = [inputs, *(base << (i + 1) for i in range(blocks))]
        self.down_blocks = nn.ModuleList(ConvNorm3d(a, b) for a, b in pairwise(widths))

    def forward(self, x: Tensor) -> list[Tensor]:
        levels = [x]
        for block in self.down_blocks:
            levels.append(F.avg_pool3d(F.relu(block(levels[-1])), HALVE))
        return levels


class HourglassDecoder(nn.Module):
    """Doubles back up; after every block the encoder's level of that size is put behind."""

    foldable: ClassVar[FoldablePairs] = (("conv", "norm"),)

    def __init__(self, inputs: int, base: int, blocks: int) -> None:
        super().__init__()
        widths = [base << i for i in reversed(range(blocks))]
        doubled = [base << blocks, *(2 * width for width in widths[:-1])]
        self.up_blocks = nn.ModuleList(
            ConvNorm3d(a, b) for a, b in zip(doubled, widths, strict=True)
        )
        self.outputs = base + inputs
        self.conv = nn.Conv3d(self.outputs, self.outputs, 3, padding=1)
        self.norm = nn.BatchNorm3d(self.outputs)

    def forward(self, levels: list[Tensor]) -> Tensor:
        *skips, x = levels
        for block, skip in zip(self.up_blocks, reversed(skips), strict=True):
            x = F.interpolate(x, scale_factor=HALVE, mode="nearest")
            x = torch.cat([F.relu(block(x)), skip], 1)
        return F.relu(self.norm(self.conv(x)))


class Hourglass(nn.Module):
    """A U-net over (B, inputs, D, H, W) -> (B, base + inputs, D, H, W)."""

    def __init__(self, inputs: int, base: int, blocks: int) -> None:
        super().__init__()
        self.encoder = HourglassEncoder(inputs, base, blocks)
        self.decoder = HourglassDecoder(inputs, base, blocks)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.decoder(self.encoder(x))
        return y


class DenseMotion(nn.Module):
    """From sparse points to a dense motion of the volume and an occlusion map."""

    foldable: ClassVar[FoldablePairs] = (("compress", "norm"),)

    def __init__(
        self, points: int, feature: int, depth: int, compressed: int, base: int, blocks: int
    ) -> None:
        super().__init__()
        motions = points + 1
        self.hourglass = Hourglass(motions * (compressed + 1), base, blocks)
        prediction = self.hourglass.decoder.outputs
        self.mask = nn.Conv3d(prediction, motions, 7, padding=3)
        self.compress = nn.Conv3d(feature, compressed, 1)
        self.norm = nn.BatchNorm3d(compressed)
        self.occlusion = nn.Conv2d(prediction * depth, 1, 7, padding=3)

    def compress_feature(self, feature: Tensor) -> Tensor:
        """Depends on the source alone: make it once per source frame."""
        return F.relu(self.norm(self.compress(feature)))

    def forward(
        self, compressed: Tensor, kp_source: Tensor, kp_driving: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Compressed feature and points -> deformation (B, D, H, W, 3), occlusion (B, 1, H, W)."""
        grid = identity_grid(compressed.shape[2:], compressed.device)
        motions = self._sparse_motions(grid, kp_source, kp_driving)
        moved = self._sample_each(compressed, motions)
        shift = heatmaps(grid, kp_driving) - heatmaps(grid, kp_source)
        shift = F.pad(shift, (0, 0, 0, 0, 0, 0, 1, 0))[:, :, None]  # none for the background
        prediction = self.hourglass(torch.cat([shift.to(moved.dtype), moved], 2).flatten(1, 2))
        mask = self.mask(prediction).to(grid.dtype).softmax(1)
        deformation = (mask[..., None] * motions).sum(1)
        occlusion = self.occlusion(prediction.flatten(1, 2)).sigmoid()
        return deformation, occlusion

    @staticmethod
    def _sparse_motions(grid: Tensor, kp_source: Tensor, kp_driving: Tensor) -> Tensor:
        """(B, 1 + points, D, H, W, 3): the background at rest, then one shift per point."""
        each = grid - kp_driving[:, :, None, None, None] + kp_source[:, :, None, None, None]
        return torch.cat([grid.expand(len(each), 1, *grid.shape), each], 1)

    @staticmethod
    def _sample_each(volume: Tensor, motions: Tensor) -> Tensor:
        """The volume (B, C, D, H, W) under every motion: (B, motions, C, D, H, W).

        The motions are laid end to end along the depth, so the volume is not copied for each.
        """
        read = sample(volume, motions.flatten(1, 2))
        batch, channels = volume.shape[:2]
        return read.view(batch, channels, *motions.shape[1:-1]).transpose(1, 2)


class WarpNetwork(nn.Module):
    """Feature (B, feature, D, H, W), points (B, points, 3) twice -> (B, outputs, H, W).

    The points are float32 whatever the weights are. H and W divide by 2 ** blocks. At the public
    sizes: (B, 32, 16, 64, 64) -> (B, 256, 64, 64).
    """

    def __init__(
        self,
        points: int = 21,
        feature: int = 32,
        depth: int = 16,
        compressed: int = 4,
        base: int = 32,
        blocks: int = 5,
        outputs: int = 256,
    ) -> None:
        super().__init__()
        self.dense_motion_network = DenseMotion(points, feature, depth, compressed, base, blocks)
        self.third = ConvNorm2d(feature * depth, outputs)
        self.fourth = nn.Conv2d(outputs, outputs, 1)

    def forward(self, feature: Tensor, kp_source: Tensor, kp_driving: Tensor) -> Tensor:
        compressed = self.dense_motion_network.compress_feature(feature)
        return self.warp(feature, compressed, kp_source, kp_driving)

    def warp(
        self, feature: Tensor, compressed: Tensor, kp_source: Tensor, kp_driving: Tensor
    ) -> Tensor:
        """`forward` with the compressed feature of the source already at hand."""
        deformation, occlusion = self.dense_motion_network(compressed, kp_source, kp_driving)
        x = sample(feature, deformation).flatten(1, 2)
        x = F.leaky_relu(self.third(x), 0.01)
        warped: Tensor = self.fourth(x) * occlusion
        return warped
