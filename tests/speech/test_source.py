"""Any audio that ffmpeg reads becomes mono float32, sample for sample, in constant memory."""

from __future__ import annotations

import io
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from speech_sounds import cut, joined, talk, tone, wav, write

from greenroom.base.flow import Samples
from greenroom.speech.loudness import level, measure
from greenroom.speech.source import AudioSource

# codec, suffix, rate, layout, the largest error of a sample that the codec may make
EXACT = [
    ("pcm_u8", ".wav", 8_000, "mono", 1 / 127),
    ("pcm_s16le", ".wav", 48_000, "stereo", 1 / 16_000),
    ("pcm_s16le", ".wav", 11_025, "mono", 1 / 16_000),
    ("pcm_s16le", ".wav", 44_100, "5.1", 1 / 16_000),
    ("pcm_s24le", ".wav", 22_050, "stereo", 1e-6),
    ("pcm_s32le", ".wav", 192_000, "mono", 1e-6),
    ("pcm_f32le", ".wav", 96_000, "stereo", 1e-7),
    ("pcm_f64le", ".wav", 16_000, "mono", 1e-7),
    ("pcm_alaw", ".wav", 8_000, "mono", 0.02),
    ("pcm_mulaw", ".wav", 8_000, "stereo", 0.02),
    ("pcm_s16be", ".aiff", 32_000, "mono", 1 / 16_000),
    ("pcm_mulaw", ".au", 8_000, "mono", 0.02),
    ("flac", ".flac", 88_200, "stereo", 1 / 16_000),
    ("pcm_s16le", ".mkv", 48_000, "stereo", 1 / 16_000),
]
# These add silence at the end to fill a frame; the decoder itself takes the delay off the front.
LOSSY = [
    ("libmp3lame", ".mp3", 44_100, "stereo", 0),
    ("libmp3lame", ".mp3", 22_050, "mono", 0),
    ("aac", ".m4a", 44_100, "stereo", 1024),
    ("aac", ".mp4", 48_000, "stereo", 1024),
    ("libopus", ".ogg", 48_000, "mono", 0),
    ("libopus", ".opus", 48_000, "stereo", 0),
    ("libopus", ".webm", 48_000, "stereo", 0),
]


def read(path: Path) -> Samples:
    return joined(list(AudioSource(path)))


@pytest.mark.parametrize(("codec", "suffix", "rate", "layout", "error"), EXACT)
def test_every_sample_of_a_lossless_file(
    tmp_path: Path, codec: str, suffix: str, rate: int, layout: str, error: float
) -> None:
    sound = tone(rate + 777, rate)
    path = write(tmp_path / f"sound{suffix}", sound, rate, codec, layout=layout)
    source = AudioSource(path)
    pieces = list(source)
    assert source.rate == rate
    assert [len(piece.pcm) for piece in pieces] == [rate, 777]
    assert {(piece.rate, piece.pcm.dtype.name) for piece in pieces} == {(rate, "float32")}
    np.testing.assert_allclose(joined(pieces), sound, atol=error)
    assert source.remarks == ()


@pytest.mark.parametrize(("codec", "suffix", "rate", "layout", "filling"), LOSSY)
def test_a_lossy_file_keeps_its_place_in_time(
    tmp_path: Path, codec: str, suffix: str, rate: int, layout: str, filling: int
) -> None:
    sound = talk(1.5, rate)
    path = write(tmp_path / f"sound{suffix}", sound, rate, codec, layout=layout)
    back = read(path)
    assert len(sound) <= len(back) <= len(sound) + filling
    spectrum = np.fft.rfft(back[: len(sound)]) * np.conj(np.fft.rfft(sound))
    assert int(np.argmax(np.fft.irfft(spectrum))) == 0  # no delay
    likeness = float(np.corrcoef(back[: len(sound)], sound)[0, 1])
    assert likeness > 0.98


def test_channels_are_averaged(tmp_path: Path) -> None:
    left, right = tone(4_000, 8_000, 300), tone(4_000, 8_000, 700)
    data = np.stack([left, right], axis=1).astype(np.float32)
    plain = bytearray(wav(data.reshape(-1), 8_000))
    plain[22:24], plain[28:36] = b"\2\0", (64_000).to_bytes(4, "little") + b"\x08\0\x20\0"
    path = tmp_path / "two.wav"
    path.write_bytes(plain)
    np.testing.assert_allclose(read(path), (left + right) / 2, atol=1e-7)


