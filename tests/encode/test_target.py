"""The door of an output: what is refused before any work, and what the target looks like after."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from film_kit import encoder_for, film, moving, shown, write

from greenroom.base.errors import OutputError
from greenroom.encode.mux import Mp4File

OLD = b"an older film"


def left_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize(
    "name",
    ["plain.mp4", "two words.mp4", 'it\'s "so".mp4', "$HOME.mp4", "Nachrichten-über-東京.MP4"],
)
def test_any_name_works_also_without_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(shown(write(Path(name), film(moving(2))))) == 2
    assert left_in(tmp_path) == [name]


def test_folders_that_look_like_an_address_work(tmp_path: Path) -> None:
    folder = tmp_path / "http:" / "a#b?c%20d"
    folder.mkdir(parents=True)
    assert len(shown(write(folder / "out.mp4", film(moving(2))))) == 2


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("out.avi", r"\.mp4 or \.mov"),
        ("out", "no suffix"),
        ("", "no suffix"),
        ("missing/out.mp4", "no folder"),
        ("file/out.mp4", "no folder"),
        ("folder.mp4", "it is a folder"),
        ("pipe.mp4", "not a regular file"),
        ("x" * 300 + ".mp4", "too long"),
        ("zero\0byte.mp4", "null"),
    ],
)
def test_a_name_that_cannot_be_written_is_refused_at_the_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(OLD)
    (tmp_path / "folder.mp4").mkdir()
    os.mkfifo(tmp_path / "pipe.mp4")
    before = left_in(tmp_path)
    with pytest.raises(OutputError, match=says):
        Mp4File(name)
    assert left_in(tmp_path) == before


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Permissions mean nothing to root: become nobody for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_folder_without_permission_is_refused_at_the_door() -> None:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o555)
        with ordinary_user(), pytest.raises(OutputError, match="Permission denied"):
            Mp4File(Path(name) / "out.mp4")
        os.chmod(name, 0o755)
        assert left_in(Path(name)) == []


def test_a_read_only_film_is_not_replaced() -> None:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        old = Path(name) / "out.mp4"
        old.write_bytes(OLD)
        old.chmod(0o444)
        with ordinary_user(), pytest.raises(OutputError, match="read-only"):
            Mp4File(old)
        assert old.read_bytes() == OLD
        assert left_in(Path(name)) == ["out.mp4"]


def test_an_older_film_is_replaced_only_by_a_whole_new_one(tmp_path: Path) -> None:
    path = tmp_path / "out.mp4"
    path.write_bytes(OLD)
    frames = film(moving(5))
    encoder = encoder_for(frames)
    sink = Mp4File(path)
    sink.start(encoder.streams)
    for packet in [*encoder.push(frames), *encoder.close()]:
        sink.send(packet)
        assert path.read_bytes() == OLD
    sink.close()
    assert len(shown(path)) == 5
    assert left_in(tmp_path) == ["out.mp4"]


def test_while_it_is_written_the_film_is_hidden(tmp_path: Path) -> None:
    sink = Mp4File(tmp_path / "out.mp4")
    (name,) = left_in(tmp_path)
    assert name.startswith(".greenroom-")
    assert name.endswith(".part")
    sink.abort()
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_nothing_behind(
    tmp_path: Path, error: type[BaseException], started: bool
) -> None:
    path = tmp_path / "out.mp4"
    path.write_bytes(OLD)
    frames = film(moving(30))

    def interrupted() -> None:
        with Mp4File(path) as sink:
            if started:
                encoder = encoder_for(frames)
                sink.start(encoder.streams)
                for packet in encoder.push(frames):
                    sink.send(packet)
            raise error

    with pytest.raises(error):
        interrupted()
    assert path.read_bytes() == OLD
    assert left_in(tmp_path) == ["out.mp4"]


def test_a_film_without_frames_is_no_film(tmp_path: Path) -> None:
    for started in (False, True):
        sink = Mp4File(tmp_path / "out.mp4")
        if started:
            sink.start(encoder_for(film(moving(1))).streams)
        with pytest.raises(OutputError, match="no frames"):
            sink.close()
    assert left_in(tmp_path) == []


def test_no_clobber_refuses_at_the_door_and_again_at_the_end(tmp_path: Path) -> None:
    path, frames = tmp_path / "out.mp4", film(moving(2))
    encoder = encoder_for(frames)
    sink = Mp4File(path, no_clobber=True)
    sink.start(encoder.streams)
    for packet in [*encoder.push(frames), *encoder.close()]:
        sink.send(packet)
    path.write_bytes(OLD)  # another process was quicker
    with pytest.raises(OutputError, match="there already"):
        sink.close()
    with pytest.raises(OutputError, match="there already"):
        Mp4File(path, no_clobber=True)
    assert path.read_bytes() == OLD
    assert left_in(tmp_path) == ["out.mp4"]


def test_two_writers_of_one_film_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "out.mp4"
    encoders = [encoder_for(film(moving(count))) for count in (3, 7)]
    sinks = [Mp4File(path) for _ in encoders]
    for sink, encoder in zip(sinks, encoders, strict=True):
        sink.start(encoder.streams)
    for sink, encoder, count in zip(sinks, encoders, (3, 7), strict=True):
        for packet in [*encoder.push(film(moving(count))), *encoder.close()]:
            sink.send(packet)
    sinks[1].close()
    assert len(shown(path)) == 7
    sinks[0].close()
    assert len(shown(path)) == 3  # the last to finish
    assert left_in(tmp_path) == ["out.mp4"]


def test_a_link_keeps_pointing_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    link, real = tmp_path / "out.mp4", tmp_path / "archive" / "film.bin"
    link.symlink_to(real)
    for count in (2, 3):  # first it points to nothing, then to a film
        write(link, film(moving(count)))
        assert link.is_symlink()
        assert len(shown(real)) == count


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_the_film_has_the_mode_of_a_new_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        path = write(tmp_path / "out.mp4", film(moving(2)))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    """Not what is locked, which somebody writes, nor what is young, which may be locked soon."""
    hour_ago = time.time() - 3600
    for name in ("left", "young"):
        (tmp_path / f".greenroom-{name}.part").write_bytes(b"rest")
    os.utime(tmp_path / ".greenroom-left.part", (hour_ago, hour_ago))
    (tmp_path / "mine.part").write_bytes(b"")
    with Mp4File(tmp_path / "slow.mp4") as slow:
        old = {tmp_path / f".greenroom-{name}.part" for name in ("left", "young")}
        (writing,) = set(tmp_path.glob(".greenroom-*")) - old
        os.utime(writing, (hour_ago, hour_ago))
        assert len(shown(write(tmp_path / "out.mp4", film(moving(2))))) == 2
        assert left_in(tmp_path) == sorted(
            [writing.name, ".greenroom-young.part", "mine.part", "out.mp4"]
        )
        slow.abort()


def test_closing_and_aborting_twice_does_nothing(tmp_path: Path) -> None:
    path, frames = tmp_path / "out.mp4", film(moving(2))
    encoder, sink = encoder_for(frames), Mp4File(path)
    sink.start(encoder.streams)
    for packet in [*encoder.push(frames), *encoder.close()]:
        sink.send(packet)
    sink.close()
    sink.abort()
    sink.close()
    assert len(shown(path)) == 2
    assert encoder.close() == []
