"""The painted loop on disk: made once, found again, also where nothing can be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from greenroom.avatar import cache
from greenroom.base.errors import OutputError
from greenroom.base.flow import Pixels

SIDE, COUNT = 16, 3


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "greenroom" / "loops"


def paint() -> Iterator[Pixels]:
    for i in range(COUNT):
        yield np.full((SIDE * 3 // 2, SIDE), i, np.uint8)


def never() -> Iterator[Pixels]:
    raise AssertionError("painted again")


def loop(paint: object = paint) -> list[int]:
    return [int(p[0, 0]) for p in cache.loop_patches("a-1", COUNT, SIDE, paint)]  # type: ignore[arg-type]


def test_painted_once(home: Path) -> None:
    assert not (cache.cache_folder() / "loops" / "a-1" / "done").is_file()
    assert loop() == [0, 1, 2]
    assert (cache.cache_folder() / "loops" / "a-1" / "done").is_file()
    assert loop(never) == [0, 1, 2]
    assert cache.cache_size() == COUNT * SIDE * SIDE * 3 // 2


def test_what_is_cut_short_is_painted_again(home: Path) -> None:
    loop()
    (home / "a-1" / "patches.nv12").write_bytes(b"short")
    assert loop() == [0, 1, 2]


def test_a_whole_entry_needs_no_lock(home: Path) -> None:
    """A lock file that cannot be opened stands for a folder that may only be read."""
    loop()
    (home / "a-1.lock").unlink()
    (home / "a-1.lock").mkdir()
    assert loop(never) == [0, 1, 2]


def test_a_folder_that_cannot_be_used(home: Path) -> None:
    home.parent.write_text("a file")
    with pytest.raises(OutputError, match="--no-cache"):
        loop()
    assert cache.cache_size() == 0


def test_a_painter_that_fails_leaves_nothing(home: Path) -> None:
    def fails() -> Iterator[Pixels]:
        yield from list(paint())[:1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop(fails)
    assert [p.name for p in home.iterdir()] == ["a-1.lock"]
