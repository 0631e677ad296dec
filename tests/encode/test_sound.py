"""AAC: any block length, the right times, the same sound."""

from __future__ import annotations

import os

import av
import numpy as np
import pytest

from greenroom.base.flow import Packet, Samples
from greenroom.base.presets import SoundPreset
from greenroom.encode.audio import AacEncoder


def encoded(sound: Samples, cuts: list[int], first: int = 0) -> list[Packet]:
    encoder = AacEncoder(av.open(os.devnull, "w", format="null"), SoundPreset())
    packets, at = [], 0
    for block in np.split(sound, cuts):
        packets += encoder.push(block, first + at)
        at += len(block)
    return packets + encoder.close()


def noise(count: int) -> Samples:
    return np.random.default_rng(3).uniform(-0.3, 0.3, count).astype(np.float32)


def test_the_stream_is_aac_lc_48_khz_mono() -> None:
    encoder = AacEncoder(av.open(os.devnull, "w", format="null"), SoundPreset(bitrate=96_000))
    codec = encoder.stream.codec_context
    assert (codec.name, codec.sample_rate, codec.layout.name) == ("aac", 48_000, "mono")
    assert codec.profile == "LC"
    assert codec.bit_rate == 96_000


@pytest.mark.parametrize("cuts", [[1], [1023], [1024], [1025, 1026], [1920, 3840], [5, 9_000]])
def test_the_cut_into_blocks_does_not_change_a_byte(cuts: list[int]) -> None:
    sound = noise(10_000)
    whole = [bytes(packet.payload) for packet in encoded(sound, [])]
    assert [bytes(packet.payload) for packet in encoded(sound, cuts)] == whole


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 1920, 57_600])
def test_times_begin_one_block_early_and_end_with_the_sound(count: int) -> None:
    packets = [packet.payload for packet in encoded(noise(count), [])]
    times = [packet.pts for packet in packets]
    assert times == [1024 * i - 1024 for i in range(len(times))]
    assert packets[-1].pts + packets[-1].duration == count


def test_numbers_run_on_from_any_first_sample() -> None:
    assert encoded(noise(3000), [], first=1920)[0].payload.pts == 1920 - 1024


def test_a_gap_in_the_sound_is_a_mistake_of_ours() -> None:
    encoder = AacEncoder(av.open(os.devnull, "w", format="null"), SoundPreset())
    encoder.push(noise(1500), 0)
    with pytest.raises(AssertionError, match="gap"):
        encoder.push(noise(10), 1501)


def test_no_sound_at_all_is_no_packets() -> None:
    assert encoded(noise(0), []) == []
