"""Ditto's stitching network S: moves the driven points so that the shoulders stay (spec 2.4)."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class StitchNetwork(nn.Module):
    """Source and driven points (B, points, 3) -> the driven points, moved (B, points, 3)."""

    def __init__(self, points: int = 21, widths: tuple[int, ...] = (128, 128, 64)) -> None:
        super().__init__()
        sizes = (2 * points * 3, *widths, points * 3 + 2)
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise(sizes):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.mlp = nn.Sequential(*layers[:-1])

    def forward(self, kp_source: Tensor, kp_driving: Tensor) -> Tensor:
        moves: Tensor = self.mlp(torch.cat([kp_source.flatten(1), kp_driving.flatten(1)], 1))
        each = moves[:, :-2].view_as(kp_driving)
        all_of_them = F.pad(moves[:, -2:], (0, 1))  # x and y; z stays
        return kp_driving + each + all_of_them[:, None]
