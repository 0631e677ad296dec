"""Around the command: signals of all kinds, and terminals that are closed, full or poor."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import greenroom, names, write_wav

from conftest import Studio, babble
from greenroom.process import Interrupts

RUN = f"{shlex.quote(sys.executable)} -m greenroom"  # its path may have a space in it


def shell(command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("{} voices --json > /dev/full", 5),
        ("{} voices > /dev/full", 5),
        ("{} voices >&-", 0),
        ("{} voices | true", 0),
        ("{} avatars <&- >&- 2>&-", 0),
        ("{} render nothing.wav 2>&-", 2),
        ("{} render - <&-", 2),
    ],
)
@pytest.mark.parametrize("buffered", ["", "1"])
def test_streams_that_are_closed_or_full(
    tmp_path: Path, command: str, code: int, buffered: str
) -> None:
    done = shell(command.format(RUN), tmp_path, PYTHONUNBUFFERED=buffered)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr
    assert names(tmp_path) == []


def test_a_render_goes_on_without_its_terminal(studio: Studio, tmp_path: Path) -> None:
    """The reader of both streams leaves after one line; names that it cannot show are escaped."""
    sound = write_wav(tmp_path / "ü.wav", babble(0.2))
    done = shell(
        f"{RUN} render {shlex.quote(str(sound))} -o ö.mp4 2>&1 | head -1",
        tmp_path,
        PYTHONIOENCODING="ascii",
    )
    assert done.returncode == 0
    assert names(tmp_path) == ["ö.mp4", "ü.wav"]


def test_json_in_any_terminal(studio: Studio, tmp_path: Path) -> None:
    sound = write_wav(tmp_path / "in.wav", babble(0.2))
    name = os.fsdecode(b"[x]\xff\xc3\xb6.mp4")
    done = shell(
        f"{RUN} render {shlex.quote(str(sound))} -o $'[x]\\xff\\xc3\\xb6.mp4' --json",
        tmp_path,
        LC_ALL="C",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["output"] == name
    assert (tmp_path / name).exists()


def test_an_error_is_said_at_once_and_alone(tmp_path: Path) -> None:
    done = greenroom("render", "nothing.wav", "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: no such file\n")


@pytest.mark.parametrize("again", [0, 3], ids=["once", "four times"])
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_interrupts_leave_nothing(
    studio: Studio, tmp_path: Path, number: signal.Signals, again: int
) -> None:
    """The subtitles and the film are open already; more signals come while it tidies up."""
    sound = write_wav(tmp_path / "in.wav", babble(20.0))
    arguments = ["render", str(sound), "-o", "a.mp4", "--subtitles", "a.srt"]
    running = subprocess.Popen(
        [sys.executable, "-m", "greenroom", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    assert running.stderr is not None
    assert running.stderr.readline().startswith(b"avatar")  # it says what runs, and begins
    running.send_signal(number)
    for _ in range(again):
        time.sleep(0.03)
        running.send_signal(number)
    said = running.communicate(timeout=30)[1]
    assert running.returncode in (130, -number)  # the latter where one came after all was tidy
    assert b"Traceback" not in said
    assert names(tmp_path) == ["in.wav"]


def test_one_interrupt_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("greenroom.process.time.monotonic", lambda: clock[0])
    interrupts = Interrupts()
    seen = [interrupts.seen]
    with pytest.raises(KeyboardInterrupt):
        interrupts._come(signal.SIGINT, None)
    seen.append(interrupts.seen)
    assert seen == [False, True]
    clock[0] += 0.9
    interrupts._come(signal.SIGTERM, None)  # it is tidying up
    clock[0] += 1.1
    with pytest.raises(KeyboardInterrupt):  # it hangs
        interrupts._come(signal.SIGINT, None)
