"""The demo engine and the recorded networks on a CUDA device: the CPU's results, within a band."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from conftest import babble
from greenroom.base.flow import Motion, Turn
from greenroom.base.presets import preset_named
from greenroom.engine.demo import DemoEngine, blend_at_canvas
from greenroom.quality.conformance import check_folder
from greenroom.runtime.painter import Painter
from greenroom.runtime.wiring import open_anchor, open_engine

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here"),
]


@torch.inference_mode()
def painted(device: str) -> tuple[Motion, torch.Tensor]:
    """Motion of one step of speech, and its faces blended at 512, both on the CPU."""
    engine = open_engine(preset_named("demo"), device)
    assert isinstance(engine, DemoEngine)
    painter = Painter(engine)
    loop = open_anchor("vera", engine, painter).loop
    painter.close()
    frames = engine.encoder.left + engine.step + engine.encoder.right
    pcm = torch.from_numpy(babble(frames / 25))[None].to(engine.device)
    turn = Turn((0,), (0,), (0,), (loop,))
    motion = engine.predict_motion(engine.encoder.encode(pcm), turn, engine.init_state(1))
    faces = engine.render(motion, (loop,) * len(motion), tuple(range(len(motion))))
    return motion.to("cpu", torch.float32), blend_at_canvas(faces, loop.tensors["source"]).cpu()


def test_motion_and_faces_equal_the_cpu() -> None:
    (motion, faces), (gpu_motion, gpu_faces) = painted("cpu"), painted("cuda:0")
    assert float((motion.exp - gpu_motion.exp).abs().max()) < 1e-3
    assert float((motion.yaw - gpu_motion.yaw).abs().max()) < 1e-2  # degrees
    error = (faces - gpu_faces).abs()
    print(f"faces: largest difference {float(error.max()):.1e}, mean {float(error.mean()):.1e}")
    assert float(error.mean()) < 1e-3
    assert float(error.max()) < 0.05


def test_recorded_networks() -> None:
    results = check_folder(Path(__file__).parents[1] / "conformance" / "ditto_v04", "cuda:0")
    for result in results:
        print(f"{result.network} {result.case} {result.output}: {result.error:.1e}")
    assert len(results) >= 12
    assert all(result.passed for result in results)
