"""The networks that conformance looks at: how each is built, fed and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
from torch import Tensor, nn

from greenroom.nets.appearance import AppearanceExtractor
from greenroom.nets.decoder import Decoder
from greenroom.nets.lmdm import Lmdm
from greenroom.nets.motion import MotionExtractor, MotionHeads
from greenroom.nets.stitch import StitchNetwork
from greenroom.nets.warp import WarpNetwork
from greenroom.quality.synthetic import Manifest, TensorSpec, seeded_normal

Inputs = tuple[Tensor, ...]
LMDM_STEPS = (999, 500, 20, 7)  # the diffusion steps of the rows of a batch


class Normal(Protocol):
    """Standard normal numbers of one batch by the name of the input they are for."""

    def __call__(self, name: str, *shape: int) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class Subject:
    """One network at its public sizes."""

    name: str
    gain: float  # of the stand-in weights, chosen so that no output dies or bursts
    build: Callable[[], nn.Module]  # with the parameters of the public file
    feed: Callable[[Normal, int], Inputs]
    run: Callable[[nn.Module, Inputs], dict[str, Tensor]]
    outputs: tuple[str, ...] = ("out",)
    folded: Callable[[], nn.Module] | None = None  # without spectral norm, where there is one
    largest_batch: int = 64

    @property
    def build_folded(self) -> Callable[[], nn.Module]:
        return self.folded or self.build

    @property
    def meta(self) -> nn.Module:
        """The network with its names and shapes, but no memory."""
        with torch.device("meta"):
            return self.build()

    @property
    def manifest(self) -> Manifest:
        """What the network itself says of its tensors."""
        tensors = self.meta.state_dict().items()
        specs = (
            TensorSpec(name, tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))
            for name, tensor in tensors
        )
        return Manifest(self.name, self.gain, tuple(specs))

    def inputs(self, case: str, batch: int, device: torch.device) -> Inputs:
        """The inputs of a case: they depend on its name, the network's and their own shapes."""

        def normal(name: str, *shape: int) -> Tensor:
            return torch.from_numpy(seeded_normal(f"{case}/{self.name}/{name}", (batch, *shape)))

        return tuple(each.to(device) for each in self.feed(normal, batch))


def _picture(normal: Normal, batch: int) -> Inputs:
    return ((1.5 * normal("image", 3, 256, 256)).sigmoid(),)


def _points(normal: Normal, batch: int) -> Inputs:
    source = 0.35 * normal("kp_source", 21, 3)
    return source, source + 0.03 * normal("kp_delta", 21, 3)


def _feature_and_points(normal: Normal, batch: int) -> Inputs:
    return normal("feature_3d", 32, 16, 64, 64), *_points(normal, batch)


def _feature(normal: Normal, batch: int) -> Inputs:
    return (normal("feature", 256, 64, 64),)


def _window(normal: Normal, batch: int) -> Inputs:
    cond_frame, cond = 0.5 * normal("cond_frame", 265), normal("cond", 80, 1103)
    return normal("x", 80, 265), cond_frame, cond, torch.tensor(LMDM_STEPS[:batch])


def _run(network: nn.Module, inputs: Inputs) -> dict[str, Tensor]:
    return {"out": network(*inputs)}


def _run_heads(network: nn.Module, inputs: Inputs) -> dict[str, Tensor]:
    heads: MotionHeads = network(*inputs)
    return heads._asdict()


def _run_branches(network: nn.Module, inputs: Inputs) -> dict[str, Tensor]:
    assert isinstance(network, Lmdm)
    x, cond_frame, cond, times = inputs
    condition = network.encode(cond)
    return {
        "cond": network(x, cond_frame, condition, times),
        "uncond": network(x, cond_frame, network.no_condition(len(x)), times),
        "guided": network.guided(x, cond_frame, condition, times),
    }


SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in (
        Subject("appearance_extractor", 1.3, AppearanceExtractor, _picture, _run),
        Subject(
            "motion_extractor",
            1.0,
            MotionExtractor,
            _picture,
            _run_heads,
            outputs=MotionHeads._fields,
        ),
        Subject("warp_network", 1.3, WarpNetwork, _feature_and_points, _run),
        Subject(
            "decoder", 1.3, Decoder, _feature, _run, folded=partial(Decoder, spectral_norm=False)
        ),
        Subject("stitch_network", 1.0, StitchNetwork, _points, _run),
        Subject(
            "lmdm",
            0.8,
            Lmdm,
            _window,
            _run_branches,
            outputs=("cond", "uncond", "guided"),
            largest_batch=len(LMDM_STEPS),
        ),
    )
}
