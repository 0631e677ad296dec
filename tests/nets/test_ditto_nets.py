"""The networks at small sizes: they build, run and keep their properties."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from greenroom.base.weights import fold_batch_norm
from greenroom.nets.appearance import AppearanceExtractor
from greenroom.nets.decoder import Decoder
from greenroom.nets.lmdm import Lmdm, Rotary
from greenroom.nets.motion import MotionExtractor
from greenroom.nets.stitch import StitchNetwork
from greenroom.nets.warp import WarpNetwork, identity_grid, sample

POINTS, FEATURE, DEPTH = 5, 4, 3


def appearance() -> AppearanceExtractor:
    return AppearanceExtractor(widths=(4, 6), feature=FEATURE, depth=DEPTH, blocks=2)


def motion() -> MotionExtractor:
    return MotionExtractor(depths=(1, 2), widths=(8, 12), points=POINTS, bins=7)


def warp() -> WarpNetwork:
    return WarpNetwork(POINTS, FEATURE, DEPTH, compressed=2, base=2, blocks=2, outputs=6)


def decoder() -> Decoder:
    return Decoder(feature=6, width=10, hidden=4, middle=2, ups=(10, 6, 4))


def lmdm() -> Lmdm:
    return Lmdm(
        motion=9, condition=11, frames=6, width=16, heads=2, hidden=24, layers=2, condition_layers=1
    )


Builder = Callable[[], nn.Module]
WITH_BATCH_NORM = (appearance, warp)


def randomised(build: Builder, seed: int = 0) -> nn.Module:
    """In eval mode, with every parameter and statistic away from its start."""
    torch.manual_seed(seed)
    network = build().eval().requires_grad_(False)
    for name, tensor in network.state_dict().items():
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 1.5)
        elif tensor.is_floating_point() and not name.endswith("freqs"):
            tensor.add_(0.2 * torch.randn_like(tensor))
    return network


def inputs_of(build: Builder, batch: int = 2) -> tuple[Tensor, ...]:
    torch.manual_seed(1)
    points = 0.4 * torch.randn(2, batch, POINTS, 3)
    if build in (appearance, motion):
        return (torch.rand(batch, 3, 16, 24),)
    if build is warp:
        return torch.randn(batch, FEATURE, DEPTH, 8, 12), points[0], points[1]
    return (torch.randn(batch, 6, 5, 4),)


@pytest.mark.parametrize(
    ("build", "shape"),
    [(appearance, (2, FEATURE, DEPTH, 8, 12)), (warp, (2, 6, 8, 12)), (decoder, (2, 3, 80, 64))],
)
def test_small_networks_give_pictures_of_the_right_shape(
    build: Builder, shape: tuple[int, ...]
) -> None:
    out = randomised(build)(*inputs_of(build))
    assert out.shape == shape
    assert out.isfinite().all()
    assert out.std() > 1e-3


def test_motion_heads_keep_the_public_order() -> None:
    heads = randomised(motion)(*inputs_of(motion))
    assert heads._fields == ("pitch", "yaw", "roll", "t", "exp", "scale", "kp")
    assert [head.shape for head in heads] == [(2, n) for n in (7, 7, 7, 3, 15, 1, 15)]


@pytest.mark.parametrize("build", [appearance, motion, warp, decoder])
def test_a_row_does_not_depend_on_its_neighbours(build: Builder) -> None:
    network, inputs = randomised(build), inputs_of(build)
    together = network(*inputs)
    alone = network(*(each[1:] for each in inputs))
    if build is motion:
        together, alone = torch.cat(together, 1), torch.cat(alone, 1)
    torch.testing.assert_close(together[1:], alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("build", WITH_BATCH_NORM)
def test_folded_batch_norm_changes_nothing(build: Builder) -> None:
    network, inputs = randomised(build), inputs_of(build)
    before = network(*inputs)
    norms = sum(isinstance(m, nn.BatchNorm2d | nn.BatchNorm3d) for m in network.modules())
    fold_batch_norm(network)
    left = [n for n, m in network.named_modules() if isinstance(m, nn.BatchNorm2d | nn.BatchNorm3d)]
    assert len(left) < norms
    assert all(name.endswith("norm1") for name in left)  # these stand before their convolution
    torch.testing.assert_close(network(*inputs), before, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(fold_batch_norm(network)(*inputs), before, rtol=1e-3, atol=1e-4)


def test_grid_has_its_corners_at_one_and_x_last_but_first() -> None:
    grid = identity_grid(torch.Size((3, 5, 9)), torch.device("cpu"))
    assert grid.shape == (3, 5, 9, 3)
    assert grid[0, 0, 0].tolist() == [-1, -1, -1]
    assert grid[2, 4, 8].tolist() == [1, 1, 1]
    assert grid[1, 2, 6].tolist() == [0.5, 0, 0]


def test_points_that_stay_move_nothing() -> None:
    network = randomised(warp)
    assert isinstance(network, WarpNetwork)
    feature, points, _ = inputs_of(warp)
    compressed = network.dense_motion_network.compress_feature(feature)
    deformation, occlusion = network.dense_motion_network(compressed, points, points)
    still = identity_grid(feature.shape[2:], feature.device).expand_as(deformation)
    torch.testing.assert_close(deformation, still, rtol=0, atol=1e-6)
    assert occlusion.shape == (2, 1, 8, 12)
    assert ((occlusion > 0) & (occlusion < 1)).all()


def test_all_points_moved_alike_move_the_volume_where_no_background_is_chosen() -> None:
    network = randomised(warp)
    assert isinstance(network, WarpNetwork)
    dense = network.dense_motion_network
    never_the_background = torch.tensor([-1e9, 0, 0, 0, 0, 0])
    dense.mask.load_state_dict(
        {"weight": torch.zeros_like(dense.mask.weight), "bias": never_the_background}
    )
    feature, points, _ = inputs_of(warp)
    shift = torch.tensor([0.1, -0.2, 0.3])
    deformation, _ = dense(dense.compress_feature(feature), points, points + shift)
    still = identity_grid(feature.shape[2:], feature.device)
    torch.testing.assert_close(deformation, (still - shift).expand_as(deformation))


def test_warp_takes_a_compressed_feature_made_before() -> None:
    network, (feature, source, driving) = randomised(warp), inputs_of(warp)
    assert isinstance(network, WarpNetwork)
    compressed = network.dense_motion_network.compress_feature(feature)
    kept = network.warp(feature, compressed, source, driving)
    assert torch.equal(kept, network(feature, source, driving))


def test_a_half_volume_is_read_with_single_coordinates() -> None:
    volume = torch.randn(1, 2, 3, 4, 8).half()
    grid = identity_grid(torch.Size((3, 4, 8)), volume.device)[None] * 0.77
    read = sample(volume, grid)
    assert read.dtype == torch.float16
    assert torch.equal(read, sample(volume.float(), grid).half())


def test_stitching_shifts_x_and_y_of_all_points_alike() -> None:
    network = randomised(lambda: StitchNetwork(POINTS, widths=(7, 6)))
    last = network.get_submodule("mlp.4")
    assert isinstance(last, nn.Linear)
    last.weight.zero_()
    last.bias.copy_(torch.tensor([0.0] * POINTS * 3 + [0.5, -0.25]))
    _, source, driving = inputs_of(warp)
    moved = network(source, driving)
    torch.testing.assert_close(moved - driving, torch.tensor([0.5, -0.25, 0]).expand_as(moved))
    last.bias.copy_(torch.arange(POINTS * 3 + 2).where(torch.arange(POINTS * 3 + 2) < 15, 0))
    each = torch.arange(15.0).view(POINTS, 3).expand_as(moved)
    torch.testing.assert_close(network(source, driving) - driving, each, rtol=0, atol=1e-5)


def window(batch: int = 3) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(2)
    times = torch.tensor([999, 500, 0])[:batch]
    return torch.randn(batch, 6, 9), torch.randn(batch, 9), torch.randn(batch, 6, 11), times


def test_guidance_in_one_batch_is_that_of_two_branches() -> None:
    network = randomised(lmdm)
    assert isinstance(network, Lmdm)
    x, cond_frame, cond, times = window()
    condition = network.encode(cond)
    heard = network(x, cond_frame, condition, times)
    unheard = network(x, cond_frame, network.no_condition(3), times)
    guided = network.guided(x, cond_frame, condition, times)
    assert guided.shape == (3, 6, 9)
    torch.testing.assert_close(guided, unheard + 2 * (heard - unheard), rtol=1e-4, atol=1e-5)
    alone = network.guided(x[1:2], cond_frame[1:2], network.encode(cond[1:2]), times[1:2])
    torch.testing.assert_close(guided[1:2], alone, rtol=1e-4, atol=1e-5)


def test_every_input_of_the_denoiser_matters() -> None:
    network = randomised(lmdm)
    assert isinstance(network, Lmdm)
    x, cond_frame, cond, times = window()
    base = network.guided(x, cond_frame, network.encode(cond), times)
    for other in (
        network.guided(x + 0.1, cond_frame, network.encode(cond), times),
        network.guided(x, cond_frame + 0.1, network.encode(cond), times),
        network.guided(x, cond_frame, network.encode(cond + 0.1), times),
        network.guided(x, cond_frame, network.encode(cond), times - 300),
    ):
        assert (other - base).abs().amax() > 1e-4


def test_rotary_turns_neighbouring_pairs_by_position() -> None:
    rotary = Rotary(4)
    assert rotary.freqs.tolist() == pytest.approx([1, 0.01])
    turned = rotary(torch.tensor([1.0, 0, 0, 1]).expand(1, 3, 4))
    two = torch.tensor(2.0)
    expected = [two.cos(), two.sin(), -(0.01 * two).sin(), (0.01 * two).cos()]
    torch.testing.assert_close(turned[0, 2], torch.stack(expected))
    assert turned[0, 0].tolist() == [1, 0, 0, 1]
