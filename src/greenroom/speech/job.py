"""One call of a voice that another thread may break off."""

from __future__ import annotations

from collections.abc import Callable


class Cancelled(Exception):
    """The voice was told to stop in the middle of a line; nothing is wrong with the line."""


class Job:
    """Carries `cancel` from any thread to the work that runs just now.

    The work hands in the means to stop it before it begins; whichever of `begin` and `cancel`
    comes second does the stopping, so no order of the two lets the work run on.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self._stop: Callable[[], None] | None = None

    def begin(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        if self.cancelled:
            stop()

    def cancel(self) -> None:
        self.cancelled = True
        if self._stop is not None:
            self._stop()

    def check(self) -> None:
        if self.cancelled:
            raise Cancelled
