"""How the virtual anchor moves when nobody says how: idle loop, head motion, nods and brows.

Everything is a function of seeds, frame numbers and nearby sound, so that how a job is cut into
steps cannot show. Times are in frames of 40 ms unless they say seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from greenroom.base.flow import FPS
from greenroom.engine.rig import GAZE_X, GAZE_Y, PITCH, ROLL, TX, TY, TZ, YAW, Rig
from greenroom.nets.demo_audio import LEFT, RIGHT

Numbers = NDArray[np.float64]

GAZE_SHARE = -0.9  # of a turn of the head that the eyes take back to stay on the lens


@dataclass(frozen=True, slots=True)
class Sway:
    """One slow random motion: which parameter, how far (standard deviation), how fast."""

    parameter: int
    size: float  # degrees or world units
    seconds: float  # between two independent positions


# While she speaks; on top of the loop. Calm, as a newsreader sits.
SPEAKING = (
    Sway(YAW, 2.2, 1.3),
    Sway(PITCH, 1.2, 1.0),
    Sway(ROLL, 1.0, 1.5),
    Sway(TX, 0.016, 1.8),
    Sway(TY, 0.009, 1.6),
    Sway(GAZE_X, 0.7, 0.7),
    Sway(GAZE_Y, 0.5, 0.8),
)

# While she waits.
WAITING = (
    Sway(YAW, 1.0, 3.0),
    Sway(PITCH, 0.5, 2.6),
    Sway(ROLL, 0.5, 3.4),
    Sway(TX, 0.010, 4.0),
    Sway(TZ, 0.008, 4.0),
)

BREATHS_PER_SECOND = 0.23
BREATH = {TY: (0.007, 0.0), PITCH: (0.22, 0.9)}  # parameter -> size, lag in radians
BLINKS_PER_SECOND = 15 / 60
BLINK_SECONDS = (0.045, 0.075)  # closing and opening, standard deviations of the two flanks
GLANCE_SECONDS = (0.8, 2.4)  # how long the eyes rest
GLANCE_DEGREES = (1.3, 0.8)  # largest, along x and y
NOD_DEGREES = -2.0  # of pitch, at full emphasis
BROWS = {"browInnerUp": 0.25, "browOuterUpLeft": 0.28, "browOuterUpRight": 0.28}
BROW_CHANNEL = 99  # of the noise that chooses which emphases raise the brows


# --- noise that needs no memory -------------------------------------------------------------------


def _uniform(seed: int, channel: int, index: NDArray[np.int64]) -> Numbers:
    """Numbers in -1 ... 1 by place, not by order: SplitMix64's finaliser over seed and index."""
    with np.errstate(over="ignore"):
        key = np.uint64((seed * 0x9E3779B97F4A7C15 + channel * 0xD1B54A32D192ED03) % 2**64)
        x = (index.astype(np.uint64) + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9) ^ key
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        x ^= x >> np.uint64(31)
    return (x >> np.uint64(11)).astype(np.float64) / 2**52 - 1


