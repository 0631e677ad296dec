"""Shared by all tests: private XDG folders, and the demo anchor opened once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from greenroom.base.flow import Engine, Samples
from greenroom.base.presets import Preset, preset_named
from greenroom.runtime.painter import Anchor, Painter
from greenroom.runtime.wiring import open_anchor, open_engine


@pytest.fixture(scope="session", autouse=True)
def private_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Cache and data of the tests' own; workers share the cache, so the loop is painted once."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
        patch.setenv("XDG_DATA_HOME", str(shared / "data"))
        yield


@dataclass(frozen=True, slots=True)
class Studio:
    """The demo preset, opened."""

    preset: Preset
    engine: Engine
    painter: Painter
    anchor: Anchor


@pytest.fixture(scope="session")
def studio(private_folders: None) -> Iterator[Studio]:
    preset = preset_named("demo")
    engine = open_engine(preset, "cpu")
    painter = Painter(engine)
    yield Studio(preset, engine, painter, open_anchor("vera", engine, painter))
    painter.close()


def babble(seconds: float, rate: int = 16000, seed: int = 0) -> Samples:
    """Speech-like sound: a buzz with two moving resonances, in syllables with short gaps."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    pitch = 150 + 30 * np.sin(2 * np.pi * 0.7 * time + rng.uniform(0, 6))
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    out = np.zeros_like(time)
    for centre, depth, width in ((550, 250, 90), (1700, 500, 150)):
        formant = centre + depth * np.sin(2 * np.pi * 2.3 * time + rng.uniform(0, 6))
        for k in range(1, min(30, int(rate / 2 / 200))):
            out += np.exp(-0.5 * ((k * pitch - formant) / width) ** 2) * np.sin(k * phase)
    syllables = np.clip(np.sin(2 * np.pi * 3.1 * time + rng.uniform(0, 6)) + 0.6, 0, 1)
    return (0.12 * out * syllables).astype(np.float32)


@pytest.fixture(scope="session")
def bulletin() -> Path:
    return Path(__file__).parents[1] / "examples" / "bulletin.txt"
