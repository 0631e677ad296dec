"""From what the face shows and what the speech asks for to the motion of one frame (spec 5).

    composer = Composer(Composition(still=True))
    composed = [composer.compose(source, driven, control) for source, driven, control in frames]
    x_s, x_d = points_of(kp, motion_of(sources), motion_of(composed), stitch)

Angles are mixed where the networks give them, as 66 bin logits, and become degrees only where a
control asks for degrees: the public model was trained and tuned that way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal, cast

import torch
from torch import Tensor

from greenroom.base.flow import Motion
from greenroom.engine.pose import (
    EYE_POINTS,
    LIP_POINTS,
    POINTS,
    POSE_BINS,
    degrees_of,
    transform,
)
from greenroom.nets.stitch import StitchNetwork

Part = Literal["scale", "pitch", "yaw", "roll", "t", "exp"]
PARTS: tuple[Part, ...] = ("scale", "pitch", "yaw", "roll", "t", "exp")
ANGLES: tuple[Part, ...] = ("pitch", "yaw", "roll")
STILL_PARTS: tuple[Part, ...] = ("exp", "pitch", "yaw", "roll", "t")
CLIP_PARTS: tuple[Part, ...] = ("exp",)


@dataclass(frozen=True, slots=True)
class Head:
    """One frame's motion in the network's own terms; angles are logits (66,) or degrees (1,)."""

    scale: Tensor  # (1,)
    pitch: Tensor
    yaw: Tensor
    roll: Tensor
    t: Tensor  # (3,)
    exp: Tensor  # (63,), 21 points x, y, z

    def part(self, name: Part) -> Tensor:
        return cast(Tensor, getattr(self, name))

    def with_parts(self, parts: Mapping[Part, Tensor]) -> Head:
        return replace(self, **{str(name): value for name, value in parts.items()})


@dataclass(frozen=True, slots=True)
class Blinks:
    """The eyes' own motion; with it the eyes no longer follow the model."""

    table: Tensor  # (rows, 63) expression offsets of one blink, row 0 = open
    rows: tuple[int, ...]  # which row each frame shows, from schedules.blink_rows; then again

    def offset(self, frame: int) -> Tensor:
        return self.table[self.rows[frame % len(self.rows)]]


@dataclass(frozen=True, slots=True)
class Control:
    """What one frame, or every frame, is told besides the speech; None = nothing is said.

    A fade needs a Composition with a `fade`; its alpha is 1 for the full motion, 0 for none.
    """

    delta_pitch: float | None = None  # degrees, added
    delta_yaw: float | None = None
    delta_roll: float | None = None
    alpha_pitch: float | None = None  # factor on the degrees if a delta is given, else the logits
    alpha_yaw: float | None = None
    alpha_roll: float | None = None
    delta_exp: Tensor | None = None  # (63,), added
    vad_alpha: float | None = None  # 1 = expression of the speech, 0 = of the source
    fade_alpha: float | None = None
    fade_parts: tuple[Part, ...] | None = None  # instead of the Composition's

    def over(self, default: Control) -> Control:
        """This control, and the default wherever it says nothing."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(
            default, **{name: value for name, value in said.items() if value is not None}
        )


SILENT = Control()


@dataclass(frozen=True, slots=True)
class Composition:
    """How source and driven motion become one; the defaults are those of the public pipeline."""

    still: bool  # the source is one picture (True) or a clip
    gains: Mapping[Part, float] | None = None  # the parts that follow the speech, and how much;
    # None = STILL_PARTS or CLIP_PARTS, all in full
    relative: bool = True  # source + (driven - reference) rather than driven itself
    drive_eyes: bool | None = None  # eyes follow the model or the blinks; None = if still
    blinks: Blinks | None = None
    fade: Literal["none", "first", "source"] = "none"  # what a fade leads to; first = frame 0
    fade_parts: tuple[Part, ...] = ("exp",)
    scale_ratio: float = 1.0  # scale of the reference character / of the source: see `gain_of`
    everywhere: Control = field(default_factory=Control)  # a frame's own control wins

    @property
    def eyes_driven(self) -> bool:
        return self.still if self.drive_eyes is None else self.drive_eyes

    @property
    def all_gains(self) -> dict[Part, float]:
        """Gain of every part that is driven; the ratio scales all but the shift."""
        default = STILL_PARTS if self.still else CLIP_PARTS
        gains = dict.fromkeys(default, 1.0) if self.gains is None else dict(self.gains)
        scaled = ("exp", *ANGLES)
        return {
            part: gain * (self.scale_ratio if part in scaled else 1.0)
            for part, gain in gains.items()
        }


class Composer:
    """Composes the frames of one session, in order; remembers what the first one was.

    `reference` is the driven motion that counts as no motion; by default that of the first frame.
    """

    def __init__(self, composition: Composition, reference: Head | None = None) -> None:
        assert reference is None or composition.relative
        self.composition = composition
        self.reference = reference
        self.destination: Head | None = None  # of a fade to the first frame
        self.gaze: tuple[Tensor, Tensor] | None = None  # pitch, yaw in degrees of the first source
        self.frame = 0
        self._gains = composition.all_gains
        eyes = composition.eyes_driven
        own_eyes = eyes and composition.blinks is None
        self._followed = _mask(LIP_POINTS + EYE_POINTS if own_eyes else LIP_POINTS)
        self._blinking = _mask(EYE_POINTS if eyes and composition.blinks is not None else ())

    def compose(self, source: Head, driven: Head, control: Control = SILENT) -> Head:
        """The motion of the next frame, from its source and what the speech asks for."""
        control = control.over(self.composition.everywhere)
        if self.gaze is None:
            self.gaze = degrees(source.pitch), degrees(source.yaw)
        head = self._mix(source, driven)
        head = replace(head, exp=self._expression(source, head, control))
        head = _told(head, control)
        head = self._faded(source, head, control)
        if self.composition.eyes_driven:
            head = replace(head, exp=head.exp + gaze_compensation(head, *self.gaze))
        self.frame += 1
        return head

    def _mix(self, source: Head, driven: Head) -> Head:
        """The driven parts, each by its gain, in the place of the source's."""
        if not self.composition.relative:
            return source.with_parts({p: driven.part(p) * g for p, g in self._gains.items()})
        if self.reference is None:
            self.reference = driven
        zero = self.reference
        return source.with_parts(
            {
                part: source.part(part) + (driven.part(part) - zero.part(part)) * gain
                for part, gain in self._gains.items()
            }
        )

    def _expression(self, source: Head, head: Head, control: Control) -> Tensor:
        """Lips (and eyes) as driven, or eyes as they blink; every other point as in the source."""
        followed = self._followed.to(head.exp)
        exp = head.exp * followed + source.exp * (1 - followed)
        if self.composition.blinks is not None:
            exp = exp + self.composition.blinks.offset(self.frame) * self._blinking.to(exp)
        alpha = control.vad_alpha
        return exp if alpha is None or alpha >= 1 else exp * alpha + source.exp * (1 - alpha)

    def _faded(self, source: Head, head: Head, control: Control) -> Head:
        fade, alpha = self.composition.fade, control.fade_alpha
        if fade == "first" and self.destination is None:
            self.destination = head
        if fade == "none" or alpha is None:
            return head
        end = self.destination if fade == "first" else source
        assert end is not None
        parts = self.composition.fade_parts if control.fade_parts is None else control.fade_parts
        return head.with_parts({p: head.part(p) * alpha + end.part(p) * (1 - alpha) for p in parts})


