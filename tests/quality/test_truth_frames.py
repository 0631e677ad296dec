"""The demo networks paint what the renderer renders: 24 motions that they were not trained on.

Measured at 512 before any upscaling or encoding, over RGB (20, 50, 110): see data/truth/README.md.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import cv2
import numpy as np
import torch
from demo_anchor import demo_engine, vera
from torch import Tensor

from greenroom.base.flow import Motion
from greenroom.engine.demo import blend_at_canvas
from greenroom.engine.pose import transform
from greenroom.engine.rig import PARAMETERS
from greenroom.quality.measures import FaceNearness, nearness

TRUTH = Path(__file__).parents[1] / "data" / "truth"
FRAMES = 24
WHOLE, MOUTH = 33.5, 32.0  # dB, at least
STANDING = 26.0  # dB, which a face that does not move stays under


@cache
def motion() -> Motion:
    """The motions (24,) of the stored params."""
    stored = np.load(TRUTH / "parameters.npz")
    rig = demo_engine().rig
    assert tuple(stored["names"]) == (*PARAMETERS, *rig.units)
    return rig.motion(torch.from_numpy(stored["values"]))


def read_rgba(path: Path) -> Tensor:
    """A picture (4, h, w) in 0 ... 1."""
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    assert picture is not None, path
    return torch.from_numpy(cv2.cvtColor(picture, cv2.COLOR_BGRA2RGBA)).permute(2, 0, 1) / 255


def against_truth(faces: Tensor) -> FaceNearness:
    """How near faces (24, 4, 512, 512) are to the rendered frames."""
    rendered = torch.stack([read_rgba(TRUTH / f"frame_{i:02d}.webp") for i in range(FRAMES)])
    return nearness(faces, rendered, transform(demo_engine().rig.kp.float(), motion()))


@torch.inference_mode()
def test_faces_against_rendered_truth() -> None:
    """The source that is borrowed from is the anchor's own, at 512."""
    source = vera().tensors["source"]
    painted = [
        blend_at_canvas(demo_engine().render(motion()[[i]], (vera(),), (0,)), source)
        for i in range(FRAMES)
    ]
    found = against_truth(torch.cat(painted))
    print(f"\n{FRAMES} frames, network output at 512 against the renderer: {found}")
    assert found.whole.psnr >= WHOLE
    assert found.mouth.psnr >= MOUTH


def test_the_truth_moves() -> None:
    """The measure can fail: a face that stands still is far below the line."""
    found = against_truth(vera().tensors["source"].expand(FRAMES, -1, -1, -1))
    print(f"\na face that stands still: {found}")
    assert found.whole.psnr < STANDING
    assert found.mouth.psnr < STANDING
