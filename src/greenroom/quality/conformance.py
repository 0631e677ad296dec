"""Are Ditto's networks, as built here, the public ones? Holds them against recorded outputs.

A folder has any number of `<network>_case_<x>.npz`, each with the outputs of one run on stand-in
weights and inputs (quality/synthetic.py). A case says for itself which weights (meta.salt), which
inputs (meta.case) and which batch it was made with. `<network>.json` is the manifest of the
weights; where a folder leaves it out, the network's own names and shapes and its usual gain serve.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from greenroom.base.errors import AssetError
from greenroom.base.weights import check, fold_spectral_norm, load
from greenroom.quality.subjects import SUBJECTS
from greenroom.quality.synthetic import Manifest, read_manifest, synthetic_state

THRESHOLD = 1e-4  # of the relative error in float32

_BROKEN = (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded output: some of its numbers and where they stand in the flattened whole."""

    output: str
    shape: tuple[int, ...]
    index: NDArray[np.int64]
    sample: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded run of one network."""

    file: Path
    network: str
    salt: str
    name: str
    batch: int
    manifest: Manifest
    recordings: tuple[Recording, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """How far one output is from its recording: ||out - ref|| / ||ref|| over the sample."""

    network: str
    case: str
    batch: int
    output: str
    error: float

    @property
    def passed(self) -> bool:
        return self.error < THRESHOLD  # False for NaN


def check_folder(folder: Path, device: torch.device | str = "cpu") -> list[Result]:
    """Run every case of a folder; AssetError if a file is unknown, broken or of another shape."""
    return list(check_cases(read_cases(folder), device))


def read_cases(folder: Path) -> tuple[Case, ...]:
    """All cases of a folder, or one AssetError that names every file that cannot be used.

    Only .json and .npz files count. There are sum(len(case.recordings)) results to come.
    """
    if not folder.is_dir():
        raise AssetError(f"there is no folder {folder}", wanted="a folder of recorded outputs")
    manifests: dict[str, Manifest] = {}
    cases: list[Case] = []
    problems = []
    for file in sorted(folder.glob("*.json")) + sorted(folder.glob("*.npz")):
        try:
            network = _network_of(file)
            if file.suffix == ".json":
                manifests[network] = _read_manifest(file, network)
            else:
                manifest = manifests.get(network) or SUBJECTS[network].manifest
                cases.append(_read_case(file, network, manifest))
        except AssetError as error:
            problems.append(f"{file.name}: {error.got or error.what}")
    if problems:
        raise AssetError(
            f"files in {folder} cannot be used",
            got="\n       ".join(problems),
            wanted=f"<network>.json and <network>_case_<x>.npz of {', '.join(SUBJECTS)}",
        )
    if not cases:
        raise AssetError(f"there is no recorded case in {folder}", wanted="<network>_case_<x>.npz")
    return tuple(cases)


def _network_of(file: Path) -> str:
    network, _, _ = file.stem.partition("_case_")
    if network not in SUBJECTS:
        raise AssetError(f"{file} is unknown", got=f"unknown network {network!r}")
    return network


def _read_manifest(file: Path, network: str) -> Manifest:
    """The folder's manifest, once it is sure that our network has the same tensors."""
    manifest = read_manifest(file)
    if manifest.network != network:
        raise AssetError(f"{file} is of another network", got=f"manifest of {manifest.network!r}")
    wanted = {
        spec.name: torch.empty(spec.shape, dtype=getattr(torch, spec.dtype), device="meta")
        for spec in manifest.tensors
    }
    check(SUBJECTS[network].meta, wanted, network)
    return manifest


def _read_case(file: Path, network: str, manifest: Manifest) -> Case:
    try:
        with np.load(file, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        batch = int(arrays["meta.batch"])
        salt, name = str(arrays["meta.salt"]), str(arrays["meta.case"])
        outputs = [key.removesuffix(".sample") for key in arrays if key.endswith(".sample")]
        recordings = tuple(_recording(arrays, output) for output in outputs)
    except _BROKEN as error:
        got = f"broken, {type(error).__name__}: {error}"
        raise AssetError(f"{file} cannot be read", got=got) from error
    limit = SUBJECTS[network].largest_batch
    if not 1 <= batch <= limit:
        raise AssetError(f"{file} is out of range", got=f"batch {batch}, not 1 to {limit}")
    if not recordings or {each.output for each in recordings} - set(SUBJECTS[network].outputs):
        got = f"outputs {', '.join(outputs) or 'none'}, not {', '.join(SUBJECTS[network].outputs)}"
        raise AssetError(f"{file} has strange outputs", got=got)
    return Case(file, network, salt, name, batch, manifest, recordings)


def _recording(arrays: dict[str, NDArray[np.generic]], output: str) -> Recording:
    shape = tuple(int(size) for size in arrays[f"{output}.shape"])
    index = arrays[f"{output}.index"].astype(np.int64)
    sample = arrays[f"{output}.sample"].astype(np.float32)
    if index.ndim != 1 or index.shape != sample.shape or not len(index):
        raise ValueError(f"{output} has {len(index)} positions and {len(sample)} numbers")
    if index.min() < 0 or index.max() >= np.prod(shape):
        raise ValueError(f"{output} has positions outside {shape}")
    return Recording(output, shape, index, sample)


def check_cases(cases: tuple[Case, ...], device: torch.device | str = "cpu") -> Iterator[Result]:
    """Results one by one, in the cases' order; each network is built once per set of weights."""
    for (network, salt), group in groupby(cases, key=lambda case: (case.network, case.salt)):
        same = list(group)
        built = _load(network, synthetic_state(same[0].manifest, salt), device)
        for case in same:
            yield from _check(case, built, torch.device(device))


def _load(network: str, state: dict[str, Tensor], device: torch.device | str) -> nn.Module:
    return load(SUBJECTS[network].build_folded, fold_spectral_norm(state), network, device=device)


def _check(case: Case, network: nn.Module, device: torch.device) -> list[Result]:
    subject = SUBJECTS[case.network]
    with torch.inference_mode(), _full_float32():
        outputs = subject.run(network, subject.inputs(case.name, case.batch, device))
    return [
        Result(case.network, case.name, case.batch, each.output, _error(case, each, outputs))
        for each in case.recordings
    ]


def _error(case: Case, recording: Recording, outputs: dict[str, Tensor]) -> float:
    out = outputs[recording.output]
    if tuple(out.shape) != recording.shape:
        raise AssetError(
            f"{case.file} records another shape for {recording.output}",
            got=f"{recording.shape} in the file",
            wanted=f"{tuple(out.shape)}, what {case.network} gives for a batch of {case.batch}",
        )
    ours = out.flatten()[torch.from_numpy(recording.index).to(out.device)].double().cpu().numpy()
    reference = recording.sample.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.linalg.norm(ours - reference) / np.linalg.norm(reference))


@contextmanager
def _full_float32() -> Iterator[None]:
    """A GPU may shorten float32 to 19 bits (TF32) in convolutions and products; not here."""
    before = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    try:
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        yield
    finally:
        torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = before
