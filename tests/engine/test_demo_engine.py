"""The demo engine keeps the laws: chunks, batches, silence; and answers to what it hears."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from torch import Tensor

from greenroom.audio.logmel import LogMel
from greenroom.avatar.package import find_avatar
from greenroom.base.errors import AssetError
from greenroom.base.flow import Loop, Motion, Placement, Turn
from greenroom.engine.demo import DemoEngine, blend_at_canvas
from greenroom.engine.demo_motion import idle_params
from greenroom.engine.pose import LIP_POINTS, transform

LEFT, RIGHT = LogMel.left, LogMel.right
FIELDS = ("pitch", "yaw", "roll", "t", "scale", "exp")


@cache
def engine() -> DemoEngine:
    return DemoEngine.load(torch.device("cpu"), LogMel(), step=10)


@cache
def loop(seed: int = 0, frames: int = 60) -> Loop:
    scene = find_avatar("vera")
    tensors = engine().prepare_avatar(scene.canvas, idle_params(engine().rig, frames, seed).numpy())
    nowhere = Placement(matrix=torch.eye(2, 3), mask=torch.ones(1, 1))
    return Loop(scene.card, engine().loop_motion(tensors), [], [], nowhere, tensors)


def sound(frames: int, pitch: float = 170.0) -> Tensor:
    """Syllables with silence before and after (frames * 640,)."""
    t = torch.arange(frames * 640) / 16_000
    voice = torch.stack([torch.sin(2 * torch.pi * pitch * k * t) / k for k in range(1, 20)]).sum(0)
    return 0.1 * voice * torch.sin(torch.pi * 4 * t) ** 2 * ((t > 0.8) & (t < 2.4))


def padded(pcm: Tensor) -> Tensor:
    return torch.nn.functional.pad(pcm, (LEFT * 640, RIGHT * 640))


def driven(pcm: Tensor, cuts: list[int], seed: int = 1, first: int = 0) -> Motion:
    """The motion of all frames, in steps that end at `cuts`."""
    out, whole = [], padded(pcm)
    for start, end in zip([0, *cuts[:-1]], cuts, strict=True):
        window = whole[None, start * 640 : (end + LEFT + RIGHT) * 640]
        turn = Turn((0,), (first + start,), (seed,), (loop(),))
        features = engine().encoder.encode(window)
        out.append(engine().predict_motion(features, turn, engine().init_state(1)))
    return Motion.joined(out)


def assert_same(a: Motion, b: Motion, atol: float) -> None:
    for name in FIELDS:
        torch.testing.assert_close(getattr(a, name), getattr(b, name), rtol=0, atol=atol)


def test_frames_do_not_depend_on_the_step() -> None:
    pcm = sound(75)
    whole = driven(pcm, [75])
    assert len(whole) == 75
    assert_same(driven(pcm, [10, 20, 30, 40, 50, 60, 70, 75]), whole, 1e-5)
    assert_same(driven(pcm, [1, 4, 33, 75]), whole, 1e-5)


def test_sessions_in_a_batch_move_as_alone() -> None:
    sounds = [sound(10), sound(10, 220.0), sound(10) * 0]
    features = engine().encoder.encode(torch.stack([padded(pcm) for pcm in sounds]))
    loops = (loop(), loop(1), loop())
    turn = Turn((0, 1, 2), (0, 700, 33), (1, 2, 3), loops)
    together = engine().predict_motion(features, turn, engine().init_state(3))
    for b in range(3):
        one = Turn((0,), (turn.first[b],), (turn.seeds[b],), (loops[b],))
        alone = engine().predict_motion(features[b : b + 1], one, engine().init_state(1))
        assert_same(together[b * 10 : b * 10 + 10], alone, 1e-5)


def test_silence_is_the_loop_with_the_mouth_at_rest() -> None:
    motion, rest = driven(torch.zeros(60 * 640), [60]), loop().motion
    for name in ("pitch", "yaw", "roll", "t", "scale"):
        torch.testing.assert_close(getattr(motion, name), getattr(rest, name), rtol=0, atol=1e-6)
    assert float((motion.exp - rest.exp).abs().max()) < 0.003  # half a pixel of the canvas


def test_frame_numbers_go_round_the_loop() -> None:
    silent = torch.zeros(20 * 640)
    assert_same(driven(silent, [20], first=60 * 7 + 50), driven(silent, [20], first=50), 1e-6)


def test_speech_opens_the_mouth_and_moves_the_head() -> None:
    motion = driven(sound(75), [75])
    plain = engine().rig
    lips = transform(plain.kp.float(), motion)[:, [6, 12], 1]
    gap = lips[:, 1] - lips[:, 0]
    assert float(gap[25:55].max() - gap[:15].max()) > 0.01
    assert float((motion.yaw[30:55] - loop().motion.yaw[30:55]).abs().max()) > 0.2


def test_seed_decides_the_head_and_leaves_the_lips_alone() -> None:
    one, other = driven(sound(75), [75], seed=1), driven(sound(75), [75], seed=2)
    assert float((one.yaw - other.yaw).abs().max()) > 0.3
    code = [engine().rig.code(m)[:, :63].view(-1, 21, 3)[:, list(LIP_POINTS)] for m in (one, other)]
    torch.testing.assert_close(code[0], code[1], rtol=0, atol=1e-4)


def test_head_moves_calmly_while_she_speaks() -> None:
    motion = driven(sound(75), [75])
    for angle in (motion.pitch, motion.yaw, motion.roll):
        assert float(angle.diff().abs().max()) < 1.0  # degrees per frame
    assert float(motion.t.diff(dim=0).abs().max()) < 0.01


# --- painting -------------------------------------------------------------------------------------


def test_painted_rows_are_the_same_bytes_alone_and_among_others() -> None:
    motion = driven(sound(40), [40])[[5, 25, 30]]
    loops = (loop(), loop(1), loop())
    together = engine().render(motion, loops, (5, 25, 30))
    assert together.colour.shape == (3, 4, 512, 512)
    assert together.keep is not None
    assert together.keep.shape == (3, 1, 512, 512)
    assert together.flow is not None
    assert together.flow.shape == (3, 2, 32, 32)
    for i, index in enumerate((5, 25, 30)):
        alone = engine().render(motion[[i]], (loops[i],), (index,))
        assert torch.equal(alone.colour, together.colour[[i]])
        assert torch.equal(
            alone.keep if alone.keep is not None else together.keep, together.keep[[i]]
        )


def test_neutral_face_is_the_source() -> None:
    """Nothing moves: what is painted is nearly the source picture, by 35 dB at least."""
    motion = engine().rig.motion(engine().rig.neutral())
    source = loop().tensors["source"]
    painted = blend_at_canvas(engine().render(motion, (loop(),), (0,)), source)
    error = float((painted - source).square().mean())
    assert error < 10 ** (-35 / 10)


def test_painted_faces_are_premultiplied_and_in_range() -> None:
    faces = engine().render(driven(sound(40), [40])[[28]], (loop(),), (28,))
    painted = blend_at_canvas(faces, loop().tensors["source"])
    assert 0 <= float(painted.min()) <= float(painted.max()) <= 1
    colour, alpha = painted[:, :3], painted[:, 3:]
    assert float((colour > alpha + 0.02).float().mean()) < 0.002  # a few pixels at the hair
    assert float(alpha[..., 200:300, 200:300].min()) > 0.95  # the face is opaque
    assert float(alpha[..., :20, :20].max()) < 0.05  # the corner is not


def test_missing_weights_are_named(tmp_path: object) -> None:
    from pathlib import Path

    with pytest.raises(AssetError, match=r"renderer\.safetensors"):
        DemoEngine.load(torch.device("cpu"), LogMel(), step=10, folder=Path(str(tmp_path)))
