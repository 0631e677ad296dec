"""Checkpoint files and the strict way from one into a network.

    state = read_state(folder / "decoder.pth")
    decoder = load(lambda: Decoder(spectral_norm=False), fold_spectral_norm(state), "decoder")

Only tensors are read: no code inside a file is ever run.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from greenroom.base.errors import AssetError

Network = TypeVar("Network", bound=nn.Module)

_SHOWN = 5  # names listed per kind of misfit
_BROKEN = (
    *(RuntimeError, OSError, EOFError, pickle.UnpicklingError, struct.error, SafetensorError),
    *(ValueError, KeyError, IndexError, TypeError, AttributeError, AssertionError),
    OverflowError,
)  # what a broken or hostile file makes the two readers raise


@dataclass(frozen=True, slots=True)
class Layout:
    """How a state dict lies in its file."""

    entry: str = ""  # step inside this entry of the file; "" = the file is the state dict
    prefix: str = ""  # taken off the front of every key
    erased: str = ""  # taken out of every key wherever it stands, such as "module."


PLAIN = Layout()
DITTO_FILES: dict[str, tuple[str, Layout]] = {
    "appearance_extractor": ("appearance_extractor.pth", PLAIN),
    "motion_extractor": ("motion_extractor.pth", PLAIN),
    "warp_network": ("warp_network.pth", PLAIN),
    "decoder": ("decoder.pth", PLAIN),
    "stitch_network": (
        "stitch_network.pth",
        Layout(entry="retarget_shoulder", erased="module."),
    ),
    "lmdm": ("lmdm_v0.4_hubert.pth", Layout(entry="model_state_dict")),
}  # spec 2.0: the public checkpoint of each of Ditto's networks


def read_state(path: Path, layout: Layout = PLAIN) -> dict[str, Tensor]:
    """The tensors of a .safetensors or torch file on the CPU, under the network's own names.

    AssetError if the file is missing, broken, holds anything but data, or is laid out otherwise.
    """
    content = _read_file(path)
    if layout.entry:
        content = _step_inside(content, layout.entry, path)
    _check_tensors(content, path)
    state = {}
    for key, tensor in content.items():
        name = key.removeprefix(layout.prefix)
        state[name.replace(layout.erased, "") if layout.erased else name] = tensor
    if len(state) < len(content):
        raise AssetError(f"two entries of {path} have the same name", got=str(layout))
    return state


def _read_file(path: Path) -> Any:
    if not path.is_file():
        raise AssetError(
            f"there are no weights at {path}",
            remedy="check the path, or put the public weights there",
        )
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        return torch.load(path, map_location="cpu", weights_only=True)
    except _BROKEN as error:
        raise AssetError(
            f"the weights {path} cannot be read",
            got=f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}",
            wanted="a safetensors or torch checkpoint of tensors and plain data, without code",
            remedy="download the file again from a source you trust",
        ) from error


def _step_inside(content: Any, entry: str, path: Path) -> Any:
    if isinstance(content, Mapping) and entry in content:
        return content[entry]
    found = ", ".join(map(str, list(content)[:_SHOWN])) if isinstance(content, Mapping) else ""
    raise AssetError(
        f"the weights {path} are laid out otherwise",
        got=f"entries {found} ..." if found else type(content).__name__,
        wanted=f"an entry {entry!r}",
        remedy="use the public file that belongs to this network",
    )


def _check_tensors(content: Any, path: Path) -> None:
    wanted = "tensors by name"
    if not isinstance(content, Mapping):
        got = type(content).__name__
        raise AssetError(f"the weights {path} hold no network", got=got, wanted=wanted)
    for key, value in content.items():
        if not isinstance(key, str) or not isinstance(value, Tensor):
            got = f"{type(value).__name__} under {str(key)[:80]!r}"
            raise AssetError(f"the weights {path} hold no network", got=got, wanted=wanted)


def fold_spectral_norm(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Turn every weight_orig, weight_u, weight_v into the weight they stand for, in float32.

    weight = weight_orig / sigma, sigma = u . (M v), M = weight_orig as (out, rest) (spec 2.6).
    """
    folded = {}
    for key, tensor in state.items():
        stem = key.removesuffix("weight_orig")
        if stem != key:
            u, v = (_vector(state, stem + leaf) for leaf in ("weight_u", "weight_v"))
            weight = tensor.float()
            folded[stem + "weight"] = weight / (u @ (weight.flatten(1) @ v))
        elif not key.endswith((".weight_u", ".weight_v")):
            folded[key] = tensor
    return folded


def _vector(state: Mapping[str, Tensor], key: str) -> Tensor:
    if key not in state:
        raise AssetError("a spectral norm is incomplete", got=f"no {key}", wanted="_orig, _u, _v")
    return state[key].float()


def load(
    build: Callable[[], Network],
    state: Mapping[str, Tensor],
    name: str,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Network:
    """Build a network without memory, check every name and shape, give it the tensors.

    The network comes back in eval mode, without gradients, on `device`, its floating-point tensors
    in `dtype`; in float32 on a CPU it shares memory with `state`. AssetError if anything is
    missing, left over or of another shape.
    """
    with torch.device("meta"):
        network = build()
    check(network, state, name)
    network.requires_grad_(False).load_state_dict(state, strict=True, assign=True)
    return network.to(device, dtype).eval()


def check(network: nn.Module, state: Mapping[str, Tensor], name: str) -> None:
    """AssetError unless `state` has exactly the names and shapes of `network`."""
    own = network.state_dict()
    missing = [key for key in own if key not in state]
    unexpected = [key for key in state if key not in own]
    misshapen = [
        f"{key} ({_describe(state[key])} instead of {_describe(own[key])})"
        for key in own
        if key in state and _describe(state[key]) != _describe(own[key])
    ]
    kinds = {"missing": missing, "unexpected": unexpected, "misshapen": misshapen}
    got = "; ".join(_first(kind, keys) for kind, keys in kinds.items() if keys)
    if got:
        raise AssetError(
            f"these weights do not fit the network {name}",
            got=got,
            wanted=f"the {len(own)} tensors of {name}",
            remedy="use the public file that belongs to this network",
        )


def _describe(tensor: Tensor) -> str:
    kind = "" if tensor.is_floating_point() else " whole numbers"
    return "x".join(map(str, tensor.shape) if tensor.dim() else ["scalar"]) + kind


def _first(kind: str, names: list[str]) -> str:
    more = ", ..." if len(names) > _SHOWN else ""
    return f"{len(names)} {kind}: {', '.join(names[:_SHOWN])}{more}"


def fold_batch_norm(network: Network) -> Network:
    """Fold, in place, every batch norm that follows a convolution into it; for inference only.

    A module names its (convolution, batch norm) pairs in `foldable`; the norm becomes an identity.
    """
    assert not network.training
    for module in list(network.modules()):
        for conv_name, norm_name in getattr(module, "foldable", ()):
            conv, norm = getattr(module, conv_name), getattr(module, norm_name)
            if not isinstance(norm, nn.Identity):
                setattr(module, conv_name, fuse_conv_bn_eval(conv, norm))
                setattr(module, norm_name, nn.Identity())
    return network
