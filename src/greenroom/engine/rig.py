"""The virtual anchor's rig: head pose, gaze and face units to the motion of 21 points.

Axes are those of the picture, x right, y down, z away from the camera; lengths are world units,
about a decimetre each. Rotations are columns here (R @ x) except where `pose.rotation` is used.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from greenroom.base.flow import Motion
from greenroom.engine.pose import rotation

PARAMETERS = ("yaw", "pitch", "roll", "tx", "ty", "tz", "gaze_x", "gaze_y")  # degrees, world units
YAW, PITCH, ROLL, TX, TY, TZ, GAZE_X, GAZE_Y = range(len(PARAMETERS))
FLIP = (1.0, -1.0, -1.0)  # the stored world has y up and z towards the camera
EYE_POINTS = {11: "eye_left", 15: "eye_right"}  # pupils
HEAD_SHARE = 0.62  # of the rotation that the head joint takes; the neck takes the rest

# How gaze in degrees opens the units of the lids: unit -> (per degree of x, per degree of y).
LID_GAIN = {
    "eyeLookUpLeft": (0.0, 1 / 25),
    "eyeLookUpRight": (0.0, 1 / 25),
    "eyeLookDownLeft": (0.0, -1 / 25),
    "eyeLookDownRight": (0.0, -1 / 25),
    "eyeLookInLeft": (-1 / 30, 0.0),
    "eyeLookInRight": (1 / 30, 0.0),
    "eyeLookOutLeft": (1 / 30, 0.0),
    "eyeLookOutRight": (-1 / 30, 0.0),
}

NEUTRAL = {
    "mouthSmileLeft": 0.16,
    "mouthSmileRight": 0.16,
    "eyeSquintLeft": 0.12,
    "eyeSquintRight": 0.12,
}


@dataclass(frozen=True, slots=True)
class Camera:
    """The camera of the portrait and the crop that the networks see, which spans -1 ... 1."""

    focal: float = 9.2309  # half crops per unit of tangent
    distance: float = 13.9  # from the world's origin, along z
    height: float = 5.42
    offset: float = 0.86  # of the crop's centre below the optical axis, half crops
    window: tuple[int, int, int] = (40, 30, 1000)  # x, y, side of the crop in 1080 x 1920


@dataclass(frozen=True, slots=True)
class Body:
    """Points that the head does not carry: which, and how much of the shift each one takes."""

    points: tuple[int, ...] = (8, 9, 10)  # neck base, shoulders
    shares: tuple[float, ...] = (0.3, 0.0, 0.0)


def rotation_of_vector(vector: Tensor) -> Tensor:
    """Rodrigues: axis times angle in radians (N, 3) -> column rotation (N, 3, 3)."""
    angle = torch.linalg.vector_norm(vector, dim=-1)[:, None, None]
    x, y, z = vector.unbind(-1)
    zero = torch.zeros_like(x)
    cross = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).view(-1, 3, 3)
    half = torch.sinc(angle / (2 * math.pi))
    return (
        torch.eye(3, dtype=vector.dtype, device=vector.device)
        + torch.sinc(angle / math.pi) * cross
        + 0.5 * half * half * (cross @ cross)
    )


def vector_of_rotation(matrix: Tensor) -> Tensor:
    """Column rotations (N, 3, 3) by less than 180 degrees -> axis times angle (N, 3)."""
    m = matrix
    sine = 0.5 * torch.stack(
        [m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]], -1
    )
    cosine = 0.5 * (m.diagonal(dim1=1, dim2=2).sum(-1) - 1)
    angle = torch.atan2(torch.linalg.vector_norm(sine, dim=-1), cosine)
    return sine / torch.sinc(angle / math.pi)[:, None]


def angles_of_rotation(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Pitch, yaw, roll in degrees (N,) of column rotations Rz(roll) Ry(yaw) Rx(pitch)."""
    m, degrees = matrix, 180 / math.pi
    pitch = torch.atan2(m[:, 2, 1], m[:, 2, 2]) * degrees
    yaw = torch.asin((-m[:, 2, 0]).clamp(-1, 1)) * degrees
    return pitch, yaw, torch.atan2(m[:, 1, 0], m[:, 0, 0]) * degrees


def _about(axis: int, degrees: Tensor) -> Tensor:
    """Column rotation (N, 3, 3) about one axis."""
    vector = degrees.new_zeros(len(degrees), 3)
    vector[:, axis] = degrees * (math.pi / 180)
    return rotation_of_vector(vector)


