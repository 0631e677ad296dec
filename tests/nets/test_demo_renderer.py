"""The plain demo networks answer as the prototype that their weights were trained in."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from demo_inputs import audio_to_lips, points_and_code, recorded, renderer, source_picture
from torch import Tensor

from greenroom.base.errors import AssetError
from greenroom.base.weights import load
from greenroom.nets.demo import Renderer, identity_grid, warp_source
from greenroom.nets.demo_audio import LEFT, MELS_PER_FRAME, RIGHT

STRIDE = 12  # of the recorded pixels


def assert_recorded(name: str, found: Tensor, tolerance: float = 1e-4) -> None:
    wanted = recorded()[name]
    assert found.shape == wanted.shape
    assert float(np.abs(wanted).max()) > 0.01, "the record says nothing"
    np.testing.assert_allclose(found.numpy(), wanted, rtol=tolerance, atol=tolerance)


@torch.inference_mode()
def test_renderer_answers_as_recorded() -> None:
    net, source = renderer(), source_picture()
    points, code = points_and_code()
    volume = net.appearance(source)
    assert_recorded("renderer.volume", volume[..., ::5, ::5])
    compressed = net.warp.compressed(volume)
    features, flow = net.warp(volume, compressed, points[:1], points[1:3], code[1:3])
    assert_recorded("renderer.features", features[..., ::7, ::7])
    assert_recorded("renderer.flow", flow)
    colour, keep, flow = net(source, volume, compressed, points[:1], points[1:3], code[1:3])
    assert_recorded("renderer.colour", colour[..., 3::STRIDE, 5::STRIDE])
    assert_recorded("renderer.keep", keep[..., 3::STRIDE, 5::STRIDE])
    blended = colour + keep * (warp_source(source, flow) - colour)
    assert_recorded("renderer.blended", blended[..., 3::STRIDE, 5::STRIDE])


@torch.inference_mode()
def test_a_row_does_not_depend_on_its_neighbours() -> None:
    net, source = renderer(), source_picture()
    points, code = points_and_code()
    volume = net.appearance(source)
    compressed = net.warp.compressed(volume)
    both = net(source, volume, compressed, points[:1], points[3:5], code[3:5])
    alone = net(source, volume, compressed, points[:1], points[4:5], code[4:5])
    for together, single in zip(both, alone, strict=True):
        torch.testing.assert_close(together[1:], single, rtol=0, atol=1e-4)


def test_weights_of_another_network_are_refused() -> None:
    with pytest.raises(AssetError, match="unexpected"):
        load(Renderer, audio_to_lips().state_dict(), "demo renderer")


@torch.inference_mode()
def test_source_stays_where_nothing_flows_and_moves_by_whole_pixels() -> None:
    source = source_picture()
    still = warp_source(source, torch.zeros(1, 2, 32, 32))
    torch.testing.assert_close(still, source, rtol=0, atol=1e-4)
    flow = torch.zeros(1, 2, 32, 32)
    flow[:, 0] = 4 / 256  # taken from four pixels to the right
    moved = warp_source(source, flow)
    torch.testing.assert_close(moved[..., :-4], source[..., 4:], rtol=0, atol=2e-3)


def test_identity_grid_is_x_first() -> None:
    grid = identity_grid(torch.device("cpu"), 2, 4)
    assert grid[0, :, 0].tolist() == [-0.75, -0.25, 0.25, 0.75]
    assert grid[:, 0, 1].tolist() == [-0.5, 0.5]


# --- sound to lips --------------------------------------------------------------------------------


@torch.inference_mode()
def test_lips_have_exactly_the_context_that_is_said() -> None:
    """A frame's lips hear LEFT frames before and RIGHT after it: all of those, and no more."""
    frames, at = 80, 40
    mel = torch.randn(1, 64, frames * MELS_PER_FRAME, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode(False), torch.enable_grad():
        moved = mel.clone().detach().requires_grad_()
        audio_to_lips()(moved)[0, at].abs().sum().backward()
        assert moved.grad is not None
        heard = moved.grad[0].abs().sum(0).view(frames, MELS_PER_FRAME).sum(1).nonzero()[:, 0]
    assert int(heard[0]) >= at - LEFT
    assert int(heard[-1]) == at + RIGHT
    window = mel[..., (at - LEFT) * MELS_PER_FRAME : (at + RIGHT + 1) * MELS_PER_FRAME]
    cut = audio_to_lips()(window)[0, LEFT]
    torch.testing.assert_close(cut, audio_to_lips()(mel)[0, at], rtol=0, atol=1e-6)
