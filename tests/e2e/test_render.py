"""A whole render: what comes out is what a broadcaster's tools expect, and the same every time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from harness import greenroom as command
from harness import joined, names, silence, write_wav

import greenroom
from conftest import Studio, babble
from greenroom import RenderOptions


def decoded(path: Path) -> tuple[list[bytes], int]:
    """Bytes of every decoded picture, and how many samples of sound there are."""
    with av.open(str(path)) as container:
        pictures = [f.to_ndarray().tobytes() for f in container.decode(video=0)]
    with av.open(str(path)) as container:
        samples = sum(f.samples for f in container.decode(audio=0))
    return pictures, samples


def test_what_comes_out(studio: Studio, tmp_path: Path) -> None:
    folder = tmp_path / "a b 'c' \"d\" $e ünï"
    folder.mkdir()
    sound = write_wav(folder / "my sound $1 é.wav", joined([babble(1.0), silence(1.01)]))
    done = command("render", sound, "-o", "out's $HOME ü.mp4", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["frames"] == 51
    assert 0 < report["bypassed"] < 40
    assert "ultrafast" in report["setup"]["encoder"]
    assert "crf 22" in report["setup"]["encoder"]
    path = folder / "out's $HOME ü.mp4"
    with av.open(str(path)) as container:
        video, audio = container.streams.video[0], container.streams.audio[0]
        context = video.codec_context
        assert (context.name, context.pix_fmt) == ("h264", "yuv420p")
        assert (context.width, context.height) == (1080, 1920)
        assert video.average_rate == 25
        assert [int(c) for c in (context.color_primaries, context.color_trc, context.colorspace)]
        assert int(context.colorspace) == int(context.color_primaries) == 1
        assert (audio.codec_context.name, audio.rate) == ("aac", 48000)
        assert abs((container.duration or 0) / 1e6 - 51 / 25) < 0.03
        assert "Synthetic" in container.metadata["comment"]
        assert video.time_base is not None
        pts = [(f.pts or 0) * video.time_base * 25 for f in container.decode(video=0)]
    assert pts == list(range(51))
    assert names(folder) == sorted([path.name, sound.name])


def test_same_command_same_frames_another_seed_another_head(studio: Studio, tmp_path: Path) -> None:
    sound = write_wav(tmp_path / "in.wav", joined([babble(1.0), silence(0.8)]))
    results = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        done = command("render", sound, "-o", f"{name}.mp4", "--seed", seed, "-q", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (done.stdout, done.stderr) == ("", "")
        results.append(decoded(tmp_path / f"{name}.mp4"))
    assert results[0] == results[1]
    assert results[0][0][12] != results[2][0][12]


@pytest.mark.parametrize(("samples", "frames"), [(640, 1), (1, 1), (641, 2)])
def test_short_sounds(studio: Studio, tmp_path: Path, samples: int, frames: int) -> None:
    sound = write_wav(tmp_path / "in.wav", np.full(samples, 0.1, np.float32))
    report = greenroom.render(sound, tmp_path / "out.mp4", RenderOptions(avatar="vera-green"))
    assert report.frames == frames
    pictures, heard = decoded(tmp_path / "out.mp4")
    assert len(pictures) == frames
    assert heard >= frames * 1920


def test_stream_gives_what_render_writes(studio: Studio, tmp_path: Path) -> None:
    sound = write_wav(tmp_path / "in.wav", babble(0.5))
    frames = list(greenroom.stream(sound))
    assert sum(len(f) for f in frames) == 13
    assert frames[0].pictures[0].shape == (2880, 1080)
    assert sum(len(f.sound) for f in frames) == 13 * 1920


def test_quiet_sounds_are_finite_and_still(studio: Studio, tmp_path: Path) -> None:
    """Silence and a constant offset show the loop; clipped noise renders."""
    for name, pcm, bypassed in (
        ("zero", silence(0.6), 15),
        ("offset", np.full(9600, 0.4, np.float32), 15),
        ("noise", np.sign(np.random.default_rng(0).normal(size=9600)).astype(np.float32), 0),
    ):
        sound = write_wav(tmp_path / f"{name}.wav", pcm, subtype="FLOAT")
        options = RenderOptions(loudness=None)
        report = greenroom.render(sound, tmp_path / f"{name}.mp4", options)
        assert (report.frames, report.bypassed) == (15, bypassed)


MEMORY = """
import resource, sys
from greenroom import RenderOptions, render
render(sys.argv[1], sys.argv[2], RenderOptions(x264_preset="ultrafast"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_length(studio: Studio, tmp_path: Path) -> None:
    """Ten minutes against one, 95 % of it silence: within 10 %."""
    peaks = []
    for minutes in (1, 10):
        minute = joined([babble(3.0), silence(57.0)])
        sound = write_wav(tmp_path / f"{minutes}.wav", joined([minute] * minutes))
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(sound), str(tmp_path / "out.mp4")],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout))
        sound.unlink()
    print(f"peak of 1 minute {peaks[0] / 1e3:.0f} MB, of 10 minutes {peaks[1] / 1e3:.0f} MB")
    assert peaks[1] < 1.1 * peaks[0]