def smooth_noise(seed: int, channel: int, frames: Numbers, period: float) -> Numbers:
    """Noise of about unit variance at any frame numbers: a uniform cubic B-spline, so C2.

    `period` is the distance of its knots in frames; it never exceeds 2.5.
    """
    place = frames / period
    knot = np.floor(place).astype(np.int64)
    u = place - knot
    weights = ((1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3)
    total = np.sum([w * _uniform(seed, channel, knot + i) for i, w in enumerate(weights)], axis=0)
    gain = math.sqrt(3 / 0.48)  # of a uniform number, and of the average over knots
    return np.asarray(total / 6 * gain)


# --- what the sound asks for ----------------------------------------------------------------------

# The outermost frames of a step's window are heard only in part, so nothing here counts them.
BEFORE, AFTER = LEFT - 1, RIGHT - 1
MEMORY, AHEAD = 9, 2  # frames that a syllable's loudness is measured against
PLAIN, FULL = 0.1, 0.25  # log-mel above the rest that is still plain, and that is a full nod
LAG, SPREAD = 2.0, 2.6  # of the nod behind the sound, and its width
PRESENT = 9  # frames back that make her present


def _kernel(values: list[float], like: Tensor) -> Tensor:
    kernel = torch.tensor(values, dtype=like.dtype, device=like.device)
    return (kernel / kernel.sum())[None, None]


def emphasis(features: Tensor) -> Tensor:
    """How much a syllable stands out, 0 ... 1: features (B, left + K + right, D) -> (B, K).

    Loudness above that of the speech around it, spread into a nod; gain hardly matters.
    """
    loud = _loudness(features)
    active = _active(loud)
    near = _kernel([1.0] * (MEMORY + 1 + AHEAD), loud)
    around = F.conv1d(loud * active, near) / F.conv1d(active, near).clamp(min=1e-6)
    middle = slice(MEMORY, loud.shape[-1] - AHEAD)
    excess = (loud[..., middle] - around - PLAIN).clamp(min=0) * active[..., middle]
    before, after = BEFORE - MEMORY, AFTER - AHEAD
    bell = [math.exp(-0.5 * ((k + LAG) / SPREAD) ** 2) for k in range(-before, after + 1)]
    return torch.tanh(F.conv1d(excess, _kernel(bell, loud))[:, 0] / FULL)


def presence(features: Tensor) -> Tensor:
    """How much she is speaking, 0 ... 1, rising and falling in half a second: (B, K)."""
    active = _active(_loudness(features))
    length = PRESENT + 1 + AFTER
    hann = [math.sin(math.pi * (k + 1) / (length + 1)) ** 2 for k in range(length)]
    return F.conv1d(active[..., BEFORE - PRESENT :], _kernel(hann, active))[:, 0]


def _loudness(features: Tensor) -> Tensor:
    """The mean log-mel of each frame that is heard in full, (B, 1, n - 2)."""
    return features[:, 1:-1].mean(-1)[:, None]


def _active(loud: Tensor) -> Tensor:
    """0 at the floor of the log-mel, 1 for anything that is clearly speech."""
    return ((loud + 0.9) / 0.6).clamp(0, 1)


def speaking_params(
    rig: Rig, base: Tensor, frames: Tensor, seed: int, nod: Tensor, present: Tensor
) -> Tensor:
    """The loop's params (K, 60) with the head motion of speech added; all float64.

    `frames` are absolute numbers (K,); `nod` and `present` (K,) come from the sound.
    """
    numbers = frames.cpu().numpy().astype(np.float64)
    params = base.clone()

    def noise(channel: int, seconds: float) -> Tensor:
        return torch.from_numpy(smooth_noise(seed, channel, numbers, seconds * FPS)).to(base)

    for sway in SPEAKING:
        params[:, sway.parameter] += present * sway.size * noise(sway.parameter, sway.seconds)
    params[:, PITCH] += NOD_DEGREES * nod
    params[:, GAZE_X] += GAZE_SHARE * (params[:, YAW] - base[:, YAW])
    params[:, GAZE_Y] += GAZE_SHARE * (params[:, PITCH] - base[:, PITCH])
    raised = nod * (0.3 + 0.9 * noise(BROW_CHANNEL, 1.6)).clamp(0, 1)
    for unit, size in BROWS.items():
        params[:, rig.column(unit)] += size * raised
    return params


# --- the loop in which she waits ------------------------------------------------------------------


def _periodic(rng: np.random.Generator, frames: int, seconds: float) -> Numbers:
    """Noise of unit variance that closes on itself: a random Fourier series over the loop."""
    length = frames / FPS
    count = max(1, math.ceil(1.5 * length / seconds))
    harmonic = np.arange(1, count + 1)
    size = np.exp(-((harmonic * seconds / length) ** 2))
    size *= math.sqrt(2 / np.sum(size**2))
    phase = rng.uniform(0, 2 * math.pi, count)
    turn = 2 * math.pi * harmonic * (np.arange(frames)[:, None] + 0.5) / frames
    return np.asarray((size * np.sin(turn + phase)).sum(1))


def _moments(rng: np.random.Generator, frames: int, seconds: float, jitter: float) -> Numbers:
    """Irregular moments (in frames) around a loop, about `seconds` apart, at least one."""
    count = max(1, round(frames / FPS / seconds))
    gaps = rng.uniform(1 - jitter, 1 + jitter, count)
    return np.asarray((np.cumsum(gaps) / gaps.sum() + rng.uniform()) * frames % frames)


def _blinks(rng: np.random.Generator, frames: int) -> Numbers:
    """Closure of the lids, 0 ... 1, around a loop."""
    closed = np.zeros(frames)
    for moment in _moments(rng, frames, 1 / BLINKS_PER_SECOND, 0.45):
        away = (np.arange(frames) - moment + frames / 2) % frames - frames / 2
        width = np.where(away < 0, *BLINK_SECONDS) * FPS
        closed = np.maximum(closed, np.exp(-0.5 * (away / width) ** 2))
    return np.clip(closed * 1.08, 0, 1)


def _glances(rng: np.random.Generator, frames: int) -> Numbers:
    """Small quick shifts of gaze between rests, degrees (frames, 2)."""
    moments = np.sort(_moments(rng, frames, sum(GLANCE_SECONDS) / 2, 0.5))
    targets = rng.uniform(-1, 1, (len(moments), 2)) * GLANCE_DEGREES
    gaze = np.zeros((frames, 2))
    for moment, step in zip(moments, targets - np.roll(targets, 1, 0), strict=True):
        away = (np.arange(frames) - moment) / 1.0  # a small saccade takes about two frames
        gaze += step * np.clip(0.5 + 0.5 * away, 0, 1)[:, None]
    return np.asarray(gaze + targets[-1])


def idle_params(rig: Rig, frames: int, seed: int = 0) -> Tensor:
    """A loop of `frames` in which she waits: (frames, 60) float64, the last meets the first.

    Breath, small shifts of the head, irregular blinks, short glances; the mouth stays closed.
    """
    assert frames >= 2 * FPS, "a loop is at least two seconds long"
    rng = np.random.default_rng(seed)
    params = rig.neutral(frames).cpu().numpy()
    for sway in WAITING:
        params[:, sway.parameter] += sway.size * _periodic(rng, frames, sway.seconds)
    breaths = max(1, round(frames / FPS * BREATHS_PER_SECOND))
    turn = 2 * math.pi * (breaths * np.arange(frames) / frames + rng.uniform())
    for parameter, (size, lag) in BREATH.items():
        params[:, parameter] += size * np.sin(turn - lag)
    params[:, [GAZE_X, GAZE_Y]] = GAZE_SHARE * params[:, [YAW, PITCH]] + _glances(rng, frames)
    for side in ("Left", "Right"):
        params[:, rig.column(f"mouthSmile{side}")] += 0.02 * _periodic(rng, frames, 4.0)
    closed = _blinks(rng, frames)
    for side in ("Left", "Right"):
        params[:, rig.column(f"eyeBlink{side}")] = closed
    return torch.from_numpy(params).to(rig.rest)
