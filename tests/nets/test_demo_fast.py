"""The demo renderer for one CPU thread equals the plain one; its parts equal what they replace."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from demo_inputs import points_and_code, renderer, source_picture
from torch import Tensor, nn

from greenroom.nets.demo import ConvBlock, sample, upsample, warp_source
from greenroom.nets.demo_fast import Face, FastRenderer
from greenroom.nets.demo_maps import MapConv, batched, mapped
from greenroom.nets.demo_sampling import (
    SourceSampler,
    VolumeSampler,
    bilinear_matrix,
    edge_padded,
    shift_matrices,
)

BAND = 2e-4  # absolute, of colour and keep in 0 ... 1: a twentieth of one step of eight bits


@cache
def fast() -> tuple[FastRenderer, Face]:
    with torch.inference_mode():
        net = FastRenderer(renderer())
        return net, net.prepare(source_picture(), points_and_code()[0][:1])


def rand(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@torch.inference_mode()
@pytest.mark.parametrize("row", [0, 1, 5, 9, 13])
def test_fast_equals_plain(row: int) -> None:
    (net, face), plain = fast(), renderer()
    points, code = points_and_code()
    volume = plain.appearance(source_picture())
    compressed = plain.warp.compressed(volume)
    rows = slice(row, row + 1)
    wanted = plain(source_picture(), volume, compressed, points[:1], points[rows], code[rows])
    found = net(face, points[rows], code[rows])
    for name, x, y, band in zip(
        ("colour", "keep", "flow"), found, wanted, (BAND, BAND, 1e-5), strict=True
    ):
        assert x.shape == y.shape
        assert float((x - y).abs().max()) <= band, name


@torch.inference_mode()
def test_several_threads_paint_the_same_bytes() -> None:
    net, face = fast()
    points, code = points_and_code()

    @torch.inference_mode()
    def paint(row: int) -> Tensor:
        torch.set_num_threads(1)
        return net(face, points[row : row + 1], code[row : row + 1])[0]

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(3) as three:
        wanted = list(one.map(paint, range(4)))
        found = list(three.map(paint, range(4)))
    assert all(torch.equal(x, y) for x, y in zip(found, wanted, strict=True))


# --- parts ----------------------------------------------------------------------------------------


@torch.inference_mode()
def test_doubling_convolution_is_upsampling_and_convolution() -> None:
    conv = nn.Conv2d(6, 5, 3, padding=1)
    x = rand(7, 9, 6)
    wanted = mapped(conv(upsample(batched(x))))
    torch.testing.assert_close(MapConv.of(conv).doubling()(x), wanted, rtol=0, atol=1e-5)


@torch.inference_mode()
def test_row_convolution_is_a_convolution() -> None:
    conv = nn.Conv2d(24, 17, 3, padding=1)
    x = rand(12, 9, 24)
    wanted = mapped(conv(batched(x)))
    torch.testing.assert_close(MapConv.of(conv).by_rows()(x), wanted, rtol=0, atol=2e-5)


@torch.inference_mode()
def test_convolution_by_pairs_gives_four_pixels_at_once() -> None:
    conv = nn.Conv2d(6, 3, 3, padding=1)
    x = rand(8, 10, 6)
    found = MapConv.of(conv).by_pairs()(x).view(4, 5, 2, 2, 3)
    wanted = mapped(conv(batched(x))).view(4, 2, 5, 2, 3).transpose(1, 2)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)


@torch.inference_mode()
def test_convolution_with_its_batch_norm_and_chosen_channels() -> None:
    block = ConvBlock(4, 3).eval()
    nn.init.normal_(block.norm.weight)
    block.norm.get_buffer("running_var").uniform_(0.5, 2.0)
    x, order = rand(6, 6, 4), torch.tensor([2, 0, 3, 1])
    plain = mapped(block.norm(block.conv(batched(x))))
    found = MapConv.of_block(block).inputs(order)(x[..., order].contiguous())
    torch.testing.assert_close(found, plain, rtol=0, atol=1e-5)
    few = MapConv.of_block(block).outputs(torch.tensor([2, 0]))(x)
    torch.testing.assert_close(few, plain[..., [2, 0]], rtol=0, atol=1e-5)


def test_shift_matrices_sample_a_moved_line() -> None:
    """Also far beyond both ends, where the end cell goes on."""
    line, shift = rand(8), torch.tensor([0.0, 0.3, -0.7, 2.5, -3.0])
    found = shift_matrices(8, shift) @ line
    x = torch.linspace(-7 / 8, 7 / 8, 8) + shift[:, None]
    grid = torch.stack([x, torch.zeros_like(x)], -1)[:, None]
    wanted = sample(line.expand(5, 1, 1, 8), grid)[:, 0, 0]
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)


def test_bilinear_matrix_resizes_a_line() -> None:
    line = rand(1, 1, 5)
    wanted = F.interpolate(line, size=20, mode="linear", align_corners=False)
    torch.testing.assert_close(line @ bilinear_matrix(5, 20).T, wanted)


@torch.inference_mode()
def test_volume_sampler_is_grid_sample() -> None:
    side, depth, coarse = 16, 4, 8
    volume, field = rand(1, 3, depth, side, side), rand(coarse, coarse, depth * 3 + 1, seed=1)
    cells = edge_padded(volume[0].permute(1, 2, 3, 0))
    found, occlusion = VolumeSampler(side, depth)(cells, field * 0.5)
    fine = F.interpolate(batched(field * 0.5), size=side, mode="bilinear", align_corners=False)
    offset = fine[0, :-1].view(depth, 3, side, side).permute(0, 2, 3, 1)
    axes = [(torch.arange(n) + 0.5) * 2 / n - 1 for n in (depth, side, side)]
    z, y, x = torch.meshgrid(*axes, indexing="ij")
    wanted = sample(volume, (torch.stack([x, y, z], -1) + offset)[None])[0]
    torch.testing.assert_close(
        found.view(side, side, depth, 3), wanted.permute(2, 3, 1, 0), rtol=0, atol=1e-4
    )
    torch.testing.assert_close(occlusion[..., 0], fine[0, -1])


@torch.inference_mode()
@pytest.mark.parametrize("size", [0.0, 0.02, 1.5])  # the last goes beyond every edge
def test_source_sampler_is_grid_sample_and_pooling(size: float) -> None:
    source, flow = rand(1, 4, 64, 64), rand(1, 2, 8, 8, seed=2) * size
    found = SourceSampler(8, side=64, band=16)(
        edge_padded(source[0].permute(1, 2, 0)), mapped(flow)
    )
    wanted = mapped(F.avg_pool2d(warp_source(source, flow), 2))
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-4)
