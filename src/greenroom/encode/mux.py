"""Packets into an mp4 or mov file that appears whole, ready to stream, or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

import av
from av.container import OutputContainer
from av.stream import Stream

from greenroom.base.errors import OutputError
from greenroom.base.flow import Packet
from greenroom.encode.mark import COMMENT, XMP, append_xmp
from greenroom.encode.target import Draft

SUFFIXES = (".mp4", ".mov")
_PATIENCE = 0.3  # seconds that abort waits for a write in another thread


class Mp4File:
    """A Sink that writes H.264 and AAC, the index in front (faststart), marked as synthetic.

    Everything that can be wrong with the path is an OutputError here, before any work. The target
    is touched by `close` alone; after `abort`, or an error in `send` or `close` (a full disk, say),
    no trace is left and an older file of that name is as it was. Used with `with`, an exception
    aborts. One thread may send while another aborts.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, title: str = "", no_clobber: bool = False
    ) -> None:
        self._draft = Draft(path, SUFFIXES, no_clobber=no_clobber)
        self._title = title or "Synthetic video"
        self._lock = threading.RLock()
        self._container: OutputContainer | None = None
        self._streams: dict[str, Stream] = {}
        self._empty, self._over = True, False
        self.target = self._draft.target  # where it will be, links followed
        self.size = 0  # bytes, known when it is closed

    def start(self, streams: tuple[Stream, ...]) -> None:
        """Open the file for an encoder's streams."""
        with self._lock, self._undone():
            assert self._container is None, "started twice"
            self._container = self._open()
            for stream in streams:
                self._streams[stream.type] = self._container.add_stream_from_template(stream)

    def send(self, packet: Packet) -> None:
        """Write one packet; the first brings the header with it."""
        with self._lock, self._undone():
            assert self._container is not None, "not started"
            self._container.mux(_copy(packet, self._streams[packet.kind]))
            self._empty = False

    def close(self) -> None:
        """Finish the file and put it in the target's place. Closing twice does nothing."""
        if self._over:
            return
        with self._lock, self._undone():
            self._finish()
            self._draft.commit()
            self._over = True

    def abort(self) -> None:
        """Leave nothing behind. Nothing happens after `close`."""
        if self._over:
            return
        self._over = True
        self._draft.discard()
        # A write that hangs in another thread keeps its container: the file has no name any more.
        if self._lock.acquire(timeout=_PATIENCE):
            try:
                self._drop()
            finally:
                self._lock.release()

    @contextmanager
    def _undone(self) -> Iterator[None]:
        """Any error leaves nothing behind; errors of the system become OutputError."""
        assert not self._over, "the file is closed"
        try:
            yield
        except BaseException as error:
            self.abort()
            if isinstance(error, (OSError, av.FFmpegError)):
                raise self._draft.error(error) from error
            raise

    def _open(self) -> OutputContainer:
        kind = self._draft.suffix.removeprefix(".")
        options = {"movflags": "+faststart", "fflags": "+bitexact"}  # bitexact: no version inside
        container = av.open(str(self._draft.path), "w", format=kind, options=options)
        container.metadata.update(title=self._title, comment=COMMENT)
        if kind == "mov":
            container.metadata["xmp"] = XMP  # moov/udta/XMP_, its place in QuickTime files
        return container

    def _finish(self) -> None:
        if self._container is None or self._empty:
            raise OutputError(f"nothing to write to {self._draft.given!r}", got="no frames")
        self._container.close()  # the index, then everything moves back to let it in front
        if self._draft.suffix == ".mp4":
            append_xmp(self._draft.path)
        self.size = self._draft.path.stat().st_size

    def _drop(self) -> None:
        container, self._container = self._container, None
        if container is not None:
            with suppress(Exception):  # it tries to finish a file whose name is gone
                container.close()

    def __enter__(self) -> Mp4File:
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


def _copy(packet: Packet, stream: Stream) -> av.Packet[Stream]:
    """The packet for one sink: muxing rewrites times, so the shared one is left alone.

    The bytes are not copied.
    """
    source = packet.payload
    copy: av.Packet[Stream] = av.Packet(source)
    copy.pts, copy.dts, copy.duration = source.pts, source.dts, source.duration
    copy.time_base, copy.is_keyframe, copy.stream = source.time_base, packet.keyframe, stream
    return copy
