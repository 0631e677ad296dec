"""Names, order, shapes and counts of every parameter and buffer are those of the public files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from greenroom.quality.subjects import SUBJECTS
from greenroom.quality.synthetic import read_manifest

MANIFESTS = Path(__file__).parents[1] / "conformance" / "ditto_v04"
COUNTS = {  # parameters, parameter tensors, buffer entries (spec 2.0)
    "appearance_extractor": (836_224, 62, 45),
    "motion_extractor": (28_118_728, 212, 0),
    "warp_network": (45_529_829, 58, 39),
    "decoder": (55_365_388, 146, 36),
    "stitch_network": (45_249, 8, 0),
    "lmdm": (47_788_297, 238, 11),
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_state_is_that_of_the_public_file(name: str) -> None:
    manifest = read_manifest(MANIFESTS / f"{name}.json")
    assert SUBJECTS[name].manifest == manifest  # every name, shape and dtype, in order


@pytest.mark.parametrize("name", SUBJECTS)
def test_counts_are_those_of_the_specification(name: str) -> None:
    network = SUBJECTS[name].meta
    buffers = list(network.named_buffers(remove_duplicate=False))
    parameters = list(network.parameters())
    total = sum(parameter.numel() for parameter in parameters)
    assert (total, len(parameters), len(buffers)) == COUNTS[name]


def test_a_folded_decoder_has_one_weight_for_each_spectral_triple() -> None:
    whole = set(SUBJECTS["decoder"].meta.state_dict())
    with torch.device("meta"):
        folded = set(SUBJECTS["decoder"].build_folded().state_dict())
    stems = {name.removesuffix("_orig") for name in whole if name.endswith("weight_orig")}
    assert len(stems) == 18
    assert folded - whole == stems
    assert whole - folded == {f"{stem}_{leaf}" for stem in stems for leaf in ("orig", "u", "v")}
