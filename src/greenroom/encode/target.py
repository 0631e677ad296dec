"""A file that is there whole or not at all: written under a hidden name, then renamed."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from greenroom.base.errors import OutputError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_EFFECTIVE = os.access in os.supports_effective_ids
_YOUNG = 60.0  # seconds; between its making and its lock a draft is nobody's
_SCRATCH = ".greenroom-{}.part"  # short, so that any name that fits as a target fits as this


class Draft:
    """The place of an output, checked and reserved before any work is done.

    `path` is an empty hidden file in the target's folder, with the mode of a new file under the
    umask. `commit` moves it onto the target in one step, `discard` removes it. Names are random:
    two processes with one target do not meet, and the last to commit wins. A draft is locked while
    its process lives; what a killed one leaves is never read, and swept by the next in that folder.
    """

    def __init__(
        self, target: str | os.PathLike[str], suffixes: tuple[str, ...], *, no_clobber: bool = False
    ) -> None:
        self.given = os.fspath(target)
        self.suffix = Path(self.given).suffix.lower()
        self._no_clobber = no_clobber
        self._handle: int | None = None
        try:
            # Where a link points is replaced, not the link; libav reads x: as an address, not /x:.
            self.target = Path(os.path.realpath(self.given))
            self._check(suffixes)
            self.path = self._reserve()
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
            raise self.error(error) from error

    def _check(self, suffixes: tuple[str, ...]) -> None:
        folder = self.target.parent
        if self.suffix not in suffixes:
            raise OutputError(
                f"cannot tell the kind of output from the name {self.given!r}",
                got=self.suffix or "no suffix",
                wanted=" or ".join(suffixes),
            )
        if not folder.is_dir():
            raise OutputError(
                f"cannot write {self.given!r}: there is no folder {folder}",
                remedy=f"make it first, or choose a folder that is there (now in {os.getcwd()})",
            )
        if not self.target.exists():
            return
        if not self.target.is_file():
            kind = "a folder" if self.target.is_dir() else "not a regular file"
            raise OutputError(f"cannot write {self.given!r}: it is {kind}", wanted="a file name")
        if self._no_clobber:
            raise self._taken()
        if not os.access(self.target, os.W_OK, effective_ids=_EFFECTIVE):
            raise OutputError(f"cannot replace {self.given!r}: it is read-only")

    def _reserve(self) -> Path:
        _sweep(self.target.parent)
        path = self.target.with_name(_SCRATCH.format(secrets.token_hex(8)))
        # 0o666 less the umask
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        _lock(self._handle)
        return path

    def commit(self) -> None:
        """Put the draft in the target's place, on the disk and not only in its cache."""
        try:
            _sync(self.path)
            if self._no_clobber and self.target.exists():
                raise self._taken()
            os.replace(self.path, self.target)
        except OSError as error:
            raise self.error(error) from error
        self._release()
        with suppress(OSError):  # the content is safe; some file systems cannot sync a folder
            _sync(self.target.parent)

    def discard(self) -> None:
        """Remove the draft, if it is still there."""
        with suppress(OSError):
            self.path.unlink()
        self._release()

    def _release(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)

    def _taken(self) -> OutputError:
        return OutputError(
            f"{self.given!r} is there already, and --no-clobber was given",
            remedy="choose another name, or leave out --no-clobber to replace it",
        )

    def error(self, cause: Exception) -> OutputError:
        """OutputError for what the system said while this output was checked or written."""
        number = getattr(cause, "errno", None)
        if number in _FULL:
            what, remedy = "no room left", "free some space, lift the limit, or write elsewhere"
        else:
            what, remedy = (
                "cannot write",
                "look at the folder and its permissions",
            )
        reason = getattr(cause, "strerror", None) or str(cause)
        return OutputError(f"{what}: {self.given!r}", got=reason, remedy=remedy)


def _lock(handle: int) -> bool:
    """Lock an open file for this process without waiting; False where that cannot be."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another has it, or the file system knows no locks
        return False
    return True


def _sweep(folder: Path) -> None:
    """Remove the drafts of processes that were killed: those that nobody locks."""
    for path in folder.glob(_SCRATCH.format("*")):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime < _YOUNG:
                continue
            handle = os.open(path, os.O_WRONLY)
            try:
                if _lock(handle):
                    path.unlink()
            finally:
                os.close(handle)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
