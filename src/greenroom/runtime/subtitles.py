"""Subtitles from the times of the spoken words: SubRip (.srt) or WebVTT (.vtt)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from greenroom.base.flow import Speech, Word
from greenroom.encode.target import Draft

MAX_CHARACTERS = 74  # two lines of 37, as broadcasters use
MAX_SECONDS = 6.0
SUFFIXES = (".srt", ".vtt")


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


class SubtitleFile:
    """Hears the speech go by and writes the file at the end, whole or not at all.

    What is wrong with the path is an OutputError here, before any work. `write` prepares the file
    under a hidden name, `commit` puts it in its place; left without it, there is no trace.
    """

    def __init__(self, path: str | os.PathLike[str], *, no_clobber: bool = False) -> None:
        self._draft = Draft(path, SUFFIXES, no_clobber=no_clobber)
        self.given, self.target = self._draft.given, self._draft.target
        self._cues: list[Cue] = []
        self._samples = 0

    def hear(self, speech: Speech) -> None:
        """A piece of speech, which is a sentence of the script."""
        begin = self._samples / speech.rate
        self._samples += len(speech.pcm)
        self._cues += cues_of([Word(w.text, begin + w.start, begin + w.end) for w in speech.words])

    def write(self) -> None:
        text = srt(self._cues) if self._draft.suffix == ".srt" else vtt(self._cues)
        try:
            self._draft.path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise self._draft.error(error) from error

    def commit(self) -> None:
        self._draft.commit()

    def __enter__(self) -> SubtitleFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._draft.discard()  # nothing after commit
