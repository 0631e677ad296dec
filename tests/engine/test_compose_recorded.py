"""Composition, blinks and point algebra against the numbers of the public pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from greenroom.base.weights import load
from greenroom.engine.compose import (
    PARTS,
    Blinks,
    Composer,
    Composition,
    Control,
    Head,
    motion_of,
    points_of,
)
from greenroom.engine.pose import degrees_of, transform
from greenroom.engine.schedules import blink_rows, fade_alphas
from greenroom.nets.stitch import StitchNetwork
from greenroom.quality.subjects import SUBJECTS
from greenroom.quality.synthetic import synthetic_state

FILE = Path(__file__).parents[1] / "conformance" / "pipeline" / "motion_stitch.npz"
FRAMES, TOLERANCE = 40, 1e-5
Controls = Callable[[int], Control]


@cache
def recorded() -> dict[str, NDArray[Any]]:
    with np.load(FILE) as archive:
        return {key: archive[key] for key in archive.files}


def tensor(key: str) -> Tensor:
    return torch.from_numpy(recorded()[key])


def heads(prefix: str) -> list[Head]:
    rows = len(recorded()[f"{prefix}.scale"])
    return [Head(**{p: tensor(f"{prefix}.{p}")[row] for p in PARTS}) for row in range(rows)]


@cache
def stitch() -> StitchNetwork:
    state = synthetic_state(SUBJECTS["stitch_network"].manifest)
    return load(StitchNetwork, {k: 0.05 * v for k, v in state.items()}, "stitch_network")


def nothing(frame: int) -> Control:
    return Control()


def fading(frame: int) -> Control:
    return Control(fade_alpha=fade_alphas(FRAMES, fade_in=10, fade_out=19).get(frame))


def hushed(frame: int) -> Control:
    return Control(vad_alpha=0.25 if 10 <= frame < 20 else None)


def blinks() -> Blinks:
    return Blinks(tensor("blink"), blink_rows(FRAMES, 15, [5, 7]))


@dataclass(frozen=True)
class Case:
    composition: Composition
    controls: Controls = nothing
    stitched: bool = True


CASES: dict[str, Case] = {
    "image_default": Case(Composition(still=True)),
    "video_default": Case(Composition(still=False)),
    "image_absolute": Case(Composition(still=True, relative=False)),
    "image_no_stitch": Case(Composition(still=True), stitched=False),
    "image_blink": Case(Composition(still=True, blinks=blinks())),
    "video_drive_eye": Case(Composition(still=False, drive_eyes=True)),
    "image_pose_ctrl": Case(
        Composition(still=True, everywhere=Control(delta_pitch=2, delta_yaw=-5, alpha_roll=0.5))
    ),
    "image_keys_weights": Case(
        Composition(still=True, gains={"exp": 1.2, "pitch": 0.5, "yaw": 0.8, "roll": 1.0, "t": 1.0})
    ),
    "image_fade_s": Case(Composition(still=True, fade="source"), fading),
    "image_fade_d0": Case(
        Composition(still=True, fade="first", fade_parts=("exp", "pitch", "yaw", "roll", "t")),
        fading,
    ),
    "image_vad": Case(Composition(still=True), hushed),
}


def test_every_recorded_option_set_is_tried() -> None:
    names = {key.split(".")[1] for key in recorded() if key.startswith("case.")}
    assert names == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_composed_points_are_the_recorded_ones(name: str) -> None:
    case, sources, driven = CASES[name], heads("s"), heads("d")
    turns = [0] if case.composition.still else [*range(7), *reversed(range(7))]
    order = list(islice(cycle(turns), FRAMES))
    composer = Composer(case.composition)
    composed = [
        composer.compose(sources[row], driven[frame], case.controls(frame))
        for frame, row in enumerate(order)
    ]
    kp = tensor("s.kp").view(-1, 21, 3)[order]
    shown = motion_of([sources[row] for row in order])
    with torch.inference_mode():
        x_s, x_d = points_of(kp, shown, motion_of(composed), stitch() if case.stitched else None)
    assert (x_s - tensor(f"case.{name}.x_s")).abs().amax() < TOLERANCE
    assert (x_d - tensor(f"case.{name}.x_d")).abs().amax() < TOLERANCE


def test_option_sets_differ_from_each_other_by_more_than_the_tolerance() -> None:
    points = {name: tensor(f"case.{name}.x_d") for name in CASES}
    images = [name for name in CASES if name.startswith("image")]
    for one in images:
        for other in images:
            if one != other:
                assert (points[one] - points[other]).abs().amax() > 10 * TOLERANCE, (one, other)


def test_degrees_are_the_recorded_ones() -> None:
    """Within single precision: at 97.5 its last place is 7.6e-6, and two roundings lie there."""
    pitch, exact = degrees_of(tensor("s.pitch")), degrees_of(tensor("s.pitch").double())
    assert pitch.shape == (7,)
    assert (pitch - tensor("deg.pitch")).abs().amax() < 2e-5
    assert (pitch - exact).abs().amax() < 2e-5
    assert (tensor("deg.pitch") - exact).abs().amax() > TOLERANCE  # the recording's own rounding


def test_transformed_points_are_the_recorded_ones() -> None:
    points = transform(tensor("s.kp").view(-1, 21, 3), motion_of(heads("s")))
    assert (points - tensor("x_s")).abs().amax() < TOLERANCE


def test_blink_schedules_are_the_recorded_ones() -> None:
    assert list(blink_rows(40, 15, [5, 7])) == recorded()["blink_schedule_40_5_7"].tolist()
    assert list(blink_rows(200, 15, [30])) == recorded()["blink_schedule_200_30"].tolist()
