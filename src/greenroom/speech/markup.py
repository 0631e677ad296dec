"""From a script to its blocks: paragraphs, headings, bullets, pause marks, pronunciations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from greenroom.base.errors import InputError
from greenroom.speech.characters import clean
from greenroom.speech.lexicon import check_ipa

LONGEST_PAUSE = 60.0  # seconds; a longer rest is the rundown's matter
_WRAP = 50  # characters; lines that were broken by hand to a width are at least as wide

_RULE = re.compile(r"[ \t]*([-=*_~])(?:[ \t]*\1){2,}[ \t]*")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*")
_BULLET = re.compile(r"[ \t]*(?:(?:[-*+•◦▪‣·–—]|>)[ \t]+|>)+(?=\S)|[ \t]*(?=\d{1,2}[.)][ \t]+\S)")
_ENDS = re.compile(r"[.?!…:;][\"”’')\]]*\s*$|\]\s*$")
_INLINE = re.compile(
    r"\[(?P<word>[^\[\]\n]+)\]\((?:/(?P<ipa>[^/\n]*)/|(?P<link>[^()\s/][^()\s]*))\)"
    r"|\[{1,2}[ \t]*(?i:pause)[ \t:=]*(?P<pause>\d+(?:\.\d+)?|\.\d+)?"
    r"[ \t]*(?P<unit>ms|s|sec|seconds?)?[ \t]*\]{1,2}"
    r"|(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])"
    r"|(?<!\w)_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}(?!\w)|`+"
)
# A pause mark with a figure that _INLINE does not know: [pause -1], [pause 1,5], [pause 2 min].
_ODD_PAUSE = re.compile(r"\[{1,2}[ \t]*(?i:pause)\b[^\[\]\n]*\d[^\[\]\n]*\]{1,2}")


@dataclass(frozen=True, slots=True)
class Given:
    """A pronunciation that the author gives for the text from its place up to `end`."""

    end: int
    phonemes: str


@dataclass(slots=True)
class Block:
    """A stretch of text without markup; `pause` in seconds follows it, None = a paragraph's."""

    text: str
    given: dict[int, Given] = field(default_factory=dict)
    pause: float | None = None


def blocks(script: str, default_pause: float) -> list[Block]:
    """Cut a script into blocks; a pause mark before the first word is left out.

    Raises InputError for a pause that cannot be read or is longer than LONGEST_PAUSE, and for a
    pronunciation that is not IPA.
    """
    found: list[Block] = []
    for paragraph in _paragraphs(clean(script)):
        for block in _marked(paragraph, default_pause):
            if block.text.strip():
                found.append(block)
            elif found and block.pause is not None:
                found[-1].pause = _checked((found[-1].pause or 0.0) + block.pause)
    return found


def _paragraphs(text: str) -> Iterator[str]:
    """Lines joined where they were only wrapped; a heading or a bullet stands for itself."""
    rows = text.split("\n")
    width = max(map(len, rows))
    held: list[str] = []
    for row in rows:
        heading, bullet = _HEADING.fullmatch(row), _BULLET.match(row)
        ends = not row.strip() or _RULE.fullmatch(row) is not None
        if held and (ends or heading or bullet or not _is_wrapped(held[-1], row, width)):
            yield " ".join(held)
            held = []
        if heading:
            yield heading[1]
        elif not ends:
            held.append(row[bullet.end() :] if bullet else row)
    yield " ".join(held)


def _is_wrapped(above: str, row: str, width: int) -> bool:
    """Whether a line goes on in the next: its first word would not have fitted, or is small."""
    first = row.split()[0]
    if _ENDS.search(above):
        return False
    return first[0].islower() or len(above) + 1 + len(first) > max(width, _WRAP)


def _marked(paragraph: str, default_pause: float) -> Iterator[Block]:
    for odd in _ODD_PAUSE.finditer(paragraph):
        if not _INLINE.fullmatch(odd[0]):
            raise InputError(
                "a pause in the script cannot be read",
                got=odd[0][:40],
                wanted="[pause], [pause 1.5] or [pause 500 ms]",
            )
    block, end = Block(""), 0
    for mark in _INLINE.finditer(paragraph):
        block.text += paragraph[end : mark.start()]
        end = mark.end()
        if mark["word"]:
            _add_word(block, mark)
        elif "pause" in mark[0].lower():
            block.pause = _seconds(mark, default_pause)
            yield block
            block = Block("")
    block.text += paragraph[end:]
    yield block


def _add_word(block: Block, mark: re.Match[str]) -> None:
    start = len(block.text)
    word = mark["word"].strip()
    block.text += word
    if mark["ipa"] is not None and word:
        phonemes = check_ipa(mark["ipa"], f"[{mark['word']}]")
        block.given[start] = Given(len(block.text), phonemes)


def _seconds(mark: re.Match[str], default_pause: float) -> float:
    if not mark["pause"]:
        return default_pause
    seconds = float(mark["pause"]) / (1000 if mark["unit"] == "ms" else 1)
    return _checked(seconds)


def _checked(seconds: float) -> float:
    if seconds > LONGEST_PAUSE:
        raise InputError(
            "a pause in the script is too long",
            got=f"{seconds:g} seconds",
            wanted=f"at most {LONGEST_PAUSE:g} seconds",
        )
    return seconds
