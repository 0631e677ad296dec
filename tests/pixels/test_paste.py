"""Where a face lands in a picture, the formula, the laws of a row, and which way it goes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from pixel_cases import (
    Size,
    differences,
    feathered,
    moving,
    noise_nv12,
    noise_rgba,
    turned,
    upright,
)
from torch import Tensor

from greenroom.base.flow import Faces, Pixels, Placement
from greenroom.pixels import paste
from greenroom.pixels.colour import rgb_to_nv12, split
from greenroom.pixels.paste import PasteBack, paste_back, paste_reference

Way = Callable[..., Pixels]
WAYS: dict[str, Way] = {"reference": paste_reference, "dispatched": paste_back}
way = pytest.mark.parametrize("put", WAYS.values(), ids=WAYS)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(25)


def ones(side: int = 8) -> Tensor:
    return torch.ones(side, side)


def grey(levels: Tensor) -> Tensor:
    """Luma code values (h, w) -> opaque RGB (1, 3, h, w) that has them."""
    return ((levels.float() - 16) / 219).expand(1, 3, *levels.shape)


# --- where ----------------------------------------------------------------------------------------


@way
def test_canvas_pixels_land_on_picture_pixels(put: Way, rng: np.random.Generator) -> None:
    rgb = rng.integers(0, 256, (16, 20, 3), dtype=np.uint8)
    picture = noise_nv12(rng, 32, 48)
    face = Faces(torch.tensor(rgb).movedim(-1, 0)[None].float() / 255)
    placement = Placement(upright((16, 20), 12, 6, 20, 16), ones())
    out = put(face, picture, placement)
    expected = picture.copy()
    there = rgb_to_nv12(rgb)
    split(expected)[0][6:22, 12:32] = split(there)[0]
    split(expected)[1][3:11, 12:32] = split(there)[1]
    luma, chroma = differences(out, expected)
    assert luma.max() <= 1
    assert chroma.max() <= 1
    changed = luma + np.repeat(chroma, 2, 0)
    changed[6:22, 12:32] = 0
    assert not changed.any()


def test_a_quarter_turn_turns_the_canvas(rng: np.random.Generator) -> None:
    rgb = rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)
    face = Faces(torch.tensor(rgb).movedim(-1, 0)[None].float() / 255)
    matrix = turned((16, 16), 90, 1, 13.5, 11.5)  # x of the canvas goes down the picture
    out = paste_back(face, noise_nv12(rng, 32, 32), Placement(matrix, ones()))
    there = rgb_to_nv12(np.ascontiguousarray(np.rot90(rgb, -1)))
    assert np.abs(split(out)[0][4:20, 6:22].astype(int) - split(there)[0]).max() <= 1
    inner = np.abs(split(out)[1][2:10, 8:22].astype(int) - split(there)[1][:, 2:])
    assert inner.max() <= 1  # but for the first column, whose left neighbour is another


@way
def test_pixel_centres_are_at_whole_numbers(put: Way) -> None:
    """A ramp of 8 levels per canvas pixel, enlarged 2 x, rises by 4; pixel 0 lies at -1/4."""
    ramp = (40 + 8 * torch.arange(16)).expand(8, 16)
    picture = np.full((48, 48), 128, np.uint8)
    placement = Placement(upright((8, 16), 8, 4, 32, 16), ones())
    out = put(Faces(grey(ramp)), picture, placement)
    expected = (38 + 4 * np.arange(32)).clip(40, 160)
    np.testing.assert_array_equal(split(out)[0][4:20, 8:40], np.tile(expected, (16, 1)))


@way
@pytest.mark.parametrize(("pixels_x", "pixels_y"), [(3, 0), (0, -2), (-1.5, 2.5)])
def test_flow_says_where_detail_lies(put: Way, pixels_x: float, pixels_y: float) -> None:
    """Detail is a ramp of 2 levels per pixel across and 4 down; a canvas spans -1 ... 1."""
    ramp = 20 + 2 * np.arange(32)[None, :] + 4 * np.arange(32)[:, None]
    level = np.rint((ramp - 16) * 255 / 219).astype(np.uint8)
    detail = np.stack([level] * 3 + [np.full_like(level, 255)], -1)
    flow = torch.tensor([pixels_x, pixels_y]).view(1, 2, 1, 1).expand(1, 2, 4, 4) * (2 / 32)
    face = Faces(torch.rand(1, 4, 16, 16), torch.ones(1, 1, 16, 16), flow)
    placement = Placement(upright((16, 16), 8, 8, 32, 32), ones(), None, detail)
    out = put(face, np.full((72, 48), 128, np.uint8), placement)
    moved = split(out)[0][16:32, 16:32].astype(float)
    np.testing.assert_allclose(moved, ramp[8:24, 8:24] + 2 * pixels_x + 4 * pixels_y, atol=1.01)
    assert abs((moved - ramp[8:24, 8:24]).mean() - 2 * pixels_x - 4 * pixels_y) < 0.3


# --- what -----------------------------------------------------------------------------------------


@way
def test_formula_on_flat_planes(put: Way) -> None:
    """keep 1/4, mask 3/4; every term apart from the others, by hand."""
    colour = torch.tensor([0.4, 0.2, 0.1, 0.6]).view(1, 4, 1, 1).expand(1, 4, 8, 8)
    detail = np.full((16, 16, 4), (51, 102, 0, 204), np.uint8)
    face = Faces(colour, torch.full((1, 1, 8, 8), 0.25), torch.zeros(1, 2, 2, 2))
    backdrop, picture = np.full((24, 16), 200, np.uint8), np.full((24, 16), 50, np.uint8)
    split(backdrop)[1][:, 1::2], split(picture)[1][:, 1::2] = 90, 110
    placement = Placement(upright((8, 8), 0, 0, 16, 16), 0.75 * ones(), backdrop, detail)
    out = put(face, picture, placement)
    red, green, blue, alpha = 0.75 * np.array([0.4, 0.2, 0.1, 0.6]) + 0.25 * np.array(
        [0.2, 0.4, 0, 0.8]
    )
    luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    y = 219 * luma + 16 * alpha
    u = 224 * (blue - luma) / 1.8556 + 128 * alpha
    v = 224 * (red - luma) / 1.5748 + 128 * alpha
    for plane, face_value, behind, old in (
        (split(out)[0], y, 200, 50),
        (split(out)[1][:, 0::2], u, 200, 50),
        (split(out)[1][:, 1::2], v, 90, 110),
    ):
        expected = 0.75 * (face_value + (1 - alpha) * behind) + 0.25 * old
        assert abs(plane.astype(float) - expected).max() <= 1
        assert np.ptp(plane) == 0


@way
def test_without_a_backdrop_the_picture_is_behind(put: Way, rng: np.random.Generator) -> None:
    face, picture = Faces(noise_rgba(rng, 1, 16, 16)), noise_nv12(rng, 48, 48)
    placement = Placement(upright((16, 16), 8, 8, 32, 32), feathered(32, 6))
    given = put(face, picture, replace(placement, backdrop=picture))
    np.testing.assert_array_equal(put(face, picture, placement), given)


@way
def test_beyond_the_mask_are_the_picture_s_own_bytes(put: Way, rng: np.random.Generator) -> None:
    picture = noise_nv12(rng, 64, 64)
    face = Faces(torch.full((1, 3, 16, 16), torch.nan))
    nothing = Placement(upright((16, 16), 8, 8, 32, 32), torch.zeros(8, 8), picture)
    np.testing.assert_array_equal(put(face, picture, nothing), picture)
    mask = torch.zeros(32, 32)
    mask[10:20, 12:18] = 1
    face = Faces(noise_rgba(rng, 1, 16, 16))
    out = put(face, picture, replace(nothing, mask=mask))
    luma, chroma = differences(out, picture)
    assert luma[18:28, 20:26].any()
    assert chroma[9:14, 20:26].any()
    luma[18:28, 20:26] = chroma[9:14, 18:28] = 0
    assert not luma.any()
    assert not chroma.any()


# --- laws -----------------------------------------------------------------------------------------


@way
def test_a_row_of_a_batch_equals_that_row_alone(put: Way, rng: np.random.Generator) -> None:
    faces = moving(rng, noise_rgba(rng, 3, 32, 32), cells=8)
    picture = noise_nv12(rng, 64, 64)
    detail = rng.integers(0, 256, (40, 40, 4), dtype=np.uint8)
    placement = Placement(upright((32, 32), 8, 8, 40, 40), feathered(40, 5), picture, detail)
    rows = [put(faces, picture, placement, row) for row in range(3)]
    assert len({row.tobytes() for row in rows}) == 3
    for row in range(3):
        alone = put(faces[row], picture, placement)
        np.testing.assert_array_equal(rows[row], alone)


def test_threads_share_one_paste_back(rng: np.random.Generator) -> None:
    faces = moving(rng, noise_rgba(rng, 4, 64, 64))
    picture = noise_nv12(rng, 160, 160)
    detail = rng.integers(0, 256, (128, 128, 4), dtype=np.uint8)
    placement = Placement(upright((64, 64), 16, 16, 128, 128), feathered(128, 9), picture, detail)
    prepared = PasteBack(placement, (64, 64), (160, 160))
    alone = [prepared.paste(faces, picture, row) for row in range(4)]
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(prepared.paste, faces, picture, i % 4) for i in range(16)]
        for i, job in enumerate(jobs):
            np.testing.assert_array_equal(job.result(), alone[i % 4])


@way
def test_the_picture_may_lie_on_disk_and_is_left_alone(
    put: Way, rng: np.random.Generator, tmp_path: Path
) -> None:
    picture = noise_nv12(rng, 32, 32)
    picture.tofile(tmp_path / "picture")
    mapped = np.memmap(tmp_path / "picture", np.uint8, "r", shape=picture.shape)
    face = Faces(noise_rgba(rng, 1, 16, 16))
    placement = Placement(upright((16, 16), 8, 8, 16, 16), ones(), picture)
    out = put(face, mapped, placement)
    assert type(out) is np.ndarray
    np.testing.assert_array_equal(out, put(face, picture, placement))
    np.testing.assert_array_equal(mapped, picture)


@way
def test_half_precision_faces(put: Way, rng: np.random.Generator) -> None:
    face = Faces(noise_rgba(rng, 1, 16, 16).bfloat16())
    picture, placement = noise_nv12(rng, 32, 32), Placement(upright((16, 16), 8, 8, 16, 16), ones())
    whole = put(Faces(face.colour.float()), picture, placement)
    np.testing.assert_array_equal(put(face, picture, placement), whole)


# --- which way ------------------------------------------------------------------------------------


PLACES: dict[str, tuple[bool, Tensor]] = {
    "upright": (True, upright((16, 24), 8, 6, 48, 32)),
    "not enlarged": (True, upright((16, 24), 8, 6, 24, 16)),
    "turned": (False, turned((16, 24), 20, 2.1, 30, 20)),
    "mirrored": (False, torch.tensor([[-2.0, 0, 54.5], [0, 2, 6.5]])),
    "reduced": (False, upright((16, 24), 8, 6, 12, 8)),
    "on an odd edge": (False, upright((16, 24), 7, 6, 48, 32)),
    "between pixels": (False, upright((16, 24), 8.4, 6, 48, 32)),
    "over the left and upper edge": (False, upright((16, 24), -10, -4, 48, 32)),
    "over the right and lower edge": (False, upright((16, 24), 50, 30, 48, 32)),
    "beside the picture": (False, upright((16, 24), 300, 6, 48, 32)),
}


@pytest.mark.parametrize(("fast", "matrix"), PLACES.values(), ids=PLACES)
def test_every_place_works_and_goes_its_way(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator, fast: bool, matrix: Tensor
) -> None:
    face, picture = Faces(noise_rgba(rng, 1, 16, 24)), noise_nv12(rng, 48, 64)
    placement = Placement(matrix, feathered(24, 4), noise_nv12(rng, 48, 64))
    expected = paste_reference(face, picture, placement)
    calls = []

    def counted(*args: object) -> Pixels:
        calls.append(args)
        return expected

    monkeypatch.setattr(paste, "paste_reference", counted)
    out = PasteBack(placement, (16, 24), (48, 64)).paste(face, picture)
    assert len(calls) == (0 if fast else 1)
    for side in differences(out, expected):
        assert side.max() <= 1


def test_corners_of_the_covering_box_stay(rng: np.random.Generator) -> None:
    """A square on its corner, its mask 1 up to the edge, leaves the corners around it alone."""
    picture = noise_nv12(rng, 48, 48)
    placement = Placement(turned((16, 16), 45, 2, 23.5, 23.5), ones())
    out = paste_back(Faces(noise_rgba(rng, 1, 16, 16)), picture, placement)
    luma, _ = differences(out, picture)
    y, x = np.abs(np.mgrid[:48, :48] - 23.5)
    outside = x + y > 16 * np.sqrt(2)
    assert not luma[outside].any()
    assert (luma[~outside] > 0).mean() > 0.9


@pytest.mark.parametrize("matrix", [turned((16, 24), 20, 2.1, 30, 20), PLACES["turned"][1]])
def test_only_the_covering_box_is_worked_on(rng: np.random.Generator, matrix: Tensor) -> None:
    """A larger picture around the same place gives the same bytes in it."""
    face, wide = Faces(noise_rgba(rng, 1, 16, 24)), noise_nv12(rng, 96, 128)
    small = np.concatenate([split(wide)[0][16:64, 20:84], split(wide)[1][8:32, 20:84]])
    moved = matrix + torch.tensor([[0, 0, 20.0], [0, 0, 16]])
    inner = paste_reference(face, small, Placement(matrix, feathered(24, 4)))
    outer = paste_reference(face, wide, Placement(moved, feathered(24, 4)))
    cut = np.concatenate([split(outer)[0][16:64, 20:84], split(outer)[1][8:32, 20:84]])
    for side in differences(cut, inner):
        assert side.max() <= 1  # places are rounded to float32
    assert (inner != small).mean() > 0.2


def test_detail_is_asked_for(rng: np.random.Generator) -> None:
    face = moving(rng, noise_rgba(rng, 1, 16, 16), cells=4)
    canvas: Size = (16, 16)
    for matrix in (upright(canvas, 8, 8, 16, 16), turned(canvas, 10, 1, 16, 16)):
        with pytest.raises(AssertionError, match=r"Placement\.detail"):
            paste_back(face, noise_nv12(rng, 32, 32), Placement(matrix, ones()))
