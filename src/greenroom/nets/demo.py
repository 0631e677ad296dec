"""The demo renderer: a small network of Ditto's shape that paints one virtual anchor on a CPU.

Plain modules, written to be read. `demo_fast` holds the same algebra arranged for speed.
Letters: C channels and D depth of the volume, r the side of the dense motion field, P points.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

POINTS = 21
CODE = 72  # motion code: 63 point displacements, 6 of the rotation, 2 of the shift, 1 of the scale
CANVAS = 512  # side of the painted face, pixels
SLOPE = 0.1  # of every leaky ReLU
NORM_EPS = 1e-4  # of every instance norm
RESIDUAL_GAIN = 0.2  # of the free part of the deformation
HEAT_VARIANCE = (0.01, 0.01, 0.05)  # of a point's heat along x, y, z; the crop spans -1 ... 1


def upsample(x: Tensor, factor: int = 2) -> Tensor:
    """Repeat every pixel `factor` times in both directions."""
    return F.interpolate(x, scale_factor=factor, mode="nearest")


def resize(x: Tensor, side: int) -> Tensor:
    """Bilinear to (side, side), where -1 and 1 are the outer edges of the pixels."""
    return F.interpolate(x, size=(side, side), mode="bilinear", align_corners=False)


def sample(picture: Tensor, grid: Tensor) -> Tensor:
    """Bilinear (or trilinear) samples; beyond the edge the edge pixel goes on."""
    return F.grid_sample(picture, grid, align_corners=False, padding_mode="border")


def activate(x: Tensor) -> Tensor:
    return F.leaky_relu(x, SLOPE)


def axis(count: int, device: torch.device) -> Tensor:
    """Centres of `count` equal cells of -1 ... 1."""
    return (torch.arange(count, device=device, dtype=torch.float32) + 0.5) * 2 / count - 1


def identity_grid(device: torch.device, *sizes: int) -> Tensor:
    """Cell centres (*sizes, len(sizes)), coordinates in the order x, y(, z) of grid_sample."""
    axes = torch.meshgrid(*(axis(size, device) for size in sizes), indexing="ij")
    return torch.stack(axes[::-1], -1)


def warp_source(source: Tensor, flow: Tensor) -> Tensor:
    """The source picture (1 or N, 4, s, s) moved by the flow (N, 2, r, r) -> (N, 4, s, s)."""
    side = source.shape[-1]
    grid = identity_grid(flow.device, side, side) + resize(flow, side).permute(0, 2, 3, 1)
    return sample(source.expand(len(flow), -1, -1, -1).to(flow), grid)


class ConvBlock(nn.Module):
    """Convolution, batch norm, leaky ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(self.conv(x))
        return activate(normed)


