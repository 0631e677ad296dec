"""Building blocks of the fast demo renderer: one frame at a time, maps as (h, w, c) on a CPU.

Channels lie last, so that a map is a matrix of pixels for a matrix product, a channels-last
picture for a convolution, and a table of rows for a gather.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from greenroom.nets.demo import ConvBlock


def batched(x: Tensor) -> Tensor:
    """A map (h, w, c) as a channels-last batch of one, (1, c, h, w); nothing is copied."""
    return x.permute(2, 0, 1)[None]


def mapped(x: Tensor) -> Tensor:
    """A channels-last batch of one (1, c, h, w) as a map (h, w, c); nothing is copied."""
    return x[0].permute(1, 2, 0)


def halved(x: Tensor) -> Tensor:
    """The means of 2 x 2 pixels."""
    return mapped(F.avg_pool2d(batched(x), 2))


def phases(x: Tensor) -> list[Tensor]:
    """The four maps (h, w, c) of the even and odd pixels of a map (2 h, 2 w, c): views."""
    return [x[a::2, b::2] for a in (0, 1) for b in (0, 1)]


class MapConv:
    """A convolution of maps (h, w, i) -> (h, w, o)."""

    def __init__(
        self, weight: Tensor, bias: Tensor | None, *, padding: int = 0, stride: int = 1
    ) -> None:
        self.weight = weight.detach().contiguous(memory_format=torch.channels_last)
        self.bias = None if bias is None else bias.detach()
        self.padding, self.stride = padding, stride

    @classmethod
    def of(cls, conv: nn.Conv2d) -> MapConv:
        return cls(conv.weight, conv.bias, padding=conv.weight.shape[-1] // 2)

    @classmethod
    def of_block(cls, block: ConvBlock) -> MapConv:
        """The block's convolution with its batch norm folded in, without its activation."""
        return cls.of(fuse_conv_bn_eval(block.conv, block.norm))

    def __call__(self, x: Tensor) -> Tensor:
        return mapped(
            F.conv2d(batched(x), self.weight, self.bias, stride=self.stride, padding=self.padding)
        )

    def inputs(self, order: Tensor) -> MapConv:
        """For a map whose channels come in that order."""
        return MapConv(self.weight[:, order], self.bias, padding=self.padding, stride=self.stride)

    def outputs(self, order: Tensor) -> MapConv:
        """With those outputs, in that order."""
        bias = None if self.bias is None else self.bias[order]
        return MapConv(self.weight[order], bias, padding=self.padding, stride=self.stride)

    def doubling(self) -> DoublingConv:
        return DoublingConv(self)

    def by_rows(self) -> RowConv:
        return RowConv(self)

    def by_pairs(self) -> MapConv:
        """Four neighbouring pixels at once: (2 h, 2 w, i) -> (h, w, 4 * o), as (a, b, o).

        A 3 x 3 convolution of few outputs wastes the width of a vector; four times as many do not.
        """
        outputs, inputs = self.weight.shape[:2]
        weight = self.weight.new_zeros(2, 2, outputs, inputs, 4, 4)
        for a in (0, 1):
            for b in (0, 1):
                weight[a, b, :, :, a : a + 3, b : b + 3] = self.weight
        bias = None if self.bias is None else self.bias.repeat(4)
        return MapConv(weight.flatten(0, 2), bias, padding=1, stride=2)


class MapLinear:
    """A 1 x 1 convolution without bias, (h, w, i) -> (h, w, o)."""

    def __init__(self, conv: nn.Conv2d) -> None:
        self.weight = conv.weight.detach()[:, :, 0, 0].T.contiguous()

    def __call__(self, x: Tensor) -> Tensor:
        return (x.flatten(0, 1) @ self.weight).view(*x.shape[:2], -1)


class RowConv:
    """A 3 x 3 convolution, four rows from six products instead of twelve; columns as ever.

    Winograd's minimal filtering F(4, 3) along the rows (Lavin and Gray 2016, arXiv:1509.09308).
    The height is a multiple of four. It pays where channels are many and the map fits a cache.
    """

    FROM_ROWS = (
        *((4.0, 0, -5, 0, 1, 0), (0, -4, -4, 1, 1, 0), (0, 4, -4, -1, 1, 0)),
        *((0, -2, -1, 2, 1, 0), (0, 2, -1, -2, 1, 0), (0, 4, 0, -5, 0, 1)),
    )
    FROM_TAPS = (
        *((1 / 4, 0, 0), (-1 / 6, -1 / 6, -1 / 6), (-1 / 6, 1 / 6, -1 / 6)),
        *((1 / 24, 1 / 12, 1 / 6), (1 / 24, -1 / 12, 1 / 6), (0, 0, 1)),
    )

    def __init__(self, conv: MapConv) -> None:
        assert conv.bias is not None
        weight = torch.einsum("pi,ocij->pocj", torch.tensor(self.FROM_TAPS), conv.weight)
        self.products = [
            tap[:, :, None].contiguous(memory_format=torch.channels_last) for tap in weight
        ]
        self.bias, self.from_rows = conv.bias, torch.tensor(self.FROM_ROWS)

    def __call__(self, x: Tensor) -> Tensor:
        height, width, channels = x.shape
        tiles, row = height // 4, width * channels
        padded = F.pad(x.reshape(height, row), (0, 0, 1, 1))
        windows = padded.as_strided((tiles, 6, row), (4 * row, row, 1))
        mixed = x.new_empty(6, tiles, row)
        torch.bmm(self.from_rows.expand(tiles, 6, 6), windows, out=mixed.transpose(0, 1))
        m0, m1, m2, m3, m4, m5 = (
            mapped(F.conv2d(batched(m.view(tiles, width, channels)), weight, padding=(0, 1)))
            for m, weight in zip(mixed, self.products, strict=True)
        )
        sum12, diff12, sum34, diff34 = m1 + m2, m1.sub_(m2), m3 + m4, m3.sub_(m4)
        y = x.new_empty(tiles, 4, width, len(self.bias))
        torch.add(m0.add_(sum12), sum34, out=y[:, 0])
        torch.add(diff12, diff34, alpha=2, out=y[:, 1])
        torch.add(sum12, sum34, alpha=4, out=y[:, 2])
        torch.add(m5.add_(diff12), diff34, alpha=8, out=y[:, 3])
        return y.add_(self.bias).view(height, width, -1)


class DoublingConv:
    """Nearest upsampling by two, then a 3 x 3 convolution: one 2 x 2 convolution of the small map.

    On each axis an even pixel of the result sees the small pixels i - 1 and i with the taps
    (w0, w1 + w2), an odd one i and i + 1 with (w0 + w1, w2): four ninths of the products.
    """

    def __init__(self, conv: MapConv) -> None:
        fold = torch.tensor([[[1.0, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 0, 1]]])  # phase, tap, old
        weight = torch.einsum("aim,bjn,ocmn->abocij", fold, fold, conv.weight)
        bias = None if conv.bias is None else conv.bias.repeat(4)
        self.phases = MapConv(weight.flatten(0, 2), bias, padding=1)

    def __call__(self, x: Tensor) -> Tensor:
        height, width, _ = x.shape
        four = self.phases(x).view(height + 1, width + 1, 4, -1)
        result = x.new_empty(2 * height, 2 * width, four.shape[-1])
        for i, phase in enumerate(phases(result)):
            a, b = divmod(i, 2)
            phase.copy_(four[a : a + height, b : b + width, i])
        return result
