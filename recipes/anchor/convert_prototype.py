"""Convert the trained weights of the prototype into the assets of the demo engine.

    python recipes/anchor/convert_prototype.py PROTOTYPE/weights src/greenroom/assets/demo

Writes renderer.safetensors and audio_to_lips.safetensors (fp16 as trained, plain names), and
rig.safetensors with the names of its face units in the header.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

CONV_BLOCK = {"c": "conv", "n": "norm"}

# Old prefix -> new prefix; the first that matches is used.
RENDERER = {
    r"F\.a\.": "appearance.stem.",
    r"F\.b\.": "appearance.down.",
    r"F\.r\.(\d)\.a\.": r"appearance.flat.\1.block.",
    r"F\.r\.(\d)\.b\.": r"appearance.flat.\1.conv.",
    r"F\.o\.": "appearance.lift.",
    r"F\.r3\.(\d)\.n(\d)\.": r"appearance.solid.\1.norm\2.",
    r"F\.r3\.(\d)\.c(\d)\.": r"appearance.solid.\1.conv\2.",
    r"W\.comp\.": "warp.compress.",
    r"W\.inp\.": "warp.entry.",
    r"W\.code\.": "warp.entry_code.",
    r"W\.d(\d)\.": r"warp.down\1.",
    r"W\.u(\d)\.": r"warp.up\1.",
    r"W\.fin\.": "warp.last.",
    r"W\.head\.": "warp.head.",
    r"W\.third\.": "warp.refine.",
    r"W\.fourth\.": "warp.project.",
    r"W\.c4\.": "warp.refine_code.",
    r"G\.sh\.": "decoder.hidden.",
    r"G\.code\.": "decoder.code.",
    r"G\.mid\.(\d)\.n(\d)\.gb\.": r"decoder.blocks.\1.norm\2.modulation.",
    r"G\.mid\.(\d)\.c(\d)\.": r"decoder.blocks.\1.conv\2.",
    r"G\.up0\.n(\d)\.gb\.": r"decoder.grow.norm\1.modulation.",
    r"G\.up0\.c(\d)\.": r"decoder.grow.conv\1.",
    r"G\.up0\.s\.": "decoder.grow.shortcut.",
    r"G\.u1a\.": "decoder.fine0.",
    r"G\.u1b\.": "decoder.fine1.",
    r"G\.out\.": "decoder.output.",
}

AUDIO_TO_LIPS = {
    r"mu$": "mean",
    r"sd$": "std",
    r"bn\.": "norm.",
    r"a\.": "conv1.",
    r"b\.": "conv2.",
    r"c\.": "conv3.",
    r"blk\.(\d)\.g$": r"blocks.\1.gain",
    r"blk\.(\d)\.dw\.": r"blocks.\1.temporal.",
    r"blk\.(\d)\.p\.": r"blocks.\1.pointwise.",
    r"o\.": "lips.",
    r"v\.": "visemes.",
}


def renamed(name: str, table: dict[str, str]) -> str:
    """The plain name of one tensor of the prototype."""
    for old, new in table.items():
        match = re.match(old, name)
        if match:
            head, tail = match.expand(new), name[match.end() :]
            first, _, rest = tail.partition(".")
            return head + (f"{CONV_BLOCK[first]}.{rest}" if first in CONV_BLOCK and rest else tail)
    raise KeyError(f"no rule for {name}")


def convert(source: Path, target: Path, table: dict[str, str]) -> None:
    """Rename every tensor of one checkpoint; nothing is dropped, nothing is rounded again.

    The counters of the batch norms were not kept in training; here they are zero, and unused.
    """
    old: dict[str, Tensor] = torch.load(source, weights_only=True)
    new = {renamed(name, table): tensor.contiguous() for name, tensor in old.items()}
    assert len(new) == len(old)
    for name in [name for name in new if name.endswith("running_mean")]:
        new[name.replace("running_mean", "num_batches_tracked")] = torch.tensor(0)
    save_file(new, target, metadata={"licence": "Apache-2.0", "format": "pt"})


def convert_rig(source: Path, target: Path) -> None:
    """Key points, joints and their displacement per face unit, with the units' names."""
    points = np.load(source)
    names = {"units": points["units"].tolist(), "mouth_units": points["viseme_units"].tolist()}
    arrays = {name: points[name] for name in points.files if not name.endswith("units")}
    tensors = {name: torch.as_tensor(array).contiguous() for name, array in arrays.items()}
    header = {name: json.dumps(value) for name, value in names.items()}
    save_file(tensors, target, metadata={"licence": "Apache-2.0"} | header)


def main(source: str, target: str) -> None:
    old, new = Path(source), Path(target)
    new.mkdir(parents=True, exist_ok=True)
    convert(old / "renderer.pt", new / "renderer.safetensors", RENDERER)
    convert(old / "a2m_kokoro.pt", new / "audio_to_lips.safetensors", AUDIO_TO_LIPS)
    convert_rig(old / "keypoints.npz", new / "rig.safetensors")
    for path in new.glob("*.safetensors"):
        path.chmod(0o644)


if __name__ == "__main__":
    main(*sys.argv[1:])
