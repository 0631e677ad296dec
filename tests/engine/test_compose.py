"""What each option of the composition does, on one or two frames with numbers one can follow."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from greenroom.engine.compose import (
    PARTS,
    Blinks,
    Composer,
    Composition,
    Control,
    Head,
    Part,
    degrees,
    gaze_compensation,
    motion_of,
    points_of,
)
from greenroom.engine.pose import EYE_POINTS, LIP_POINTS, transform
from greenroom.engine.schedules import blink_rows, fade_alphas

SIZES = {"scale": 1, "pitch": 66, "yaw": 66, "roll": 66, "t": 3, "exp": 63}


def head(seed: int) -> Head:
    generator = torch.Generator().manual_seed(seed)
    return Head(**{part: torch.randn(size, generator=generator) for part, size in SIZES.items()})


def exp_of(value: float) -> Tensor:
    return torch.full((63,), value)


def points_that_differ(one: Tensor, other: Tensor) -> set[int]:
    return set(((one - other).view(21, 3).abs().amax(1) > 1e-7).nonzero().flatten().tolist())


def composed(composition: Composition, *controls: Control) -> list[Head]:
    """The source is head 0, the driven frames heads 1, 2, ..."""
    composer = Composer(composition)
    return [
        composer.compose(head(0), head(frame + 1), control)
        for frame, control in enumerate(controls)
    ]


SILENT = Control()


def test_the_first_frame_of_relative_motion_shows_the_source() -> None:
    first, second = composed(Composition(still=True, drive_eyes=False), SILENT, SILENT)
    for part in PARTS:
        torch.testing.assert_close(first.part(part), head(0).part(part))
    moved = {part for part in PARTS if not torch.equal(second.part(part), head(0).part(part))}
    assert moved == set(PARTS) - {"scale"}


def test_a_given_reference_counts_as_no_motion() -> None:
    composer = Composer(Composition(still=True, drive_eyes=False), reference=head(5))
    frame = composer.compose(head(0), head(1))
    torch.testing.assert_close(frame.t, head(0).t + head(1).t - head(5).t)
    assert points_that_differ(frame.exp, head(0).exp) == set(LIP_POINTS)


def test_a_clip_follows_only_the_lips_and_a_picture_the_eyes_too() -> None:
    clip = composed(Composition(still=False, relative=False), SILENT)[0]
    assert points_that_differ(clip.exp, head(0).exp) == set(LIP_POINTS)
    assert torch.equal(clip.pitch, head(0).pitch)
    picture = composed(Composition(still=True, relative=False), SILENT)[0]
    assert points_that_differ(picture.exp, head(0).exp) == set(LIP_POINTS + EYE_POINTS)
    assert torch.equal(picture.pitch, head(1).pitch)
    assert torch.equal(picture.scale, head(0).scale)


def test_gains_and_scale_ratio_multiply_all_but_the_shift() -> None:
    gains: dict[Part, float] = {"exp": 0.5, "t": 1.0, "yaw": 2.0}
    plain = Composition(still=True, gains=gains, scale_ratio=3.0, drive_eyes=False)
    _, frame = composed(plain, SILENT, SILENT)
    torch.testing.assert_close(frame.yaw, head(0).yaw + 6.0 * (head(2).yaw - head(1).yaw))
    torch.testing.assert_close(frame.t, head(0).t + (head(2).t - head(1).t))
    lip = slice(3 * LIP_POINTS[0], 3 * LIP_POINTS[0] + 3)
    change = 1.5 * (head(2).exp - head(1).exp)
    torch.testing.assert_close(frame.exp[lip], (head(0).exp + change)[lip])
    assert torch.equal(frame.pitch, head(0).pitch)
    all_of_it = Composition(still=True, scale_ratio=2.0).all_gains
    assert all_of_it == {"exp": 2, "pitch": 2, "yaw": 2, "roll": 2, "t": 1}


def test_blinks_replace_the_eyes_and_come_round_again() -> None:
    table = torch.stack([exp_of(0.0), exp_of(0.25)])
    composition = Composition(
        still=True, relative=False, gains={"exp": 1.0}, blinks=Blinks(table, (0, 1, 0))
    )
    frames = composed(composition, *[SILENT] * 5)
    for frame, closed in zip(frames, (False, True, False, False, True), strict=True):
        eyes = torch.tensor(sorted(EYE_POINTS))
        moved = (frame.exp - head(0).exp).view(21, 3)[eyes]
        torch.testing.assert_close(moved, torch.full_like(moved, 0.25 if closed else 0.0))


def test_gaze_compensation_is_that_of_the_specification() -> None:
    turned = Head(
        **{part: torch.zeros(size) for part, size in SIZES.items() if part not in ("pitch", "yaw")},
        pitch=torch.tensor([5.0]),
        yaw=torch.tensor([10.0]),
    )
    for sign in (1.0, -1.0):
        frame = Head(**{p: sign * turned.part(p) for p in PARTS})
        offset = gaze_compensation(frame, torch.tensor([0.0]), torch.tensor([0.0]))
        less, more = sign * 10 * 0.26 * 0.0007, sign * 10 * 0.26 * 0.001
        assert offset[33].item() == pytest.approx(less if sign > 0 else more)
        assert offset[45].item() == pytest.approx(more if sign > 0 else less)
        assert offset[34].item() == pytest.approx(-0.001 * sign * 5 * 0.28)
        assert offset[46].item() == offset[34].item()
        assert points_that_differ(offset, exp_of(0.0)) == {11, 15}


def test_gaze_keeps_to_the_first_source_of_a_clip() -> None:
    composer = Composer(Composition(still=False, drive_eyes=True))
    composer.compose(head(0), head(1))
    composer.compose(head(3), head(2))
    assert composer.gaze is not None
    assert torch.equal(composer.gaze[1], degrees(head(0).yaw))


def test_angles_are_logits_until_a_delta_makes_them_degrees() -> None:
    plain = Composition(still=True, relative=False)
    scaled = composed(plain, Control(alpha_roll=0.5))[0]
    torch.testing.assert_close(scaled.roll, head(1).roll * 0.5)
    told = composed(plain, Control(delta_roll=4, alpha_roll=0.5))[0]
    torch.testing.assert_close(told.roll, (degrees(head(1).roll) + 4) * 0.5)
    assert torch.equal(told.pitch, head(1).pitch)


def test_expression_offsets_and_voice_activity() -> None:
    plain = Composition(still=True, relative=False, drive_eyes=False)
    base = composed(plain, SILENT)[0].exp
    shifted = composed(plain, Control(delta_exp=exp_of(0.5)))[0].exp
    torch.testing.assert_close(shifted, base + 0.5)
    quiet = composed(plain, Control(vad_alpha=0.0))[0].exp
    torch.testing.assert_close(quiet, head(0).exp)
    half = composed(plain, Control(vad_alpha=0.5))[0].exp
    torch.testing.assert_close(half, (base + head(0).exp) / 2)
    assert torch.equal(composed(plain, Control(vad_alpha=1.5))[0].exp, base)


def test_fades_end_in_the_source_or_the_first_frame() -> None:
    end = Control(fade_alpha=0.0, fade_parts=("exp", "t"))
    to_source = Composition(still=True, relative=False, drive_eyes=False, fade="source")
    _, frame = composed(to_source, SILENT, end)
    assert torch.equal(frame.exp, head(0).exp)
    assert torch.equal(frame.t, head(0).t)
    assert torch.equal(frame.pitch, head(2).pitch)
    to_first = Composition(still=True, relative=False, drive_eyes=False, fade="first")
    first, frame = composed(to_first, SILENT, end)
    assert torch.equal(frame.exp, first.exp)
    assert torch.equal(frame.t, head(1).t)
    none = Composition(still=True, relative=False, drive_eyes=False)
    assert torch.equal(composed(none, SILENT, end)[1].t, head(2).t)


def test_a_fade_from_degrees_to_logits_counts_as_logits() -> None:
    """As in the public pipeline: a shift of all logits does not change the angle."""
    control = Control(delta_yaw=3, fade_alpha=0.5, fade_parts=("yaw",))
    frame = composed(Composition(still=True, relative=False, fade="source"), control)[0]
    assert frame.yaw.shape == (66,)
    torch.testing.assert_close(degrees(frame.yaw), degrees(0.5 * head(0).yaw))


def test_a_frame_s_own_control_wins_over_the_one_for_all() -> None:
    everywhere = Control(delta_pitch=2, alpha_yaw=0.5)
    assert Control(delta_pitch=0.0).over(everywhere) == Control(delta_pitch=0.0, alpha_yaw=0.5)
    assert Control().over(everywhere) == everywhere
    composition = Composition(still=True, relative=False, everywhere=everywhere)
    first, second = composed(composition, SILENT, Control(delta_pitch=-1))
    torch.testing.assert_close(first.pitch, degrees(head(1).pitch) + 2)
    torch.testing.assert_close(second.pitch, degrees(head(2).pitch) - 1)


def test_motion_of_frames_is_in_degrees() -> None:
    one, two = head(0), head(1).with_parts({"pitch": torch.tensor([12.0])})
    motion = motion_of([one, two])
    assert len(motion) == 2
    assert motion.exp.shape == (2, 21, 3)
    torch.testing.assert_close(motion.pitch, torch.cat([degrees(one.pitch), torch.tensor([12.0])]))
    kp = torch.randn(21, 3)
    x_s, x_d = points_of(kp, motion[[0]], motion[[1]])
    assert torch.equal(x_s, transform(kp, motion[[0]]))
    assert torch.equal(x_d, transform(kp, motion[[1]]))


# --- schedules ------------------------------------------------------------------------------------


def test_blinks_keep_their_gaps() -> None:
    rows = blink_rows(20, 3, [4, 2])
    assert rows == (0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 1, 2, 0)
    assert blink_rows(20, 3, []) == (0,) * 20
    assert blink_rows(5, 3, [4]) == (0,) * 5


def test_drawn_blinks_are_repeatable_and_60_to_100_frames_apart() -> None:
    rows = blink_rows(3000, 15, random.Random(7))
    assert rows == blink_rows(3000, 15, random.Random(7))
    assert rows != blink_rows(3000, 15, random.Random(8))
    starts = [frame - 1 for frame, row in enumerate(rows) if row == 1]
    gaps = [starts[0], *(b - a - 15 for a, b in pairwise(starts))]
    assert len(starts) > 20
    assert all(60 <= gap <= 100 for gap in gaps)
    assert set(rows[-60:]) == {0}


def test_fades_rise_from_zero_and_fall_to_zero() -> None:
    assert fade_alphas(10) == {}
    assert fade_alphas(10, fade_in=2) == {0: 0, 1: 0.5}
    assert fade_alphas(10, fade_out=2) == {7: 1, 8: 0.5, 9: 0}
    assert fade_alphas(3, fade_in=9) == {0: 0, 1: 1 / 9, 2: 2 / 9}
    assert fade_alphas(2, fade_out=4) == {0: 0.25, 1: 0}
