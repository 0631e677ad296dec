"""Bad input at every door: a clear error, the right exit code, nothing left, nothing lost."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from harness import greenroom, names, write_wav

from conftest import Studio, babble
from greenroom import cli


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A good sound of 0.4 s, away from where outputs go."""
    folder = tmp_path / "in"
    folder.mkdir()
    return write_wav(folder / "good.wav", babble(0.4))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["missing.wav"], 2, "no such file"),
        (["folder/missing"], 2, "no such file"),
        (["--text", ""], 2, "script is empty"),
        (["--text", " \n "], 2, "script is empty"),
        (["--text", "?!, …"], 2, "only punctuation"),
        (["--file", "Good evening."], 2, "no such file"),
        (["GOOD", "--voice", "nobody"], 3, "af_heart"),
        (["GOOD", "--avatar", "nobody"], 3, "vera"),
        (["GOOD", "--preset", "nobody"], 3, "demo"),
        (["GOOD", "--device", "cuda:7"], 4, "cuda:7"),
        (["GOOD", "--device", "quantum"], 4, "quantum"),
        (["GOOD", "--encoder", "h265"], 4, "libx264"),
        (["GOOD", "--x264-preset", "warp9"], 2, "warp9"),
        (["GOOD", "--loudness", "loud"], 2, "-23"),
        (["GOOD", "--speed", "9"], 2, "speed"),
        (["GOOD", "--locale", "xx-XX"], 2, "en-GB"),
        (["GOOD", "--lexicon", "none.txt"], 2, "none.txt"),
        (["GOOD", "--subtitles", "a.pdf"], 5, ".srt"),
        (["GOOD", "--subtitles", ""], 5, ".srt"),
        (["GOOD", "--subtitles", "no/such/a.srt"], 5, "no folder"),
        (["GOOD", "--lexicon", ""], 2, "lexicon"),
        (["GOOD", "--loudness", "nan"], 2, "-23"),
        (["GOOD", "--speed", "nan"], 2, "speed"),
        (["GOOD", "--avatar", "x" * 5000], 3, "vera"),
        (["GOOD", "--voice", "x" * 5000], 3, "af_heart"),
        (["--file", "x" * 5000], 2, "no such file"),
        (["GOOD", "--crf", "99"], 2, "--crf"),
        (["GOOD", "--seed", "x"], 2, "seed"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_bad_arguments(
    out: Path,
    arguments: list[str],
    code: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In this process, to be quick."""
    words = ["Good evening." if word == "GOOD" else word for word in arguments]
    monkeypatch.chdir(out)
    monkeypatch.setattr(sys, "argv", ["greenroom", "render", *words])
    assert cli.run() == code
    said = capsys.readouterr().err
    assert says in said
    assert "Traceback" not in said
    assert names(out) == []


def test_sound_that_is_none(out: Path, tmp_path: Path) -> None:
    text = tmp_path / "song.mp3"
    text.write_text("This is a text, not a sound.\n" * 40)
    empty = write_wav(tmp_path / "empty.wav", np.zeros(0, np.float32))
    pcm = babble(1.0)
    pcm[12345] = np.nan
    broken = write_wav(tmp_path / "nan.wav", pcm, subtype="FLOAT")
    for path, says in ((text, "song.mp3"), (empty, "0 samples"), (broken, "0.77")):
        done = greenroom("render", path, "-o", "out.mp4", cwd=out)
        assert done.returncode == 2, done.stderr
        assert says in done.stderr
        assert "Traceback" not in done.stderr
        assert names(out) == []


def test_output_that_cannot_be(out: Path, sound: Path) -> None:
    (out / "is-a-folder.mp4").mkdir()
    for target in ("no/such/folder/out.mp4", "is-a-folder.mp4", "out.txt", "/proc/out.mp4"):
        done = greenroom("render", sound, "-o", target, cwd=out)
        assert done.returncode == 5, done.stderr
        assert "Traceback" not in done.stderr
    assert names(out) == ["is-a-folder.mp4"]


def test_a_source_is_not_replaced(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = write_wav(out / "a.wav", babble(0.2)).rename(out / "out.mp4")
    before = sound.read_bytes()
    monkeypatch.chdir(out)
    monkeypatch.setattr(sys, "argv", ["greenroom", "render", "out.mp4"])
    assert cli.run() == 2
    assert "replace its own source" in capsys.readouterr().err
    assert sound.read_bytes() == before
    assert names(out) == ["out.mp4"]


def test_no_clobber_keeps_what_is_there(out: Path, sound: Path) -> None:
    (out / "old.mp4").write_bytes(b"precious")
    done = greenroom("render", sound, "-o", "old.mp4", "--no-clobber", cwd=out)
    assert done.returncode == 5
    assert (out / "old.mp4").read_bytes() == b"precious"
    assert names(out) == ["old.mp4"]


def limit_files_to_100_kb() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_disk_full(studio: Studio, out: Path, sound: Path) -> None:
    """A limit on the size of files stands for the disk; the loop is in the cache already."""
    (out / "old.mp4").write_bytes(b"precious")
    done = greenroom("render", sound, "-o", "old.mp4", cwd=out, before=limit_files_to_100_kb)
    assert done.returncode == 5, done.stderr
    assert "no room left" in done.stderr
    assert (out / "old.mp4").read_bytes() == b"precious"
    assert names(out) == ["old.mp4"]


def test_full_cache_folder(out: Path, sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop cannot be kept: said so, with the way out; nothing of it stays."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(out / "cache"))
    done = greenroom("render", sound, cwd=out, before=limit_files_to_100_kb)
    assert done.returncode == 5, done.stderr
    assert "--no-cache" in done.stderr
    assert names(out) == ["cache"]
    assert [p for p in (out / "cache").rglob("*") if p.is_file() and p.suffix != ".lock"] == []


def test_fields_of_a_package_are_checked(out: Path, sound: Path, tmp_path: Path) -> None:
    package = tmp_path / "me"
    package.mkdir()
    (package / "card.json").write_text('{"schema": 1, "name": "../../etc"}')
    done = greenroom("render", sound, "--avatar", package, cwd=out)
    assert done.returncode == 3
    assert "card.json" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(out: Path, sound: Path) -> None:
    sound.chmod(0)
    done = greenroom("render", sound, cwd=out)
    assert done.returncode == 2
    assert names(out) == []
