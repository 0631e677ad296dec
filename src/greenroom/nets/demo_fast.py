"""The demo renderer once more, arranged for one thread of a CPU: the same algebra, regrouped.

What differs from `demo`: batch norms are folded into convolutions; a convolution of an upsampled
map works on the small map; wide convolutions make four rows from six products; a volume or picture
is sampled as weighted sums of table rows; and the constant shifts of the candidates become products
with small interpolation matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from greenroom.nets.demo import (
    NORM_EPS,
    POINTS,
    RESIDUAL_GAIN,
    SLOPE,
    Decoder,
    Renderer,
    Spade,
    SpadeBlock,
    Warp,
)
from greenroom.nets.demo_maps import MapConv, MapLinear, batched, halved, mapped, phases
from greenroom.nets.demo_sampling import (
    SourceSampler,
    VolumeSampler,
    edge_padded,
    shift_matrices,
)


class Face(NamedTuple):
    """What is computed once per avatar."""

    layers: Tensor  # (4, 2 * 32 * 32), the compressed volume by depth
    cells: Tensor  # (5 * 65 * 65, 16), the volume as a table, edges repeated
    pixels: Tensor  # (513 * 513, 4), the source in -1 ... 1 as a table, edges repeated
    points: Tensor  # (1, 21, 3)
    heat: Tensor  # (84, 1024), of the source's points


def activate_(x: Tensor) -> Tensor:
    return F.leaky_relu_(x, SLOPE)


class FastWarp:
    """Warp for one frame; maps are (h, w, c)."""

    def __init__(self, warp: Warp) -> None:
        self.plain = warp
        self.depth, self.side = warp.depth, warp.side
        self.entry, self.entry_bias = self._entry()
        down, up = (warp.down1, warp.down2, warp.down3), (warp.up3, warp.up2, warp.up1)
        self.down = [MapConv.of_block(block) for block in down]
        self.up = [MapConv.of_block(block).doubling() for block in up]
        self.last = MapConv.of_block(warp.last).by_rows()
        self.head = self._head().by_rows()
        refine = MapConv.of_block(warp.refine)
        by_depth = torch.arange(refine.weight.shape[1]).view(-1, self.depth).T.flatten()
        self.refine = refine.inputs(by_depth).by_rows()
        self.project = warp.project.weight[:, :, 0, 0].T.contiguous()
        self.sampler = VolumeSampler(2 * warp.side, warp.depth)

    def _entry(self) -> tuple[Tensor, Tensor]:
        """Inputs from (candidate, channel, depth) to (candidate, depth, channel): (260, 48)."""
        conv = MapConv.of_block(self.plain.entry)
        assert conv.bias is not None
        weight, heat = conv.weight[:, :, 0, 0], POINTS * self.depth
        moved = weight[:, :-heat].reshape(len(weight), POINTS + 1, -1, self.depth)
        moved = moved.transpose(2, 3).flatten(1)
        return torch.cat([moved, weight[:, -heat:]], 1).T.contiguous(), conv.bias

    def _head(self) -> MapConv:
        """Outputs from (what, depth) to (depth, what); the gain of the residual folded in."""
        conv = MapConv.of(self.plain.head)
        votes = torch.arange((POINTS + 1) * self.depth).view(-1, self.depth)
        residual = votes.numel() + torch.arange(3 * self.depth).view(-1, self.depth)
        rest = torch.arange(int(residual.max()) + 1, len(conv.weight))
        gain = torch.ones(len(conv.weight))
        gain[residual] = RESIDUAL_GAIN
        assert conv.bias is not None
        scaled = MapConv(conv.weight * gain[:, None, None, None], conv.bias * gain, padding=1)
        return scaled.outputs(torch.cat([votes.T.flatten(), residual.T.flatten(), rest]))

    def evidence(self, face: Face, shifts: Tensor, driven: Tensor) -> Tensor:
        """The moved layers and the difference of heat, as planes (260, 1024)."""
        side, depth = self.side, self.depth
        x, y, z = (shift_matrices(size, shifts[:, i]) for i, size in enumerate((side, side, depth)))
        moved = torch.matmul(z, face.layers).view(len(shifts), -1, side)  # (22, depth * c * y, x)
        moved = torch.bmm(moved, x.transpose(1, 2)).view(len(shifts), -1, side, side)
        moved = torch.matmul(y[:, None], moved)
        heat = self.plain.heat(driven).flatten(2)[0] - face.heat
        return torch.cat([moved.flatten(2).flatten(0, 1), heat])

    def hourglass(self, x: Tensor) -> Tensor:
        (down1, down2, down3), (up3, up2, up1) = self.down, self.up
        x1 = halved(activate_(down1(x)))
        x2 = halved(activate_(down2(x1)))
        x3 = halved(activate_(down3(x2)))
        y = torch.cat([activate_(up3(x3)), x2], -1)
        y = torch.cat([activate_(up2(y)), x1], -1)
        y = torch.cat([activate_(up1(y)), x], -1)
        return self.head(activate_(self.last(y)))

    def resolve(self, decision: Tensor, shifts: Tensor) -> tuple[Tensor, Tensor]:
        """Head outputs -> deformation and occlusion (32, 32, 13), flow (32, 32, 2)."""
        depth, side = self.depth, self.side
        parts = [len(shifts) * depth, 3 * depth, depth, 1]
        votes, residual, layers, occlusion = torch.split(decision, parts, -1)
        shares = votes.reshape(-1, len(shifts)).softmax(-1)
        deformation = torch.addmm(residual.reshape(-1, 3), shares, shifts)
        planar = deformation.view(side * side, depth, 3)[..., :2]
        flow = (planar * layers.softmax(-1).view(-1, depth, 1)).sum(1)
        field = torch.cat([deformation.view(side, side, -1), torch.sigmoid(occlusion + 2)], -1)
        return field, flow.view(side, side, 2)

    def __call__(self, face: Face, driven: Tensor, code: Tensor) -> tuple[Tensor, Tensor]:
        """Points (1, 21, 3), code (1, 72) -> features (64, 64, 64), flow (32, 32, 2)."""
        side, plain = self.side, self.plain
        shifts = torch.cat([torch.zeros(1, 3), (face.points - driven)[0]])
        x = torch.addmm(self.entry_bias, self.evidence(face, shifts, driven).T, self.entry)
        x = activate_(x).add_(plain.entry_code(code)).view(side, side, -1)
        field, flow = self.resolve(self.hourglass(x), shifts)
        moved, occlusion = self.sampler(face.cells, field)
        flat = activate_(self.refine(moved)).flatten(0, 1)
        bias = plain.project(plain.refine_code(code)[..., None, None])[0, :, 0, 0]
        features = torch.addmm(bias, flat, self.project).view_as(moved)
        return features.mul_(occlusion), flow


class FastSpade:
    """Instance norm and modulation as one product and one sum per pixel, then leaky ReLU."""

    def __init__(self, spade: Spade) -> None:
        weight, bias = spade.modulation.weight[:, :, 0, 0].T, spade.modulation.bias
        assert bias is not None
        self.gain, self.offset = (part.contiguous() for part in weight.chunk(2, 1))
        gain_bias, self.offset_bias = bias.chunk(2)
        self.gain_bias = 1 + gain_bias

    def __call__(self, x: Tensor, hidden: Tensor) -> Tensor:
        """Map (64 or 128, ..., c), hidden (4096, 32) -> the normalised map."""
        # For a batch of one this is the instance norm, with a kernel for channels last.
        normed = mapped(F.batch_norm(batched(x), None, None, training=True, eps=NORM_EPS))
        gain = torch.addmm(self.gain_bias, hidden, self.gain)
        offset = torch.addmm(self.offset_bias, hidden, self.offset)
        if len(hidden) == x.shape[0] * x.shape[1]:
            return activate_(offset.view_as(x).addcmul_(normed, gain.view_as(x)))
        side = x.shape[0] // 2
        gain, offset = gain.view(side, side, -1), offset.view(side, side, -1)
        for phase in phases(normed):
            torch.addcmul(offset, phase, gain, out=phase)
        return activate_(normed)


class FastSpadeBlock:
    def __init__(self, block: SpadeBlock) -> None:
        self.norm0, self.norm1 = FastSpade(block.norm0), FastSpade(block.norm1)
        conv0 = MapConv.of(block.conv0)
        conv1 = MapConv.of(block.conv1)
        self.conv0 = conv0.doubling() if block.doubled else conv0.by_rows()
        self.conv1 = conv1 if block.doubled else conv1.by_rows()
        shortcut = block.shortcut
        self.shortcut = MapLinear(shortcut) if isinstance(shortcut, nn.Conv2d) else None

    def __call__(self, x: Tensor, hidden: Tensor) -> Tensor:
        y = self.conv1(self.norm1(self.conv0(self.norm0(x, hidden)), hidden))
        if self.shortcut is None:
            return y.add_(x)
        shortcut = self.shortcut(x)
        for phase in phases(y):
            phase.add_(shortcut)
        return y


class FastDecoder:
    """Decoder for one frame; maps are (h, w, c)."""

    def __init__(self, decoder: Decoder) -> None:
        self.code = decoder.code
        self.hidden = MapConv.of(decoder.hidden)
        self.blocks = [FastSpadeBlock(block) for block in (*decoder.blocks, decoder.grow)]
        self.fine0 = MapConv.of(decoder.fine0).doubling()
        self.fine1 = MapConv.of(decoder.fine1)
        output = MapConv.of(decoder.output)
        # Sixteen outputs are colour (channel, row, column), four are keep (row, column).
        order = torch.arange(16).view(4, 2, 2).permute(1, 2, 0).flatten()
        self.colour = output.outputs(order)
        keep = output.outputs(torch.arange(16, 20)).by_pairs()  # (pair, pair, row, column)
        self.keep = keep.outputs(torch.arange(16).view(2, 2, 2, 2).transpose(1, 2).flatten())

    def __call__(self, features: Tensor, source: Tensor, code: Tensor) -> tuple[Tensor, Tensor]:
        """Features (64, 64, 64), moved source (256, 256, 4) in -1 ... 1, code (1, 72).

        Returns colour (512, 512, 4) and keep (512, 512).
        """
        hidden = self.hidden(features).add_(self.code(code)[0]).relu_().flatten(0, 1)
        x = features
        for block in self.blocks:
            x = block(x, hidden)
        x = activate_(self.fine0(activate_(x)))
        side, channels = x.shape[0], x.shape[-1]
        both = x.new_empty(side, side, channels + 4)
        torch.add(x, activate_(self.fine1(x)), out=both[..., :channels])
        both[..., channels:] = source
        return self._colour(both), self._keep(both)

    def _colour(self, both: Tensor) -> Tensor:
        side = both.shape[0]
        painted = torch.sigmoid_(self.colour(both)).view(side, side, 2, 8).transpose(1, 2)
        return painted.reshape(2 * side, 2 * side, 4)

    def _keep(self, both: Tensor) -> Tensor:
        side = both.shape[0] // 2
        painted = torch.sigmoid_(self.keep(both)).view(side, side, 4, 4).transpose(1, 2)
        return painted.reshape(4 * side, 4 * side)


class FastRenderer:
    """Renderer on one CPU thread, a frame at a time; safe to call from several threads."""

    def __init__(self, renderer: Renderer) -> None:
        self.plain = renderer
        self.warp = FastWarp(renderer.warp)
        self.decoder = FastDecoder(renderer.decoder)
        self.source = SourceSampler(renderer.warp.side)

    def prepare(self, source: Tensor, points: Tensor) -> Face:
        """Source picture (1, 4, 512, 512) 0 ... 1 and its points (1, 21, 3)."""
        volume = self.plain.appearance(source)
        compressed = self.plain.warp.compressed(volume)[0]
        return Face(
            layers=compressed.transpose(0, 1).flatten(1).contiguous(),
            cells=edge_padded(volume[0].permute(1, 2, 3, 0)),
            pixels=edge_padded(source[0].permute(1, 2, 0) * 2 - 1),
            points=points,
            heat=self.plain.warp.heat(points)[0].flatten(1),
        )

    def __call__(self, face: Face, driven: Tensor, code: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Points (1, 21, 3), code (1, 72) -> colour (1, 4, 512, 512), keep, flow as `Renderer`.

        The colour's memory is that of pixels with their channels last.
        """
        features, flow = self.warp(face, driven, code)
        colour, keep = self.decoder(features, self.source(face.pixels, flow), code)
        return colour.permute(2, 0, 1)[None], keep[None, None], flow.permute(2, 0, 1)[None]
