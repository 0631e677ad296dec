"""Sound to lips: a small convolutional regressor from log-mel frames to point displacements."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LIP_NUMBERS = 18  # six lip points times x, y, z
VISEMES = 15
MELS = 64
MELS_PER_FRAME = 4  # one each 10 ms
LEFT, RIGHT = 21, 5  # frames before and after a frame that can move its lips, exactly


class TemporalBlock(nn.Module):
    """Residual convolution over time that sees `right` frames ahead and the rest behind."""

    def __init__(self, channels: int, dilation: int, right: int, kernel: int = 3) -> None:
        super().__init__()
        self.padding = ((kernel - 1) * dilation - right, right)
        self.temporal = nn.Conv1d(channels, channels, kernel, dilation=dilation)
        self.pointwise = nn.Conv1d(channels, channels, 1)
        self.gain = nn.Parameter(torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.pointwise(F.gelu(self.temporal(F.pad(x, self.padding))))
        return x + self.gain[:, None] * y


class AudioToLips(nn.Module):
    """Log-mel frames, four per video frame, to displacements of the lip points."""

    def __init__(self, width: int = 160) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(MELS, affine=False)
        self.conv1 = nn.Conv1d(MELS, 96, 5, padding=2)
        self.conv2 = nn.Conv1d(96, 128, 4, stride=2, padding=1)
        self.conv3 = nn.Conv1d(128, width, 4, stride=2, padding=1)
        steps = ((1, 1), (1, 1), (2, 0), (1, 1), (2, 0), (4, 0))  # dilation, frames ahead
        self.blocks = nn.Sequential(*(TemporalBlock(width, *step) for step in steps))
        self.lips = nn.Conv1d(width, LIP_NUMBERS, 1)
        self.visemes = nn.Conv1d(width, VISEMES, 1)  # an auxiliary task of the training
        self.register_buffer("mean", torch.zeros(LIP_NUMBERS))
        self.register_buffer("std", torch.ones(LIP_NUMBERS))

    def trunk(self, mel: Tensor) -> Tensor:
        x = F.gelu(self.conv1(self.norm(mel)))
        x = F.gelu(self.conv3(F.gelu(self.conv2(x))))
        result: Tensor = self.blocks(x)
        return result

    def forward(self, mel: Tensor) -> Tensor:
        """Log-mel (B, 64, 4 n) -> displacements (B, n, 6, 3) in the head's frame, world units."""
        lips: Tensor = self.lips(self.trunk(mel)).transpose(1, 2)
        lips = lips * self.get_buffer("std") + self.get_buffer("mean")
        return lips.reshape(*lips.shape[:2], -1, 3)

    def viseme_logits(self, mel: Tensor) -> Tensor:
        """Log-mel (B, 64, 4 n) -> logits (B, n, 15) of which sound is seen; for measuring only."""
        logits: Tensor = self.visemes(self.trunk(mel)).transpose(1, 2)
        return logits
