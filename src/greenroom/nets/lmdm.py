"""Ditto's motion diffusion transformer, LMDM: denoises a window of motion (spec 2.8)."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

GUIDANCE = 2.0  # weight of the condition against no condition; the public pipeline fixes it
TIME_TOKENS = 2


class Condition(NamedTuple):
    """What the denoiser hears of a window; depends on neither the motion nor the step."""

    tokens: Tensor  # (B, T, width)
    summary: Tensor  # (B, width)


class Rotary(nn.Module):
    """Rotary positions: turns the pairs (2i, 2i + 1) of the whole width by position * freqs[i]."""

    freqs: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("freqs", 10000.0 ** (-torch.arange(0, width, 2) / width))

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, width) -> the same, turned."""
        angle = torch.arange(x.shape[1], device=x.device, dtype=x.dtype)[:, None] * self.freqs
        cos, sin = angle.cos(), angle.sin()
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, odd * cos + even * sin], -1).flatten(-2)


class Attention(nn.Module):
    """Multi-head attention with packed projections; no mask."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(3 * width, width)))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Query (B, T, width), key and value (B, S, width) -> (B, T, width)."""
        weights, biases = self.in_proj_weight.chunk(3), self.in_proj_bias.chunk(3)
        q, k, v = (
            F.linear(x, weight, bias).view(*x.shape[:2], self.heads, -1).transpose(1, 2)
            for x, weight, bias in zip((query, key, value), weights, biases, strict=True)
        )
        mixed = F.scaled_dot_product_attention(q, k, v)
        y: Tensor = self.out_proj(mixed.transpose(1, 2).flatten(2))
        return y


