"""What came through a pipe, kept so that it can be read more than once."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import IO, Any, BinaryIO

from greenroom.base.errors import OutputError


class Spool:
    """A temporary file that goes away with this object; str() is the name of the pipe.

    On Linux it has no name of its own, so that nothing stays however the process ends.
    """

    def __init__(self, pipe: BinaryIO, name: str, head: bytes = b"") -> None:
        self._name = name
        try:
            self._file, self._path = _temporary()
            self._file.write(head)
            shutil.copyfileobj(pipe, self._file)
            self._file.flush()
        except OSError as error:
            raise OutputError(
                f"what comes from {name} cannot be kept in a temporary file",
                got=error.strerror or str(error),
                remedy="set TMPDIR to a folder with room for it, or give a file",
            ) from error

    def open(self, mode: str, buffering: int = -1) -> Any:
        """The file from its start, as often as it is wanted."""
        return self._path.open(mode, buffering)

    def __str__(self) -> str:
        return self._name


def _temporary() -> tuple[IO[bytes], Path]:
    nameless = tempfile.TemporaryFile(prefix="greenroom-")  # noqa: SIM115 - lives as the spool
    path = Path(f"/proc/self/fd/{nameless.fileno()}")
    if path.exists():
        return nameless, path
    named = tempfile.NamedTemporaryFile(prefix="greenroom-")  # noqa: SIM115
    return named, Path(named.name)
