"""How those who wait are told."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]  # stage, done, total (None = unknown)


def no_progress(stage: str, done: int, total: int | None) -> None:
    """For those who do not watch."""
