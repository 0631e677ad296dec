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


class Bags:
    """Sums of `size` weighted rows of a table: linear interpolation of a whole map in one call."""

    def __init__(self, bags: int, size: int) -> None:
        self.offsets = torch.arange(0, bags * size, size, dtype=torch.int32)

    def __call__(self, table: Tensor, index: Tensor, weight: Tensor) -> Tensor:
        """Table (rows, c), index int32 and weight with `size` entries per bag -> (bags, c)."""
        rows, shares = index.view(-1), weight.view(-1)
        return torch.embedding_bag(table, rows, self.offsets, False, 0, False, shares)[0]


def edge_padded(x: Tensor) -> Tensor:
    """(..., c) with its last entries repeated once along every axis but c, as a table (rows, c).

    So that the upper neighbour of the last cell exists; its weight is always zero.
    """
    for dim in range(x.dim() - 1):
        x = torch.cat([x, x.narrow(dim, x.shape[dim] - 1, 1)], dim)
    return x.reshape(-1, x.shape[-1]).contiguous()


def shift_matrices(cells: int, shift: Tensor) -> Tensor:
    """Matrices (n, cells, cells) that sample a line of cells moved by `shift` (n,).

    The line spans -1 ... 1; beyond its ends the end cell goes on.
    """
    place = torch.arange(cells, dtype=torch.float32)
    wanted = (place + shift[:, None] * (cells / 2)).clamp_(0, cells - 1)
    return (1 - (wanted[..., None] - place).abs_()).clamp_(min=0)


def bilinear_matrix(cells: int, wanted: int) -> Tensor:
    """The matrix (wanted, cells) that resizes a line as F.interpolate does."""
    return F.interpolate(torch.eye(cells)[None], size=wanted, mode="linear", align_corners=False)[
        0
    ].T.contiguous()
