"""Subtitles from the times of the spoken words: SubRip (.srt) or WebVTT (.vtt)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenroom.base.errors import OutputError
from greenroom.base.flow import Speech, Word

MAX_CHARACTERS = 74  # two lines of 37, as broadcasters use
MAX_SECONDS = 6.0


@dataclass(frozen=True, slots=True)
class Cue:
    """One subtitle: seconds from the start of the programme."""

    start: float
    end: float
    text: str


def cues_of(words: Sequence[Word]) -> list[Cue]:
    """Cues of one sentence: two lines at most and six seconds at most each."""
    cues: list[Cue] = []
    group: list[Word] = []
    for word in words:
        length = sum(len(w.text) + 1 for w in group) + len(word.text)
        if group and (length > MAX_CHARACTERS or word.end - group[0].start > MAX_SECONDS):
            cues.append(_cue(group))
            group = []
        group.append(word)
    if group:
        cues.append(_cue(group))
    return cues


def _cue(words: Sequence[Word]) -> Cue:
    return Cue(words[0].start, words[-1].end, _two_lines(" ".join(w.text for w in words)))


def _two_lines(text: str) -> str:
    """Break near the middle where one line would be too long."""
    if len(text) <= MAX_CHARACTERS // 2:
        return text
    gaps = [i for i, c in enumerate(text) if c == " "]
    if not gaps:
        return text
    middle = min(gaps, key=lambda i: abs(i - len(text) / 2))
    return f"{text[:middle]}\n{text[middle + 1 :]}"


def _clock(seconds: float, mark: str) -> str:
    ms = round(seconds * 1000)
    return f"{ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02}{mark}{ms % 1000:03}"


def srt(cues: Sequence[Cue]) -> str:
    return "".join(
        f"{i}\n{_clock(c.start, ',')} --> {_clock(c.end, ',')}\n{c.text}\n\n"
        for i, c in enumerate(cues, 1)
    )


def vtt(cues: Sequence[Cue]) -> str:
    body = "".join(
        f"{_clock(c.start, '.')} --> {_clock(c.end, '.')}\n{_escaped(c.text)}\n\n" for c in cues
    )
    return f"WEBVTT\n\n{body}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@dataclass(slots=True)
class SubtitleFile:
    """Hears the speech go by and writes the file at the end, whole or not at all."""

    path: Path
    _cues: list[Cue] = field(default_factory=list)
    _samples: int = 0

    def __post_init__(self) -> None:
        if self.path.suffix.lower() not in (".srt", ".vtt"):
            raise OutputError(
                "subtitles of this kind are not written",
                got=self.path.name,
                wanted="a name that ends in .srt or .vtt",
            )
        if not os.access(self.path.parent or Path("."), os.W_OK):
            raise OutputError(f"the folder {self.path.parent} cannot be written")

    def hear(self, speech: Speech) -> None:
        """A piece of speech, which is a sentence of the script."""
        begin = self._samples / speech.rate
        self._samples += len(speech.pcm)
        self._cues += cues_of([Word(w.text, begin + w.start, begin + w.end) for w in speech.words])

    def write(self) -> None:
        text = srt(self._cues) if self.path.suffix.lower() == ".srt" else vtt(self._cues)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
            os.replace(name, self.path)
        except OSError as error:
            Path(name).unlink(missing_ok=True)
            raise OutputError(
                f"the subtitles {self.path} cannot be written", got=error.strerror or str(error)
            ) from error
