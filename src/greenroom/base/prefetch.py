"""A generator on its own thread behind a bounded queue: the only way this house makes a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")

_POLL = 0.1  # seconds between two looks at the stop flag while the queue is full or empty


class Prefetch(Generic[Item], Iterator[Item]):
    """Iterate `items` on a thread, at most `depth` ahead; its errors are raised at the reader.

    `cancel` is called by `close` to break off work that the thread is in the middle of.
    The thread is a daemon: a process that ends does not wait for it.
    """

    def __init__(
        self,
        items: Iterable[Item],
        depth: int = 2,
        *,
        name: str = "prefetch",
        cancel: Callable[[], None] | None = None,
    ) -> None:
        self._queue: queue.Queue[tuple[bool, Item | BaseException | None]] = queue.Queue(depth)
        self._stop = threading.Event()
        self._cancel = cancel
        self._ended = False
        self._thread = threading.Thread(target=self._run, args=(items,), name=name, daemon=True)
        self._thread.start()

    def _put(self, entry: tuple[bool, Item | BaseException | None]) -> bool:
        while not self._stop.is_set():
            try:
                self._queue.put(entry, timeout=_POLL)
                return True
            except queue.Full:
                continue
        return False

    def _run(self, items: Iterable[Item]) -> None:
        try:
            for item in items:
                if not self._put((True, item)):
                    return
            self._put((False, None))
        except BaseException as error:  # handed to the reader whole, whatever it is
            self._put((False, error))
        finally:
            close = getattr(items, "close", None)
            if self._stop.is_set() and close is not None:
                close()

    def __next__(self) -> Item:
        if self._ended or self._stop.is_set():
            raise StopIteration
        while True:
            try:
                is_item, value = self._queue.get(timeout=_POLL)
                break
            except queue.Empty:  # the time limit lets Ctrl-C in
                if not self._thread.is_alive() and self._queue.empty():
                    raise RuntimeError(f"thread {self._thread.name} died in silence") from None
        if is_item:
            return value  # type: ignore[return-value]
        self._ended = True
        if isinstance(value, BaseException):
            raise value
        raise StopIteration

    def close(self, wait: float = 0.5) -> None:
        """Stop the thread; wait for it at most `wait` seconds."""
        self._stop.set()
        if self._cancel is not None and self._thread.is_alive():
            self._cancel()
        self._thread.join(wait)

    def __enter__(self) -> Prefetch[Item]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
