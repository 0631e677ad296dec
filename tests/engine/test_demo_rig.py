"""The rig of the demo anchor: the prototype's points, and plain facts about heads and shoulders."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from greenroom.base.flow import Motion
from greenroom.engine.demo import assets
from greenroom.engine.pose import blend, rotation, transform
from greenroom.engine.rig import (
    GAZE_X,
    PITCH,
    ROLL,
    TX,
    TY,
    TZ,
    YAW,
    Rig,
    angles_of_rotation,
    rotation_of_vector,
    vector_of_rotation,
)

SHOULDERS, NECK, PUPILS = [9, 10], 8, [11, 15]


@cache
def rig() -> Rig:
    return Rig.load(assets() / "rig.safetensors")


def recorded(name: str) -> np.ndarray:
    with np.load(Path(__file__).parents[1] / "data" / "demo_reference.npz") as stored:
        return np.asarray(stored[f"rig.{name}"])


def posed(**parameters: float) -> Motion:
    """One neutral face with some parameters changed."""
    columns = {"yaw": YAW, "pitch": PITCH, "roll": ROLL, "tx": TX, "ty": TY, "tz": TZ}
    params = rig().neutral()
    for name, value in parameters.items():
        params[:, columns[name]] = value
    return rig().motion(params)


def points(motion: Motion) -> Tensor:
    return transform(rig().kp.float(), motion)


def test_motion_points_and_code_as_recorded() -> None:
    motion = rig().motion(torch.from_numpy(recorded("params")))
    angles = torch.stack([motion.pitch, motion.yaw, motion.roll], 1)
    np.testing.assert_allclose(angles, recorded("angles"), atol=1e-5)  # degrees
    np.testing.assert_allclose(motion.t, recorded("t"), atol=1e-6)
    np.testing.assert_allclose(motion.scale, recorded("scale"), atol=1e-6)
    np.testing.assert_allclose(motion.exp, recorded("exp"), atol=1e-6)
    np.testing.assert_allclose(points(motion), recorded("points"), atol=1e-6)
    np.testing.assert_allclose(rig().code(motion), recorded("code"), atol=2e-6)


def test_neutral_face_is_the_first_of_the_record() -> None:
    np.testing.assert_array_equal(rig().neutral()[0], recorded("params")[0])


def test_added_displacement_is_in_the_heads_own_frame() -> None:
    params = torch.from_numpy(recorded("params"))
    added = torch.zeros(len(params), 21, 3, dtype=torch.float64)
    added[:, 6, 1] = 0.1  # the upper lip, down
    motion, moved = rig().motion(params), rig().motion(params, added)
    turn = rotation(motion.pitch, motion.yaw, motion.roll)
    torch.testing.assert_close(moved.exp - motion.exp, added.float() @ turn, rtol=0, atol=1e-6)


# --- shoulders and neck ---------------------------------------------------------------------------


def test_shoulders_stay_while_the_head_turns() -> None:
    still, turned = points(posed()), points(posed(yaw=15, pitch=-8, roll=5))
    assert float((turned - still)[0, :8].abs().max()) > 0.05
    assert float((turned - still)[0, SHOULDERS, :2].abs().max()) < 0.003  # in the picture


def test_neck_takes_its_share_of_a_shift() -> None:
    still, moved = points(posed()), points(posed(tx=0.1))
    head, neck, shoulder = ((moved - still)[0, i, 0] for i in (0, NECK, 9))
    torch.testing.assert_close(neck / head, torch.tensor(0.3), rtol=0, atol=0.05)
    assert abs(float(shoulder)) < 1e-6


def test_settling_a_settled_motion_changes_nothing() -> None:
    motion = rig().motion(torch.from_numpy(recorded("params")))
    torch.testing.assert_close(rig().settle(motion).exp, motion.exp, rtol=0, atol=1e-6)


def test_settling_puts_the_body_back_after_a_blend() -> None:
    """Whatever the body points say, they come to lie where a body of that pose has them."""
    a, b = posed(yaw=20, tx=0.1), posed(yaw=-12, pitch=6, tz=0.1)
    mixed = blend(a, b, torch.tensor([0.37]))
    broken = Motion(mixed.pitch, mixed.yaw, mixed.roll, mixed.t, mixed.scale, mixed.exp.clone())
    broken.exp[:, [NECK, *SHOULDERS]] += 1.0
    settled = rig().settle(broken)
    torch.testing.assert_close(settled.exp, rig().settle(mixed).exp, rtol=0, atol=1e-6)
    camera = rig().camera
    anchor = rig().rest[SHOULDERS, :2] + torch.tensor([0, camera.height])
    wanted = mixed.scale * anchor + torch.tensor([0, camera.offset])
    torch.testing.assert_close(
        points(settled)[0, SHOULDERS, :2].double(), wanted, atol=1e-5, rtol=0
    )
    face = [i for i in range(21) if i not in (NECK, *SHOULDERS)]
    assert torch.equal(settled.exp[:, face], broken.exp[:, face])


# --- directions -----------------------------------------------------------------------------------


def test_parameters_move_the_way_their_names_say() -> None:
    """Picture axes: x right, y down; positive pitch looks up."""
    nose = points(posed())[0, 0]
    assert points(posed(yaw=10))[0, 0, 0] > nose[0]
    assert points(posed(pitch=10))[0, 0, 1] < nose[1]
    assert points(posed(tx=0.1))[0, 0, 0] > nose[0]
    assert points(posed(ty=0.1))[0, 0, 1] < nose[1]
    assert posed(tz=0.1).scale > posed().scale


def test_gaze_moves_the_pupils_and_its_lids_only() -> None:
    params = rig().neutral()
    params[:, GAZE_X] = 10
    moved = (points(rig().motion(params)) - points(posed()))[0]
    assert bool((moved[PUPILS, 0] > 0.01).all())
    torch.testing.assert_close(moved[PUPILS[0]], moved[PUPILS[1]], rtol=0, atol=1e-6)
    assert float(moved[[6, 12, 14, 17, 19, 20]].abs().max()) < 1e-6


# --- rotation vectors -----------------------------------------------------------------------------


def crossed(vector: Tensor) -> Tensor:
    x, y, z = vector.tolist()
    return torch.tensor([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=torch.float64)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.3, 2.0, 3.1])
def test_rotation_vectors_against_the_matrix_exponential(size: float) -> None:
    generator = torch.Generator().manual_seed(3)
    axis = torch.randn(5, 3, generator=generator, dtype=torch.float64)
    vector = axis / axis.norm(dim=1, keepdim=True) * size
    wanted = torch.linalg.matrix_exp(torch.stack([crossed(v) for v in vector]))
    found = rotation_of_vector(vector)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
    torch.testing.assert_close(vector_of_rotation(found), vector, rtol=0, atol=1e-9)


def test_angles_come_back_from_their_rotation() -> None:
    angles = torch.tensor([[10.0, -20, 5], [0, 0, 0], [-35, 60, -15]], dtype=torch.float64)
    turn = rotation(*angles.T).transpose(1, 2)
    torch.testing.assert_close(torch.stack(angles_of_rotation(turn), 1), angles, rtol=0, atol=1e-9)
