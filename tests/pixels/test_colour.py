"""RGB and NV12: known values, the place of chroma, the fast way against the reference."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from greenroom.base.flow import Pixels
from greenroom.pixels.colour import (
    RGB_TO_CODE,
    compose_still,
    nv12_to_rgb,
    nv12_to_rgb_reference,
    premultiplied_code,
    rgb_to_nv12,
    rgb_to_nv12_reference,
    rounded,
    split,
)

# By hand: Y = 16 + 219 L, U = 128 + 224 (B - L) / 1.8556, V = 128 + 224 (R - L) / 1.5748
KNOWN = {
    "white": ((255, 255, 255), (235, 128, 128)),
    "black": ((0, 0, 0), (16, 128, 128)),
    "grey": ((128, 128, 128), (126, 128, 128)),
    "red": ((255, 0, 0), (63, 102, 240)),
    "green": ((0, 255, 0), (173, 42, 26)),
    "blue": ((0, 0, 255), (32, 240, 118)),
    "yellow": ((255, 255, 0), (219, 16, 138)),
    "cyan": ((0, 255, 255), (188, 154, 16)),
    "magenta": ((255, 0, 255), (78, 214, 230)),
    "key green": ((0, 177, 64), (129, 96, 55)),
}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(709)


def flat(colour: tuple[int, ...]) -> Pixels:
    return np.full((4, 6, len(colour)), colour, np.uint8)


def as_tensor(rgb: Pixels) -> torch.Tensor:
    return torch.tensor(rgb).movedim(-1, 0).float() / 255


@pytest.mark.parametrize(("rgb", "code"), KNOWN.values(), ids=KNOWN)
def test_known_colours(rgb: tuple[int, ...], code: tuple[int, ...]) -> None:
    for nv12 in (rgb_to_nv12(flat(rgb)), rgb_to_nv12_reference(as_tensor(flat(rgb))).numpy()):
        luma, chroma = split(nv12)
        assert nv12.shape == (6, 6)
        assert nv12.dtype == np.uint8
        assert set(luma.flat) == {code[0]}
        assert set(chroma[:, 0::2].flat) == {code[1]}
        assert set(chroma[:, 1::2].flat) == {code[2]}


def test_matrix_reaches_the_ends_of_the_ranges() -> None:
    positive = np.where(RGB_TO_CODE > 0, RGB_TO_CODE, 0).sum(1)
    np.testing.assert_allclose(positive, [219, 112, 112])
    np.testing.assert_allclose(RGB_TO_CODE.sum(1), [219, 0, 0], atol=1e-12)


def test_flat_colours_come_back_within_two_levels(rng: np.random.Generator) -> None:
    for colour in rng.integers(0, 256, (300, 3)):
        rgb = flat(tuple(colour))
        there = rgb_to_nv12(rgb)
        assert np.abs(nv12_to_rgb(there).astype(int) - rgb).max() <= 2
        back = nv12_to_rgb_reference(torch.tensor(there)) * 255
        assert (back - 255 * as_tensor(rgb)).abs().max() <= 2.5  # not rounded


@pytest.mark.parametrize("size", [(2, 2), (2, 8), (6, 2), (90, 160)])
def test_fast_way_is_within_one_level_of_the_reference(
    rng: np.random.Generator, size: tuple[int, int]
) -> None:
    rgb = rng.integers(0, 256, (*size, 3), dtype=np.uint8)
    nv12 = rgb_to_nv12(rgb)
    there = rgb_to_nv12_reference(as_tensor(rgb)).numpy()
    assert np.abs(nv12.astype(int) - there).max() <= 1
    assert (nv12 != there).mean() < 1e-3
    back = (nv12_to_rgb_reference(torch.tensor(nv12)) * 255 + 0.5).floor().movedim(0, -1)
    assert np.abs(nv12_to_rgb(nv12).astype(int) - back.numpy()).max() <= 1


@pytest.mark.parametrize(
    ("column", "weights"),
    [(4, (0, 0, 0.5, 0)), (5, (0, 0, 0.25, 0.25)), (0, (0.75, 0, 0, 0)), (7, (0, 0, 0, 0.25))],
)
def test_chroma_is_left_sited(column: int, weights: tuple[float, ...]) -> None:
    rgb = np.zeros((4, 8, 3), np.uint8)
    rgb[:, column] = 255, 0, 0  # V 240 against 128
    for nv12 in (rgb_to_nv12(rgb), rgb_to_nv12_reference(as_tensor(rgb)).numpy()):
        np.testing.assert_array_equal(split(nv12)[1][1, 1::2], 128 + 112 * np.array(weights))


def test_chroma_comes_back_where_it_was() -> None:
    nv12 = np.full((12, 8), 128, np.uint8)
    split(nv12)[1][1:3, 4] = 168  # U of luma columns 4 and 5, rows 2 ... 5
    for rgb in (nv12_to_rgb(nv12), nv12_to_rgb_reference(torch.tensor(nv12)).movedim(0, -1)):
        blue = np.asarray(rgb, float)[3, :, 2]
        assert blue[4] > blue[3] == blue[5] > blue[2] == blue[6]


def test_halves_are_rounded_up_and_the_ends_hold() -> None:
    values = np.array([[0.5, 1.5, 2.49, 2.5, -3, 254.5, 300]], np.float32)
    assert rounded(values).tolist() == [[1, 2, 2, 3, 0, 255, 255]]


def test_split_gives_views() -> None:
    nv12 = np.zeros((6, 4), np.uint8)
    luma, chroma = split(nv12)
    luma[:], chroma[:] = 1, 2
    assert nv12.tolist() == [[1] * 4] * 4 + [[2] * 4] * 2


def test_premultiplied_code_composes_as_rgb_does(rng: np.random.Generator) -> None:
    opacity = torch.tensor(rng.random((1, 3, 5)))
    colour, behind = (torch.tensor(rng.random((3, 3, 5))) for _ in range(2))
    opaque = torch.ones_like(opacity)
    over = premultiplied_code(torch.cat([colour * opacity + behind * (1 - opacity), opaque]))
    code = premultiplied_code(torch.cat([colour * opacity, opacity]))
    beneath = premultiplied_code(behind)
    assert beneath[3].eq(0).all()
    torch.testing.assert_close(code[:3] + code[3] * beneath[:3], over[:3])
    torch.testing.assert_close(code[3:], 1 - opacity)


def test_compose_still(rng: np.random.Generator) -> None:
    backdrop = rng.integers(0, 256, (4, 6, 3), dtype=np.uint8)
    person = np.zeros((4, 6, 4), np.uint8)
    np.testing.assert_array_equal(compose_still(person, backdrop), rgb_to_nv12(backdrop))
    person[:] = 10, 200, 30, 255
    expected = rgb_to_nv12(np.ascontiguousarray(person[..., :3]))
    np.testing.assert_array_equal(compose_still(person, backdrop), expected)
    person[:] = 51, 0, 0, 51  # a fifth of red
    expected = rgb_to_nv12(flat((51 + 80, 120, 160)))
    np.testing.assert_array_equal(compose_still(person, flat((100, 150, 200))), expected)
