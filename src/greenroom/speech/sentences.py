"""From pieces to spans, sentences and lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenroom.base.errors import InputError
from greenroom.base.flow import Span
from greenroom.speech.abbreviations import NEVER_LAST
from greenroom.speech.dates import CALENDAR, MONTHS
from greenroom.speech.reading import words
from greenroom.speech.scan import Kind, Piece

LONGEST = 350  # characters of spoken text; about as many phonemes, and the voice takes 510

_CLOSERS = frozenset([*"”\"')", ""])
_OPENERS = frozenset([*"“\"'(", ""])
_STARTERS = words(
    """
    A An The In On At By For From With Without To Of He She It They We You I This That These Those
    There Here But And Or So If When While As After Before Since Until Although Though Because
    However Meanwhile Now Then Today Yesterday Tomorrow Tonight Later Earlier Also Still Yet Both
    Some Many Most All Several More What Who Why How Where His Her Their Our Its My Your Not No Yes
    Officials Police Mr Mrs Ms Dr Under Over About During Between Among Despite According
    """
)
_AFTER_TIMES = words(
    "GMT BST UTC CET CEST EST EDT PST PDT CST CDT ET PT CT Eastern Central Pacific British "
    "Greenwich Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
) | set(MONTHS)


_LEADING = re.compile(r"^[-—,;:.?!)”\s]+(?=\S)")
_SPACE_BEFORE = re.compile(r"\s+([,.?!;:…”)])")


@dataclass(slots=True)
class Chunk:
    """Pieces that no white space parts; what becomes a span."""

    pieces: list[Piece]
    ends: bool = False  # whether a sentence ends here

    @property
    def last(self) -> Piece:
        """The last piece that is no closing quote or bracket."""
        outer = (p for p in reversed(self.pieces) if not _is_mark(p, _CLOSERS))
        return next(outer, self.pieces[-1])

    def opening(self, text: str) -> str:
        """The text of the first piece that is no opening quote or bracket."""
        inner = (p for p in self.pieces if not _is_mark(p, _OPENERS))
        first = next(inner, self.pieces[0])
        return text[first.start : first.end]


def _is_mark(piece: Piece, among: frozenset[str]) -> bool:
    return piece.kind is Kind.MARK and piece.spoken in among


def sentences(pieces: list[Piece], written: str, text: str) -> list[list[Span]]:
    """Spans, sentence by sentence; `text` is the plain form of `written`.

    A sentence holds at least one word, so that marks alone give no sentence.
    """
    chunks = _chunks(pieces)
    for chunk, following in zip(chunks, [*chunks[1:], None], strict=True):
        chunk.ends = _is_end(chunk, following, text)
    if len(chunks) > 1 and _is_list_number(chunks[0], text):
        chunks[0].ends = False
    found: list[list[Span]] = [[]]
    for chunk in chunks:
        found[-1] += _spans(chunk, written, text)
        if chunk.ends and _is_sentence(found[-1]):
            found.append([])
    rest = found.pop()
    if found and not _is_sentence(rest):
        found[-1] += rest
    else:
        found.append(rest)
    return [_merged(spans) for spans in found if _is_sentence(spans)]


def _is_sentence(spans: list[Span]) -> bool:
    """Whether there is a word: symbols alone, such as a row of plus signs, are not read."""
    return any(_has_word(s) and any(map(str.isalnum, s.written)) for s in spans)


def _chunks(pieces: list[Piece]) -> list[Chunk]:
    chunks: list[Chunk] = []
    for piece in pieces:
        if chunks and chunks[-1].pieces[-1].end == piece.start:
            chunks[-1].pieces.append(piece)
        else:
            chunks.append(Chunk([piece]))
    return chunks


def _is_end(chunk: Chunk, following: Chunk | None, text: str) -> bool:
    if following is None:
        return True
    last, word = chunk.last, following.opening(text)
    if last.kind is Kind.MARK:
        ends = bool(last.spoken) and last.spoken in ".?!…" and not word[0].islower()
        return ends and not (last.spoken == "…" and word == "I")
    if not text[last.start : last.end].endswith(".") or last.spoken in NEVER_LAST:
        return False
    if last.spoken.endswith((" M", "cetera", "al")):
        return word[0].isupper() and word not in _AFTER_TIMES
    return word in _STARTERS or (word.isupper() and word.title() in _STARTERS)


def _is_list_number(chunk: Chunk, text: str) -> bool:
    """The number of an item, such as 1. at the start of a block."""
    return text[chunk.pieces[0].start : chunk.pieces[-1].end].rstrip(".").isdigit()


def _spans(chunk: Chunk, written: str, text: str) -> Iterator[Span]:
    """One span, or several where a piece has phonemes of its own."""
    for group in _groups(chunk.pieces):
        last = next((p for p in reversed(group) if p.kind is not Kind.MARK), group[-1])
        stop = chunk.ends and last is chunk.last and text[last.end - 1] == "."
        spoken = _said(group, text, "." if stop and last.kind is Kind.READ else "")
        phonemes = next((p.phonemes for p in group if p.phonemes), "")
        yield Span(written[group[0].start : group[-1].end], spoken, phonemes)


def _groups(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """A piece with phonemes of its own stands apart from other words, not from marks."""
    group: list[Piece] = []
    word: Piece | None = None  # the last one of the group
    for piece in pieces:
        if _is_word(piece):
            if word and (word.phonemes or piece.phonemes):
                yield group
                group = []
            word = piece
        group.append(piece)
    yield group


def _is_word(piece: Piece) -> bool:
    return piece.kind is not Kind.MARK


def _said(pieces: list[Piece], text: str, stop: str) -> str:
    """Join what is said: marks stick to words, words are parted by spaces."""
    said = ""
    for index, piece in enumerate(pieces):
        before = pieces[index - 1] if index else None
        after = pieces[index + 1] if index + 1 < len(pieces) else None
        if piece.kind is Kind.MARK:
            said += _mark(piece, before, after, text)
        else:
            space = "" if not said or said[-1] in " -“(" else " "
            said += space + piece.spoken
        if stop and piece is next(p for p in reversed(pieces) if p.kind is not Kind.MARK):
            said += stop
    return _SPACE_BEFORE.sub(r"\1", " ".join(said.split()))


def _mark(piece: Piece, before: Piece | None, after: Piece | None, text: str) -> str:
    mark = piece.spoken
    if mark == "'":
        return ""
    if text[piece.start] in "-–" and mark in "-—" and piece.end == piece.start + 1:
        return _dash(before, after, text)
    if mark == '"':
        return "“" if after and (not before or not _is_word(before)) else "”"
    if mark == "—" or (mark and mark[0].isalpha()):
        return f" {mark} "
    if mark in ("“", "("):
        return f" {mark}"
    return mark or " "


def _dash(before: Piece | None, after: Piece | None, text: str) -> str:
    """A hyphen in a word, "to" between figures, a pause where it stands alone."""
    if not (before or after):
        return "—"
    if not (before and after):
        return " "
    sides = (before, after)
    both = all(re.search(r"\d", text[p.start : p.end]) for p in sides)
    both = both or all(p.spoken in CALENDAR for p in sides)
    if both:
        return " to "
    return "-" if before.kind is after.kind is Kind.WORD else " "


def _has_word(span: Span) -> bool:
    return any(char.isalpha() for char in span.spoken + span.phonemes)


def _merged(spans: list[Span]) -> list[Span]:
    """Marks that stand alone belong to the word before them, or to the first."""
    merged: list[Span] = []
    for span in spans:
        if merged and not (_has_word(span) and _has_word(merged[-1])):
            merged[-1] = _join(merged[-1], span)
        else:
            merged.append(span)
    first = merged[0]
    spoken = _LEADING.sub("", first.spoken)
    return [Span(first.written, spoken, first.phonemes), *merged[1:]]


def _join(first: Span, second: Span) -> Span:
    spoken = f"{first.spoken} {second.spoken}".strip()
    return Span(
        f"{first.written} {second.written}",
        _SPACE_BEFORE.sub(r"\1", spoken),
        first.phonemes or second.phonemes,
    )


_JOINTS = words(
    "and but or which who that because while when where as after before with for in on to"
)


def split_long(spans: list[Span]) -> Iterator[list[Span]]:
    """Cut a sentence that no voice could say at once, at the best joint, into like parts.

    Raises InputError where a single word is too long.
    """
    total = sum(map(_length, spans))
    if total <= LONGEST:
        yield spans
        return
    cut = _best_cut(spans, total / -(-total // LONGEST))
    yield from split_long(spans[:cut])
    yield from split_long(spans[cut:])


def _length(span: Span) -> int:
    length = max(len(span.spoken), len(span.phonemes)) + 1
    if length > LONGEST:
        raise InputError(
            "a word of the script is too long to be said",
            got=f"{span.written[:40]}…",
            wanted=f"at most {LONGEST} letters as it is spoken",
        )
    return length


def _best_cut(spans: list[Span], target: float) -> int:
    """How many spans to take: near the target, by a comma rather than in mid-clause."""
    best, chosen, length = float("-inf"), 1, 0
    for index in range(1, len(spans)):
        length += _length(spans[index - 1])
        if length > LONGEST:
            break
        value = _joint(spans[index - 1], spans[index]) - abs(length - target) / target
        if value > best:
            best, chosen = value, index
    return chosen


def _joint(before: Span, after: Span) -> float:
    if before.spoken.endswith((".", "?", "!", ";", ":", "—", "…", "”")):
        return 0.9
    if before.spoken.endswith(","):
        return 0.7
    return 0.3 if after.spoken in _JOINTS else 0.0
