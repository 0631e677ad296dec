"""What is in the file: read back by a decoder and box by box."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from film_kit import (
    HEIGHT,
    WIDTH,
    X264,
    boxes,
    encoder_for,
    film,
    flat,
    frame_md5,
    heard,
    moving,
    shown,
    write,
)

from greenroom.base.presets import VideoPreset
from greenroom.encode.h264 import choose_encoder
from greenroom.encode.mark import COMMENT, SOURCE_TYPE, XMP_BOX
from greenroom.encode.mux import Mp4File, _copy

BOTH = pytest.mark.parametrize("name", ["out.mp4", "out.mov"])


@BOTH
def test_codecs_format_colours_and_rate(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, film(moving(12)))
    with av.open(str(path)) as container:
        video, audio = container.streams.video[0], container.streams.audio[0]
        codec = video.codec_context
        assert (codec.name, codec.pix_fmt, codec.width, codec.height) == (
            "h264",
            "yuv420p",
            WIDTH,
            HEIGHT,
        )
        tags = (codec.color_primaries, codec.color_trc, codec.colorspace, codec.color_range)
        assert tags == (1, 1, 1, 1)  # BT.709 three times; 1 is the limited range, tv
        assert video.average_rate == Fraction(25)
        heard_as = audio.codec_context
        assert (heard_as.name, heard_as.sample_rate, heard_as.layout.name) == (
            "aac",
            48_000,
            "mono",
        )
    frame = shown(path)[0]
    assert (frame.color_primaries, frame.color_trc, frame.colorspace) == (1, 1, 1)


@BOTH
@pytest.mark.parametrize("count", [1, 2, 3, 25, 61])
def test_every_frame_is_there_and_sound_is_as_long(tmp_path: Path, name: str, count: int) -> None:
    path = write(tmp_path / name, film(moving(count)))
    assert [frame.time for frame in shown(path)] == pytest.approx([i / 25 for i in range(count)])
    start, sound = heard(path)
    assert start == 0
    assert count * 1920 <= len(sound) < count * 1920 + 1024  # AAC comes in blocks of 1024
    with av.open(str(path)) as container:
        streams = [container.streams.video[0], container.streams.audio[0]]
        lengths = [stream.duration * stream.time_base for stream in streams]  # type: ignore[operator]
        assert lengths == [Fraction(count, 25)] * 2
        assert [stream.start_time for stream in streams] == [0, 0]
        assert container.duration == count * 40_000


@BOTH
@pytest.mark.parametrize("effort", ["ultrafast", "veryfast"])
def test_a_click_sounds_with_its_flash(tmp_path: Path, name: str, effort: str) -> None:
    at, count = (0, 7, 40), 50
    pictures = tuple(flat(220 if i in at else 30) for i in range(count))
    burst = np.random.default_rng(5).normal(0, 0.2, 200).astype(np.float32)
    sound = np.zeros(count * 1920, np.float32)
    for i in at:
        sound[i * 1920 : i * 1920 + 200] = burst
    chosen = choose_encoder(VideoPreset(encoder="libx264", x264_preset=effort, threads=2))
    path = write(tmp_path / name, film(pictures, sound), chosen)

    flashes = [frame.time for frame in shown(path) if frame.to_ndarray()[:HEIGHT].mean() > 128]
    start, decoded = heard(path)
    likeness = np.correlate(decoded, burst, "valid")
    for i, flash in zip(at, flashes, strict=True):
        near = max(0, i * 1920 - 960)
        click = start + (near + int(likeness[near : near + 1920].argmax())) / 48_000
        assert flash == pytest.approx(i / 25)
        assert click - flash == pytest.approx(0, abs=0.5 / 48_000)  # not one sample late


def test_levels_and_colours_are_the_ones_put_in(tmp_path: Path) -> None:
    path = write(tmp_path / "out.mp4", film((flat(100),) * 5))
    planes = shown(path)[3].to_ndarray()  # yuv420p: luma, then U, then V
    u, v = np.split(planes[HEIGHT:].reshape(-1), 2)
    assert np.abs(planes[:HEIGHT].astype(int) - 100).max() <= 1
    assert np.abs(u.astype(int) - 90).max() <= 1
    assert np.abs(v.astype(int) - 160).max() <= 1


def test_full_size_on_two_threads(tmp_path: Path) -> None:
    frames = film(moving(6, width=1080, height=1920))
    chosen = choose_encoder(X264)
    first, second = (write(tmp_path / f"{i}.mp4", frames, chosen) for i in (1, 2))
    assert len(frame_md5(first)) == 6
    assert frame_md5(first) == frame_md5(second)
    picture = shown(first)[5].to_ndarray()[:1920].astype(float)
    error = ((picture - frames.pictures[5][:1920]) ** 2).mean()
    assert 10 * np.log10(255**2 / error) > 40  # dB; one picture shifted by a frame has 30


def test_the_same_frames_give_the_same_file(tmp_path: Path) -> None:
    first, second = (write(tmp_path / f"{i}.mp4", film(moving(30))) for i in (1, 2))
    assert first.read_bytes() == second.read_bytes()


@BOTH
def test_the_index_comes_before_the_pictures(tmp_path: Path, name: str) -> None:
    order = [box for box in boxes(write(tmp_path / name, film(moving(10)))) if box != "free"]
    assert order[:3] == ["ftyp", "moov", "mdat"] or order[:4] == ["ftyp", "moov", "wide", "mdat"]


@BOTH
def test_the_file_says_that_a_machine_made_it(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, film(moving(3)))
    with av.open(str(path)) as container:
        assert container.metadata["comment"] == COMMENT
        assert "Synthetic" in COMMENT
        assert container.metadata["title"] == "A title"
    found = boxes(path)
    xmp = found["uuid"].removeprefix(XMP_BOX) if "uuid" in found else found["moov"]
    assert f'DigitalSourceType="{SOURCE_TYPE}"'.encode() in xmp


def test_a_film_that_begins_at_another_frame_keeps_its_times(tmp_path: Path) -> None:
    burst = np.random.default_rng(5).normal(0, 0.2, 200).astype(np.float32)
    sound = np.zeros(10 * 1920, np.float32)
    sound[3 * 1920 : 3 * 1920 + 200] = burst
    path = write(tmp_path / "out.mp4", film(moving(10), sound, first=50))
    assert [frame.time for frame in shown(path)] == pytest.approx([2 + i / 25 for i in range(10)])
    start, decoded = heard(path)
    click = start + int(np.correlate(decoded, burst, "valid").argmax()) / 48_000
    assert click == pytest.approx(53 / 25, abs=1e-3)  # mp4 rounds the wait before it to 1 ms


def test_one_encoder_feeds_two_files_at_once(tmp_path: Path) -> None:
    frames = film(moving(20))
    encoder = encoder_for(frames)
    with Mp4File(tmp_path / "a.mp4") as one, Mp4File(tmp_path / "b.mov") as two:
        for sink in (one, two):
            sink.start(encoder.streams)
        for packet in [*encoder.push(frames), *encoder.close()]:
            one.send(packet)
            two.send(packet)
    assert frame_md5(tmp_path / "a.mp4") == frame_md5(tmp_path / "b.mov")
    assert heard(tmp_path / "a.mp4")[0] == heard(tmp_path / "b.mov")[0] == 0


@pytest.mark.parametrize("kind", ["flv", "mpegts", "matroska"])
def test_the_same_packets_fit_the_containers_of_streaming(kind: str) -> None:
    """The encoder's streams are all that a sink of another kind needs."""
    frames, out = film(moving(20)), io.BytesIO()
    encoder = encoder_for(frames)
    with av.open(out, "w", format=kind) as container:
        streams = {str(s.type): container.add_stream_from_template(s) for s in encoder.streams}
        for packet in [*encoder.push(frames), *encoder.close()]:
            container.mux(_copy(packet, streams[packet.kind]))
    out.seek(0)
    with av.open(out, "r") as container:
        assert len(list(container.decode(video=0))) == 20
    out.seek(0)
    with av.open(out, "r") as container:
        assert sum(frame.samples for frame in container.decode(audio=0)) >= 20 * 1920
