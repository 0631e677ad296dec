"""The derived form of an avatar: its loop, painted once, memory-mapped from the cache folder.

Everything here can be made again from the package and the weights, so a damaged or missing entry
is never an error. Layout: <cache>/loops/<digest>/{patches.nv12, done}; `done` is written last.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from platformdirs import user_cache_path

from greenroom.base.errors import OutputError
from greenroom.base.flow import Pixels

Box = tuple[int, int, int]  # left, top, side; even


def cache_folder() -> Path:
    """Where derived files live: $XDG_CACHE_HOME/greenroom on Linux."""
    return user_cache_path("greenroom")


def patch_of(picture: Pixels, box: Box) -> Pixels:
    """The square `box` of an NV12 picture as a small NV12 picture (side * 3 // 2, side)."""
    left, top, side = box
    height = picture.shape[0] * 2 // 3
    luma = picture[top : top + side, left : left + side]
    start = height + top // 2
    chroma = picture[start : start + side // 2, left : left + side]
    return np.concatenate([luma, chroma])


@dataclass(frozen=True, slots=True)
class Stills:
    """One still picture for every frame of the loop: the plate that faces are pasted on."""

    picture: Pixels
    length: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Pixels:
        return self.picture


@dataclass(frozen=True, slots=True)
class PatchedStill:
    """A still picture whose square `box` differs per frame: what the loop of a still avatar is."""

    picture: Pixels
    box: Box
    patches: Pixels  # (F, side * 3 // 2, side)

    def __len__(self) -> int:
        return len(self.patches)

    def __getitem__(self, index: int) -> Pixels:
        left, top, side = self.box
        height = self.picture.shape[0] * 2 // 3
        out = self.picture.copy()
        patch = self.patches[index]
        out[top : top + side, left : left + side] = patch[:side]
        start = height + top // 2
        out[start : start + side // 2, left : left + side] = patch[side:]
        return out


def loop_patches(
    digest: str,
    count: int,
    side: int,
    paint: Callable[[], Iterator[Pixels]],
    *,
    use_cache: bool = True,
) -> Pixels:
    """The painted patches (count, side * 3 // 2, side) of a loop, from the cache or made now.

    `paint` gives them in order; it is called only when the cache has no such entry. Two processes
    that want the same entry paint it once; what a killed one left behind is swept away.
    """
    shape = (count, side * 3 // 2, side)
    if not use_cache:
        patches = np.empty(shape, np.uint8)
        for i, patch in enumerate(paint()):
            patches[i] = patch
        return patches
    entry = cache_folder() / "loops" / digest
    try:
        if not _complete(entry, shape):  # without the lock first: a folder may be for reading only
            with _locked(entry):
                if not _complete(entry, shape):
                    _build(entry, shape, paint)
        return np.memmap(entry / "patches.nv12", np.uint8, "r", shape=shape)
    except OSError as error:
        raise _unusable(entry.parent, error) from error


def _complete(entry: Path, shape: tuple[int, int, int]) -> bool:
    data = entry / "patches.nv12"
    return (
        os.path.isfile(entry / "done")  # False too where it may not be looked at
        and os.path.isfile(data)
        and data.stat().st_size == shape[0] * shape[1] * shape[2]
    )


def _build(entry: Path, shape: tuple[int, int, int], paint: Callable[[], Iterator[Pixels]]) -> None:
    shutil.rmtree(entry, ignore_errors=True)
    entry.mkdir(parents=True)
    try:
        written = 0
        with open(entry / "patches.nv12", "wb") as file:
            for patch in paint():
                assert patch.shape == shape[1:]
                file.write(np.ascontiguousarray(patch).data)
                written += 1
        assert written == shape[0]
        (entry / "done").touch()
    except BaseException:
        shutil.rmtree(entry, ignore_errors=True)
        raise


@contextmanager
def _locked(entry: Path) -> Iterator[None]:
    """One process at a time per entry; the lock dies with the process that holds it."""
    entry.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(entry.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _unusable(folder: Path, error: OSError) -> OutputError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return OutputError(
        f"the cache folder {folder} cannot be used",
        got="no space left" if full else (error.strerror or str(error)),
        remedy="free some space, set XDG_CACHE_HOME to another folder, or use --no-cache",
    )


def cache_size() -> int:
    """Bytes that derived files take; another process may be at work on them."""
    total = 0
    for folder, _, names in os.walk(cache_folder()):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total
