"""The fast way against the reference, within the band that paste_cpu.py states."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
import torch
from pixel_cases import (
    Size,
    anchor_picture,
    anchor_placement,
    differences,
    feathered,
    moving,
    noise_nv12,
    noise_rgba,
    read,
    smooth,
    upright,
)

from greenroom.base.flow import Faces, Pixels, Placement
from greenroom.pixels.colour import compose_still, rgb_to_nv12, split
from greenroom.pixels.paste import PasteBack, paste_back, paste_reference

EXACT = int(cv2.__version__.split(".")[0]) >= 5  # look-ups between 1/32 pixels too


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1000)


def assert_within_band(faces: Faces, picture: Pixels, placement: Placement, step: int = 64) -> None:
    """`step`: the greatest between neighbours in the detail, in levels."""
    canvas = faces.colour.shape[2], faces.colour.shape[3]
    height, width = split(picture)[0].shape
    prepared = PasteBack(placement, canvas, (height, width))
    assert prepared._fast is not None
    for row in range(len(faces)):
        fast = prepared.paste(faces, picture, row)
        luma, chroma = differences(fast, paste_reference(faces, picture, placement, row))
        assert luma.max() <= (2 if EXACT else 2 + step / 32)
        assert (luma > 1).mean() <= 1e-3 * (1 if EXACT else step / 64)
        assert chroma.max() <= 2
        assert (chroma > 1).mean() <= 1e-3
        assert (luma > 0).mean() < 0.2


def test_noise_with_detail_of_the_anchor(rng: np.random.Generator) -> None:
    faces = moving(rng, noise_rgba(rng, 1, 512, 512))
    assert_within_band(faces, anchor_picture(), anchor_placement())


def test_the_anchor_moving(rng: np.random.Generator) -> None:
    canvas = torch.tensor(read("canvas.png")).movedim(-1, 0)[None].float() / 255
    assert_within_band(moving(rng, canvas, reach=0.04), anchor_picture(), anchor_placement())


@pytest.mark.parametrize("reach", [0.0, 0.5])
def test_the_anchor_on_green(rng: np.random.Generator, reach: float) -> None:
    """Without motion, and moved so far that the edges of the detail come in."""
    green = np.full((1920, 1080, 3), (0, 177, 64), np.uint8)
    placement = replace(anchor_placement(), backdrop=rgb_to_nv12(green))
    canvas = torch.tensor(read("canvas.png")).movedim(-1, 0)[None].float() / 255
    faces = moving(rng, canvas, reach=max(reach, 1e-6))
    assert_within_band(faces, compose_still(read("body.png"), green), placement)


def test_all_detail_and_no_motion_is_the_composed_source() -> None:
    still = Faces(torch.rand(1, 4, 512, 512), torch.ones(1, 1, 512, 512), torch.zeros(1, 2, 32, 32))
    picture, placement = anchor_picture(), anchor_placement()
    luma, chroma = differences(paste_reference(still, picture, placement), picture)
    assert max(luma.max(), chroma.max()) <= 1
    fast = PasteBack(placement, (512, 512), (1920, 1080)).paste(still, picture)
    luma, chroma = differences(fast, picture)
    assert luma.max() <= 1
    assert chroma.max() <= 2
    assert (chroma > 1).mean() < 1e-4


def test_nothing_outside_the_box_changes(rng: np.random.Generator) -> None:
    picture = anchor_picture()
    faces = moving(rng, noise_rgba(rng, 1, 512, 512))
    luma, chroma = differences(
        PasteBack(anchor_placement(), (512, 512), (1920, 1080)).paste(faces, picture), picture
    )
    assert luma[30:1030, 40:1040].any()
    luma[31:1029, 41:1039] = chroma[15:515, 40:1040] = 0  # the mask is 0 on its outermost pixels
    assert not luma.any()
    assert not chroma.any()


CASES: dict[str, tuple[Size, tuple[int, int, int, int], Size, int]] = {
    # canvas, box (left, top, width, height), detail, cells of the flow
    "detail coarser than the box": ((32, 32), (8, 4, 64, 64), (40, 40), 8),
    "detail finer than the box": ((32, 32), (8, 4, 64, 64), (150, 150), 8),
    "oblong": ((32, 48), (8, 4, 72, 48), (60, 90), 8),
    "fewer cells than bands": ((32, 32), (8, 4, 64, 64), (64, 64), 3),
    "cells that fill no bands": ((32, 32), (8, 4, 64, 64), (64, 64), 19),
    "more cells than pixels": ((16, 16), (8, 4, 18, 16), (20, 20), 40),
    "tiny": ((2, 2), (2, 2, 2, 2), (2, 2), 1),
}


@pytest.mark.parametrize(("canvas", "box", "source", "cells"), CASES.values(), ids=CASES)
def test_sizes(
    rng: np.random.Generator,
    canvas: Size,
    box: tuple[int, int, int, int],
    source: Size,
    cells: int,
) -> None:
    soft = smooth(rng, 4, *source, blur=4, low=0, high=1) if source[0] > 2 else torch.rand(4, 2, 2)
    soft[3] = (2 * soft[3] - 0.5).clamp(0, 1)  # some of it empty, some opaque
    detail = (torch.cat([soft[:3] * soft[3:], soft[3:]]) * 255).round().byte().movedim(0, -1)
    faces = moving(rng, noise_rgba(rng, 2, *canvas), cells=cells, reach=0.15)
    placement = Placement(
        upright(canvas, *box), feathered(50, 6), noise_nv12(rng, 80, 96), detail.numpy()
    )
    assert_within_band(faces, noise_nv12(rng, 80, 96), placement)


def test_noise_as_detail(rng: np.random.Generator) -> None:
    rgba = noise_rgba(rng, 1, 128, 128)[0].movedim(0, -1)
    detail = (rgba * 255).round().byte().numpy()
    faces = moving(rng, noise_rgba(rng, 1, 64, 64), cells=8)
    picture = noise_nv12(rng, 160, 160)
    placement = Placement(upright((64, 64), 16, 8, 128, 128), feathered(64, 5), picture, detail)
    assert_within_band(faces, picture, placement, step=219)


def test_neighbouring_cells_that_see_far_apart(rng: np.random.Generator) -> None:
    """Opaque spots on nothing, a flow of noise: what a cell shows hangs on those around it."""
    spots = np.zeros((128, 128, 4), np.uint8)
    for x, y in rng.integers(0, 120, (3, 2)):
        spots[y : y + 8, x : x + 8] = 180, 120, 90, 255
    faces = Faces(
        noise_rgba(rng, 16, 64, 64),
        torch.full((16, 1, 64, 64), 0.8),
        torch.tensor(rng.uniform(-0.6, 0.6, (16, 2, 6, 6)), dtype=torch.float32),
    )
    picture = noise_nv12(rng, 160, 160)
    placement = Placement(upright((64, 64), 16, 8, 128, 128), torch.ones(8, 8), picture, spots)
    assert_within_band(faces, picture, placement, step=255)


def test_how_colour_lies_in_memory_does_not_matter(rng: np.random.Generator) -> None:
    faces = moving(rng, noise_rgba(rng, 1, 512, 512))
    pixels = faces.colour.movedim(1, -1).contiguous().movedim(-1, 1)
    assert pixels.stride() != faces.colour.stride()
    picture, placement = anchor_picture(), anchor_placement()
    wanted = paste_back(faces, picture, placement)
    found = paste_back(replace(faces, colour=pixels), picture, placement)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("backdrop", [True, False])
def test_without_detail(rng: np.random.Generator, channels: int, *, backdrop: bool) -> None:
    faces = Faces(noise_rgba(rng, 2, 64, 64)[:, :channels])
    picture = noise_nv12(rng, 160, 160)
    behind = noise_nv12(rng, 160, 160) if backdrop else None
    placement = Placement(upright((64, 64), 16, 8, 128, 144), feathered(64, 5), behind)
    assert_within_band(faces, picture, placement)


@pytest.mark.parametrize("mask", ["half", "whole", "hole"])
def test_masks_of_any_shape(rng: np.random.Generator, mask: str) -> None:
    weights = torch.full((32, 32), 0.5 if mask == "half" else 1.0)
    if mask == "hole":
        weights[10:14, 8:20] = 0
    faces, picture = Faces(noise_rgba(rng, 1, 32, 32)), noise_nv12(rng, 96, 96)
    assert_within_band(faces, picture, Placement(upright((32, 32), 8, 8, 64, 64), weights))
