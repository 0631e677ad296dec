"""The log-mel features are those that the audio network was trained on, however sound is cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from greenroom.audio.logmel import LogMel, mel_filters
from greenroom.base.flow import PCM_PER_FRAME
from greenroom.base.weights import load, read_state
from greenroom.engine.demo import assets
from greenroom.nets.demo_audio import AudioToLips


def recorded() -> dict[str, np.ndarray]:
    with np.load(Path(__file__).parents[1] / "data" / "demo_reference.npz") as stored:
        return {name: stored[name] for name in stored.files}


def pcm() -> Tensor:
    """The recorded sound (1, 40 * 640) in -1 ... 1."""
    return torch.from_numpy(recorded()["audio.pcm"])[None].float() / 32768


@torch.inference_mode()
def test_features_lips_and_visemes_as_recorded() -> None:
    features = LogMel().encode(pcm())
    assert features.shape == (1, 40, LogMel.width)
    mel = features.view(1, 160, 64).transpose(1, 2)
    np.testing.assert_allclose(mel[..., ::3], recorded()["audio.mel"], atol=2e-4)
    net = load(AudioToLips, read_state(assets() / "audio_to_lips.safetensors"), "audio to lips")
    wanted = recorded()["audio.lips"]
    assert np.abs(wanted).max() > 0.1, "the recorded lips move"
    np.testing.assert_allclose(net(mel).flatten(2), wanted, atol=1e-4)
    np.testing.assert_allclose(net.viseme_logits(mel), recorded()["audio.visemes"], atol=1e-3)


def test_features_do_not_depend_on_the_cut() -> None:
    """One frame of sound on both sides is enough for the features themselves."""
    encoder, whole = LogMel(), pcm()
    wanted = encoder.encode(whole)[:, 10:20]
    cut = encoder.encode(whole[:, 9 * PCM_PER_FRAME : 21 * PCM_PER_FRAME])[:, 1:-1]
    torch.testing.assert_close(cut, wanted, rtol=0, atol=1e-5)


def test_ahead_is_the_same_features_earlier() -> None:
    """Each frame holds what comes 50 ms later, five mel frames; two frames are lent for it."""
    sound = pcm()
    plain = LogMel().encode(sound).view(160, 64)
    ahead = LogMel(ahead=800)
    early = ahead.encode(sound)
    assert (ahead.right, early.shape[1]) == (LogMel.right + 2, 38)
    torch.testing.assert_close(early.view(152, 64), plain[5:157], rtol=0, atol=1e-5)


def test_sessions_do_not_mix() -> None:
    encoder, sound = LogMel(), pcm()
    both = encoder.encode(torch.cat([sound, sound * 0]))
    torch.testing.assert_close(both[:1], encoder.encode(sound), rtol=0, atol=1e-6)
    torch.testing.assert_close(both[1:], encoder.encode(sound * 0), rtol=0, atol=1e-6)


@pytest.mark.parametrize("hertz", [200.0, 1000.0, 4000.0])
def test_a_tone_peaks_in_its_band(hertz: float) -> None:
    time = torch.arange(10 * PCM_PER_FRAME) / 16_000
    features = LogMel().encode(0.3 * torch.sin(2 * torch.pi * hertz * time)[None])
    band = int(features[0, 5].view(4, 64)[0].argmax())
    centre = float(mel_filters()[:, band].argmax()) * 16_000 / 512
    assert abs(centre - hertz) < 0.08 * hertz + 32


def test_silence_is_the_floor_and_full_scale_is_finite() -> None:
    encoder = LogMel()
    assert bool((encoder.encode(torch.zeros(1, 6400)) == -1.5).all())
    square = torch.sign(torch.sin(torch.arange(6400) * 0.3))[None]
    assert bool(encoder.encode(square).isfinite().all())