class ResidualBlock2d(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.block = ConvBlock(channels, channels)
        self.conv = nn.Conv2d(channels, channels, 3, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv(self.block(x))
        return x + y


class ResidualBlock3d(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm3d(channels)
        self.conv1 = nn.Conv3d(channels, channels, 3, 1, 1)
        self.norm2 = nn.BatchNorm3d(channels)
        self.conv2 = nn.Conv3d(channels, channels, 3, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv1(F.relu(self.norm1(x)))
        y = self.conv2(F.relu(self.norm2(y)))
        return x + y


class AppearanceExtractor(nn.Module):
    """Source picture (N, 4, 512, 512) in 0 ... 1 -> feature volume (N, 16, 4, 64, 64)."""

    def __init__(self, channels: int = 16, depth: int = 4, width: int = 96) -> None:
        super().__init__()
        self.channels, self.depth = channels, depth
        self.stem = ConvBlock(16, width // 2, stride=2)
        self.down = ConvBlock(width // 2, width, stride=2)
        self.flat = nn.Sequential(*(ResidualBlock2d(width) for _ in range(3)))
        self.lift = nn.Conv2d(width, channels * depth, 1)
        self.solid = nn.Sequential(*(ResidualBlock3d(channels) for _ in range(2)))

    def forward(self, source: Tensor) -> Tensor:
        x = self.down(self.stem(F.pixel_unshuffle(source * 2 - 1, 2)))
        flat: Tensor = self.lift(self.flat(x))
        result: Tensor = self.solid(flat.view(-1, self.channels, self.depth, *flat.shape[2:]))
        return result


class Warp(nn.Module):
    """Dense motion from 21 points, and the volume's features moved by it."""

    def __init__(
        self,
        channels: int = 16,
        depth: int = 4,
        hidden: int = 48,
        features: int = 64,
        side: int = 32,
        compressed: int = 2,
    ) -> None:
        super().__init__()
        self.depth, self.side = depth, side
        inputs = ((POINTS + 1) * compressed + POINTS) * depth
        outputs = (POINTS + 1) * depth + 3 * depth + depth + 1
        self.compress = nn.Conv3d(channels, compressed, 1)
        self.entry = ConvBlock(inputs, hidden, 1)
        self.entry_code = nn.Linear(CODE, hidden)
        self.down1, self.down2, self.down3 = (
            ConvBlock(hidden, 64),
            ConvBlock(64, 96),
            ConvBlock(96, 128),
        )
        self.up3, self.up2, self.up1 = (
            ConvBlock(128, 96),
            ConvBlock(192, 64),
            ConvBlock(128, hidden),
        )
        self.last = ConvBlock(2 * hidden, 64)
        self.head = nn.Conv2d(64, outputs, 3, 1, 1)
        self.refine = ConvBlock(channels * depth, features)
        self.refine_code = nn.Linear(CODE, features)
        self.project = nn.Conv2d(features, features, 1)

    def compressed(self, volume: Tensor) -> Tensor:
        """Volume (N, 16, 4, 64, 64) -> what the motion field looks at, (N, 2, 4, 32, 32)."""
        return F.avg_pool3d(self.compress(volume), (1, 2, 2))

    def heat(self, points: Tensor) -> Tensor:
        """Points (N, P, 3) -> separable Gaussians (N, P * D, r, r)."""
        sizes = (self.side, self.side, self.depth)
        x, y, z = (
            torch.exp(-0.5 * (axis(size, points.device) - at[..., None]) ** 2 / variance)
            for size, at, variance in zip(sizes, points.unbind(-1), HEAT_VARIANCE, strict=True)
        )
        return (z[..., None, None] * y[..., None, :, None] * x[..., None, None, :]).flatten(1, 2)

    def moved(self, compressed: Tensor, shifts: Tensor) -> Tensor:
        """The compressed volume once per shift (N, P + 1, 3) -> (N, (P + 1) * 2 * D, r, r)."""
        count, candidates = shifts.shape[:2]
        grid = identity_grid(shifts.device, self.depth, self.side, self.side)
        grid = grid + shifts[:, :, None, None, None]
        volumes = compressed.expand(count, -1, -1, -1, -1).repeat_interleave(candidates, 0)
        moved = sample(volumes.to(grid), grid.flatten(0, 1))
        return moved.reshape(count, -1, self.side, self.side)

    def hourglass(self, x: Tensor) -> Tensor:
        x1 = F.avg_pool2d(self.down1(x), 2)
        x2 = F.avg_pool2d(self.down2(x1), 2)
        x3 = F.avg_pool2d(self.down3(x2), 2)
        y = torch.cat([self.up3(upsample(x3)), x2], 1)
        y = torch.cat([self.up2(upsample(y)), x1], 1)
        y = torch.cat([self.up1(upsample(y)), x], 1)
        result: Tensor = self.head(self.last(y))
        return result

    def resolve(self, decision: Tensor, shifts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Head outputs -> deformation (N, 3, D, r, r), picture flow (N, 2, r, r), occlusion."""
        depth, candidates = self.depth, shifts.shape[1]
        parts = [candidates * depth, 3 * depth, depth, 1]
        votes, residual, layers, occlusion = torch.split(decision.float(), parts, 1)
        shares = votes.view(-1, candidates, depth, *votes.shape[2:]).softmax(1)
        deformation = torch.einsum("npdyx,npc->ncdyx", shares, shifts)
        deformation = deformation + RESIDUAL_GAIN * residual.view_as(deformation)
        flow = (deformation[:, :2] * layers.softmax(1)[:, None]).sum(2)
        return deformation, flow, torch.sigmoid(occlusion + 2)

    def gather(
        self, volume: Tensor, deformation: Tensor, occlusion: Tensor, code: Tensor
    ) -> Tensor:
        """The volume moved at 64 x 64 and flattened to features (N, 64, 64, 64)."""
        side = volume.shape[-1]
        offset = resize(deformation.flatten(1, 2), side).view(-1, 3, self.depth, side, side)
        grid = identity_grid(offset.device, self.depth, side, side) + offset.permute(0, 2, 3, 4, 1)
        moved = sample(volume.to(grid).expand(len(grid), -1, -1, -1, -1), grid)
        flat = self.refine(moved.flatten(1, 2).to(code.dtype))
        flat = self.project(flat + self.refine_code(code)[..., None, None])
        result: Tensor = flat * resize(occlusion, side).to(code.dtype)
        return result

    def forward(
        self, volume: Tensor, compressed: Tensor, source: Tensor, driven: Tensor, code: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Volumes (1 or N, ...), points (N, 21, 3) float32, code (N, 72) -> features and flow.

        Features are (N, 64, 64, 64); the flow of the source picture is (N, 2, 32, 32) float32.
        """
        moves = source - driven
        shifts = torch.cat([torch.zeros_like(moves[:, :1]), moves], 1)
        evidence = [self.moved(compressed, shifts), self.heat(driven) - self.heat(source)]
        x = self.entry(torch.cat(evidence, 1).to(code.dtype))
        x = x + self.entry_code(code)[..., None, None]
        deformation, flow, occlusion = self.resolve(self.hourglass(x), shifts)
        return self.gather(volume, deformation, occlusion, code), flow


class Spade(nn.Module):
    """Instance norm whose gain and offset are painted by the hidden map, then leaky ReLU."""

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.modulation = nn.Conv2d(hidden, 2 * channels, 1)

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        gain, offset = self.modulation(hidden).chunk(2, 1)
        factor = x.shape[-1] // hidden.shape[-1]
        if factor > 1:
            gain, offset = upsample(gain, factor), upsample(offset, factor)
        return activate(F.instance_norm(x, eps=NORM_EPS) * (1 + gain) + offset)


class SpadeBlock(nn.Module):
    """Two normalised convolutions around a shortcut; `doubled` repeats pixels before the first."""

    def __init__(self, inputs: int, outputs: int, hidden: int, *, doubled: bool = False) -> None:
        super().__init__()
        self.doubled = doubled
        self.norm0 = Spade(inputs, hidden)
        self.conv0 = nn.Conv2d(inputs, outputs, 3, 1, 1)
        self.norm1 = Spade(outputs, hidden)
        self.conv1 = nn.Conv2d(outputs, outputs, 3, 1, 1)
        self.shortcut = (
            nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1, bias=False)
        )

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        shortcut, y = self.shortcut(x), self.norm0(x, hidden)
        if self.doubled:
            shortcut, y = upsample(shortcut), upsample(y)
        result: Tensor = shortcut + self.conv1(self.norm1(self.conv0(y), hidden))
        return result


class Decoder(nn.Module):
    """Features and the warped source -> painted RGBA and how much of the source to keep."""

    def __init__(self, features: int = 64, hidden: int = 32, blocks: int = 2) -> None:
        super().__init__()
        self.hidden = nn.Conv2d(features, hidden, 3, 1, 1)
        self.code = nn.Sequential(nn.Linear(CODE, 64), nn.LeakyReLU(SLOPE), nn.Linear(64, hidden))
        self.blocks = nn.ModuleList(SpadeBlock(features, features, hidden) for _ in range(blocks))
        self.grow = SpadeBlock(features, 32, hidden, doubled=True)
        self.fine0 = nn.Conv2d(32, 16, 3, 1, 1)
        self.fine1 = nn.Conv2d(16, 16, 3, 1, 1)
        self.output = nn.Conv2d(16 + 4, 20, 3, 1, 1)

    def forward(self, features: Tensor, half: Tensor, code: Tensor) -> tuple[Tensor, Tensor]:
        """Features (N, 64, 64, 64), warped source at half size (N, 4, 256, 256), code (N, 72).

        Returns premultiplied RGBA (N, 4, 512, 512) and `keep` (N, 1, 512, 512), both 0 ... 1.
        """
        hidden = F.relu(self.hidden(features) + self.code(code)[..., None, None])
        x = features
        for block in self.blocks:
            x = block(x, hidden)
        x = upsample(activate(self.grow(x, hidden)))
        x = activate(self.fine0(x))
        x = x + activate(self.fine1(x))
        painted = self.output(torch.cat([x, half.to(x) * 2 - 1], 1))
        colour, keep = torch.split(torch.sigmoid(F.pixel_shuffle(painted, 2)), [4, 1], 1)
        return colour, keep


class Renderer(nn.Module):
    """The three networks of the demo engine."""

    def __init__(self) -> None:
        super().__init__()
        self.appearance = AppearanceExtractor()
        self.warp = Warp()
        self.decoder = Decoder()

    def forward(
        self,
        source: Tensor,
        volume: Tensor,
        compressed: Tensor,
        source_points: Tensor,
        driven_points: Tensor,
        code: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Paint N frames: colour (N, 4, 512, 512), keep (N, 1, 512, 512), flow (N, 2, 32, 32)."""
        features, flow = self.warp(volume, compressed, source_points, driven_points, code)
        half = F.avg_pool2d(warp_source(source, flow), 2)
        colour, keep = self.decoder(features, half, code)
        return colour, keep, flow
