"""Encoder and sink on a thread of their own, so that frames are encoded while more are made."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from types import TracebackType

from greenroom.base.flow import SOUND_PER_FRAME, Encoder, Frames, Packet, Sink
from greenroom.base.prefetch import Prefetch

_POLL = 0.1  # seconds between two looks at the other thread
_PATIENCE = 0.3  # seconds that abort waits for the frame in the encoder


class AsyncWriter:
    """Takes frames, encodes them on a thread and sends the packets to a sink.

    At most `depth` blocks wait and one is being encoded; then `put` waits. Pictures are not
    copied: those of the last `depth` + 1 blocks must not be written to. An error of the thread is
    raised, whole, by the next `put` or by `close`, and the sink is aborted. Used with `with`, an
    exception (Ctrl-C too) aborts in well under a second: what has been put is dropped, and the
    encoder is left after the frame it is at.
    """

    def __init__(self, encoder: Encoder, sink: Sink, depth: int = 1) -> None:
        sink.start(encoder.streams)
        self._encoder, self._sink = encoder, sink
        self._blocks: queue.Queue[Frames | None] = queue.Queue(depth)
        self._stop, self._dead = threading.Event(), threading.Event()
        self._over = False
        self._work = Prefetch(self._encode(), depth=1, name="encode", cancel=self._stop.set)

    def put(self, frames: Frames) -> None:
        """Hand over the frames that follow; waits while `depth` blocks are waiting."""
        assert not self._over, "the writer is closed"
        self._hand_over(frames)

    def close(self) -> None:
        """Encode what is left, close the sink and return when all is done. Twice does nothing."""
        if self._over:
            return
        self._hand_over(None)
        try:
            self._join()
            self._sink.close()
        except BaseException:
            self.abort()
            raise
        self._over = True
        self._work.close()

    def abort(self) -> None:
        """Drop everything; the sink leaves nothing behind. Nothing happens after `close`."""
        if self._over:
            return
        self._over = True
        self._stop.set()
        self._sink.abort()
        self._work.close(_PATIENCE)

    def _hand_over(self, frames: Frames | None) -> None:
        try:
            while True:
                if self._dead.is_set():
                    self._join()
                try:
                    return self._blocks.put(frames, timeout=_POLL)
                except queue.Full:
                    continue
        except BaseException:
            self.abort()
            raise

    def _join(self) -> None:
        """Wait for the thread and raise what it raised."""
        for _ in self._work:
            pass

    def _encode(self) -> Iterator[None]:
        """The thread's work. It yields nothing: Prefetch carries its end and its error."""
        try:
            for frames in self._taken():
                self._send(self._encoder.push(frames))
            if not self._stop.is_set():
                self._send(self._encoder.close())
        except BaseException:
            self._dead.set()
            raise
        yield from ()

    def _taken(self) -> Iterator[Frames]:
        """Frames one by one, so that a stop need not wait for a whole block."""
        while not self._stop.is_set():
            try:
                block = self._blocks.get(timeout=_POLL)
            except queue.Empty:
                continue
            if block is None:
                return
            for frame in _one_by_one(block):
                if self._stop.is_set():
                    return
                yield frame

    def _send(self, packets: list[Packet]) -> None:
        for packet in packets:
            self._sink.send(packet)

    def __enter__(self) -> AsyncWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abort()


def _one_by_one(frames: Frames) -> Iterator[Frames]:
    for i, picture in enumerate(frames.pictures):
        sound = frames.sound[i * SOUND_PER_FRAME : (i + 1) * SOUND_PER_FRAME]
        yield Frames(frames.first + i, (picture,), sound)
