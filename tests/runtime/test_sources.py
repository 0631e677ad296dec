"""What is text, what is sound, and what of it may be heard."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from greenroom.base.errors import InputError
from greenroom.runtime import sources
from greenroom.runtime.sources import SpeechInput, SpeechOptions, is_text, open_speech


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scripts that would be spoken; the voice itself is not needed here."""
    heard: list[str] = []

    def speak(text: str, options: SpeechOptions) -> SpeechInput:
        heard.append(text)
        raise StopIteration

    monkeypatch.setattr(sources, "_spoken", speak)
    return heard


def opened(source: str, kind: str = "auto", loudness: float | None = None) -> NDArray[np.float32]:
    """All that is heard of a recording; none where it was a script."""
    try:
        speech = open_speech(source, kind, SpeechOptions(loudness=loudness))
    except StopIteration:
        return np.zeros(0, np.float32)
    with speech.pieces as pieces:
        return np.concatenate([piece.pcm for piece in pieces])


def wav(path: Path, pcm: NDArray[np.float32]) -> bytes:
    import soundfile

    soundfile.write(path, pcm, 16000, subtype="FLOAT", format="WAV")
    return path.read_bytes()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Good evening.", True),
        ("Hello", True),
        ("news.txt", False),
        ("folder/news", False),
        ("-", False),
        ("x" * 5000, True),
        ("a/" * 5000, True),
        ("", True),
        ("a\0b", True),
    ],
)
def test_text_or_path(source: str, text: bool) -> None:
    assert is_text(source, "auto") == text
    assert is_text(source, "text")
    assert not is_text(source, "file")


def test_content_tells_where_the_name_does_not(tmp_path: Path, spoken: list[str]) -> None:
    data = wav(tmp_path / "sound", np.full(1600, 0.25, np.float32))
    (tmp_path / "script").write_text("Hi.")
    assert len(opened(str(tmp_path / "sound"))) == 1600
    assert len(opened(str(tmp_path / "script"))) == 0
    assert spoken == ["Hi."]
    for content, samples in ((b"Yes.", 0), ("Ü.".encode("utf-16"), 0), (data, 1600)):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(content,))
        writer.start()
        assert len(opened(str(pipe))) == samples
        writer.join()
        pipe.unlink()
    assert spoken == ["Hi.", "Yes.", "Ü."]


class Slowly(io.RawIOBase):
    """A pipe that gives one byte, then the rest in small pieces."""

    def __init__(self, data: bytes) -> None:
        self._rest = data
        self._size = 1

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        piece, self._rest = self._rest[: self._size], self._rest[self._size :]
        self._size = min(100, len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def test_a_slow_pipe_is_no_text(
    tmp_path: Path, spoken: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = wav(tmp_path / "sound", np.full(1600, 0.25, np.float32))
    stdin = io.TextIOWrapper(io.BufferedReader(Slowly(data)))  # type: ignore[type-var]
    monkeypatch.setattr("sys.stdin", stdin)
    before = set(tmp_path.iterdir())
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert len(opened("-")) == 1600
    assert set(tmp_path.iterdir()) == before
    assert spoken == []


def test_errors_name_the_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"\0" * 9000)))
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(InputError, match="standard input is not a sound"):
        opened("-")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        opened("-")


def test_a_script_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(open("/dev/zero", "rb"))  # noqa: SIM115
    monkeypatch.setattr(sources, "_looks_like_text", lambda head: True)
    monkeypatch.setattr("sys.stdin", stdin)
    with pytest.raises(InputError, match="too long"):
        opened("-")


def test_no_more_than_full_scale_is_heard(tmp_path: Path) -> None:
    """With the loudness left alone 1e30 would reach the networks, and no player."""
    pcm = np.array([0.5, -0.25, 3.0, -1e30], np.float32)
    wav(tmp_path / "loud.wav", pcm)
    assert opened(str(tmp_path / "loud.wav")).tolist() == [0.5, -0.25, 1.0, -1.0]
