"""The demo engine: a virtual anchor that runs anywhere, with nothing to download."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from greenroom.base.flow import AudioEncoder, Faces, Loop, Motion, Pixels, State, Turn
from greenroom.base.weights import load, read_state
from greenroom.engine.demo_motion import emphasis, presence, speaking_params
from greenroom.engine.pose import LIP_POINTS, POINTS, transform
from greenroom.engine.rig import Rig
from greenroom.nets.demo import CANVAS, Renderer, warp_source
from greenroom.nets.demo_audio import LEFT, MELS, RIGHT, AudioToLips
from greenroom.nets.demo_fast import Face, FastRenderer


def assets() -> Path:
    """The folder of the weights that come with Greenroom."""
    return Path(str(files("greenroom") / "assets" / "demo"))


class DemoEngine:
    """Lips from the sound, head and brows from seeds and emphasis, faces from small networks.

    Nothing is remembered between steps: each step's sound comes with all the context that its
    motion depends on. `render` may be called from several threads at once.
    """

    name = "demo"
    canvas = (CANVAS, CANVAS)

    def __init__(
        self,
        renderer: Renderer,
        lips: AudioToLips,
        rig: Rig,
        encoder: AudioEncoder,
        *,
        step: int,
        weights: str,
    ) -> None:
        self.encoder, self.step, self.weights = encoder, step, weights
        self.device = rig.rest.device
        self.dtype = next(renderer.parameters()).dtype
        self.rig = rig
        self._renderer, self._lips = renderer, lips
        self._fast = FastRenderer(renderer) if self.device.type == "cpu" else None

    @classmethod
    def load(
        cls, device: torch.device, encoder: AudioEncoder, *, step: int, folder: Path | None = None
    ) -> DemoEngine:
        """The engine with the weights of `folder`, by default those that come with Greenroom."""
        folder = folder or assets()
        face, sound = folder / "renderer.safetensors", folder / "audio_to_lips.safetensors"
        renderer = load(Renderer, read_state(face), "demo renderer", device=device)
        lips = load(AudioToLips, read_state(sound), "demo audio to lips", device=device)
        rig = Rig.load(folder / "rig.safetensors").to(device)
        digest = hashlib.sha256(face.read_bytes() + sound.read_bytes()).hexdigest()[:8]
        return cls(renderer, lips, rig, encoder, step=step, weights=f"greenroom demo {digest}")

    def init_state(self, slots: int) -> State:
        return State(slots)

    # --- an avatar, once --------------------------------------------------------------------------

    @torch.inference_mode()
    def prepare_avatar(
        self, source: Pixels, params: NDArray[np.floating], pose: Tensor | None = None
    ) -> dict[str, Tensor]:
        """What `render` wants to know of an avatar, on the device.

        `source` is (512, 512, 4) premultiplied RGBA, `params` (F, 60) the rig's params of the loop;
        `pose` (1, 60) are the params that the source shows, by default the neutral face.
        """
        assert source.shape == (*self.canvas, 4)
        assert params.shape[1] == self.rig.width
        picture = torch.from_numpy(source).to(self.device).permute(2, 0, 1)[None].to(self.dtype)
        picture = (picture / 255).contiguous()
        shown = self.rig.motion(self.rig.neutral() if pose is None else pose)
        points = transform(self.rig.kp.float(), shown)
        tensors = self._appearance(picture, points)
        tensors["source"], tensors["points"] = picture, points
        tensors["params"] = torch.from_numpy(np.asarray(params, np.float64)).to(self.device)
        return tensors

    def _appearance(self, picture: Tensor, points: Tensor) -> dict[str, Tensor]:
        """What the renderer derives from the source, once."""
        if self._fast is not None:
            return self._fast.prepare(picture, points)._asdict()
        volume = self._renderer.appearance(picture)
        return {"volume": volume, "compressed": self._renderer.warp.compressed(volume)}

    def loop_motion(self, tensors: dict[str, Tensor]) -> Motion:
        """The motion (F,) that an avatar's loop shows."""
        return self.rig.motion(tensors["params"])

    # --- each step --------------------------------------------------------------------------------

    @torch.inference_mode()
    def predict_motion(self, features: Tensor, turn: Turn, state: State) -> Motion:
        """Features (B, 21 + K + 5, 256) -> the fully driven motion of N = B * K frames."""
        batch, count = features.shape[0], features.shape[1] - LEFT - RIGHT
        lips = self._lips(features.reshape(batch, -1, MELS).transpose(1, 2))
        displacement = lips.new_zeros(batch * count, POINTS, 3)
        displacement[:, list(LIP_POINTS)] = lips[:, LEFT : LEFT + count].flatten(0, 1)
        nod, present = emphasis(features).double(), presence(features).double()
        params = [
            self._speaking(turn, b, nod[b], present[b], count) for b in range(len(turn.slots))
        ]
        return self.rig.motion(torch.cat(params), displacement.double())

    def _speaking(self, turn: Turn, b: int, nod: Tensor, present: Tensor, count: int) -> Tensor:
        params = turn.loops[b].tensors["params"]
        frames = torch.arange(turn.first[b], turn.first[b] + count, device=params.device)
        base = params[frames % len(params)]
        return speaking_params(self.rig, base, frames, turn.seeds[b], nod, present)

    @torch.inference_mode()
    def render(self, motion: Motion, loops: tuple[Loop, ...], index: tuple[int, ...]) -> Faces:
        """Paint N rows; neck and shoulders are put in place first, see `Rig.settle`."""
        settled = self.rig.settle(motion)
        points, code = transform(self.rig.kp.float(), settled), self.rig.code(settled)
        if self._fast is not None:
            return _joined([self._row(loops[i], points[[i]], code[[i]]) for i in range(len(loops))])

        def of(name: str) -> Tensor:
            return torch.cat([loop.tensors[name] for loop in loops])

        names = ("source", "volume", "compressed", "points")
        return Faces(*self._renderer(*map(of, names), points, code.to(self.dtype)))

    def _row(self, loop: Loop, points: Tensor, code: Tensor) -> Faces:
        """One frame on the CPU: alone or among others, the same bytes."""
        assert self._fast is not None
        face = Face(*(loop.tensors[name] for name in Face._fields))
        return Faces(*self._fast(face, points, code))


def _joined(rows: list[Faces]) -> Faces:
    if len(rows) == 1:
        return rows[0]
    keep = [row.keep for row in rows if row.keep is not None]
    flow = [row.flow for row in rows if row.flow is not None]
    return Faces(torch.cat([row.colour for row in rows]), torch.cat(keep), torch.cat(flow))


def blend_at_canvas(faces: Faces, source: Tensor) -> Tensor:
    """The networks' whole answer at 512: the source borrowed at its canvas size, for measuring.

    `source` (1 or N, 4, 512, 512) premultiplied RGBA 0 ... 1 -> the same, (N, 4, 512, 512).
    """
    assert faces.keep is not None
    assert faces.flow is not None
    return faces.colour + faces.keep * (warp_source(source, faces.flow) - faces.colour)
