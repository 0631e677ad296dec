"""Everything that flows through the house, left to right, and who makes it.

Letters, fixed for the whole code: B sessions in a batch, K frames in a step, N = B * K rows,
D feature width, F frames of a loop, T samples, (h, w) face canvas, (H, W) picture.
Frame n is samples 640 n ... 640 (n + 1) at 16 kHz and 1920 n ... 1920 (n + 1) at 48 kHz.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

FPS = 25
PCM_RATE = 16_000  # what the networks hear
PCM_PER_FRAME = PCM_RATE // FPS
SOUND_RATE = 48_000  # what the viewer hears
SOUND_PER_FRAME = SOUND_RATE // FPS

Samples = NDArray[np.float32]
Pixels = NDArray[np.uint8]


# --- speech ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the script that is read as one unit, such as one word or one sum of money."""

    written: str
    spoken: str
    phonemes: str = ""  # IPA given by the author or the lexicon; "" = the voice decides


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of a script and the pause after it, in seconds."""

    spans: tuple[Span, ...]
    pause: float = 0.0

    @property
    def spoken(self) -> str:
        return " ".join(span.spoken for span in self.spans)

    @property
    def written(self) -> str:
        return " ".join(span.written for span in self.spans)


@dataclass(frozen=True, slots=True)
class Phoneme:
    """One IPA symbol and its time in seconds from the first sample of the Speech it rides in."""

    symbol: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Word:
    """One written span and its time in seconds from the first sample of its Speech."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Speech:
    """A piece of mono sound (T,) float32 in -1 ... 1 at `rate` Hz, of any length."""

    pcm: Samples
    rate: int
    phonemes: tuple[Phoneme, ...] = ()
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Sound:
    """Speech cut to whole frames: frames `first` ... `first + count - 1`, in both rates."""

    first: int
    pcm: Samples  # (count * 640,) at 16 kHz
    sound: Samples  # (count * 1920,) at 48 kHz

    @property
    def count(self) -> int:
        return len(self.pcm) // PCM_PER_FRAME


