"""Encoder and sink on a thread: order, errors, back-pressure, an end in every case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from film_kit import blocks, encoder_for, film, frame_md5, moving, shown, write

from greenroom.base.errors import OutputError
from greenroom.base.flow import Frames, Packet
from greenroom.encode.mux import Mp4File
from greenroom.encode.writer import AsyncWriter


class FakeEncoder:
    """Counts frames; waits at `gate`; fails at frame `breaks_at`."""

    def __init__(self, breaks_at: int | None = None, *, breaks_at_close: bool = False) -> None:
        self.gate, self.entered = threading.Event(), threading.Event()
        self.gate.set()
        self.numbers: list[int] = []
        self.closed = False
        self._breaks_at, self._breaks_at_close = breaks_at, breaks_at_close

    @property
    def streams(self) -> tuple[Any, ...]:
        return ()

    def push(self, frames: Frames) -> list[Packet]:
        self.entered.set()
        self.gate.wait()
        if frames.first == self._breaks_at:
            raise ZeroDivisionError("in the encoder")
        self.numbers.append(frames.first)
        return [Packet("video", frames.first)]

    def keyframe(self) -> None: ...

    def close(self) -> list[Packet]:
        if self._breaks_at_close:
            raise ZeroDivisionError("at the end")
        self.closed = True
        return [Packet("video", -1)]


class FakeSink:
    def __init__(self, breaks_at: int | None = None, *, breaks_at_close: bool = False) -> None:
        self.sent: list[int] = []
        self.closed = self.aborted = 0
        self._breaks_at, self._breaks_at_close = breaks_at, breaks_at_close

    def start(self, streams: tuple[Any, ...]) -> None: ...

    def send(self, packet: Packet) -> None:
        if packet.payload == self._breaks_at:
            raise OutputError("no room")
        self.sent.append(packet.payload)

    def close(self) -> None:
        if self._breaks_at_close:
            raise OutputError("no room for the index")
        self.closed += 1

    def abort(self) -> None:
        self.aborted += 1


def parts(count: int, size: int) -> Iterator[Frames]:
    return blocks(film(moving(count)), size)


def test_every_frame_reaches_the_sink_in_order() -> None:
    encoder, sink = FakeEncoder(), FakeSink()
    with AsyncWriter(encoder, sink) as writer:
        for block in parts(23, 4):
            writer.put(block)
    assert encoder.numbers == list(range(23))
    assert sink.sent == [*range(23), -1]
    assert (sink.closed, sink.aborted) == (1, 0)


def test_the_film_is_the_one_written_without_a_thread(tmp_path: Path) -> None:
    frames = film(moving(23))
    write(tmp_path / "plain.mp4", frames)
    with AsyncWriter(encoder_for(frames), Mp4File(tmp_path / "thread.mp4")) as writer:
        for block in blocks(frames, 4):
            writer.put(block)
    assert frame_md5(tmp_path / "plain.mp4") == frame_md5(tmp_path / "thread.mp4")


def test_no_more_than_two_blocks_are_in_flight() -> None:
    encoder = FakeEncoder()
    encoder.gate.clear()
    writer = AsyncWriter(encoder, FakeSink())
    first, second, third = parts(12, 4)
    writer.put(first)
    assert encoder.entered.wait(30)
    writer.put(second)  # one is being encoded, one waits: both puts returned
    done = threading.Event()

    def put_third() -> None:
        writer.put(third)
        done.set()

    threading.Thread(target=put_third, daemon=True).start()
    assert not done.wait(0.4)
    encoder.gate.set()
    assert done.wait(30)
    writer.close()
    assert encoder.numbers == list(range(12))


@pytest.mark.parametrize("where", ["encoder", "sink"])
def test_an_error_of_the_thread_is_raised_by_a_later_put(where: str) -> None:
    encoder = FakeEncoder(breaks_at=5 if where == "encoder" else None)
    sink = FakeSink(breaks_at=5 if where == "sink" else None)
    writer = AsyncWriter(encoder, sink)

    def endless() -> None:
        while True:  # a put that waits for a dead thread would never end
            for block in parts(20, 4):
                writer.put(block)

    with pytest.raises(ZeroDivisionError if where == "encoder" else OutputError):
        endless()
    assert sink.sent == [0, 1, 2, 3, 4]
    assert (sink.closed, sink.aborted) == (0, 1)
    assert not encoder.closed


@pytest.mark.parametrize(
    ("encoder", "sink", "error"),
    [
        (FakeEncoder(breaks_at=3), FakeSink(), ZeroDivisionError),
        (FakeEncoder(breaks_at_close=True), FakeSink(), ZeroDivisionError),
        (FakeEncoder(), FakeSink(breaks_at=-1), OutputError),
        (FakeEncoder(), FakeSink(breaks_at_close=True), OutputError),
    ],
)
def test_an_error_near_the_end_is_raised_by_close(
    encoder: FakeEncoder, sink: FakeSink, error: type[Exception]
) -> None:
    writer = AsyncWriter(encoder, sink)
    writer.put(film(moving(4)))
    with pytest.raises(error):
        writer.close()
    assert (sink.closed, sink.aborted) == (0, 1)


def test_an_exception_of_the_caller_drops_what_was_put() -> None:
    encoder, sink = FakeEncoder(), FakeSink()
    encoder.gate.clear()

    def body() -> None:
        with AsyncWriter(encoder, sink) as writer:
            writer.put(film(moving(8)))
            assert encoder.entered.wait(30)
            encoder.gate.set()
            raise LookupError

    with pytest.raises(LookupError):
        body()
    assert (sink.closed, sink.aborted) == (0, 1)
    assert not encoder.closed
    assert not [thread for thread in threading.enumerate() if thread.name == "encode"]


def test_closing_and_aborting_twice_does_nothing() -> None:
    sink = FakeSink()
    writer = AsyncWriter(FakeEncoder(), sink)
    writer.put(film(moving(2)))
    writer.close()
    writer.close()
    writer.abort()
    assert (sink.closed, sink.aborted) == (1, 0)


def test_abort_does_not_wait_for_an_encoder_that_hangs(tmp_path: Path) -> None:
    encoder = FakeEncoder()
    encoder.gate.clear()
    sink = FakeSink()
    writer = AsyncWriter(encoder, sink)
    writer.put(film(moving(2)))
    assert encoder.entered.wait(30)
    writer.abort()  # returns although the encoder does not
    assert sink.aborted == 1
    encoder.gate.set()


INTERRUPTED = """
import os, signal, sys, time
from pathlib import Path
from film_kit import encoder_for, film, moving
from greenroom.encode.mux import Mp4File
from greenroom.encode.writer import AsyncWriter