class Film(nn.Module):
    """Scales and shifts a sub-layer's output by what a vector says."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Mish(), nn.Linear(width, 2 * width))

    def forward(self, x: Tensor, film: Tensor) -> Tensor:
        scale, shift = self.block(film)[:, None].chunk(2, -1)
        y: Tensor = (scale + 1) * x + shift
        return y


class ConditionLayer(nn.Module):
    """Pre-norm encoder layer over the condition. Positions go in before the projection, not v."""

    def __init__(self, width: int, heads: int, hidden: int, rotary: Rotary) -> None:
        super().__init__()
        self.self_attn = Attention(width, heads)
        self.linear1 = nn.Linear(width, hidden)
        self.linear2 = nn.Linear(hidden, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.rotary = rotary

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm1(x)
        turned = self.rotary(y)
        x = x + self.self_attn(turned, turned, y)
        y = self.linear2(F.gelu(self.linear1(self.norm2(x))))
        return x + y


class MotionLayer(nn.Module):
    """Pre-norm decoder layer over the motion; every sub-layer's output passes a FiLM."""

    def __init__(self, width: int, heads: int, hidden: int, rotary: Rotary) -> None:
        super().__init__()
        self.self_attn = Attention(width, heads)
        self.multihead_attn = Attention(width, heads)
        self.linear1 = nn.Linear(width, hidden)
        self.linear2 = nn.Linear(hidden, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.norm3 = nn.LayerNorm(width)
        self.film1 = Film(width)
        self.film2 = Film(width)
        self.film3 = Film(width)
        self.rotary = rotary

    def forward(self, x: Tensor, memory: Tensor, film: Tensor) -> Tensor:
        """Motion (B, T, width), memory (B, S, width), film (B, width) -> (B, T, width)."""
        y: Tensor = self.norm1(x)
        turned = self.rotary(y)
        x = x + self.film1(self.self_attn(turned, turned, y), film)
        query = self.rotary(self.norm2(x))
        x = x + self.film2(self.multihead_attn(query, self.rotary(memory), memory), film)
        y = self.film3(self.linear2(F.gelu(self.linear1(self.norm3(x)))), film)
        return x + y


class MotionStack(nn.Module):
    """The decoder layers, one after the other."""

    def __init__(self, layers: int, width: int, heads: int, hidden: int, rotary: Rotary) -> None:
        super().__init__()
        self.stack = nn.ModuleList(MotionLayer(width, heads, hidden, rotary) for _ in range(layers))

    def forward(self, x: Tensor, memory: Tensor, film: Tensor) -> Tensor:
        for layer in self.stack:
            x = layer(x, memory, film)
        return x


class StepEmbedding(nn.Module):
    """Diffusion step (B,) -> (B, width): sines, then cosines, of width / 2 frequencies."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.frequencies = width // 2

    def forward(self, times: Tensor) -> Tensor:
        index = torch.arange(self.frequencies, device=times.device, dtype=torch.float32)
        angle = times[:, None] * torch.exp(index * (-math.log(10000) / (self.frequencies - 1)))
        return torch.cat([angle.sin(), angle.cos()], -1)


class Lmdm(nn.Module):
    """Predicts the clean motion x0 of a window from a noisy one.

    Motion (B, T, motion) with the layout of spec 4.2, the frame before the window (B, motion) and
    the condition (B, T, condition) of spec 4.1; T is `frames`, 80 at the public sizes.
    """

    def __init__(
        self,
        motion: int = 265,
        condition: int = 1103,
        frames: int = 80,
        width: int = 512,
        heads: int = 8,
        hidden: int = 1024,
        layers: int = 8,
        condition_layers: int = 2,
    ) -> None:
        super().__init__()
        self.null_cond_embed = nn.Parameter(torch.randn(1, frames, width))
        self.null_cond_hidden = nn.Parameter(torch.randn(1, width))
        self.rotary = Rotary(width)  # one table; the public file lists it once per layer
        self.time_mlp = nn.Sequential(StepEmbedding(width), nn.Linear(width, 4 * width), nn.Mish())
        self.to_time_cond = nn.Sequential(nn.Linear(4 * width, width))
        self.to_time_tokens = nn.Sequential(
            nn.Linear(4 * width, TIME_TOKENS * width), nn.Unflatten(1, (TIME_TOKENS, width))
        )
        self.norm_cond = nn.LayerNorm(width)
        self.input_projection = nn.Linear(2 * motion, width)
        self.cond_encoder = nn.Sequential(
            *(ConditionLayer(width, heads, hidden, self.rotary) for _ in range(condition_layers))
        )
        self.cond_projection = nn.Linear(condition, width)
        self.non_attn_cond_projection = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width)
        )
        self.seqTransDecoder = MotionStack(layers, width, heads, hidden, self.rotary)
        self.final_layer = nn.Linear(width, motion)

    def encode(self, cond: Tensor) -> Condition:
        """The condition of a window (B, T, condition), once for all its steps."""
        tokens = self.cond_encoder(self.cond_projection(cond))
        return Condition(tokens, self.non_attn_cond_projection(tokens.mean(1)))

    def no_condition(self, batch: int) -> Condition:
        """What stands for "no condition" in the other branch of the guidance."""
        return Condition(
            self.null_cond_embed.expand(batch, -1, -1), self.null_cond_hidden.expand(batch, -1)
        )

    def forward(self, x: Tensor, cond_frame: Tensor, condition: Condition, times: Tensor) -> Tensor:
        """One branch: noisy motion (B, T, motion) at steps `times` (B,) -> clean motion."""
        before = cond_frame[:, None].expand(-1, x.shape[1], -1)
        h = self.input_projection(torch.cat([x, before], -1))
        step = self.time_mlp(times)
        film = self.to_time_cond(step) + condition.summary
        memory = self.norm_cond(torch.cat([condition.tokens, self.to_time_tokens(step)], 1))
        clean: Tensor = self.final_layer(self.seqTransDecoder(h, memory, film))
        return clean

    def guided(
        self,
        x: Tensor,
        cond_frame: Tensor,
        condition: Condition,
        times: Tensor,
        weight: float = GUIDANCE,
    ) -> Tensor:
        """Both branches as one batch of 2 B: u + weight * (c - u)."""
        none = self.no_condition(len(x))
        both = Condition(
            torch.cat([condition.tokens, none.tokens]),
            torch.cat([condition.summary, none.summary]),
        )
        twice: Tensor = self(x.repeat(2, 1, 1), cond_frame.repeat(2, 1), both, times.repeat(2))
        with_it, without = twice.chunk(2)
        return without + weight * (with_it - without)
