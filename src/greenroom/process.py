"""What surrounds a command: signals, standard streams, the way out. Imports nothing heavy."""

from __future__ import annotations

import io
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO

INTERRUPTED = 130
OUTPUT_LOST = 5
_GRACE = 1.0  # seconds that an interrupted command has for tidying up
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class Interrupts:
    """Ctrl-C, a polite kill and a closed terminal end a command alike: nothing half-written stays.

    A second signal soon after the first does not break off the tidying. One that is ignored
    (nohup, a job in the background) stays so.
    """

    def __init__(self) -> None:
        self._last = -math.inf

    @property
    def seen(self) -> bool:
        """Whether one came: libraries turn a KeyboardInterrupt into errors of their own."""
        return math.isfinite(self._last)

    def watch(self) -> None:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._come)

    def _come(self, _number: int, _frame: Any) -> None:
        before, self._last = self._last, time.monotonic()
        if self._last - before > _GRACE:
            raise KeyboardInterrupt

    @staticmethod
    def leave() -> None:
        """From now on a signal ends the process at once."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)


INTERRUPTS = Interrupts()


class _Outlet:
    """Standard output or error that may be closed or full: the work goes on, the error is kept."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        try:
            if self.error is None:
                self._stream.write(text)
        except OSError as error:
            self._fail(error)
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.error = self.error or error
        # What waits in the buffer goes nowhere, or Python complains of it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _open_streams() -> None:
    """Numbers 0 to 2 taken, so that no file of ours gets one and with it what libraries print.

    Names that the terminal cannot show are escaped.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, _Outlet(stream))


def _flushed(code: int) -> int:
    """The exit code when all that was printed is out. A reader who has left wanted no more."""
    sys.stdout.flush()
    error = getattr(sys.stdout, "error", None)
    if error is not None and not isinstance(error, BrokenPipeError):
        rows = ("error: standard output cannot be written", f"  got: {error.strerror}")
        print(*rows, sep="\n", file=sys.stderr)
        code = code or OUTPUT_LOST
    sys.stderr.flush()
    return code


def execute(command: Callable[[], int]) -> None:
    """Run a command that gives its exit code, and end the process with it."""
    try:
        INTERRUPTS.watch()
        _open_streams()
        code = command()
    except KeyboardInterrupt:  # before the command could take it
        code = INTERRUPTED
    INTERRUPTS.leave()
    code = _flushed(code)
    if code == INTERRUPTED or threading.active_count() > 1:
        # Taking the interpreter down takes half a second with torch in it, too long for Ctrl-C;
        # and a thread in the middle of native code (a voice that is still loading, say) cannot be
        # stopped and would crash meanwhile. Everything of ours is closed by now.
        os._exit(code)
    sys.exit(code)
