"""The stand-in weights follow their formula, number by number."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch

from greenroom.base.errors import AssetError
from greenroom.quality.synthetic import (
    Manifest,
    TensorSpec,
    read_manifest,
    seeded_normal,
    synthetic_state,
)


def one(name: str, shape: tuple[int, ...], dtype: str = "float32", salt: str = "") -> torch.Tensor:
    manifest = Manifest("net", 1.3, (TensorSpec(name, shape, dtype),))
    return synthetic_state(manifest, salt)[name]


def test_seeded_normal_is_that_of_the_name() -> None:
    expected = np.random.Generator(np.random.PCG64(zlib.crc32(b"a/b"))).standard_normal(
        (2, 3), dtype=np.float32
    )
    assert np.array_equal(seeded_normal("a/b", (2, 3)), expected)
    assert not np.array_equal(seeded_normal("a/c", (2, 3)), expected)


@pytest.mark.parametrize(
    ("name", "shape", "factor", "offset"),
    [
        ("n.running_mean", (4,), 0.1, 0.0),
        ("n.weight", (4,), 0.1, 1.0),
        ("n.bias", (4,), 0.05, 0.0),
        ("grn.gamma", (1, 1, 1, 4), 0.1, 0.0),
        ("grn.beta", (1, 1, 1, 4), 0.1, 0.0),
        ("c.weight", (4, 2, 2, 4), 1.3 / 4, 0.0),
        ("null_cond_embed", (1, 4, 4), 1.3 / 4, 0.0),
    ],
)
def test_each_kind_is_a_scaled_normal(
    name: str, shape: tuple[int, ...], factor: float, offset: float
) -> None:
    for salt in ("", "other"):
        expected = offset + factor * seeded_normal(salt + name, shape)
        np.testing.assert_allclose(one(name, shape, salt=salt).numpy(), expected, rtol=1e-6)


def test_statistics_counters_and_frequencies() -> None:
    assert (one("n.running_var", (100,)) >= 1).all()
    counter = one("n.num_batches_tracked", (), "int64")
    assert counter.dtype == torch.int64
    assert counter.item() == 0
    assert one("rotary.freqs", (2,)).tolist() == pytest.approx([1, 0.01])


def test_spectral_vectors_find_the_largest_singular_value() -> None:
    names = {"c.weight_orig": (6, 4, 1, 1), "c.weight_u": (6,), "c.weight_v": (4,)}
    specs = tuple(TensorSpec(name, shape, "float32") for name, shape in names.items())
    state = synthetic_state(Manifest("net", 1.0, specs))
    matrix, u, v = (state[name].double().squeeze() for name in names)
    assert u.norm() == pytest.approx(1, abs=1e-6)
    largest = torch.linalg.svdvals(matrix)[0].item()
    assert (u @ matrix @ v).item() == pytest.approx(largest, rel=1e-2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"network": "x", "gain": 1}', "KeyError"),
        ('{"network": "x", "gain": 1, "tensors": [["a", 3]]}', "cannot be read"),
        ('{"network": "x", "gain": 1, "tensors": [["a", [3], "object"]]}', "strange dtype"),
    ],
)
def test_a_broken_manifest_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(AssetError, match=message):
        read_manifest(tmp_path / "x.json")


def test_a_manifest_is_read_whole(tmp_path: Path) -> None:
    table = {"network": "x", "gain": 0.5, "tensors": [["a.b", [2, 3], "float32"]]}
    (tmp_path / "x.json").write_text(json.dumps(table))
    spec = TensorSpec("a.b", (2, 3), "float32")
    assert read_manifest(tmp_path / "x.json") == Manifest("x", 0.5, (spec,))
