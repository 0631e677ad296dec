"""Checkpoints: every layout of the public files, and every way a file can be wrong."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from greenroom.base.errors import AssetError
from greenroom.base.weights import DITTO_FILES, Layout, load, read_state
from greenroom.nets.stitch import StitchNetwork


def small() -> StitchNetwork:
    return StitchNetwork(points=2, widths=(4, 3))


def state_of(seed: int = 0) -> dict[str, Tensor]:
    torch.manual_seed(seed)
    return {name: torch.randn_like(tensor) for name, tensor in small().state_dict().items()}


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return list(one) == list(other) and all(torch.equal(one[name], other[name]) for name in one)


# --- layouts --------------------------------------------------------------------------------------


def test_flat_torch_file(tmp_path: Path) -> None:
    torch.save(state_of(), tmp_path / "flat.pth")
    assert same(read_state(tmp_path / "flat.pth"), state_of())


def test_old_torch_format(tmp_path: Path) -> None:
    torch.save(state_of(), tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    assert same(read_state(tmp_path / "old.pth"), state_of())


def test_safetensors_file(tmp_path: Path) -> None:
    save_file(state_of(), tmp_path / "net.safetensors")
    read = read_state(tmp_path / "net.safetensors")
    assert same(dict(sorted(read.items())), dict(sorted(state_of().items())))


def test_stitching_file_has_wrapped_and_prefixed_networks(tmp_path: Path) -> None:
    name, layout = DITTO_FILES["stitch_network"]
    shoulder = {f"module.{key}": value for key, value in state_of().items()}
    mouth = {f"module.{key}": value for key, value in state_of(1).items()}
    torch.save({"retarget_mouth": mouth, "retarget_shoulder": shoulder}, tmp_path / name)
    assert same(read_state(tmp_path / name, layout), state_of())


def test_motion_file_is_wrapped_beside_plain_data(tmp_path: Path) -> None:
    name, layout = DITTO_FILES["lmdm"]
    torch.save({"epoch": 3, "model_state_dict": state_of()}, tmp_path / name)
    assert same(read_state(tmp_path / name, layout), state_of())


def test_prefix_goes_only_from_the_front(tmp_path: Path) -> None:
    torch.save({"net.a.net.b": torch.ones(1)}, tmp_path / "net.pth")
    assert list(read_state(tmp_path / "net.pth", Layout(prefix="net."))) == ["a.net.b"]


# --- broken files ---------------------------------------------------------------------------------


class Hostile:
    """Runs a command when it is unpickled by a careless reader."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("form", ["zip", "old", "bare"])
def test_code_in_a_file_is_refused_and_never_run(tmp_path: Path, form: str) -> None:
    target, file = tmp_path / "owned", tmp_path / "evil.pth"
    content = {**state_of(), "extra": Hostile(target)}
    if form == "bare":
        file.write_bytes(pickle.dumps(content, protocol=2))
    else:
        torch.save(content, file, _use_new_zipfile_serialization=form == "zip")
    with pytest.raises(AssetError, match="without code") as refused:
        read_state(file)
    assert str(file) in str(refused.value)
    assert not target.exists()
    pickle.loads(pickle.dumps(Hostile(target)))  # a careless reader does run it
    assert target.exists()


@pytest.mark.parametrize("form", ["zip", "old", "safetensors"])
def test_a_cut_file_is_an_error_at_every_length(tmp_path: Path, form: str) -> None:
    whole, cut = tmp_path / "whole", tmp_path / ("cut.safetensors" if form[0] == "s" else "cut.pth")
    if form == "safetensors":
        save_file(state_of(), whole)
    else:
        torch.save(state_of(), whole, _use_new_zipfile_serialization=form == "zip")
    content = whole.read_bytes()
    for length in range(0, len(content) - 1, max(1, len(content) // 60)):
        cut.write_bytes(content[:length])
        with pytest.raises(AssetError):
            read_state(cut)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_spoilt_bytes_give_tensors_or_an_asset_error(tmp_path: Path) -> None:
    file, generator = tmp_path / "old.pth", torch.Generator().manual_seed(0)
    torch.save(state_of(), file, _use_new_zipfile_serialization=False)
    content, refused = file.read_bytes(), 0
    for _ in range(200):
        spoilt = bytearray(content)
        place, value = torch.randint(0, 2**31, (2,), generator=generator).tolist()
        spoilt[place % (len(spoilt) // 2)] = value % 256
        file.write_bytes(bytes(spoilt))
        try:
            read_state(file)
        except AssetError:
            refused += 1
    assert refused > 50


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match=r"no weights at .*decoder\.pth"):
        read_state(tmp_path / "decoder.pth")
    with pytest.raises(AssetError, match="no weights at"):
        read_state(tmp_path)


@pytest.mark.parametrize(
    ("content", "layout", "message"),
    [
        ({"a": torch.ones(1), "b": 3}, Layout(), "int under 'b'"),
        ({1: torch.ones(1)}, Layout(), "Tensor under '1'"),
        ([torch.ones(1)], Layout(), "got: list"),
        ({"a": torch.ones(1)}, Layout(entry="model_state_dict"), "wanted: .*'model_state_dict'"),
        (torch.ones(1), Layout(entry="model_state_dict"), "got: Tensor"),
        ({"module.a": torch.ones(1), "a": torch.ones(1)}, Layout(erased="module."), "same name"),
    ],
)
def test_a_file_of_something_else_is_an_error(
    tmp_path: Path, content: object, layout: Layout, message: str
) -> None:
    torch.save(content, tmp_path / "other.pth")
    with pytest.raises(AssetError, match=message):
        read_state(tmp_path / "other.pth", layout)


# --- strict loading -------------------------------------------------------------------------------


def test_a_loaded_network_computes_with_the_file_s_numbers() -> None:
    network = load(small, state_of(), "stitch")
    assert not network.training
    assert not any(parameter.requires_grad for parameter in network.parameters())
    assert same(dict(network.state_dict()), state_of())
    reference = small()
    reference.load_state_dict(state_of())
    points = torch.randn(2, 3, 2, 3)
    assert torch.equal(network(*points), reference.requires_grad_(False)(*points))


def test_precision_is_chosen_at_loading_and_counters_stay_whole() -> None:
    def build() -> nn.BatchNorm1d:
        return nn.BatchNorm1d(2)

    network = load(build, build().state_dict(), "norm", dtype=torch.float16)
    assert network.running_mean is not None
    assert network.running_mean.dtype == torch.float16
    assert network.num_batches_tracked is not None
    assert network.num_batches_tracked.dtype == torch.int64


def test_misfits_are_counted_and_named() -> None:
    state = state_of()
    del state["mlp.2.bias"]
    state["mlp.9.weight"] = torch.ones(1)
    state["mlp.0.weight"] = state["mlp.0.weight"].T
    state["mlp.4.bias"] = torch.zeros(8, dtype=torch.int64)
    with pytest.raises(AssetError) as refused:
        load(small, state, "stitch")
    text = str(refused.value)
    assert "network stitch" in text
    assert "1 missing: mlp.2.bias" in text
    assert "1 unexpected: mlp.9.weight" in text
    assert "2 misshapen: mlp.0.weight (12x4 instead of 4x12), mlp.4.bias (8 whole numbers" in text


def test_a_long_list_of_names_is_cut() -> None:
    with pytest.raises(AssetError, match=r"6 missing: (mlp\.\d\.\w+, ){5}\.\.\."):
        load(small, {}, "stitch")
