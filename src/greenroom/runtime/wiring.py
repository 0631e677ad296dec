"""The place that picks engine and avatar; sources.py picks voice and source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import cv2
import numpy as np
import torch

from greenroom import __version__
from greenroom.avatar.cache import PatchedStill, Stills, loop_patches, patch_of
from greenroom.avatar.package import Scene, find_avatar
from greenroom.base.errors import AssetError, DeviceError
from greenroom.base.flow import Engine, Loop, Pixels, Placement
from greenroom.base.presets import Preset
from greenroom.pixels.colour import compose_still
from greenroom.pixels.paste import PasteBack
from greenroom.runtime.painter import Anchor, Painter
from greenroom.runtime.progress import Progress, no_progress

if TYPE_CHECKING:
    from greenroom.engine.demo import DemoEngine

# --- device and engine ----------------------------------------------------------------------------


def choose_device(name: str) -> torch.device:
    """`auto` takes the first CUDA device if there is one, else the CPU; a wish is held to."""
    if name == "auto":
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError(
            "no such device", got=repr(name), wanted="auto, cpu, cuda or cuda:N"
        ) from error
    if device.type == "cuda" and not (
        torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    ):
        raise DeviceError(
            f"the device {name} cannot be had",
            got=f"{torch.cuda.device_count()} CUDA devices, torch {torch.__version__}",
            remedy="use --device cpu, or install a driver and a CUDA build of torch",
        )
    if device.type not in ("cpu", "cuda"):
        raise DeviceError("no such device", got=repr(name), wanted="auto, cpu, cuda or cuda:N")
    return device


def open_engine(preset: Preset, device: str) -> Engine:
    """The preset's engine with its weights on the device."""
    from greenroom.audio.logmel import DEMO_AHEAD, LogMel
    from greenroom.engine.demo import DemoEngine

    assert preset.engine == "demo"
    chosen = choose_device(device)
    return DemoEngine.load(chosen, LogMel(chosen, ahead=DEMO_AHEAD), step=preset.step)


# --- avatar ---------------------------------------------------------------------------------------


def open_anchor(
    name: str,
    engine: Engine,
    painter: Painter,
    *,
    use_cache: bool = True,
    progress: Progress = no_progress,
) -> Anchor:
    """An avatar with its loop; the first time on a machine the loop is painted and cached."""
    from greenroom.engine.demo import DemoEngine

    scene = find_avatar(name)
    if scene.card.engine != engine.name:
        raise AssetError(
            f"the avatar {name} was not made for this engine",
            got=f"an avatar for {scene.card.engine}",
            wanted=f"one for {engine.name}",
            remedy="choose another --avatar or --preset",
        )
    assert isinstance(engine, DemoEngine)
    tensors = engine.prepare_avatar(*_made_for(engine, scene))
    still = compose_still(scene.body, scene.background)
    placement = _placement(scene, still)
    loop = Loop(
        card=scene.card,
        motion=engine.loop_motion(tensors),
        pictures=Stills(still, scene.card.loop_frames),
        plates=Stills(still, scene.card.loop_frames),
        placement=placement,
        tensors=tensors,
    )
    size = (scene.card.height, scene.card.width)
    anchor = Anchor(loop, PasteBack(placement, canvas=engine.canvas, picture=size))
    patches = _loop_of(scene, engine, painter, anchor, use_cache=use_cache, progress=progress)
    pictures = PatchedStill(still, scene.box, patches)
    return Anchor(
        Loop(loop.card, loop.motion, pictures, loop.plates, placement, tensors), anchor.paste_back
    )


def _made_for(engine: DemoEngine, scene: Scene) -> tuple[Pixels, np.ndarray]:
    """What the engine prepares an avatar from, of the sizes that it can take."""
    canvas, params = scene.canvas, scene.params()
    got = (*canvas.shape[:2], params.shape[1])
    wanted = (*engine.canvas, engine.rig.width)
    if got != wanted:
        raise AssetError(
            f"the avatar {scene.name} does not fit this engine",
            got="a canvas of {}x{}, {} params a frame".format(*got),
            wanted="{}x{}, {}".format(*wanted),
            remedy="take the package anew, or choose another --avatar",
        )
    return canvas, params


def _placement(scene: Scene, still: Pixels) -> Placement:
    left, top, side = scene.box
    canvas = scene.canvas.shape[0]
    scale = side / canvas  # pixel centres at whole numbers: x' = (x + 1/2) scale - 1/2 + left
    matrix = torch.tensor(
        [[scale, 0.0, left + scale / 2 - 0.5], [0.0, scale, top + scale / 2 - 0.5]]
    )
    return Placement(
        matrix=matrix,
        mask=torch.from_numpy(feather_mask(side, scene.feather)),
        backdrop=compose_still(np.zeros_like(scene.body), scene.background),
        detail=scene.source,
    )


def feather_mask(side: int, width: int) -> np.ndarray:
    """A square (side, side) of ones that falls to zero at its edge along a smooth step."""
    distance = np.minimum(np.arange(side), np.arange(side)[::-1]) / width
    ramp = np.clip(distance, 0, 1)
    mask = np.outer(ramp, ramp)
    return (mask * mask * (3 - 2 * mask)).astype(np.float32)


def _loop_of(
    scene: Scene,
    engine: Engine,
    painter: Painter,
    anchor: Anchor,
    *,
    use_cache: bool,
    progress: Progress,
) -> Pixels:
    """The patches of the loop, painted by the same painter as speech, so that both join."""
    count = len(anchor.loop)

    def paint() -> Iterator[Pixels]:
        for start in range(0, count, 2 * painter.lanes):
            index = list(range(start, min(start + 2 * painter.lanes, count)))
            futures = painter.submit(anchor.loop.motion[index], [anchor] * len(index), index)
            for future in futures:
                for picture in future.result():
                    yield patch_of(picture, scene.box)
            progress("painting the loop", index[-1] + 1, count)

    # Pixels follow from the package, the weights, the code, and the arithmetic of torch and cv2.
    parts = (__version__, scene.digest(), engine.weights, str(engine.device.type))
    digest = "-".join(
        [scene.name, _short(*parts, str(engine.dtype), torch.__version__, cv2.__version__)]
    )
    return loop_patches(digest, count, scene.box[2], paint, use_cache=use_cache)


def _short(*parts: str) -> str:
    import hashlib

    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
