"""Record what the prototype answers, for the tests that hold Greenroom's own modules to it.

    python recipes/anchor/record_reference.py PROTOTYPE tests/data/demo_reference.npz

PROTOTYPE is the folder of nets.py, audio.py, kp.py and weights/. The source picture is a formula,
tests/nets/demo_inputs.py; the other inputs are recorded with the answers.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

Arrays = dict[str, np.ndarray]
STRIDE = 12  # of the recorded pixels


def half_weights(path: Path) -> dict[str, torch.Tensor]:
    return {k: v.float() for k, v in torch.load(path, weights_only=True).items()}


def rig_of(folder: Path) -> Any:
    """The prototype's key points, filled from keypoints.npz instead of the mesh."""
    import kp

    stored = np.load(folder / "weights" / "keypoints.npz")
    rig = object.__new__(kp.KP)
    rig.units = [str(unit) for unit in stored["units"]]
    rig.ui = {unit: i for i, unit in enumerate(rig.units)}
    rig.P, rig.D = stored["rest"], stored["displacement"].astype(float)
    rig.jH, rig.jN = stored["head_joint"], stored["neck_joint"]
    rig.er, rig.kp = float(stored["eye_radius"]), (stored["rest"] - kp.C0) * kp.FL
    return rig


def random_params(units: list[str], count: int = 16) -> np.ndarray:
    """Poses, gazes and faces within what the networks were trained on; the first is neutral."""
    rng = np.random.default_rng(7)
    params = np.zeros((count, 8 + len(units)))
    params[1:, :8] = rng.normal(0, 1, (count - 1, 8)) * (9, 5, 4, 0.06, 0.04, 0.1, 6, 4)
    chosen = rng.random((count - 1, len(units))) < 0.3
    params[1:, 8:] = chosen * rng.random((count - 1, len(units)))
    for i, unit in enumerate(units):
        if unit.startswith("eyeLook"):
            params[:, 8 + i] = 0  # the prototype derives them from the gaze
        if unit.startswith(("mouthSmile", "eyeSquint")):
            params[0, 8 + i] = 0.16 if unit.startswith("mouth") else 0.12
    return params


def record_rig(rig: Any) -> tuple[Arrays, dict[str, np.ndarray]]:
    params = random_params(rig.units)
    points = rig(params)
    arrays = {
        "params": params,
        "points": points["x"],
        "exp": points["exp"],
        "t": points["t"],
        "scale": points["scale"],
        "angles": points["ang"],
        "code": rig.motion_code(points),
    }
    return {f"rig.{name}": array for name, array in arrays.items()}, arrays


def record_renderer(folder: Path, motion: Arrays, source: torch.Tensor) -> Arrays:
    import nets

    renderer = nets.Mini().eval()
    weights = half_weights(folder / "weights" / "renderer.pt")
    renderer.load_state_dict(weights, strict=False)
    points = torch.tensor(motion["points"], dtype=torch.float32)
    code = torch.tensor(motion["code"])[1:3]
    volume = renderer.F(source)
    pair = [x.expand(2, *x.shape[1:]) for x in (volume, points[:1])]
    features, flow, _ = renderer.W(*pair, points[1:3], code)
    blended, _, keep, colour = renderer.G(features, flow, source.expand(2, -1, -1, -1), code)
    answers = {"flow": flow, "volume": volume[..., ::5, ::5], "features": features[..., ::7, ::7]}
    pictures = {"colour": colour, "keep": keep, "blended": blended}
    answers |= {name: x[..., 3::STRIDE, 5::STRIDE] for name, x in pictures.items()}
    return {f"renderer.{name}": x.numpy() for name, x in answers.items()}


def sounding(frames: int) -> np.ndarray:
    """Sound (frames * 640,) int16 at 16 kHz: syllables of a gliding voice, with silence before."""
    t = np.arange(frames * 640) / 16_000
    pitch = 2 * np.pi * (180 * t + 8 * np.sin(3 * t))
    voice = np.sum([np.sin(k * pitch) / k for k in range(1, 12)], axis=0)
    syllables = np.clip(np.sin(2 * np.pi * 2.5 * t), 0, None) * (t > 0.2)
    return np.round(6000 * voice * syllables).astype(np.int16)


def record_audio(folder: Path, sound: np.ndarray) -> Arrays:
    import audio

    net = audio.A2M().eval()
    net.load_state_dict(half_weights(folder / "weights" / "a2m_kokoro.pt"), strict=False)
    pcm = torch.from_numpy(sound)[None] / 32768
    mel = audio.logmel(F.pad(pcm, (0, 640 * 8)))[..., : pcm.shape[-1] // 160]
    lips, visemes = net(mel)
    return {
        "audio.pcm": sound,
        "audio.mel": mel[..., ::3].numpy(),
        "audio.lips": (lips * net.sd + net.mu).numpy(),
        "audio.visemes": visemes.numpy(),
    }


@torch.inference_mode()
def main(prototype: str, target: str) -> None:
    folder = Path(prototype)
    sys.path[:0] = [str(folder), str(Path(__file__).parents[2] / "tests" / "nets")]
    from demo_inputs import source_picture

    arrays, motion = record_rig(rig_of(folder))
    arrays |= record_renderer(folder, motion, source_picture())
    arrays |= record_audio(folder, sounding(40))
    exact = ("rig.params", "audio.pcm")
    small = {k: v if k in exact else v.astype(np.float32) for k, v in arrays.items()}
    np.savez_compressed(target, **small)


if __name__ == "__main__":
    main(*sys.argv[1:])
