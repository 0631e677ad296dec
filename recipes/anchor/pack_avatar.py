"""Pack the rendered anchor as an avatar: pictures, cards and an idle loop.

    python recipes/anchor/pack_avatar.py IMAGES.npz STUDIO.png OUT_FOLDER

IMAGES.npz holds the neutral anchor as premultiplied RGBA uint8: `src512` and `src1000`, the crop at
the networks' canvas and at its size in the picture, and `portrait`, the whole picture.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import cv2
import numpy as np
import torch
from safetensors.numpy import save_file

from greenroom.base.flow import FPS, Pixels
from greenroom.base.presets import preset_named
from greenroom.engine.demo import assets
from greenroom.engine.demo_motion import idle_params
from greenroom.engine.rig import Rig
from greenroom.pixels.colour import nv12_to_rgb
from greenroom.runtime.painter import Painter
from greenroom.runtime.wiring import open_anchor, open_engine

LOOP_SECONDS = 8
SEED = 1
GREEN = "#00b140"  # the usual chroma-key green
CARD = {
    "schema": 1,
    "name": "vera",
    "title": "Vera",
    "engine": "demo",
    "width": 1080,
    "height": 1920,
    "loop_frames": LOOP_SECONDS * FPS,
    "licence": "CC0-1.0 sources, own work Apache-2.0",
    "virtual": True,
    "note": "A virtual person, rendered; no real person is shown.",
    "scenes": {"studio": "studio.png", "green": GREEN},
    "box": [40, 30, 1000],
    "canvas": 512,
    "feather": 36,
}


def write_png(path: Path, picture: Pixels) -> None:
    code = cv2.COLOR_RGBA2BGRA if picture.shape[2] == 4 else cv2.COLOR_RGB2BGR
    ok = cv2.imwrite(str(path), cv2.cvtColor(picture, code), [cv2.IMWRITE_PNG_COMPRESSION, 9])
    assert ok, path


def main(images: Path, studio: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    pictures = np.load(images)
    for name, key in (("canvas", "src512"), ("source", "src1000"), ("body", "portrait")):
        write_png(out / f"{name}.png", pictures[key])
    shutil.copyfile(studio, out / "studio.png")
    rig = Rig.load(assets() / "rig.safetensors")
    params = idle_params(rig, LOOP_SECONDS * FPS, SEED)
    save_file({"params": params.to(torch.float32).numpy()}, out / "tensors.safetensors")
    (out / "card.json").write_text(json.dumps(CARD, indent=1) + "\n", encoding="utf-8")
    write_preview(out)


def write_preview(folder: Path) -> None:
    """The first frame of her loop, a quarter of its size, as the engine paints it."""
    engine = open_engine(preset_named("demo"), "cpu")
    painter = Painter(engine)
    anchor = open_anchor(str(folder), engine, painter, use_cache=False)
    painter.close()
    rgb = nv12_to_rgb(anchor.loop.pictures[0])
    small = cv2.resize(rgb, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    cv2.imwrite(str(folder / "preview.jpg"), small[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 90])


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))
