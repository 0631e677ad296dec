"""The demo networks paint what the renderer renders: 24 motions that they were not trained on.

Measured at 512 before any upscaling or encoding, over RGB (20, 50, 110): see data/truth/README.md.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from torch import Tensor

from greenroom.audio.logmel import LogMel
from greenroom.avatar.package import find_avatar
from greenroom.base.flow import Loop, Placement
from greenroom.engine.demo import DemoEngine, blend_at_canvas
from greenroom.engine.pose import transform
from greenroom.engine.rig import PARAMETERS
from greenroom.quality.measures import nearness

TRUTH = Path(__file__).parents[1] / "data" / "truth"
FRAMES = 24
WHOLE, MOUTH = 33.5, 32.0  # dB, at least
STANDING = 26.0  # dB, which a face that does not move stays under


def read_rgba(path: Path) -> Tensor:
    """A picture (4, h, w) in 0 ... 1."""
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    assert picture is not None, path
    return torch.from_numpy(cv2.cvtColor(picture, cv2.COLOR_BGRA2RGBA)).permute(2, 0, 1) / 255


@pytest.fixture(scope="module")
def engine() -> DemoEngine:
    return DemoEngine.load(device=torch.device("cpu"), encoder=LogMel(), step=FRAMES)


@pytest.fixture(scope="module")
def params(engine: DemoEngine) -> Tensor:
    """The motions as the rig's params (24, 60)."""
    stored = np.load(TRUTH / "parameters.npz")
    assert tuple(stored["names"]) == (*PARAMETERS, *engine.rig.units)
    return torch.from_numpy(stored["values"])


@pytest.fixture(scope="module")
def rendered() -> Tensor:
    """The rendered frames, premultiplied RGBA (24, 4, 512, 512) in 0 ... 1."""
    paths = [TRUTH / f"frame_{i:02d}.webp" for i in range(FRAMES)]
    return torch.stack([read_rgba(path) for path in paths])


@pytest.fixture(scope="module")
def loop(engine: DemoEngine) -> Loop:
    """What `render` needs of the anchor; no pictures, since nothing is pasted."""
    scene = find_avatar("vera")
    tensors = engine.prepare_avatar(scene.canvas, scene.tensors()["params"])
    placement = Placement(matrix=torch.eye(2, 3), mask=torch.ones(1, 1))
    motion = engine.loop_motion(tensors)
    return Loop(scene.card, motion, pictures=[], plates=[], placement=placement, tensors=tensors)


def test_faces_against_rendered_truth(
    engine: DemoEngine, loop: Loop, params: Tensor, rendered: Tensor
) -> None:
    painted = torch.cat([paint(engine, loop, row[None]) for row in params])
    points = transform(engine.rig.kp.float(), engine.rig.motion(params))
    found = nearness(painted, rendered, points)
    print(f"\n{FRAMES} frames, network output at 512 against the renderer: {found}")
    assert found.whole.psnr >= WHOLE
    assert found.mouth.psnr >= MOUTH


def test_the_truth_moves(engine: DemoEngine, loop: Loop, params: Tensor, rendered: Tensor) -> None:
    """The measure can fail: a face that stands still is far below the line."""
    points = transform(engine.rig.kp.float(), engine.rig.motion(params))
    still = loop.tensors["source"].expand(FRAMES, -1, -1, -1)
    found = nearness(still, rendered, points)
    print(f"\na face that stands still: {found}")
    assert found.whole.psnr < STANDING
    assert found.mouth.psnr < STANDING


@torch.inference_mode()
def paint(engine: DemoEngine, loop: Loop, params: Tensor) -> Tensor:
    """One face (1, 4, 512, 512) as the networks give it."""
    faces = engine.render(engine.rig.motion(params), (loop,), (0,))
    return blend_at_canvas(faces, loop.tensors["source"])
