"""Recorded sound as speech: a file, a named pipe or standard input."""

from __future__ import annotations

import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from greenroom.base.flow import Samples, Speech
from greenroom.speech.decode import Tally, decode, probe

PIECE_SECONDS = 1
_SHORT_SHARE, _SHORT_SECONDS = 0.1, 1.0  # by how much a file may be shorter than it says


class AudioSource:
    """Any audio that ffmpeg reads, checked when it is opened; iterating gives its Speech.

    It may be iterated more than once: a pipe ("-" is standard input) is first copied to a
    temporary file, which goes away with the source. Memory does not grow with length. Every
    piece is 1 s long but the last; their samples are all that the decoder gives, in mono at the
    file's own rate. Raises InputError where the path holds no sound that can be used.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        if str(path) == "-":
            self._spool = _spooled(sys.stdin.buffer)
            self._path = Path(self._spool.name)
        elif _is_pipe(self._path):
            with self._path.open("rb") as pipe:
                self._spool = _spooled(pipe)
            self._path = Path(self._spool.name)
        self.format = probe(self._path)
        self._tally = Tally()

    @property
    def rate(self) -> int:
        return self.format.rate

    @property
    def seconds(self) -> float | None:
        """What the file says of its length, for a progress bar; None where it does not say."""
        return self.format.seconds

    @property
    def description(self) -> str:
        return str(self.format)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a whole reading found wrong with the file, for people; empty before one."""
        tally, found = self._tally, list[str]()
        if not tally.done:
            return ()
        if tally.bad:
            found.append(f"{tally.bad} packets of sound are damaged and left out ({tally.fault})")
        held, said = tally.samples / self.rate, self.seconds
        if said and said - held > max(_SHORT_SHARE * said, _SHORT_SECONDS):
            found.append(f"it says it is {said:.1f} s long and holds {held:.1f} s: cut off?")
        return tuple(found)

    def __iter__(self) -> Iterator[Speech]:
        self._tally = Tally()
        blocks = decode(self._path, self.rate, self._tally)
        for piece in _regroup(blocks, PIECE_SECONDS * self.rate):
            yield Speech(piece, self.rate)


def _regroup(blocks: Iterable[Samples], size: int) -> Iterator[Samples]:
    """The same samples in pieces of `size` and a rest."""
    held: list[Samples] = []
    count = 0
    for block in blocks:
        while count + len(block) >= size:
            head, block = block[: size - count], block[size - count :]
            yield np.concatenate([*held, head])
            held, count = [], 0
        held.append(block)
        count += len(block)
    if count:
        yield np.concatenate(held)


def _is_pipe(path: Path) -> bool:
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False  # told in plain words when it is opened


def _spooled(stream: BinaryIO) -> tempfile._TemporaryFileWrapper[bytes]:
    spool = tempfile.NamedTemporaryFile(prefix="greenroom-")  # noqa: SIM115 - lives as its source
    shutil.copyfileobj(stream, spool)
    spool.flush()
    return spool
