"""Layers that several networks share, named as in the public checkpoints."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FoldablePairs = tuple[tuple[str, str], ...]  # (convolution, the batch norm right after it)


class ConvNorm2d(nn.Module):
    """Convolution 3x3 and batch norm."""

    foldable: ClassVar[FoldablePairs] = (("conv", "norm"),)

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(self.conv(x))
        return y


class ConvNorm3d(nn.Module):
    """Convolution 3x3x3 and batch norm."""

    foldable: ClassVar[FoldablePairs] = (("conv", "norm"),)

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = nn.Conv3d(inputs, outputs, 3, padding=1)
        self.norm = nn.BatchNorm3d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(self.conv(x))
        return y


class SpectralConv2d(nn.Module):
    """Convolution whose weight is divided by its largest singular value, as estimated in training.

    sigma = u . (M v) with the stored u and v and M the weight as (out, rest); it never changes at
    inference, so a loader may fold it and a plain nn.Conv2d takes this layer's place.
    """

    weight_u: Tensor
    weight_v: Tensor

    def __init__(self, inputs: int, outputs: int, kernel: int, *, bias: bool = True) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None
        weight = torch.empty(outputs, inputs, kernel, kernel)
        self.weight_orig = nn.Parameter(nn.init.kaiming_uniform_(weight, a=5**0.5))
        rest = inputs * kernel * kernel
        self.register_buffer("weight_u", torch.full((outputs,), outputs**-0.5))
        self.register_buffer("weight_v", torch.full((rest,), rest**-0.5))

    def forward(self, x: Tensor) -> Tensor:
        sigma = self.weight_u @ (self.weight_orig.flatten(1) @ self.weight_v)
        pad = self.weight_orig.shape[-1] // 2
        return F.conv2d(x, self.weight_orig / sigma, self.bias, padding=pad)
