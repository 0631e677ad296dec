"""The laws of the house on the demo preset; laws 4 and 5 have more tests beside their rooms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from conftest import Studio, babble
from greenroom.base.flow import Frames, Pixels, Samples, Speech
from greenroom.runtime.painter import Painter
from greenroom.runtime.scheduler import Scheduler
from greenroom.runtime.session import Session


def session_of(studio: Studio, seed: int = 0) -> Session:
    return Session(
        studio.anchor,
        studio.engine.encoder,
        studio.preset.gate,
        step=studio.engine.step,
        seed=seed,
    )


def play(
    studio: Studio,
    sounds: Sequence[tuple[Samples, int]],  # samples and seed per session
    cuts: Sequence[int] = (),
    *,
    painter: Painter | None = None,
    bypass: bool = True,
) -> list[list[Frames]]:
    """Let all sessions speak at once, the sound cut at `cuts`; their frames."""
    scheduler = Scheduler(
        studio.engine, painter or studio.painter, slots=len(sounds), bypass=bypass
    )
    sessions = [session_of(studio, seed) for _, seed in sounds]
    out: dict[int, list[Frames]] = {id(s): [] for s in sessions}
    for session, (pcm, _) in zip(sessions, sounds, strict=True):
        scheduler.join(session)
        for piece in np.split(pcm, cuts):
            session.feed(Speech(piece, 16000))
        session.finish()
    while not scheduler.idle:
        for session, frames in scheduler.step():
            out[id(session)].append(frames)
    return [out[id(s)] for s in sessions]


def pictures(frames: Sequence[Frames]) -> list[Pixels]:
    assert [f.first for f in frames] == np.cumsum([0, *(len(f) for f in frames[:-1])]).tolist()
    return [picture for f in frames for picture in f.pictures]


def spoken(seconds: float, seed: int = 0) -> Samples:
    """Babble with half a second of silence at the end."""
    return np.concatenate([babble(seconds, seed=seed), np.zeros(8000, np.float32)])


def test_law_1_chunk(studio: Studio) -> None:
    pcm = spoken(0.9)
    whole = pictures(play(studio, [(pcm, 3)])[0])
    cut = pictures(play(studio, [(pcm, 3)], [1, 77, 5000, 5001, 12345])[0])
    assert len(whole) == len(cut) == 35
    assert all(np.array_equal(a, b) for a, b in zip(whole, cut, strict=True))


def test_law_2_batch_of_rows(studio: Studio) -> None:
    """Four rows in one network call against one row alone: one level at most."""
    pcm = spoken(0.4)
    together = Painter(studio.engine, batch_size=4, lanes=1)
    alone = pictures(play(studio, [(pcm, 1)])[0])
    batched = pictures(play(studio, [(pcm, 1)], painter=together)[0])
    together.close()
    worst = max(int(np.abs(a.astype(int) - b).max()) for a, b in zip(alone, batched, strict=True))
    assert worst <= 1


def test_law_2_batch_of_sessions(studio: Studio) -> None:
    sounds = [(spoken(0.4, 1), 1), (spoken(0.7, 2), 2)]
    both = play(studio, sounds)
    for sound, frames in zip(sounds, both, strict=True):
        alone = pictures(play(studio, [sound])[0])
        together = pictures(frames)
        worst = max(
            int(np.abs(a.astype(int) - b).max()) for a, b in zip(alone, together, strict=True)
        )
        assert worst <= 1


def test_law_3_silence_is_the_loop(studio: Studio) -> None:
    frames = play(studio, [(np.zeros(16000, np.float32), 0)])[0]
    loop = studio.anchor.loop
    assert sum(f.bypassed for f in frames) == 25
    for n, picture in enumerate(pictures(frames)):
        assert np.array_equal(picture, loop.pictures[n % len(loop)])


def test_law_3_the_loop_is_what_would_be_painted(studio: Studio) -> None:
    """Without the bypass the networks paint the same bytes: no change of texture at the joints."""
    silence = [(np.zeros(6400, np.float32), 0)]
    shown = pictures(play(studio, silence)[0])
    painted = pictures(play(studio, silence, bypass=False)[0])
    assert all(np.array_equal(a, b) for a, b in zip(shown, painted, strict=True))


@pytest.mark.parametrize("samples", [1, 639, 640, 641, 16001])
def test_law_4_clock(studio: Studio, samples: int) -> None:
    frames = play(studio, [(np.zeros(samples, np.float32), 0)])[0]
    count = -(-25 * samples // 16000)
    assert len(pictures(frames)) == count
    assert sum(len(f.sound) for f in frames) == count * 1920


def test_law_6_leave(studio: Studio) -> None:
    """A slot that was used gives the same frames as a new one."""
    scheduler = Scheduler(studio.engine, studio.painter, slots=1)
    results = []
    for seed, pcm in ((5, spoken(0.5, 5)), (6, spoken(0.4, 6))):
        session = session_of(studio, seed)
        assert scheduler.join(session) == 0
        session.feed(Speech(pcm, 16000))
        session.finish()
        frames: list[Frames] = []
        while not scheduler.idle:
            frames += [f for _, f in scheduler.step()]
        scheduler.leave(session)
        results.append(pictures(frames))
    fresh = pictures(play(studio, [(spoken(0.4, 6), 6)])[0])
    assert all(np.array_equal(a, b) for a, b in zip(results[1], fresh, strict=True))


def test_law_6_sessions_keep_to_themselves(studio: Studio) -> None:
    """Beside a speaking session a silent one shows its loop and carries its own sound."""
    speaking, silent = play(studio, [(spoken(0.5), 0), (np.zeros(16000, np.float32), 1)])
    loop = studio.anchor.loop
    for n, picture in enumerate(pictures(silent)):
        assert np.array_equal(picture, loop.pictures[n % len(loop)])
    assert not np.concatenate([f.sound for f in silent]).any()
    assert np.concatenate([f.sound for f in speaking]).any()


def test_another_seed_moves_the_head_otherwise_where_she_speaks(studio: Studio) -> None:
    pcm = spoken(0.6)
    one = play(studio, [(pcm, 1)])[0]
    other = play(studio, [(pcm, 2)])[0]
    differ = [not np.array_equal(a, b) for a, b in zip(pictures(one), pictures(other), strict=True)]
    assert any(differ[5:15])
    assert not differ[-1]  # in the silence at the end both show the loop
