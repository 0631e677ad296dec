"""Which encoder is chosen, and what its packets say."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import av
import numpy as np
import pytest
from film_kit import HEIGHT, WIDTH, X264, encode, film, flat, moving, noisy

from greenroom.base.errors import DeviceError, InputError
from greenroom.base.flow import Packet, Pixels
from greenroom.base.presets import PRESETS, SoundPreset, VideoPreset
from greenroom.encode import h264
from greenroom.encode.encoder import MediaEncoder
from greenroom.encode.h264 import ChosenEncoder, H264Encoder, choose_encoder


def opened(preset: VideoPreset = X264) -> H264Encoder:
    host = av.open(os.devnull, "w", format="null")
    return H264Encoder(host, choose_encoder(preset), width=WIDTH, height=HEIGHT)


def run(encoder: H264Encoder, pictures: tuple[Pixels, ...], first: int = 0) -> list[Packet]:
    packets = [p for i, picture in enumerate(pictures) for p in encoder.push(picture, first + i)]
    return packets + encoder.close()


def keyframes(packets: list[Packet]) -> list[int]:
    return [packet.payload.pts for packet in packets if packet.keyframe]


def test_auto_says_what_it_took_and_why() -> None:
    chosen = choose_encoder(VideoPreset())
    assert chosen.name in h264.ENCODERS
    assert chosen.description.startswith(chosen.name)
    assert "h264_nvenc" in chosen.why


def test_auto_takes_x264_where_nvenc_breaks_and_keeps_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probed = []

    def probe(chosen: ChosenEncoder) -> None:
        probed.append(chosen.name)
        if chosen.name == "h264_nvenc":
            raise DeviceError("broken", got="no capable devices found")

    monkeypatch.setattr(h264, "_probe", probe)
    chosen = choose_encoder(VideoPreset(x264_preset="superfast", crf=21))
    assert probed == ["h264_nvenc", "libx264"]
    assert chosen.description == "libx264 superfast crf 21"
    assert chosen.why == "h264_nvenc does not run here: no capable devices found"


def test_auto_takes_nvenc_where_its_probe_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h264, "_probe", lambda chosen: None)
    assert choose_encoder(VideoPreset()).name == "h264_nvenc"


def test_an_encoder_asked_for_by_name_runs_or_says_why_not() -> None:
    found = choose_encoder(VideoPreset())
    if found.name == "h264_nvenc":
        assert choose_encoder(VideoPreset(encoder="h264_nvenc")).name == "h264_nvenc"
        return
    with pytest.raises(DeviceError) as caught:
        choose_encoder(VideoPreset(encoder="h264_nvenc"))
    assert caught.value.got
    assert caught.value.got in found.why
    assert "avcodec_open2" not in caught.value.got  # libav's reason, not the name of a function


def test_an_unknown_encoder_and_an_unknown_effort_are_refused() -> None:
    with pytest.raises(DeviceError, match=r"libx264") as unknown:
        choose_encoder(VideoPreset(encoder="theora"))
    assert "'theora'" in str(unknown.value)
    with pytest.raises(DeviceError, match="preset"):
        choose_encoder(VideoPreset(encoder="libx264", x264_preset="warp"))


def test_an_encoder_that_libav_was_built_without_is_refused() -> None:
    chosen = ChosenEncoder("h264_nowhere", "", 1, 50, ())
    with pytest.raises(DeviceError, match="h264_nowhere"):
        h264._probe(chosen)


def test_probing_leaves_the_log_level_alone() -> None:
    before = av.logging.get_level()
    choose_encoder(VideoPreset())
    assert av.logging.get_level() == before


def test_threads_are_those_asked_for_or_the_cores() -> None:
    assert choose_encoder(VideoPreset(encoder="libx264", threads=3)).threads == 3
    assert 1 <= choose_encoder(VideoPreset(encoder="libx264", threads=0)).threads <= 16


@pytest.mark.parametrize(("width", "height"), [(63, 96), (64, 95), (0, 0), (-2, 96)])
def test_odd_sizes_are_refused_at_the_door(width: int, height: int) -> None:
    with pytest.raises(InputError, match="even") as caught:
        MediaEncoder(choose_encoder(X264), SoundPreset(), width=width, height=height)
    assert f"{width} x {height}" in str(caught.value)


@pytest.mark.parametrize("effort", ["ultrafast", "veryfast"])
@pytest.mark.parametrize("first", [0, 1000])
def test_every_frame_is_one_packet_whose_pts_is_its_number(effort: str, first: int) -> None:
    encoder = opened(VideoPreset(encoder="libx264", x264_preset=effort, threads=2))
    packets = [packet.payload for packet in run(encoder, moving(40), first)]
    assert sorted(packet.pts for packet in packets) == list(range(first, first + 40))
    times = [packet.dts for packet in packets]
    assert times == sorted(set(times))
    assert all(packet.dts <= packet.pts for packet in packets)
    assert {packet.duration for packet in packets} == {1}
    assert {packet.time_base for packet in packets} == {h264.TICK}


def test_x264_s_own_words_are_heard() -> None:
    """B-frames are decoded before frames that are shown earlier; without them no pts steps back."""

    def shown(params: str) -> list[int]:
        encoder = opened(replace(X264, x264_params=params))
        return [packet.payload.pts for packet in run(encoder, moving(30))]

    assert shown("") != list(range(30))
    assert shown("bframes=0") == list(range(30))
    demo = replace(PRESETS["demo"].video, encoder="libx264", threads=2)
    first, second = (
        [bytes(packet.payload) for packet in run(opened(demo), moving(30))] for _ in range(2)
    )
    assert first == second


def test_keyframes_come_at_least_as_often_as_asked() -> None:
    encoder = opened(VideoPreset(encoder="libx264", threads=2, keyframe_seconds=0.4))
    assert keyframes(run(encoder, moving(35))) == [0, 10, 20, 30]


def test_a_keyframe_comes_exactly_where_it_is_forced() -> None:
    encoder, packets = opened(), []
    for number, picture in enumerate(moving(30)):
        if number == 17:
            encoder.keyframe()
        packets += encoder.push(picture, number)
    assert keyframes(packets + encoder.close()) == [0, 17]
    assert keyframes(run(opened(), moving(30))) == [0]


def test_a_decoder_can_begin_at_a_forced_keyframe() -> None:
    frames = film(moving(20))
    encoder = MediaEncoder(choose_encoder(X264), SoundPreset(), width=WIDTH, height=HEIGHT)
    early = film(frames.pictures[:8], frames.sound[: 8 * 1920])
    late = film(frames.pictures[8:], frames.sound[8 * 1920 :], first=8)
    packets = encoder.push(early)
    encoder.keyframe()
    packets += encoder.push(late) + encoder.close()
    video = [packet for packet in packets if packet.kind == "video"]
    start = next(i for i, packet in enumerate(video) if packet.payload.pts == 8)
    decoder = av.CodecContext.create("h264", "r")
    decoder.extradata = video[0].payload.stream.codec_context.extradata
    shown = [f for p in video[start:] for f in decoder.decode(av.Packet(bytes(p.payload)))]
    assert len(shown + decoder.decode(None)) == 12


def test_a_picture_is_the_callers_again_after_push() -> None:
    pictures = noisy(30)
    buffer = np.empty_like(pictures[0])
    encoder, reused = opened(), []
    references = sys.getrefcount(buffer)
    for number, picture in enumerate(pictures):
        buffer[:] = picture
        reused += encoder.push(buffer, number)
    assert sys.getrefcount(buffer) <= references + 1  # at most the frame it is at, never a queue
    reused += encoder.close()
    fresh = run(opened(), pictures)
    assert [bytes(p.payload) for p in reused] == [bytes(p.payload) for p in fresh]


def test_pictures_with_gaps_between_their_rows_are_encoded_right() -> None:
    wide = tuple(np.repeat(picture, 2, axis=1) for picture in noisy(5))
    strided = tuple(picture[:, ::2] for picture in wide)
    packets = [bytes(p.payload) for p in run(opened(), strided)]
    assert packets == [bytes(p.payload) for p in run(opened(), noisy(5))]


def test_a_picture_of_another_size_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError):
        opened().push(flat(100, width=32), 0)


def test_frames_must_follow_one_another_and_bring_their_sound() -> None:
    encoder = MediaEncoder(choose_encoder(X264), SoundPreset(), width=WIDTH, height=HEIGHT)
    encoder.push(film(moving(2)))
    with pytest.raises(AssertionError, match="frame 3, not 2"):
        encoder.push(film(moving(1), first=3))
    with pytest.raises(AssertionError, match="sound"):
        encoder.push(film(moving(1), np.zeros(1919, np.float32), first=2))


def test_the_same_frames_give_the_same_bytes_every_time() -> None:
    frames = film(moving(23, width=176, height=168))  # a size at which x264's own default wavers
    runs = {tuple(bytes(packet.payload) for packet in encode(frames)) for _ in range(12)}
    assert len(runs) == 1


def test_the_cut_into_blocks_does_not_change_a_byte() -> None:
    frames = film(moving(23))
    one, many = encode(frames, size=1), encode(frames, size=23)
    for kind in ("video", "audio"):
        cut, whole = ([bytes(p.payload) for p in side if p.kind == kind] for side in (one, many))
        assert cut == whole
