"""The lips follow the voice, on three scripts that the networks were not trained on.

The truth is made of the times that the voice itself gives its sounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import torch
from demo_anchor import demo_engine, vera

from greenroom.audio.window import Framer
from greenroom.base.errors import MissingExtraError
from greenroom.base.flow import Phoneme, Samples, Speech, Turn, Voice
from greenroom.quality.lips import Closures, Curve, closures, follow, opening, truth_opening
from greenroom.quality.visemes import BILABIALS, VOWELS
from greenroom.speech.script import read_script
from greenroom.speech.voices import open_voice

pytestmark = pytest.mark.voice

SCRIPTS = (
    "Broadband bills may jump by a fifth in April, campaigners claim, unless ministers step in.",
    "A submarine cable between Bergen and Aberdeen broke before breakfast, and repair teams spent "
    "most of Monday pumping out the tunnel.",
    "Mabel Brown, who mapped every bog in Cumbria on foot, was named botanist of the year by a "
    "panel of her peers.",
)
CORRELATION = 0.9  # at least, over all three together
CLOSED = 0.90  # share of p, b, m, at least
BILABIALS_AT_LEAST = 20


@dataclass(frozen=True, slots=True)
class Clip:
    """One spoken script: its sounds, the opening that they ask for, and the driven one."""

    phonemes: tuple[Phoneme, ...]
    truth: Curve
    driven: Curve


def spoken(voice: Voice, script: str) -> Speech:
    """A script as one piece of sound, without a pause before it."""
    pieces = [piece for line in read_script(script) for piece in voice.synthesize(line)]
    starts = np.cumsum([0, *(len(piece.pcm) / voice.rate for piece in pieces)])
    phonemes = [
        Phoneme(sound.symbol, start + sound.start, start + sound.end)
        for start, piece in zip(starts, pieces, strict=False)
        for sound in piece.phonemes
    ]
    return Speech(np.concatenate([piece.pcm for piece in pieces]), voice.rate, tuple(phonemes))


def heard(speech: Speech) -> Samples:
    """What the networks hear: whole frames at 16 kHz (F * 640,)."""
    framer = Framer(speech.rate)
    return np.concatenate([framer.push(speech).pcm, framer.finish().pcm])


@torch.inference_mode()
def driven_opening(pcm: Samples) -> Curve:
    """Opening of the lips (F,) that the engine drives, above the loop's own at the same frame."""
    engine, loop = demo_engine(), vera()
    frames, encoder = len(pcm) // 640, engine.encoder
    padded = np.pad(pcm, (encoder.left * 640, encoder.right * 640))
    features = encoder.encode(torch.from_numpy(padded)[None])
    turn = Turn(slots=(0,), first=(0,), seeds=(0,), loops=(loop,))
    motion = engine.predict_motion(features, turn, engine.init_state(1))
    return opening(motion, loop.motion[[i % len(loop) for i in range(frames)]])


@cache
def clips() -> tuple[Clip, ...]:
    try:
        voice = open_voice()
    except MissingExtraError as error:
        pytest.skip(str(error))
    return tuple(clip_of(spoken(voice, script)) for script in SCRIPTS)


def clip_of(speech: Speech) -> Clip:
    pcm = heard(speech)
    truth = truth_opening(speech.phonemes, len(pcm) // 640, demo_engine().rig)
    return Clip(speech.phonemes, truth, driven_opening(pcm))


def closed(symbols: str) -> Closures:
    """Closures of the driven lips, all clips together."""
    found = (closures(clip.driven, clip.phonemes, symbols) for clip in clips())
    return sum(found, start=Closures(0, 0))


def test_lips_follow_the_sounds() -> None:
    found = follow([clip.driven for clip in clips()], [clip.truth for clip in clips()])
    frames = sum(len(clip.truth) for clip in clips())
    print(f"\n{frames} frames: correlation {found.correlation:.3f}, lag {found.lag} frames")
    assert found.correlation >= CORRELATION
    assert found.lag == 0


def test_lips_close_on_p_b_m() -> None:
    """Vowels are the control: a mouth that is always shut would close on them just as often."""
    bilabials, vowels = closed(BILABIALS), closed(VOWELS)
    print(
        f"\nclosed on {bilabials.share:.1%} of {bilabials.count} p, b, m"
        f" and on {vowels.share:.1%} of {vowels.count} vowels"
    )
    assert bilabials.count >= BILABIALS_AT_LEAST
    assert bilabials.share >= CLOSED
    assert vowels.share < bilabials.share
