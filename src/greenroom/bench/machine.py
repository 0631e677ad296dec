"""The card of the machine that a figure was measured on."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from greenroom.runtime.painter import cores


@dataclass(frozen=True, slots=True)
class Machine:
    """Where and when; stands in every bench's JSON."""

    processor: str
    cores: int
    gpu: str
    system: str
    python: str
    torch: str
    opencv: str
    av: str
    date: str


def this_machine() -> Machine:
    """What runs here, today."""
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return Machine(
        processor=_processor(),
        cores=cores(),
        gpu=gpu,
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        torch=torch.__version__,
        opencv=version("opencv-python-headless"),
        av=version("av"),
        date=date.today().isoformat(),
    )


def _processor() -> str:
    try:
        rows = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        rows = []
    names = [row.split(":", 1)[1].strip() for row in rows if row.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
