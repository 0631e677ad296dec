"""Folding the spectral norm is exact, and so is the norm itself."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch.nn.utils import spectral_norm

from greenroom.base.errors import AssetError
from greenroom.base.weights import fold_spectral_norm, load
from greenroom.nets.blocks import SpectralConv2d
from greenroom.nets.decoder import Decoder


def small(*, spectral_norm: bool) -> Decoder:
    return Decoder(6, 10, 4, middle=1, ups=(8, 4), spectral_norm=spectral_norm)


def test_layer_equals_the_one_of_torch() -> None:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch has a newer form of other names
        theirs = spectral_norm(nn.Conv2d(3, 5, 3, padding=1), n_power_iterations=4)
    theirs(torch.randn(1, 3, 4, 4))  # one step of the power iteration
    ours = SpectralConv2d(3, 5, 3)
    ours.load_state_dict(theirs.eval().state_dict())
    x = torch.randn(2, 3, 6, 7)
    torch.testing.assert_close(ours(x), theirs(x))


def test_folded_decoder_equals_unfolded() -> None:
    torch.manual_seed(0)
    unfolded = small(spectral_norm=True).eval().requires_grad_(False)
    for name, tensor in unfolded.state_dict().items():
        if name.endswith(("weight_u", "weight_v")):
            tensor.copy_(torch.nn.functional.normalize(torch.rand_like(tensor), dim=0))
    state = fold_spectral_norm(unfolded.state_dict())
    folded = load(lambda: small(spectral_norm=False), state, "decoder")
    assert not any(isinstance(module, SpectralConv2d) for module in folded.modules())
    x = torch.randn(2, 6, 4, 4)
    torch.testing.assert_close(folded(x), unfolded(x))


def test_sigma_is_taken_in_single_precision_from_half_weights() -> None:
    weight = torch.randn(8, 4, 3, 3)
    u, v = torch.randn(8), torch.randn(36)
    state = {"c.weight_orig": weight.half(), "c.weight_u": u.half(), "c.weight_v": v.half()}
    folded = fold_spectral_norm(state)["c.weight"]
    sigma = u.half().double() @ weight.half().double().flatten(1) @ v.half().double()
    assert folded.dtype == torch.float32
    torch.testing.assert_close(folded, (weight.half().double() / sigma).float())


def test_an_incomplete_triple_is_named() -> None:
    state = {
        "up_0.conv_0.weight_orig": torch.ones(2, 2, 1, 1),
        "up_0.conv_0.weight_v": torch.ones(2),
    }
    with pytest.raises(AssetError, match=r"no up_0\.conv_0\.weight_u"):
        fold_spectral_norm(state)
