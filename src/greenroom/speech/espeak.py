"""A system voice for those who ask for it: the program espeak-ng (GPL-3.0), never the default."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator

import numpy as np

from greenroom.base.errors import AssetError, InputError
from greenroom.base.flow import Line, Samples, Speech
from greenroom.speech.job import Job
from greenroom.speech.kokoro import checked_speed
from greenroom.speech.trim import sounding

PROGRAM = "espeak-ng"
RATE = 22_050
VARIANT = "en-us"

_WORDS_PER_MINUTE = 175  # the program's own pace
_VARIANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]*")  # never an option, never a path
_INSTALL = f"apt install {PROGRAM} (Debian, Ubuntu), or the package of that name elsewhere"


def find_espeak() -> str | None:
    """Where the program is, or None."""
    return shutil.which(PROGRAM)


class Espeak:
    """Reads lines by espeak-ng. It tells no times, so its Speech has neither phonemes nor words;
    sounds given in IPA are not heard: it reads `Span.spoken`.
    """

    rate = RATE

    def __init__(self, variant: str = VARIANT, *, speed: float = 1.0) -> None:
        if not _VARIANT.fullmatch(variant):
            raise AssetError(
                "not a voice of espeak",
                got=repr(variant),
                wanted="a name such as en-us, en-gb or en-us+f3",
                remedy="espeak-ng --voices=en lists them",
            )
        self.name = f"espeak:{variant}"
        self._variant = variant
        self._speed = checked_speed(speed)
        self._program = _program()
        self._job = Job()

    def synthesize(self, line: Line) -> Iterator[Speech]:
        """Speak one line, its pause included, as one Speech at 22.05 kHz.

        Raises InputError for a line without a sound, AssetError where the program fails, and
        Cancelled after `cancel`.
        """
        self._job = Job()
        return self._speak(line, self._job)

    def cancel(self) -> None:
        self._job.cancel()

    def _speak(self, line: Line, job: Job) -> Iterator[Speech]:
        sound = self._ask(line.spoken, job) if line.spoken.strip() else np.zeros(0, np.float32)
        if not np.any(sound):
            raise InputError(
                "the voice finds nothing to say in a line",
                got=repr(line.written),
                remedy="remove the line",
            )
        pause = np.zeros(round(line.pause * RATE), np.float32)
        yield Speech(np.concatenate([sound[sounding(sound, RATE)], pause]), RATE)

    def _ask(self, text: str, job: Job) -> Samples:
        job.check()
        pace = round(_WORDS_PER_MINUTE * self._speed)
        # -z: no pause of its own at the end; -b 1: UTF-8
        command = [self._program, "--stdin", "--stdout", "-z", "-b", "1"]
        command += ["-v", self._variant, "-s", str(pace)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            job.begin(process.kill)
            try:
                wav, complaint = process.communicate(text.encode("utf-8"))
            finally:
                process.kill()  # does nothing to one that has ended
        job.check()
        words = complaint.decode("utf-8", "replace").strip()
        # A voice that does not exist is told on stderr only: the program still returns 0.
        if process.returncode or not wav:
            raise AssetError(
                f"{PROGRAM} cannot speak with the voice {self._variant}",
                got=words or f"exit code {process.returncode}",
                remedy="espeak-ng --voices=en lists its voices",
            )
        return _samples(wav)


def _program() -> str:
    found = find_espeak()
    if found is None:
        raise AssetError(
            "the voice espeak needs a program that is not installed",
            got=f"no {PROGRAM} in {os.environ.get('PATH', '')}",
            remedy=_INSTALL,
        )
    return found


def _samples(wav: bytes) -> Samples:
    """Sound of a WAV stream whose sizes are not to be believed: it was written to a pipe."""
    start = wav.find(b"data", 12) + 8
    sound_is_ours = (
        wav[:4] == b"RIFF"
        and start >= 44
        and struct.unpack_from("<HHI", wav, 20) == (1, 1, RATE)
        and struct.unpack_from("<H", wav, 34) == (16,)
    )
    if not sound_is_ours:
        raise AssetError(
            f"{PROGRAM} gave no sound that can be used",
            got=f"{len(wav)} bytes that begin with {wav[:12]!r}",
            wanted=f"WAV, mono, 16 bit, {RATE} Hz",
            remedy=_INSTALL,
        )
    whole = wav[start : len(wav) - (len(wav) - start) % 2]
    return np.frombuffer(whole, "<i2").astype(np.float32) / np.float32(32768)
