"""Stand-in weights and inputs that anyone can rebuild from a formula, bit for bit.

A trained checkpoint cannot be shipped with a test; these numbers can. From the names, shapes and
dtypes of a manifest, every machine makes the same tensors, so that two implementations which load
them must give the same outputs. With x = `seeded_normal(salt + name, shape)`, a tensor is

    *.num_batches_tracked          0
    *.running_mean                 0.1 x
    *.running_var                  1 + 0.1 |x|
    *.weight_u, *.weight_v         the singular vectors of its weight_orig after 8 power iterations
    *.freqs                        10000 ** (-2 i / dim), i = 0 ... dim / 2 - 1
    *.gamma, *.beta of 4 axes      0.1 x
    *.weight of 1 axis             1 + 0.1 x
    others of 1 axis               0.05 x
    everything else                x * gain / sqrt(fan in), fan in = product of shape[1:]
"""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from greenroom.base.errors import AssetError

Array = NDArray[Any]
DTYPES = ("float32", "int64")


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One entry of a state dict."""

    name: str
    shape: tuple[int, ...]
    dtype: str  # numpy's name of it


@dataclass(frozen=True, slots=True)
class Manifest:
    """A network's state dict without its numbers."""

    network: str
    gain: float
    tensors: tuple[TensorSpec, ...]


def read_manifest(path: Path) -> Manifest:
    """Read {"network": ..., "gain": ..., "tensors": [[name, shape, dtype], ...]} or AssetError."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        tensors = tuple(
            TensorSpec(str(name), tuple(int(size) for size in shape), str(dtype))
            for name, shape, dtype in table["tensors"]
        )
        manifest = Manifest(str(table["network"]), float(table["gain"]), tensors)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AssetError(
            f"the manifest {path} cannot be read",
            got=f"{type(error).__name__}: {error}",
            wanted="network, gain and tensors as [name, shape, dtype]",
        ) from error
    strange = sorted({spec.dtype for spec in tensors} - set(DTYPES))
    if strange:
        got, wanted = ", ".join(strange), " or ".join(DTYPES)
        raise AssetError(f"the manifest {path} asks for a strange dtype", got=got, wanted=wanted)
    return manifest


def seeded_normal(name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Standard normal numbers that depend on `name` and `shape` alone."""
    generator = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
    return generator.standard_normal(shape, dtype=np.float32)


def synthetic_state(manifest: Manifest, salt: str = "") -> dict[str, Tensor]:
    """The stand-in weights of a manifest; every `salt` gives another, independent set."""
    arrays: dict[str, Array] = {}
    for spec in manifest.tensors:
        value = _value(spec, seeded_normal(salt + spec.name, spec.shape), manifest.gain)
        arrays[spec.name] = np.asarray(value).astype(spec.dtype)
    for name in [name for name in arrays if name.endswith("weight_u")]:
        stem = name.removesuffix("weight_u")
        u, v = _singular_vectors(arrays[stem + "weight_orig"], arrays[name])
        arrays[name], arrays[stem + "weight_v"] = u, v
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _value(spec: TensorSpec, x: NDArray[np.float32], gain: float) -> Array:
    leaf, axes = spec.name.rpartition(".")[2], len(spec.shape)
    match leaf:
        case "num_batches_tracked":
            return np.zeros(spec.shape)
        case "running_mean":
            return 0.1 * x
        case "running_var":
            return 1 + 0.1 * np.abs(x)
        case "weight_u" | "weight_v":
            return x  # where the power iterations start
        case "freqs":
            half = spec.shape[0]
            return 10000.0 ** (-2.0 * np.arange(half) / (2 * half))
        case "gamma" | "beta" if axes == 4:
            return 0.1 * x
        case "weight" if axes == 1:
            return 1 + 0.1 * x
        case _ if axes == 1:
            return 0.05 * x
        case _:
            return x * np.float32(gain / math.sqrt(math.prod(spec.shape[1:])))


def _singular_vectors(weight: Array, start: Array) -> tuple[Array, Array]:
    """Left and right singular vector (out,), (rest,) after 8 power iterations in float64."""
    matrix = weight.reshape(len(weight), -1).astype(np.float64)
    u = start.astype(np.float64)
    for _ in range(8):
        v = matrix.T @ u
        v /= np.linalg.norm(v)
        u = matrix @ v
        u /= np.linalg.norm(u)
    return u.astype(np.float32), v.astype(np.float32)