@dataclass(frozen=True)
class Rig:
    """Rest points and their displacement per face unit, float64, picture axes."""

    units: tuple[str, ...]
    rest: Tensor  # (21, 3)
    displacement: Tensor  # (U, 21, 3)
    head_joint: Tensor  # (3,)
    neck_joint: Tensor  # (3,)
    centre: Tensor  # (3,) of the head: the origin of the neutral points
    eye_radius: float
    camera: Camera = Camera()
    body: Body = Body()

    @classmethod
    def load(cls, path: Path) -> Rig:
        """Read rig.safetensors, whose header names the units."""
        with safe_open(path, framework="pt") as file:
            units = tuple(json.loads(file.metadata()["units"]))
            world = {name: file.get_tensor(name).double() for name in file.keys()}  # noqa: SIM118
        flip = torch.tensor(FLIP, dtype=torch.float64)
        return cls(
            units,
            rest=world["rest"] * flip,
            displacement=world["displacement"] * flip,
            head_joint=world["head_joint"] * flip,
            neck_joint=world["neck_joint"] * flip,
            centre=torch.tensor((0.0, 6.4, 0.6), dtype=torch.float64) * flip,
            eye_radius=float(world["eye_radius"]),
        )

    def to(self, device: torch.device | str) -> Rig:
        return replace(
            self,
            rest=self.rest.to(device),
            displacement=self.displacement.to(device),
            head_joint=self.head_joint.to(device),
            neck_joint=self.neck_joint.to(device),
            centre=self.centre.to(device),
        )

    @property
    def width(self) -> int:
        """Numbers per frame of `params`."""
        return len(PARAMETERS) + len(self.units)

    @cached_property
    def kp(self) -> Tensor:
        """Neutral points of the identity (21, 3)."""
        return self.rest - self.centre

    @cached_property
    def _lid_gain(self) -> Tensor:
        gains = [LID_GAIN.get(unit, (0.0, 0.0)) for unit in self.units]
        return torch.tensor(gains, dtype=torch.float64, device=self.rest.device).T

    def column(self, unit: str) -> int:
        """Where a face unit stands in `params`."""
        return len(PARAMETERS) + self.units.index(unit)

    def neutral(self, frames: int = 1) -> Tensor:
        """Params (frames, 60) of the resting face, which is that of the source picture."""
        params = torch.zeros(frames, self.width, dtype=torch.float64, device=self.rest.device)
        for unit, value in NEUTRAL.items():
            params[:, self.column(unit)] = value
        return params

    def displaced(self, params: Tensor) -> Tensor:
        """Params (N, 60) -> displacement of the points in the head's own frame (N, 21, 3)."""
        gaze = params[:, GAZE_X : GAZE_Y + 1]
        units = params[:, len(PARAMETERS) :] + (gaze @ self._lid_gain).clamp(min=0)
        points = (units @ self.displacement.flatten(1)).view(-1, 21, 3)
        x, y = (gaze * (math.pi / 180)).unbind(-1)
        look = torch.stack([x.sin() * y.cos(), -y.sin(), 1 - x.cos() * y.cos()], -1)
        for point in EYE_POINTS:
            points[:, point] = look * self.eye_radius
        return points

    def motion(self, params: Tensor, displacement: Tensor | None = None) -> Motion:
        """Params (N, 60) -> Motion float32; `displacement` (N, 21, 3) adds to that of the params.

        Params are yaw, pitch, roll (degrees), shift (world: x right, y up, z near), gaze (degrees)
        and the face units 0 ... 1 in the order of `units`.
        """
        p = params.double()
        turn = _about(1, -p[:, YAW]) @ _about(0, -p[:, PITCH]) @ _about(2, p[:, ROLL])
        centre = self._swing(vector_of_rotation(turn)) + p[:, TX : TZ + 1] * p.new_tensor(FLIP)
        scale = self.camera.focal / (self.camera.distance + centre[:, 2])
        t = torch.zeros_like(centre)
        t[:, 0] = scale * centre[:, 0]
        t[:, 1] = scale * (centre[:, 1] + self.camera.height) + self.camera.offset
        points = self.displaced(p)
        if displacement is not None:
            points = points + displacement
        exp = points @ turn.transpose(1, 2)
        motion = Motion(*angles_of_rotation(turn), t, scale, exp)
        return self.settle(motion).to(p.device, torch.float32)

    def _swing(self, vector: Tensor) -> Tensor:
        """Where the head's centre (N, 3) goes when head and neck share a rotation vector."""
        head = rotation_of_vector(vector * HEAD_SHARE)
        neck = rotation_of_vector(vector * (1 - HEAD_SHARE))
        arm = (head @ (self.centre - self.head_joint)) + self.head_joint - self.neck_joint
        return (neck @ arm[..., None])[..., 0] + self.neck_joint

    def settle(self, motion: Motion) -> Motion:
        """Put neck and shoulders where the body has them, whatever the pose: after a blend.

        The head's centre follows from scale and t, the neck's share of it from the rotation; the
        rest is the shift of the body, of which the neck base takes a part and the shoulders none.
        """
        turn = rotation(motion.pitch.double(), motion.yaw.double(), motion.roll.double())
        scale, t = motion.scale.double(), motion.t.double()
        centre = torch.stack(
            [
                t[:, 0] / scale,
                (t[:, 1] - self.camera.offset) / scale - self.camera.height,
                self.camera.focal / scale - self.camera.distance,
            ],
            -1,
        )
        shift = centre - self._swing(vector_of_rotation(turn.transpose(1, 2)))
        exp = motion.exp.clone()
        for point, share in zip(self.body.points, self.body.shares, strict=True):
            target = self.rest[point] + share * shift - centre
            exp[:, point] = (target - (self.kp[point] @ turn)).to(exp)
        return replace(motion, exp=exp)

    def code(self, motion: Motion) -> Tensor:
        """What the networks hear of a settled motion besides its points: (N, 72) float32."""
        turn = rotation(motion.pitch.double(), motion.yaw.double(), motion.roll.double())
        points = motion.exp.double() @ turn.transpose(1, 2)
        parts = [
            4 * points.flatten(1),
            turn[:, :2].flatten(1),
            2 * motion.t[:, :2].double(),
            8 * (motion.scale.double()[:, None] - 0.70),
        ]
        return torch.cat(parts, 1).float()
