"""Ditto's motion extractor M: a ConvNeXt-V2 reads pose and points off a picture (spec 2.2)."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

EPSILON = 1e-6


class MotionHeads(NamedTuple):
    """What the extractor says of B pictures, untouched; the order is that of the public export."""

    pitch: Tensor  # (B, bins) logits, see engine.pose.degrees_of
    yaw: Tensor  # (B, bins)
    roll: Tensor  # (B, bins)
    t: Tensor  # (B, 3)
    exp: Tensor  # (B, points * 3)
    scale: Tensor  # (B, 1)
    kp: Tensor  # (B, points * 3), the neutral points of the identity


class ChannelNorm(nn.Module):
    """Layer norm over the channels of (B, C, H, W)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        last = x.permute(0, 2, 3, 1)
        normed = F.layer_norm(last, self.weight.shape, self.weight, self.bias, EPSILON)
        return normed.permute(0, 3, 1, 2)


class ResponseNorm(nn.Module):
    """Global response norm of (B, H, W, C): channels compete by their energy in the picture."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.zeros(1, 1, 1, width))
        self.beta = nn.Parameter(torch.zeros(1, 1, 1, width))

    def forward(self, x: Tensor) -> Tensor:
        energy: Tensor = torch.linalg.vector_norm(x, dim=(1, 2), keepdim=True)
        share = energy / (energy.mean(-1, keepdim=True) + EPSILON)
        return self.gamma * (x * share) + self.beta + x


class ConvNextBlock(nn.Module):
    """Depthwise 7x7, then a pointwise network four times as wide, added to the input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dwconv = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        self.pwconv1 = nn.Linear(width, 4 * width)
        self.grn = ResponseNorm(4 * width)
        self.pwconv2 = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(self.dwconv(x).permute(0, 2, 3, 1))
        y = self.pwconv2(self.grn(F.gelu(self.pwconv1(y))))
        return x + y.permute(0, 3, 1, 2)


class ConvNextV2(nn.Module):
    """Four (or any number of) stages, a mean over the picture and seven linear heads."""

    def __init__(
        self, depths: tuple[int, ...], widths: tuple[int, ...], points: int, bins: int
    ) -> None:
        super().__init__()
        stem = nn.Sequential(nn.Conv2d(3, widths[0], 4, stride=4), ChannelNorm(widths[0]))
        self.downsample_layers = nn.ModuleList([stem])
        for inputs, outputs in pairwise(widths):
            halve = nn.Conv2d(inputs, outputs, 2, stride=2)
            self.downsample_layers.append(nn.Sequential(ChannelNorm(inputs), halve))
        self.stages = nn.ModuleList(
            nn.Sequential(*(ConvNextBlock(width) for _ in range(depth)))
            for depth, width in zip(depths, widths, strict=True)
        )
        self.norm = nn.LayerNorm(widths[-1], eps=EPSILON)
        self.fc_kp = nn.Linear(widths[-1], points * 3)
        self.fc_scale = nn.Linear(widths[-1], 1)
        self.fc_pitch = nn.Linear(widths[-1], bins)
        self.fc_yaw = nn.Linear(widths[-1], bins)
        self.fc_roll = nn.Linear(widths[-1], bins)
        self.fc_t = nn.Linear(widths[-1], 3)
        self.fc_exp = nn.Linear(widths[-1], points * 3)

    def forward(self, image: Tensor) -> MotionHeads:
        x = image
        for down, stage in zip(self.downsample_layers, self.stages, strict=True):
            x = stage(down(x))
        x = self.norm(x.mean((2, 3)))
        return MotionHeads(
            pitch=self.fc_pitch(x),
            yaw=self.fc_yaw(x),
            roll=self.fc_roll(x),
            t=self.fc_t(x),
            exp=self.fc_exp(x),
            scale=self.fc_scale(x),
            kp=self.fc_kp(x),
        )


class MotionExtractor(nn.Module):
    """RGB 0 ... 1 (B, 3, H, W) -> MotionHeads; the public sizes expect 256 x 256."""

    def __init__(
        self,
        depths: tuple[int, ...] = (3, 3, 9, 3),
        widths: tuple[int, ...] = (96, 192, 384, 768),
        points: int = 21,
        bins: int = 66,
    ) -> None:
        super().__init__()
        self.detector = ConvNextV2(depths, widths, points, bins)

    def forward(self, image: Tensor) -> MotionHeads:
        heads: MotionHeads = self.detector(image)
        return heads
