"""Recorded sound as speech: a file, a named pipe or standard input."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from greenroom.base.flow import Samples, Speech
from greenroom.speech.decode import Place, Tally, decode, probe
from greenroom.speech.spool import Spool

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
        self._file: Place = Path(path)
        if str(path) == "-":
            self._file = Spool(sys.stdin.buffer, "standard input")
        elif _is_pipe(Path(path)):
            with Path(path).open("rb") as pipe:
                self._file = Spool(pipe, str(path))
        self._begin()

    @classmethod
    def from_pipe(cls, pipe: BinaryIO, name: str, head: bytes = b"") -> AudioSource:
        """The sound that comes through a pipe of which `head` has been read already."""
        source = cls.__new__(cls)
        source._file = Spool(pipe, name, head)
        source._begin()
        return source

    def _begin(self) -> None:
        self.format = probe(self._file)
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
        blocks = decode(self._file, self.rate, self._tally)
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
