"""A script as a newsreader reads it: plain text to lines and pauses."""

from __future__ import annotations

import codecs
import re

from greenroom.base.errors import InputError
from greenroom.base.flow import Line, Span
from greenroom.base.presets import PausePreset
from greenroom.speech.characters import plain
from greenroom.speech.lexicon import Lexicon, load_lexicon
from greenroom.speech.markup import Block, blocks
from greenroom.speech.numbers import Locale
from greenroom.speech.scan import scan
from greenroom.speech.sentences import sentences, split_long

__all__ = ["Lexicon", "decode_script", "load_lexicon", "read_script"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, ""),  # begins like UTF-16 LE
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode_script(data: bytes) -> str:
    """The text of a script file: UTF-8 with or without a byte order mark, UTF-16 with one.

    Line ends become \n. Raises InputError for anything else.
    """
    bom, encoding = next(((b, e) for b, e in _BOMS if data.startswith(b)), (b"", "utf-8"))
    try:
        text = data[len(bom) :].decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in data and not bom:
            raise _binary(data) from error
        raise InputError(
            "the script is in an encoding that cannot be read",
            got=f"bytes that are no {encoding.upper()}, first at byte {error.start + len(bom)}",
            wanted="UTF-8, or UTF-16 with a byte order mark",
            remedy="save it as UTF-8",
        ) from error
    if re.search("[\0-\x08\x0e-\x1a\x1c-\x1f]", text):
        raise _binary(data)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _binary(data: bytes) -> InputError:
    return InputError(
        "the script is not text",
        got=f"binary data that begins with {data[:8].hex(' ')}",
        wanted="a plain text file in UTF-8 or UTF-16",
    )


def read_script(
    text: str,
    *,
    locale: str = "en-US",
    lexicon: Lexicon | None = None,
    pauses: PausePreset | None = None,
) -> list[Line]:
    """Lines in order, one sentence each, with the pause after it in seconds.

    `written` of all spans is the script again but for white space, markup and emoji; `spoken` is
    what a voice says, without figures. Raises InputError where nothing can be read: no words, a
    writing system other than Latin, a word of hundreds of letters.
    """
    pauses = pauses or PausePreset()
    found = blocks(text, pauses.paragraph)
    spoken_locale = _locale(locale)
    lines = [
        line
        for block in found
        for line in _lines(block, spoken_locale, lexicon or Lexicon(), pauses)
    ]
    if not lines:
        raise _nothing_to_read(text)
    if found[-1].pause is None:
        lines[-1] = Line(lines[-1].spans, pauses.last)
    return lines


def _lines(block: Block, locale: Locale, lexicon: Lexicon, pauses: PausePreset) -> list[Line]:
    found = sentences(scan(block, locale, lexicon), block.text, plain(block.text))
    lines: list[Line] = []
    for spans in found:
        parts = list(split_long(spans))
        lines += [_line(part, pauses.clause) for part in parts[:-1]]
        lines.append(_line(parts[-1], pauses.sentence))
    if lines:
        pause = pauses.paragraph if block.pause is None else block.pause
        lines[-1] = Line(lines[-1].spans, pause)
    return lines


def _line(spans: list[Span], pause: float) -> Line:
    return Line(tuple(spans), pause)


def _locale(name: str) -> Locale:
    try:
        return Locale(name)
    except ValueError:
        known = ", ".join(Locale)
        raise InputError("no such locale", got=repr(name), wanted=f"one of {known}") from None


def _nothing_to_read(text: str) -> InputError:
    rest = "".join(filter(str.isprintable, "".join(text.split())))
    if not rest:
        return InputError("the script is empty", remedy="write at least one word")
    kind = "punctuation" if any(c in ".,;:!?-–—…\"'()[]*#_" for c in rest) else "symbols or emoji"
    return InputError(
        f"the script holds only {kind}", got=repr(rest[:20]), remedy="write at least one word"
    )