def degrees(angle: Tensor) -> Tensor:
    """An angle (1,) in degrees from its logits (66,); degrees stay as they are."""
    return degrees_of(angle[None]) if angle.shape[-1] == POSE_BINS else angle


def _told(head: Head, control: Control) -> Head:
    """Angles shifted and scaled, expression shifted."""
    parts: dict[Part, Tensor] = {}
    for part in ANGLES:
        angle = head.part(part)
        delta: float | None = getattr(control, f"delta_{part}")
        alpha: float | None = getattr(control, f"alpha_{part}")
        angle = angle if delta is None else degrees(angle) + delta
        parts[part] = angle if alpha is None else angle * alpha
    if control.delta_exp is not None:
        parts["exp"] = head.exp + control.delta_exp
    return head.with_parts(parts)


def gaze_compensation(head: Head, pitch: Tensor, yaw: Tensor) -> Tensor:
    """Offset (63,) of the iris points 11 and 15 that keeps the eyes on the viewer as she turns.

    `pitch` and `yaw` (1,) in degrees are those of the source. The eye on the side that she turns
    to moves less. All factors were tuned by hand in the public pipeline.
    """
    dx = (degrees(head.yaw) - yaw) * 0.26
    dy = (degrees(head.pitch) - pitch) * 0.28
    offset = torch.zeros_like(head.exp).view(POINTS, 3)
    offset[11, 0] = (dx * torch.where(dx > 0, 0.0007, 0.001))[0]
    offset[15, 0] = (dx * torch.where(dx > 0, 0.001, 0.0007))[0]
    offset[[11, 15], 1] = -0.001 * dy
    return offset.flatten()


def _mask(points: Sequence[int]) -> Tensor:
    """1 at the three coordinates of the given points, (63,)."""
    mask = torch.zeros(POINTS, 3)
    mask[list(points)] = 1
    return mask.flatten()


def motion_of(heads: Sequence[Head]) -> Motion:
    """The frames' motion (N,) in degrees."""
    pitch, yaw, roll = (
        torch.cat([degrees(head.part(angle)) for head in heads]) for angle in ANGLES
    )
    return Motion(
        pitch,
        yaw,
        roll,
        t=torch.stack([head.t for head in heads]),
        scale=torch.cat([head.scale for head in heads]),
        exp=torch.stack([head.exp for head in heads]).view(-1, POINTS, 3),
    )


def points_of(
    kp: Tensor, shown: Motion, driven: Motion, stitch: StitchNetwork | None = None
) -> tuple[Tensor, Tensor]:
    """Source and driving points (N, 21, 3) of N frames, the driving ones stitched if asked.

    `kp` (21, 3) or (N, 21, 3) are the neutral points; `shown` is the motion of the source frames.
    """
    source, driving = transform(kp, shown), transform(kp, driven)
    if stitch is not None:
        driving = stitch(source, driving)
    return source, driving
