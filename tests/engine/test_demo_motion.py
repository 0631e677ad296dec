"""How the demo anchor moves by herself: by place and not by order, smoothly, and calmly."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from greenroom.audio.logmel import LogMel
from greenroom.engine.demo import assets
from greenroom.engine.demo_motion import (
    emphasis,
    idle_params,
    presence,
    smooth_noise,
    speaking_params,
)
from greenroom.engine.rig import GAZE_X, GAZE_Y, PITCH, TY, YAW, Rig
from greenroom.nets.demo_audio import LEFT, RIGHT


@cache
def rig() -> Rig:
    return Rig.load(assets() / "rig.safetensors")


# --- noise ----------------------------------------------------------------------------------------


def test_noise_depends_on_the_frame_number_alone() -> None:
    whole = smooth_noise(5, 1, np.arange(1000.0), 30.0)
    cut = np.concatenate(
        [smooth_noise(5, 1, np.arange(i, i + 7.0), 30.0) for i in range(0, 994, 7)]
    )
    np.testing.assert_array_equal(cut, whole[:994])


def test_noise_differs_by_seed_and_channel() -> None:
    frames = np.arange(2000.0)
    rows = [smooth_noise(s, c, frames, 25.0) for s, c in ((0, 0), (1, 0), (0, 1), (2**40, 0))]
    correlation = np.abs(np.corrcoef(rows) - np.eye(4))
    assert correlation.max() < 0.35


def test_noise_is_calm_and_of_unit_size() -> None:
    noise = smooth_noise(11, 0, np.arange(200_000.0), 20.0)
    assert abs(noise.mean()) < 0.05
    assert abs(noise.std() - 1) < 0.05
    assert np.abs(noise).max() < 2.6
    assert np.abs(np.diff(noise)).max() < 0.25  # a fifth of a second from one side to the other
    assert np.abs(np.diff(noise, 3)).max() < 0.01  # no kinks


def test_noise_far_into_the_year_is_still_smooth() -> None:
    start = 25.0 * 86_400 * 365
    noise = smooth_noise(3, 0, start + np.arange(1000.0), 33.0)
    assert 0.3 < noise.std() < 2
    assert np.abs(np.diff(noise)).max() < 0.25


# --- what the sound asks for ----------------------------------------------------------------------


def speech(frames: int, *, gain: float = 1.0) -> Tensor:
    """Features (1, frames, D) of syllables in frames 40 ... 80 of silence, loudest at 60."""
    t = torch.arange(frames * 640) / 16_000
    voice = sum(torch.sin(2 * torch.pi * 170 * k * t) / k for k in range(1, 20))
    syllables = torch.sin(torch.pi * t * 25 / 5) ** 2 * ((t > 1.6) & (t < 3.2))
    stressed = 1 + 4 * torch.exp(-0.5 * ((t * 25 - 60) / 2) ** 2)
    return LogMel().encode((gain * 0.05 * voice * syllables * stressed)[None])


@pytest.mark.parametrize("measure", [emphasis, presence])
def test_measures_do_not_depend_on_the_step(measure: object) -> None:
    assert callable(measure)
    features = speech(120)
    whole = measure(features)
    assert whole.shape == (1, 120 - LEFT - RIGHT)
    for start in (0, 13, 50):
        step = measure(features[:, start : start + LEFT + 5 + RIGHT])
        torch.testing.assert_close(step, whole[:, start : start + 5], rtol=0, atol=1e-5)


def test_emphasis_is_greatest_at_the_stressed_syllable_whatever_the_gain() -> None:
    loud, quiet = emphasis(speech(120))[0], emphasis(speech(120, gain=0.25))[0]
    for found in (loud, quiet):
        assert 58 <= int(found.argmax()) + LEFT <= 68
        assert 0.25 < float(found.max()) < 1
        assert float(found[: 36 - LEFT].max()) == 0
        assert float(found.diff().abs().max()) < 0.15


def test_presence_rises_with_speech_and_is_gone_in_silence() -> None:
    here = presence(speech(120))[0]
    assert float(here[: 30 - LEFT].max()) == 0
    assert float(here[55 - LEFT : 70 - LEFT].min()) > 0.8
    assert float(here[95 - LEFT :].max()) == 0
    assert float(here.diff().abs().max()) < 0.2


def test_speaking_adds_nothing_in_silence_and_keeps_the_eyes_on_the_lens() -> None:
    base = idle_params(rig(), 100, seed=1)[:20]
    frames, none = torch.arange(500, 520), torch.zeros(20, dtype=torch.float64)
    assert torch.equal(speaking_params(rig(), base, frames, 3, none, none), base)
    some = torch.ones_like(none)
    moved = speaking_params(rig(), base, frames, 3, some, some)
    other = speaking_params(rig(), base, frames, 4, some, some)
    turn = moved[:, YAW] - base[:, YAW]
    assert float(turn.abs().max()) > 0.3
    assert float((moved - other)[:, YAW].abs().max()) > 0.3
    torch.testing.assert_close(
        (moved - other)[:, rig().column("eyeBlinkLeft")], none, rtol=0, atol=0
    )
    # Gaze takes back nine tenths of the turn; what is left are glances of its own.
    glance = (moved[:, GAZE_X] - base[:, GAZE_X]) + 0.9 * turn
    assert float(glance.abs().max()) < 2.0
    # Full emphasis bends the head down.
    calm = speaking_params(rig(), base, frames, 3, none, some)
    assert bool((moved[:, PITCH] < calm[:, PITCH] - 1).all())


# --- the loop -------------------------------------------------------------------------------------


def blink_count(params: Tensor) -> int:
    closed = params[:, rig().column("eyeBlinkLeft")] > 0.5
    return int((closed & ~closed.roll(1)).sum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("frames", [250, 1000])
def test_loop_closes_on_itself(frames: int, seed: int) -> None:
    params = idle_params(rig(), frames, seed)
    assert params.shape == (frames, rig().width)
    steps = (params.roll(-1, 0) - params).abs()
    inside = steps[:-1].max(0).values
    assert bool((steps[-1] <= 1.05 * inside)[:GAZE_X].all())
    assert float(steps[-1, [GAZE_X, GAZE_Y]].max()) < 2.7  # a glance may fall anywhere
    head = steps[:, :GAZE_X].max(0).values
    assert float(head[:3].max()) < 0.35  # degrees per frame
    assert float(head[3:].max()) < 0.006  # world units per frame


@pytest.mark.parametrize("seed", range(4))
def test_blinks_are_as_many_as_a_person_s_and_irregular(seed: int) -> None:
    params = idle_params(rig(), 1500, seed)  # one minute
    assert 12 <= blink_count(params) <= 18
    closed = params[:, rig().column("eyeBlinkLeft")]
    assert torch.equal(closed, params[:, rig().column("eyeBlinkRight")])
    assert float(closed.min()) >= 0
    assert float(closed.max()) > 0.8
    peaks = ((closed > closed.roll(1)) & (closed >= closed.roll(-1)) & (closed > 0.5)).nonzero()
    gaps = peaks[:, 0].diff().double()
    assert float(gaps.std()) > 5


def test_waiting_mouth_is_closed_and_smiles_a_little() -> None:
    params = idle_params(rig(), 500, seed=2)
    mouth = [rig().column(u) for u in rig().units if u.startswith(("mouth", "jaw", "tongue"))]
    smile = [rig().column(f"mouthSmile{side}") for side in ("Left", "Right")]
    assert float(params[:, [c for c in mouth if c not in smile]].abs().max()) == 0
    assert float((params[:, smile] - 0.16).abs().max()) < 0.08


def test_waiting_is_calm_and_breathes() -> None:
    params = idle_params(rig(), 1500, seed=3).numpy()
    assert np.abs(params[:, YAW]).max() < 4
    assert np.abs(params[:, [GAZE_X, GAZE_Y]] + 0.9 * params[:, [YAW, PITCH]]).max() <= 1.3 + 1e-9
    spectrum = np.abs(np.fft.rfft(params[:, TY] - params[:, TY].mean()))
    assert 12 <= int(spectrum.argmax()) <= 16  # breaths in a minute


def test_another_seed_is_another_loop() -> None:
    first, again, other = (idle_params(rig(), 250, seed) for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert float((first - other)[:, YAW].abs().max()) > 0.3
