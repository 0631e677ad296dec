"""From a block to pieces: every word, figure and mark with the way it is said."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum, auto

from greenroom.base.errors import InputError
from greenroom.speech import abbreviations, addresses, dates, figures, initialisms, numbers
from greenroom.speech.characters import MARKS, fold, greek_name, is_latin, plain, writing_system
from greenroom.speech.initialisms import shouted
from greenroom.speech.lexicon import Lexicon
from greenroom.speech.markup import Block
from greenroom.speech.numbers import Locale
from greenroom.speech.reading import Context, Rule

# The first rule that answers is taken: the narrower before the wider.
RULES: tuple[Rule, ...] = (
    addresses.web_address,
    addresses.email,
    addresses.hashtag,
    addresses.handle,
    addresses.short_number,
    dates.iso_date,
    dates.numeric_date,
    dates.short_date,
    addresses.telephone,
    figures.money,
    figures.money_after,
    figures.percent,
    figures.temperature,
    dates.decade,
    dates.duration,
    figures.height,
    dates.day_before_month,
    dates.day_after_month,
    figures.ordinal,
    figures.measure,
    figures.small_change,
    figures.scaled,
    dates.hour,
    dates.clock,
    figures.times,
    dates.years,
    dates.year,
    dates.short_year,
    figures.vulgar_fraction,
    figures.fraction_mark,
    figures.formation,
    figures.route,
    figures.score,
    figures.ratio,
    figures.span,
    figures.version,
    figures.bare_unit,
    initialisms.joined,
    initialisms.model,
    initialisms.letter_a,
    initialisms.letter_z,
    abbreviations.saint_or_street,
    abbreviations.doctor_or_drive,
    abbreviations.title,
    abbreviations.world_war,
    abbreviations.roman_numeral,
    abbreviations.numbered,
    abbreviations.number_without_stop,
    abbreviations.abbreviation,
    abbreviations.abbreviation_without_stop,
    abbreviations.against,
    dates.short_month,
    dates.short_day,
    initialisms.doctorate,
    initialisms.dotted,
    abbreviations.initial,
    initialisms.capitals,
)
_POSSESSIVE = re.compile(r"'s(?!\w)")
_FIGURES = re.compile("[0-9]+")


class Kind(Enum):
    """What a piece is: a word as it is written, something read otherwise, or a mark."""

    WORD = auto()
    READ = auto()
    MARK = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """Text from `start` to `end` and how it is said."""

    start: int
    end: int
    kind: Kind
    spoken: str
    phonemes: str = ""


def scan(block: Block, locale: Locale, lexicon: Lexicon) -> list[Piece]:
    """Cut a block into pieces that touch or are parted by white space, in order."""
    text = plain(block.text)
    context = Context(text, locale, shouted(text))
    pieces: list[Piece] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        piece = _given(block, text, position, lexicon) or _read(context, position)
        pieces.append(piece)
        position = piece.end
    return pieces


def _given(block: Block, text: str, position: int, lexicon: Lexicon) -> Piece | None:
    """What the author or the lexicon says, with the ending of a possessive."""
    if given := block.given.get(position):
        end, spoken, phonemes = given.end, fold(text[position : given.end]), given.phonemes
    elif entry := lexicon.match(text, position):
        end, spoken, phonemes = position + len(entry.written), entry.spoken, entry.phonemes
    else:
        return None
    if _POSSESSIVE.match(text, end):
        end, spoken, phonemes = end + 2, spoken + "'s", phonemes and _possessive(phonemes)
    return Piece(position, end, Kind.READ, _no_digits(spoken), phonemes)


def _possessive(phonemes: str) -> str:
    if phonemes[-1] in "szʃʒʧʤ":
        return phonemes + "ɪz"
    return phonemes + ("s" if phonemes[-1] in "ptkfθ" else "z")


def _no_digits(spoken: str) -> str:
    """The words of an author's own pronunciation, such as [4K](/fˈɔɹ kˈA/)."""
    return _FIGURES.sub(lambda m: f" {numbers.digits(m[0])} ", spoken).strip()


def _read(context: Context, position: int) -> Piece:
    text = context.text
    if not (position and text[position - 1].isalnum() and text[position].isalnum()):
        for rule in RULES:
            found = rule.pattern.match(text, position)
            if found and (spoken := rule.read(found, context)):
                _check_latin(spoken, found[0])
                ending = "'s" if _POSSESSIVE.match(text, found.end()) else ""
                return Piece(position, found.end() + len(ending), Kind.READ, spoken + ending)
    if text[position].isalpha():
        return _word(context, position)
    if found := _FIGURES.match(text, position):
        return Piece(position, found.end(), Kind.READ, numbers.number(found[0], context.locale))
    return _mark(text, position, context.locale)


def _word_end(text: str, position: int) -> int:
    """Letters with their accents, and apostrophes within."""
    end = position
    while end < len(text) and (text[end].isalpha() or unicodedata.combining(text[end])):
        end += 1
        if text[end : end + 1] == "'" and text[end + 1 : end + 2].isalpha():
            end += 1
    return end


def _word(context: Context, start: int) -> Piece:
    end = _word_end(context.text, start)
    word = context.text[start:end]
    if len(word) == 1 and (name := greek_name(word)):
        return Piece(start, end, Kind.READ, name)
    _check_latin(word, word)
    spoken = fold(word)
    if start in context.shouted and spoken != "I":
        spoken = spoken.lower()
    return Piece(start, end, Kind.WORD, spoken)


def _check_latin(spoken: str, written: str) -> None:
    foreign = next((c for c in spoken if c.isalpha() and not _is_readable(c)), "")
    if foreign:
        raise InputError(
            f"the script holds a word in {writing_system(foreign)}, which no voice here reads",
            got=written[:40],
            wanted="English text in Latin letters",
            remedy=f"give its pronunciation: [{written[:40]}](/IPA/), or leave it out",
        )


def _is_readable(char: str) -> bool:
    return is_latin(char) or unicodedata.category(char) in ("Lm", "Mn")


def _mark(text: str, position: int, locale: Locale) -> Piece:
    char = text[position]
    if char in ".?!":
        run = re.compile(r"\.{2,}|[.?!]+").match(text, position)
        assert run is not None
        return Piece(position, run.end(), Kind.MARK, _ending(run[0]))
    if text.startswith("--", position):
        end = position + len(text[position:]) - len(text[position:].lstrip("-"))
        return Piece(position, end, Kind.MARK, "—")
    if char.isnumeric():
        return Piece(position, position + 1, Kind.READ, _numeric(char, locale))
    return Piece(position, position + 1, Kind.MARK, char if char in "-\"'" else MARKS.get(char, ""))


def _ending(run: str) -> str:
    if len(run) > 1 and set(run) == {"."}:
        return "…"
    return "?" if "?" in run else run[0]


def _numeric(char: str, locale: Locale) -> str:
    if char in MARKS:
        return MARKS[char]
    value = unicodedata.numeric(char)
    return numbers.number(f"{value:.15g}" if value % 1 else str(int(value)), locale)
