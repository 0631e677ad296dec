"""Runs the command line as a person does: another process, a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import soundfile

from greenroom.base.flow import Samples


def greenroom(
    *arguments: str | Path | int,
    cwd: Path,
    before: Callable[[], None] | None = None,
    stdin: bytes = b"",
    timeout: float = 240,
) -> subprocess.CompletedProcess[str]:
    """`greenroom ARGUMENTS`, its output captured as text."""
    done = subprocess.run(
        [sys.executable, "-m", "greenroom", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=timeout,
        preexec_fn=before,
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def write_wav(path: Path, pcm: Samples, rate: int = 16000, subtype: str = "PCM_16") -> Path:
    soundfile.write(path, pcm, rate, subtype=subtype)
    return path


def names(folder: Path) -> list[str]:
    """Everything in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())


def silence(seconds: float, rate: int = 16000) -> Samples:
    return np.zeros(round(seconds * rate), np.float32)


def joined(parts: Sequence[Samples]) -> Samples:
    return np.concatenate(list(parts))
