"""Motion in, finished pictures out: rows painted and pasted on a few lanes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import cv2
import torch

from greenroom.base.flow import Engine, Loop, Motion, Pixels
from greenroom.pixels.paste import PasteBack


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """An avatar ready to be painted: its loop, and its paste-back prepared once."""

    loop: Loop
    paste_back: PasteBack


@dataclass(slots=True)
class Meter:
    """Seconds and rows by stage, added up by all lanes."""

    seconds: dict[str, float] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, stage: str, seconds: float, rows: int = 1) -> None:
        with self._lock:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
            self.rows[stage] = self.rows.get(stage, 0) + rows


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch to the caller's thread.

    Its helpers wait by spinning. While lanes hold the cores, each parallel region of a small
    network waits for a helper that has no core: 14 ms a frame on two of them, 0.9 ms without.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class Painter:
    """Paints rows of any session. On a CPU each row is a job on a one-thread lane.

    Two one-thread lanes beat one two-thread call there (43 against 51 ms per frame), and the
    arithmetic of a row does not depend on its neighbours.
    """

    def __init__(self, engine: Engine, *, batch_size: int = 0, lanes: int = 0) -> None:
        on_cpu = engine.device.type == "cpu"
        self.engine = engine
        self.batch_size = batch_size or (1 if on_cpu else 16)
        self.lanes = lanes or (cores() if on_cpu else 1)
        self.meter = Meter()
        cv2.setNumThreads(1)  # the lanes are the threads
        self._pool = ThreadPoolExecutor(
            self.lanes, "lane", initializer=torch.set_num_threads, initargs=(1,)
        )

    def submit(
        self, motion: Motion, anchors: Sequence[Anchor], index: Sequence[int]
    ) -> list[Future[list[Pixels]]]:
        """Start painting N rows, row i on plate index[i] of anchors[i]; results in order."""
        assert len(motion) == len(anchors) == len(index)
        return [
            self._pool.submit(
                self._paint,
                motion[start : start + self.batch_size],
                tuple(anchors[start : start + self.batch_size]),
                tuple(index[start : start + self.batch_size]),
            )
            for start in range(0, len(motion), self.batch_size)
        ]

    def _paint(
        self, motion: Motion, anchors: tuple[Anchor, ...], index: tuple[int, ...]
    ) -> list[Pixels]:
        begin = time.thread_time()
        with torch.inference_mode():
            faces = self.engine.render(motion, tuple(a.loop for a in anchors), index)
        painted = time.thread_time()
        pictures = [
            anchor.paste_back.paste(faces, anchor.loop.plates[at], i)
            for i, (anchor, at) in enumerate(zip(anchors, index, strict=True))
        ]
        self.meter.add("networks", painted - begin, len(index))
        self.meter.add("paste", time.thread_time() - painted, len(index))
        return pictures

    def close(self) -> None:
        """Drop what has not begun; what runs ends by itself within one row."""
        self._pool.shutdown(wait=True, cancel_futures=True)