def interrupt(number, frame):
    global struck
    struck = time.monotonic()
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupt)
pictures = moving(20, width=320, height=640)
encoder = encoder_for(film(pictures))
count = 0
try:
    with Mp4File("out.mp4") as sink, AsyncWriter(encoder, sink) as writer:
        while True:
            writer.put(film(pictures, first=count))
            count += len(pictures)
            if count == 100:
                print("running", flush=True)
except KeyboardInterrupt:
    print(time.monotonic() - struck, os.listdir("."), flush=True)
    sys.exit(130)
"""


def test_ctrl_c_ends_within_a_second_and_leaves_nothing(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=60)
    seconds, left = said.split(" ", 1)
    assert left.strip() == "[]"
    assert float(seconds) < 1
    assert child.returncode == 130
    assert list(tmp_path.iterdir()) == []


def resident() -> int:
    """Bytes of memory this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's /proc")
def test_memory_does_not_grow_with_the_length_of_the_film(tmp_path: Path) -> None:
    path, size, seen = tmp_path / "out.mp4", 20, []
    encoder = encoder_for(film(moving(1, width=320, height=320)))
    with Mp4File(path) as sink, AsyncWriter(encoder, sink) as writer:
        for first in range(0, 500, size):
            writer.put(film(moving(size, width=320, height=320), first=first))
            seen.append(resident())
    assert len(shown(path)) == 500
    # 400 frames of 150 kB are 61 MB; half of one second of them is what may come and go.
    assert seen[-1] - seen[5] < 4_000_000