def test_sound_is_picked_out_of_a_video(tmp_path: Path) -> None:
    sound = tone(24_000, 48_000)
    path = write(tmp_path / "clip.mkv", sound, 48_000, "pcm_s16le", picture=True)
    np.testing.assert_allclose(read(path), sound, atol=1e-4)


@pytest.mark.parametrize("declared", [0, 0xFFFFFFFF, 0x7FFFF000, 100_000])
def test_a_data_size_that_is_not_true(tmp_path: Path, declared: int) -> None:
    """0 and the largest numbers are what programs write that cannot go back to the header."""
    sound = (tone(12_345, 16_000) * 32767).astype(np.int16)
    path = tmp_path / "piped.wav"
    path.write_bytes(wav(sound, 16_000, declared=declared))
    source = AudioSource(path)
    assert len(joined(list(source))) == 12_345
    assert source.seconds == pytest.approx(12_345 / 16_000, abs=0.01)


@pytest.mark.parametrize("rate", [8_000, 48_000, 192_000])
def test_one_frame_of_sound(tmp_path: Path, rate: int) -> None:
    sound = tone(rate // 25, rate)
    path = write(tmp_path / "short.wav", sound, rate, "pcm_s16le")
    assert len(read(path)) == rate // 25


@pytest.mark.parametrize("name", ["a:b.wav", 'it\'s "two" words.wav', "ünï.wav", "-.wav"])
def test_names_that_mislead(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(wav((tone(800, 8_000) * 32767).astype(np.int16), 8_000))
    assert len(read(path)) == 800


@pytest.mark.parametrize(
    "make", [lambda n: np.full(n, 0.5), lambda n: np.sign(np.sin(np.arange(n))), np.zeros]
)
def test_dc_clipped_and_silent_sound_pass(tmp_path: Path, make: Callable[[int], Samples]) -> None:
    sound = make(8_000).astype(np.float32)
    path = tmp_path / "odd.wav"
    path.write_bytes(wav(sound, 8_000))
    np.testing.assert_array_equal(read(path), sound)


def test_it_can_be_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "sound.mp3", talk(2, 24_000), 24_000, "libmp3lame")
    source = AudioSource(path)
    np.testing.assert_array_equal(joined(list(source)), joined(list(source)))


def test_a_named_pipe(tmp_path: Path) -> None:
    sound = (tone(8_000, 8_000) * 32767).astype(np.int16)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(wav(sound, 8_000, declared=0),))
    writer.start()
    source = AudioSource(pipe)
    writer.join()
    assert [len(joined(list(source))) for _ in range(2)] == [8_000, 8_000]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = (tone(5_000, 8_000) * 32767).astype(np.int16)
    piped = io.TextIOWrapper(io.BytesIO(wav(sound, 8_000, declared=0xFFFFFFFF)))
    monkeypatch.setattr(sys, "stdin", piped)
    assert len(joined(list(AudioSource("-")))) == 5_000


def test_what_it_says_of_itself(tmp_path: Path) -> None:
    path = write(tmp_path / "s.flac", tone(96_000, 48_000), 48_000, "flac", layout="stereo")
    source = AudioSource(path)
    assert source.description == "flac, flac, 48000 Hz, 2 channels"
    assert source.seconds == 2.0


def test_memory_does_not_grow_with_length(tmp_path: Path) -> None:
    """Reading, measuring and levelling four minutes needs what half a minute needs."""
    peaks = []
    for seconds in (30, 240):
        path = tmp_path / f"{seconds}.wav"
        minute = (talk(10, 16_000) * 32767).astype(np.int16)
        path.write_bytes(wav(np.tile(minute, seconds // 10), 16_000))
        tracemalloc.start()
        source = AudioSource(path)
        total = sum(len(piece.pcm) for piece in level(source, -16.0, -1.0, known=measure(source)))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert total == seconds * 16_000
    assert peaks[1] < peaks[0] + 200_000  # bytes; one second of float32 is 64 000
    assert peaks[1] < 3_000_000


def test_the_tools_of_this_file() -> None:
    sound = tone(1_000, 8_000)
    np.testing.assert_array_equal(joined(list(cut(sound, 8_000, [1, 7, 300]))), sound)
