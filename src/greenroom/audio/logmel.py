"""Log-mel features for the demo engine: what its AudioToLips network was trained on."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from greenroom.base.flow import PCM_PER_FRAME, PCM_RATE
from greenroom.nets.demo_audio import LEFT, MELS, MELS_PER_FRAME, RIGHT

HOP = PCM_PER_FRAME // MELS_PER_FRAME  # 10 ms
WINDOW = 400  # 25 ms
FFT = 512
LOW, HIGH = 60.0, 7600.0  # Hz, edges of the filters
FLOOR = 1e-6  # power that counts as silence
LEAD = WINDOW // 2 - HOP // 2  # mel frame k is centred on sample 160 k + 80
# The shipped network was trained on sound times that are 50 ms late: the sums of the voice's token
# durations, while the voice sounds each token 45 to 60 ms before them. So it must hear that early.
DEMO_AHEAD = 5 * HOP  # samples


def mel_filters() -> Tensor:
    """Triangles on the mel scale (257, 64), each of sum 1."""

    def hertz(mel: Tensor) -> Tensor:
        return 700 * (10 ** (mel / 2595) - 1)

    edge = 2595 * torch.log10(1 + torch.tensor([LOW, HIGH], dtype=torch.float64) / 700)
    knots = hertz(torch.linspace(float(edge[0]), float(edge[1]), MELS + 2, dtype=torch.float64))
    bins = torch.linspace(0, PCM_RATE / 2, FFT // 2 + 1, dtype=torch.float64)[:, None]
    low, peak, high = knots[:-2], knots[1:-1], knots[2:]
    rise, fall = (bins - low) / (peak - low), (high - bins) / (high - peak)
    triangles = torch.minimum(rise, fall).clamp(min=0)
    return (triangles / triangles.sum(0).clamp(min=1e-6)).float()


class LogMel:
    """An AudioEncoder; each frame of 40 ms gets 4 mel frames of 64 bands, time first.

    The context is exact: with `left` and `right` frames around it a step's motion does not depend
    on where the step was cut. Values lie in about -1.5 (silence) ... 2.5, always finite.
    With `ahead` (samples) every feature is that of the sound so much later.
    """

    left = LEFT
    right = RIGHT
    width = MELS_PER_FRAME * MELS

    def __init__(self, device: torch.device | str = "cpu", *, ahead: int = 0) -> None:
        self._ahead = ahead
        self._beyond = -(-ahead // PCM_PER_FRAME)  # frames of the window that only lend sound
        self.right = RIGHT + self._beyond
        self._filters = mel_filters().to(device)
        self._window = torch.hann_window(WINDOW, device=device)

    def encode(self, pcm: Tensor) -> Tensor:
        """(B, n * 640) at 16 kHz -> (B, n, 256); of the frames lent to `ahead` none come out."""
        batch, samples = pcm.shape
        assert samples % PCM_PER_FRAME == 0
        samples -= self._beyond * PCM_PER_FRAME
        padded = F.pad(pcm.to(self._window)[:, self._ahead :], (LEAD, FFT))
        windows = padded.unfold(-1, WINDOW, HOP)[:, : samples // HOP] * self._window
        power = torch.fft.rfft(windows, FFT).abs() ** 2
        mel = torch.log10(power @ self._filters + FLOOR) / 2 + 1.5
        return mel.reshape(batch, samples // PCM_PER_FRAME, self.width)
