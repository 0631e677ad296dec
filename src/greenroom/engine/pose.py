"""The point algebra that Ditto and the demo engine share (spec 2.2, 2.3)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from greenroom.base.flow import Motion

POINTS = 21
EYE_POINTS = (11, 13, 15, 16, 18)
LIP_POINTS = (6, 12, 14, 17, 19, 20)
POSE_BINS = 66


def degrees_of(logits: Tensor) -> Tensor:
    """Angle in degrees (N,) from 66 bin logits (N, 66): 3 * sum(i * p_i) - 97.5."""
    assert logits.shape[-1] == POSE_BINS
    bins = torch.arange(POSE_BINS, device=logits.device, dtype=logits.dtype)
    return 3 * (logits.softmax(-1) * bins).sum(-1) - 97.5


def rotation(pitch: Tensor, yaw: Tensor, roll: Tensor) -> Tensor:
    """Rotation (N, 3, 3) for row vectors, transpose(Rz Ry Rx), from degrees (N,)."""
    cx, cy, cz = (torch.cos(a * (math.pi / 180)) for a in (pitch, yaw, roll))
    sx, sy, sz = (torch.sin(a * (math.pi / 180)) for a in (pitch, yaw, roll))
    zero, one = torch.zeros_like(cx), torch.ones_like(cx)

    def matrix(*entries: Tensor) -> Tensor:
        return torch.stack(entries, -1).view(-1, 3, 3)

    rx = matrix(one, zero, zero, zero, cx, -sx, zero, sx, cx)
    ry = matrix(cy, zero, sy, zero, one, zero, -sy, zero, cy)
    rz = matrix(cz, -sz, zero, sz, cz, zero, zero, zero, one)
    return (rz @ ry @ rx).transpose(1, 2)


def transform(kp: Tensor, motion: Motion) -> Tensor:
    """Driven points (N, 21, 3): scale * (kp R + exp) + t, with t's z dropped.

    `kp` is (21, 3) or (N, 21, 3), the neutral points of the identity.
    """
    turned = kp @ rotation(motion.pitch, motion.yaw, motion.roll) + motion.exp
    shift = torch.cat([motion.t[:, :2], torch.zeros_like(motion.t[:, 2:])], -1)
    return turned * motion.scale[:, None, None] + shift[:, None]


def blend(loop: Motion, driven: Motion, alpha: Tensor) -> Motion:
    """Loop + alpha * (driven - loop), row by row; alpha is (N,)."""
    a = alpha.to(loop.scale)

    def mix(x: Tensor, y: Tensor) -> Tensor:
        return x + a.view(-1, *([1] * (x.dim() - 1))) * (y - x)

    return Motion(
        mix(loop.pitch, driven.pitch),
        mix(loop.yaw, driven.yaw),
        mix(loop.roll, driven.roll),
        mix(loop.t, driven.t),
        mix(loop.scale, driven.scale),
        mix(loop.exp, driven.exp),
    )
