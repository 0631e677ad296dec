"""Ditto's appearance extractor F: a picture becomes a volume of features (spec 2.1)."""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional as F

from greenroom.nets.blocks import ConvNorm2d, FoldablePairs


class ResBlock3d(nn.Module):
    """Pre-activation residual block: x + conv2(relu(norm2(conv1(relu(norm1(x))))))."""

    foldable: ClassVar[FoldablePairs] = (("conv1", "norm2"),)

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv3d(width, width, 3, padding=1)
        self.conv2 = nn.Conv3d(width, width, 3, padding=1)
        self.norm1 = nn.BatchNorm3d(width)
        self.norm2 = nn.BatchNorm3d(width)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv1(F.relu(self.norm1(x)))
        y = self.conv2(F.relu(self.norm2(y)))
        return x + y


class AppearanceExtractor(nn.Module):
    """RGB 0 ... 1 (B, 3, H, W) -> feature volume (B, feature, depth, H / s, W / s).

    `widths` are the channels of the 2-D stem; each after the first halves the picture, so
    s = 2 ** (len(widths) - 1). At the public sizes: (B, 3, 256, 256) -> (B, 32, 16, 64, 64).
    """

    def __init__(
        self,
        widths: tuple[int, ...] = (64, 128, 256),
        feature: int = 32,
        depth: int = 16,
        blocks: int = 6,
    ) -> None:
        super().__init__()
        self.volume = (feature, depth)
        self.first = ConvNorm2d(3, widths[0])
        self.down_blocks = nn.ModuleList(
            ConvNorm2d(inputs, outputs) for inputs, outputs in pairwise(widths)
        )
        self.second = nn.Conv2d(widths[-1], feature * depth, 1)
        self.resblocks_3d = nn.Sequential(
            OrderedDict((f"3dr{i}", ResBlock3d(feature)) for i in range(blocks))
        )

    def forward(self, image: Tensor) -> Tensor:
        x = F.relu(self.first(image))
        for block in self.down_blocks:
            x = F.avg_pool2d(F.relu(block(x)), 2)
        volume: Tensor = self.resblocks_3d(self.second(x).unflatten(1, self.volume))
        return volume
