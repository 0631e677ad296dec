"""PSNR, SSIM, compositing and regions give the values that can be worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from greenroom.quality.measures import (
    LUMA,
    Box,
    error_map,
    eye_boxes,
    mouth_box,
    nearness,
    over,
    psnr,
    ssim_map,
)

INSIDE = (slice(None), slice(5, -5), slice(5, -5))  # where SSIM's window does not meet the edge


def grey(value: float, side: int = 24) -> Tensor:
    return torch.full((1, 3, side, side), value, dtype=torch.float64)


def face_points(**at: tuple[float, float]) -> Tensor:
    """Driven points (1, 21, 3), all in the middle but those named p0 ... p20."""
    points = torch.zeros(1, 21, 3)
    for name, (x, y) in at.items():
        points[0, int(name[1:]), :2] = torch.tensor([x, y])
    return points


class TestOver:
    def test_premultiplied_colour_over_a_colour(self) -> None:
        faces = torch.tensor([[0.2, 0.1, 0.0, 0.5]], dtype=torch.float64).view(1, 4, 1, 1)
        seen = over(faces, (255, 51, 0)).flatten()
        assert seen.tolist() == pytest.approx([0.2 + 0.5, 0.1 + 0.5 * 0.2, 0.0])

    def test_opaque_stays_and_clear_shows_the_colour(self) -> None:
        opaque = torch.tensor([0.3, 0.6, 0.9, 1.0]).view(1, 4, 1, 1)
        assert over(opaque).flatten().tolist() == pytest.approx([0.3, 0.6, 0.9])
        clear = over(torch.zeros(1, 4, 1, 1)).flatten() * 255
        assert clear.tolist() == pytest.approx([20, 50, 110], abs=1e-4)

    def test_clips_what_no_screen_can_show(self) -> None:
        bright = torch.tensor([1.5, -0.5, 0.5, 1.0]).view(1, 4, 1, 1)
        assert over(bright).flatten().tolist() == [1.0, 0.0, 0.5]


class TestPsnr:
    @pytest.mark.parametrize(("step", "decibel"), [(1.0, 0.0), (0.1, 20.0), (1 / 255, 48.1308)])
    def test_constant_error(self, step: float, decibel: float) -> None:
        error = error_map(grey(0.0), grey(step)).mean()
        assert float(psnr(error)) == pytest.approx(decibel, abs=1e-3)

    def test_equal_pictures_stay_finite(self) -> None:
        assert float(psnr(error_map(grey(0.4), grey(0.4)).mean())) == pytest.approx(90.0)

    def test_error_is_the_mean_of_the_channels(self) -> None:
        red = grey(0.0).clone()
        red[:, 0] = 0.3
        assert float(error_map(red, grey(0.0))[0, 0, 0]) == pytest.approx(0.09 / 3)


class TestSsim:
    def test_equal_pictures(self) -> None:
        picture = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))
        assert torch.allclose(ssim_map(picture, picture), torch.ones(2, 32, 32), atol=1e-5)

    def test_two_greys_differ_in_luminance_only(self) -> None:
        a, b, c1 = 0.25, 0.75, 0.01**2
        wanted = (2 * a * b + c1) / (a * a + b * b + c1)
        inside = ssim_map(grey(a), grey(b))[INSIDE]
        assert torch.allclose(inside, torch.full_like(inside, wanted))

    def test_one_pixel_by_hand(self) -> None:
        generator = torch.Generator().manual_seed(2)
        x, y = torch.rand(2, 1, 3, 11, 11, generator=generator, dtype=torch.float64)
        luma = torch.tensor(LUMA, dtype=torch.float64).view(3, 1, 1)
        p, q = (x[0] * luma).sum(0).flatten(), (y[0] * luma).sum(0).flatten()
        weight = torch.tensor(
            [
                math.exp(-((i - 5) ** 2 + (j - 5) ** 2) / (2 * 1.5**2))
                for i in range(11)
                for j in range(11)
            ],
            dtype=torch.float64,
        )
        weight = weight / weight.sum()
        mp, mq = (weight * p).sum(), (weight * q).sum()
        vp, vq = (weight * (p - mp) ** 2).sum(), (weight * (q - mq) ** 2).sum()
        vpq = (weight * (p - mp) * (q - mq)).sum()
        wanted = ((2 * mp * mq + 1e-4) * (2 * vpq + 9e-4)) / (
            (mp**2 + mq**2 + 1e-4) * (vp + vq + 9e-4)
        )
        assert float(ssim_map(x, y)[0, 5, 5]) == pytest.approx(float(wanted), rel=1e-9)

    def test_opposite_texture_is_unlike(self) -> None:
        board = (torch.arange(24)[:, None] + torch.arange(24)) % 2
        picture = board.to(torch.float64).expand(1, 3, 24, 24)
        assert float(ssim_map(picture, 1 - picture)[INSIDE].max()) < -0.9


class TestRegions:
    def test_boxes_in_pixels_of_the_512_canvas(self) -> None:
        points = face_points(p11=(0.5, -0.25), p15=(-0.5, -0.25))[0]
        assert mouth_box(points) == Box(200, 312, 192, 320)
        assert eye_boxes(points) == (Box(164, 220, 344, 424), Box(164, 220, 88, 168))

    def test_mouth_is_the_mean_of_four_points(self) -> None:
        points = face_points(p6=(0.0, 0.1), p12=(0.0, 0.3), p14=(0.25, 0.2), p17=(0.15, 0.2))[0]
        x, y = (0.1 + 1) * 256, (0.2 + 1) * 256
        box = mouth_box(points)
        assert box == Box(int(y - 56), int(y + 56), int(x - 64), int(x + 64))

    def test_boxes_scale_with_the_canvas_and_stay_inside_it(self) -> None:
        points = face_points()[0]
        assert mouth_box(points, canvas=256) == Box(100, 156, 96, 160)
        corner = face_points(p11=(-1.0, -1.0), p15=(1.0, 1.0))[0]
        assert eye_boxes(corner) == (Box(0, 28, 0, 40), Box(484, 512, 472, 512))

    def test_an_error_counts_only_where_it_is(self) -> None:
        points = face_points(p11=(0.5, -0.25), p15=(-0.5, -0.25))
        truth = torch.zeros(1, 4, 512, 512)
        truth[:, 3] = 1
        faces = truth.clone()
        faces[:, :3, 200:312, 192:320] = 0.1
        found = nearness(faces, truth, points)
        assert found.mouth.psnr == pytest.approx(20.0, abs=1e-3)
        assert found.eyes.psnr == pytest.approx(90.0)
        share = (112 * 128) / 512**2
        assert found.whole.psnr == pytest.approx(20 - 10 * math.log10(share), abs=1e-3)

    def test_both_eyes_share_one_error(self) -> None:
        points = face_points(p11=(0.5, -0.25), p15=(-0.5, -0.25))
        truth = torch.zeros(1, 4, 512, 512)
        faces = truth.clone()
        faces[:, :3, 164:220, 344:424] = 0.1  # one eye only
        wanted = 20 + 10 * math.log10(2)
        assert nearness(faces, truth, points).eyes.psnr == pytest.approx(wanted, abs=1e-3)

    def test_the_mean_is_of_decibels(self) -> None:
        truth = torch.zeros(2, 4, 64, 64)
        truth[:, 3] = 1
        faces = truth.clone()
        faces[0, :3], faces[1, :3] = 0.1, 0.01
        found = nearness(faces, truth, torch.zeros(2, 21, 3))
        assert found.whole.psnr == pytest.approx((20 + 40) / 2, abs=1e-3)