# --- motion and faces -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Motion:
    """Head pose in degrees and expression of N frames, in the terms of Ditto (spec 2.3)."""

    pitch: Tensor  # (N,)
    yaw: Tensor  # (N,)
    roll: Tensor  # (N,)
    t: Tensor  # (N, 3)
    scale: Tensor  # (N,)
    exp: Tensor  # (N, 21, 3), added after the rotation and before the scale

    def __len__(self) -> int:
        return len(self.scale)

    def __getitem__(self, rows: Tensor | slice | list[int]) -> Motion:
        """Choose rows; always keeps the leading axis."""
        return self.each(lambda x: x[rows])

    def to(self, device: torch.device | str, dtype: torch.dtype) -> Motion:
        return self.each(lambda x: x.to(device, dtype))

    def each(self, change: Callable[[Tensor], Tensor]) -> Motion:
        """The same change to every tensor."""
        return Motion(*(change(getattr(self, field.name)) for field in fields(self)))

    @staticmethod
    def joined(parts: Sequence[Motion]) -> Motion:
        """Rows of all parts, in order."""
        names = [field.name for field in fields(Motion)]
        return Motion(*(torch.cat([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True, slots=True)
class Faces:
    """N painted faces on the canvas (h, w), not yet in the picture.

    `colour` is (N, 4, h, w) premultiplied RGBA or (N, 3, h, w) opaque RGB in 0 ... 1.
    Where an engine can borrow detail from a high-resolution source picture (Placement.detail),
    `keep` (N, 1, h, w) says how much of it and `flow` (N, 2, r, r) where it lies: the source is
    sampled at (x, y) + flow, where the canvas spans -1 ... 1 between the outer edges of its pixels.
    """

    colour: Tensor
    keep: Tensor | None = None
    flow: Tensor | None = None

    def __len__(self) -> int:
        return len(self.colour)

    def __getitem__(self, row: int) -> Faces:
        """One row, its leading axis kept."""
        rows = slice(row, row + 1)
        return Faces(
            self.colour[rows],
            None if self.keep is None else self.keep[rows],
            None if self.flow is None else self.flow[rows],
        )


@dataclass(frozen=True, slots=True)
class Frames:
    """Finished pictures of one session: NV12, BT.709 limited, frames `first` ... in order.

    Each picture is (H * 3 // 2, W) uint8: H rows of luma, then H / 2 rows of interleaved U and V.
    `sound` rides along: (len(pictures) * 1920,) float32 at 48 kHz.
    """

    first: int
    pictures: tuple[Pixels, ...]
    sound: Samples
    bypassed: int = 0  # pictures that are the loop's own bytes

    def __len__(self) -> int:
        return len(self.pictures)


@dataclass(frozen=True, slots=True)
class Packet:
    """One encoded packet on its way to a sink; `payload` is the encoder's own packet object."""

    kind: str  # "video" or "audio"
    payload: Any
    keyframe: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """What an avatar is, in words: shown by `avatars`, stored as card.json."""

    name: str
    title: str
    engine: str  # the preset its face was made for
    width: int
    height: int
    loop_frames: int
    licence: str
    virtual: bool
    note: str = ""
    schema: int = 1


@dataclass(frozen=True, slots=True)
class Placement:
    """Where and how the face canvas (h, w) lies in the picture (H, W).

    A face with transparency lies over `backdrop`; the result replaces the picture by `mask`.
    """

    matrix: Tensor  # (2, 3), canvas pixel -> picture pixel; pixel centres at whole numbers
    mask: Tensor  # (m, m) 0 ... 1 over the canvas at any resolution: 1 = face, 0 = picture
    backdrop: Pixels | None = None  # NV12 (H * 3 // 2, W) behind a transparent face
    detail: Pixels | None = None  # (S, S, 4) premultiplied RGBA source picture, see Faces


class Pictures(Protocol):
    """The pictures of a loop, NV12 (H * 3 // 2, W) uint8 each, made or read when asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Pixels: ...


@dataclass(frozen=True, slots=True)
class Loop:
    """An avatar on the device: F frames that close on themselves, with the motion they show."""

    card: Card
    motion: Motion  # (F,)
    pictures: Pictures  # what silence shows
    plates: Pictures  # what faces are pasted on: a clip's own frames, or a still behind the head
    placement: Placement
    tensors: dict[str, Tensor]  # the engine's own, made once per avatar

    def __len__(self) -> int:
        return len(self.motion)


@dataclass(frozen=True, slots=True)
class Turn:
    """Which K frames of which sessions are made now; one entry per session."""

    slots: tuple[int, ...]
    first: tuple[int, ...]  # number of the first frame
    seeds: tuple[int, ...]
    loops: tuple[Loop, ...]


@dataclass(slots=True)
class State:
    """What an engine remembers: tensors, slots first; a slot is reset when its session leaves."""

    slots: int
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def reset(self, slot: int) -> None:
        for tensor in self.tensors.values():
            tensor[slot].zero_()


# --- who makes what -------------------------------------------------------------------------------


class Voice(Protocol):
    """Reads lines aloud. One call at a time; `cancel` may come from another thread."""

    name: str
    rate: int

    def synthesize(self, line: Line) -> Iterator[Speech]:
        """Speak one line, its pause included."""
        ...

    def cancel(self) -> None:
        """End a running `synthesize` at once; it raises or returns early."""
        ...


class AudioEncoder(Protocol):
    """Turns sound into features; `left` and `right` are the context around a step, in frames."""

    left: int
    right: int
    width: int

    def encode(self, pcm: Tensor) -> Tensor:
        """(B, (left + K + right) * 640) at 16 kHz -> (B, n, D), as its own engine wants it."""
        ...


class Engine(Protocol):
    """From features to faces. Networks of any size behind one shape."""

    name: str
    encoder: AudioEncoder
    canvas: tuple[int, int]  # (h, w)
    step: int  # K
    weights: str  # what runs, for people
    device: torch.device
    dtype: torch.dtype

    def init_state(self, slots: int) -> State: ...

    def predict_motion(self, features: Tensor, turn: Turn, state: State) -> Motion:
        """Features (B, n, D) -> the fully driven motion of N = B * K frames, session by session."""
        ...

    def render(self, motion: Motion, loops: tuple[Loop, ...], index: tuple[int, ...]) -> Faces:
        """Paint N rows; row i belongs to frame index[i] of loops[i]."""
        ...


class Encoder(Protocol):
    """Frames in, packets out."""

    @property
    def streams(self) -> tuple[Any, ...]:
        """What a sink must know before its first packet: the streams of the encoder."""
        ...

    def push(self, frames: Frames) -> list[Packet]: ...

    def keyframe(self) -> None: ...

    def close(self) -> list[Packet]: ...


class Sink(Protocol):
    """Where packets go: a file, a stream."""

    def start(self, streams: tuple[Any, ...]) -> None:
        """Learn from the encoder's streams what will come; once, before the first packet."""
        ...

    def send(self, packet: Packet) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None:
        """Give up: leave nothing half-written behind. Nothing happens after `close`."""
        ...
