"""Ditto's decoder G: a SPADE generator that paints the warped feature (spec 2.6)."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from greenroom.nets.blocks import SpectralConv2d

SLOPE = 0.2  # of every LeakyReLU here


class Spade(nn.Module):
    """Instance norm whose scale and shift are read, cell by cell, from a conditioning map."""

    def __init__(self, width: int, condition: int, hidden: int) -> None:
        super().__init__()
        self.mlp_shared = nn.Sequential(nn.Conv2d(condition, hidden, 3, padding=1), nn.ReLU())
        self.mlp_gamma = nn.Conv2d(hidden, width, 3, padding=1)
        self.mlp_beta = nn.Conv2d(hidden, width, 3, padding=1)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """x (B, width, H, W) and the map (B, condition, H, W), already of x's size."""
        hidden = self.mlp_shared(condition)
        normed: Tensor = F.instance_norm(x, eps=1e-5)
        styled: Tensor = normed * (1 + self.mlp_gamma(hidden)) + self.mlp_beta(hidden)
        return styled


class SpadeBlock(nn.Module):
    """Residual block of two SPADE-normed convolutions; the shortcut is learnt if widths differ."""

    def __init__(
        self, inputs: int, outputs: int, condition: int, hidden: int, *, spectral_norm: bool
    ) -> None:
        super().__init__()
        middle = min(inputs, outputs)
        self.learnt_shortcut = inputs != outputs
        self.conv_0 = convolution(inputs, middle, 3, spectral_norm=spectral_norm)
        self.conv_1 = convolution(middle, outputs, 3, spectral_norm=spectral_norm)
        if self.learnt_shortcut:
            self.conv_s = convolution(inputs, outputs, 1, bias=False, spectral_norm=spectral_norm)
        self.norm_0 = Spade(inputs, condition, hidden)
        self.norm_1 = Spade(middle, condition, hidden)
        if self.learnt_shortcut:
            self.norm_s = Spade(inputs, condition, hidden)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        y: Tensor = self.conv_0(F.leaky_relu(self.norm_0(x, condition), SLOPE))
        y = self.conv_1(F.leaky_relu(self.norm_1(y, condition), SLOPE))
        return self.shortcut(x, condition) + y

    def shortcut(self, x: Tensor, condition: Tensor) -> Tensor:
        if not self.learnt_shortcut:
            return x
        straight: Tensor = self.conv_s(self.norm_s(x, condition))
        return straight


class Decoder(nn.Module):
    """Warped feature (B, feature, h, w) -> RGB 0 ... 1 (B, 3, s h, s w), s = 2 ** (len(ups) + 1).

    At the public sizes: (B, 256, 64, 64) -> (B, 3, 512, 512). With `spectral_norm` the parameters
    are those of the public file; without it those left when `fold_spectral_norm` has been through.
    """

    def __init__(
        self,
        feature: int = 256,
        width: int = 512,
        hidden: int = 128,
        middle: int = 6,
        ups: tuple[int, ...] = (256, 64),
        *,
        spectral_norm: bool = True,
    ) -> None:
        super().__init__()
        self.middle = tuple(f"G_middle_{i}" for i in range(middle))
        self.ups = tuple(f"up_{i}" for i in range(len(ups)))
        self.fc = nn.Conv2d(feature, width, 3, padding=1)
        names = self.middle + self.ups
        widths = [width] * (1 + middle) + list(ups)
        for name, (inputs, outputs) in zip(names, pairwise(widths), strict=True):
            block = SpadeBlock(inputs, outputs, feature, hidden, spectral_norm=spectral_norm)
            self.add_module(name, block)
        self.conv_img = nn.Sequential(
            nn.Conv2d(widths[-1], 3 * 4, 3, padding=1), nn.PixelShuffle(2)
        )

    def forward(self, feature: Tensor) -> Tensor:
        x = self.fc(feature)
        for name in self.middle:
            x = self.get_submodule(name)(x, feature)
        for name in self.ups:
            x = F.interpolate(x, scale_factor=2, mode="nearest")
            condition = F.interpolate(feature, size=x.shape[2:], mode="nearest")
            x = self.get_submodule(name)(x, condition)
        return torch.sigmoid(self.conv_img(F.leaky_relu(x, SLOPE)))


def convolution(
    inputs: int, outputs: int, kernel: int, *, bias: bool = True, spectral_norm: bool
) -> nn.Module:
    """A convolution that keeps the size, with or without spectral norm."""
    if spectral_norm:
        return SpectralConv2d(inputs, outputs, kernel, bias=bias)
    return nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=bias)
