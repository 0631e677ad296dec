"""Inputs, weights and recorded answers for the tests of the demo networks."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from greenroom.base.weights import load, read_state
from greenroom.nets.demo import Renderer
from greenroom.nets.demo_audio import AudioToLips

ASSETS = Path(str(files("greenroom") / "assets" / "demo"))


@cache
def renderer() -> Renderer:
    return load(Renderer, read_state(ASSETS / "renderer.safetensors"), "renderer")


@cache
def audio_to_lips() -> AudioToLips:
    return load(AudioToLips, read_state(ASSETS / "audio_to_lips.safetensors"), "audio to lips")


@cache
def recorded() -> dict[str, np.ndarray]:
    """Answers of the prototype, see recipes/anchor/record_reference.py."""
    with np.load(Path(__file__).parents[1] / "data" / "demo_reference.npz") as stored:
        return {name: stored[name] for name in stored.files}


def points_and_code() -> tuple[Tensor, Tensor]:
    """Points (16, 21, 3) and codes (16, 72) of recorded motions; the first is neutral."""
    return torch.tensor(recorded()["rig.points"]), torch.tensor(recorded()["rig.code"])


def source_picture(side: int = 512) -> Tensor:
    """Premultiplied RGBA (1, 4, side, side) in 0 ... 1: a striped disc with a soft edge."""
    line = (torch.arange(side, dtype=torch.float64) + 0.5) * 2 / side - 1
    y, x = line[:, None], line[None]
    radius = (x**2 + y**2).sqrt()
    alpha = ((0.9 - radius) * 8).clamp(0, 1)
    stripes = [0.5 + 0.4 * torch.sin(a * x + b * y) for a, b in ((19, 7), (-11, 23), (5, -31))]
    picture = torch.stack([stripe * alpha for stripe in stripes] + [alpha])
    return picture[None].float()
