"""The system voice, spoken to over pipes: a stand-in program and, if there, the real one."""

from __future__ import annotations

import shlex
import shutil
import stat
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from greenroom.base.errors import AssetError, InputError
from greenroom.base.flow import Line, Span
from greenroom.speech.espeak import RATE, Espeak, find_espeak
from greenroom.speech.job import Cancelled
from greenroom.speech.voices import open_voice

# Writes down what it is told, and answers with 0.2 s of a tone between two silences, with the
# untrue sizes of a WAV that goes to a pipe.
STAND_IN = """\
import math, struct, sys, time
text = sys.stdin.buffer.read()
with open({log!r}, "wb") as log:
    log.write("\\n".join(sys.argv[1:]).encode() + b"\\n--\\n" + text)
{act}
tone = [int(9000 * math.sin(0.05 * n)) for n in range(4410)]
samples = [0] * 6000 + tone + [0] * 9000
form = struct.pack("<IHHIIHH", 16, 1, 1, {rate}, 2 * {rate}, 2, 16)
header = b"RIFF\\x24\\xf0\\xff\\x7fWAVEfmt " + form + b"data\\x00\\xf0\\xff\\x7f"
sys.stdout.buffer.write(header + struct.pack(f"<{{len(samples)}}h", *samples))
"""


def stand_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch, act: str = "", rate: int = RATE
) -> Path:
    """Put a program of that name before all others; returns what it writes down."""
    log, program, script = folder / "log", folder / "espeak-ng", folder / "stand_in.py"
    script.write_text(STAND_IN.format(log=str(log), act=act, rate=rate))
    # Not "#!python": that line of a script cannot hold a path with a space in it.
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "{script}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder))
    return log


def line(text: str, pause: float = 0.0) -> Line:
    return Line(tuple(Span(word.upper(), word) for word in text.split()), pause)


def test_it_says_what_is_to_be_spoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = stand_in(tmp_path, monkeypatch)
    (speech,) = open_voice("espeak:en-gb+f3", speed=0.8).synthesize(line("five dollars", 0.1))
    told, _, text = log.read_bytes().partition(b"\n--\n")
    options = told.decode().split("\n")
    assert options[options.index("-v") + 1] == "en-gb+f3"
    assert options[options.index("-s") + 1] == "140"
    assert {"--stdin", "--stdout"} < set(options)
    assert text == b"five dollars"
    assert (speech.rate, speech.phonemes, speech.words) == (22_050, (), ())


def test_text_is_never_an_option_or_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stand_in(tmp_path, monkeypatch)
    words = "--help; $(touch oops) `id` 'é' | &"
    list(Espeak().synthesize(Line((Span("", words),))))
    told, _, text = log.read_bytes().partition(b"\n--\n")
    assert text == words.encode()
    assert b"help" not in told
    assert not (tmp_path / "oops").exists()


def test_quiet_ends_are_cut_and_the_pause_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch)
    (speech,) = Espeak().synthesize(line("hello", 0.3))
    sound, pause = np.split(speech.pcm, [-round(0.3 * RATE)])
    assert not pause.any()
    assert 0.2 <= len(sound) / RATE <= 0.2 + 2 * 0.075 + 0.05
    assert np.abs(sound).max() == pytest.approx(9_000 / 32_768, rel=0.01)


def test_a_missing_program_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert find_espeak() is None
    with pytest.raises(AssetError, match="not installed") as caught:
        open_voice("espeak")
    assert "apt install espeak-ng" in caught.value.remedy


@pytest.mark.parametrize(
    "act",
    [
        "sys.exit('Error: The specified espeak-ng voice does not exist.')",
        "print('Error: The specified espeak-ng voice does not exist.', file=sys.stderr)\n"
        "sys.exit(0)",  # what version 1.51 does
    ],
)
def test_what_the_program_complains_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    stand_in(tmp_path, monkeypatch, act)
    with pytest.raises(AssetError, match="cannot speak with the voice xx") as caught:
        list(Espeak("xx").synthesize(line("hello")))
    assert "does not exist" in caught.value.got
    assert "--voices" in caught.value.remedy


@pytest.mark.parametrize(
    ("act", "rate"), [("sys.stdout.write('nonsense'); sys.exit()", RATE), ("", 16_000)]
)
def test_an_answer_that_is_no_sound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str, rate: int
) -> None:
    stand_in(tmp_path, monkeypatch, act, rate)
    with pytest.raises(AssetError, match="no sound that can be used") as caught:
        list(Espeak().synthesize(line("hello")))
    assert "22050 Hz" in caught.value.wanted


@pytest.mark.parametrize("variant", ["-h", "../../x", "a b", "en;ls", "en/us", "é"])
def test_variants_that_are_none(variant: str) -> None:
    with pytest.raises(AssetError, match="not a voice of espeak"):
        open_voice(f"espeak:{variant}")


def test_a_line_without_a_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "tone = []", RATE)
    with pytest.raises(InputError, match="nothing to say"):
        list(Espeak().synthesize(line("")))


def test_speed_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch)
    with pytest.raises(InputError, match="speed"):
        open_voice("espeak", speed=3)


def test_cancel_ends_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = stand_in(tmp_path, monkeypatch, "time.sleep(60)")
    voice = Espeak()
    caught: list[BaseException] = []

    def speak() -> None:
        try:
            list(voice.synthesize(line("hello")))
        except Cancelled as error:
            caught.append(error)

    speaker = threading.Thread(target=speak)
    speaker.start()
    while not log.exists():
        speaker.join(0.02)
        assert speaker.is_alive()
    voice.cancel()
    speaker.join(10)
    assert not speaker.is_alive()
    assert len(caught) == 1


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
class TestReal:
    def test_it_speaks(self) -> None:
        (speech,) = open_voice("espeak").synthesize(line("Good evening, and welcome.", 0.2))
        assert 1 < len(speech.pcm) / speech.rate < 3
        assert np.abs(speech.pcm).max() > 0.1
        assert not speech.pcm[-round(0.2 * RATE) :].any()

    def test_faster_is_shorter(self) -> None:
        lengths = [
            len(next(open_voice("espeak", speed=speed).synthesize(line("a longer line"))).pcm)
            for speed in (0.5, 1.0, 2.0)
        ]
        assert lengths == sorted(lengths, reverse=True)

    def test_an_unknown_voice(self) -> None:
        with pytest.raises(AssetError, match="cannot speak with the voice zz-none"):
            list(open_voice("espeak:zz-none").synthesize(line("hello")))

    @pytest.mark.parametrize("text", ["...", "😀"])
    def test_signs_only_end_in_one_way(self, text: str) -> None:
        try:
            (speech,) = open_voice("espeak").synthesize(line(text))
            assert np.isfinite(speech.pcm).all()
        except InputError:
            pass
