"""Single characters: what is dropped, what they stand for, how they fold to plain letters."""

from __future__ import annotations

import re
import unicodedata

_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u231a-\u23ff\u25a0-\u25ff"
    "\ufe00-\ufe0f\u20e3\U000e0000-\U000e007f]"
)
_INVISIBLE = {"Cf", "Co", "Cn", "Cs"}  # soft hyphens, joiners, direction marks, private use
_THOUSANDS_SPACE = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_ROUND_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?: \d{3}){0,4} 000(?!\d)")

_SAME_AS = {
    **dict.fromkeys("\u2010\u2011\u2212\ufe63\uff0d", "-"),  # hyphens and the true minus
    **dict.fromkeys("\u2012\u2013", "–"),
    **dict.fromkeys("\u2014\u2015", "—"),
    **dict.fromkeys("‘’‛ʼʹʻ′`´", "'"),
    **dict.fromkeys("„‟«〝", "“"),
    **dict.fromkeys("»〞″", "”"),
    "º": "°",
}
_UNFOLDED = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ß": "ss", "æ": "ae", "Æ": "Ae"}
    | {"œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th", "ð": "d", "Ð": "D", "ı": "i", "ə": "e"}
)
_SYSTEMS = {"Cjk": "Chinese characters (CJK)", "Hangul": "Korean (Hangul)"}

# How a mark that stands alone is said: punctuation the voice hears, words, or nothing at all.
MARKS = {
    **{mark: mark for mark in ",.?!;:—…“”()"},
    **{"–": "—", "[": "(", "]": ")", "{": "(", "}": ")"},
    **{"&": "and", "+": "plus", "=": "equals", "%": "percent", "‰": "per mille", "@": "at"},
    **{"°": "degrees", "℃": "degrees Celsius", "℉": "degrees Fahrenheit", "№": "number"},
    **{
        "×": "times",
        "÷": "divided by",
        "±": "plus or minus",
        "≈": "about",
        "~": "about",
        "§": "section",
    },
    **{"$": "dollars", "£": "pounds", "€": "euros", "¥": "yen", "¢": "cents", "₹": "rupees"},
    **{"²": "squared", "³": "cubed", "≥": "at least", "≤": "at most", "∞": "infinity"},
}


def clean(text: str) -> str:
    """Drop what is neither read nor shown: emoji, soft hyphens, controls; line ends become \\n."""
    text = re.sub("\r\n?|[\v\f\x85\u2028]", "\n", text).replace("\u2029", "\n\n")
    text = _EMOJI.sub("", text)
    return "".join(char for char in text if char in "\n\t" or _is_shown(char))


def _is_shown(char: str) -> bool:
    return unicodedata.category(char) not in _INVISIBLE | {"Cc"}


def plain(text: str) -> str:
    """The same text, character by character, with look-alikes made one: the length stays."""
    text = _THOUSANDS_SPACE.sub(",", text)
    text = _ROUND_THOUSANDS.sub(lambda m: m[0].replace(" ", ","), text)
    return "".join(map(_plain_char, text))


def _plain_char(char: str) -> str:
    if char.isascii():
        return char
    if char in _SAME_AS:
        return _SAME_AS[char]
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if unicodedata.decomposition(char).startswith("<super>"):
        return char  # 10² is not 102
    compatible = unicodedata.normalize("NFKC", char)
    same_kind = len(compatible) == 1 and compatible.isspace() == char.isspace()
    return compatible if same_kind else char


def fold(word: str) -> str:
    """Letters without accents, as the voice's dictionary spells them."""
    return "".join(map(_fold_char, word.translate(_UNFOLDED)))


def _fold_char(char: str) -> str:
    if char.isascii() or (char.isalpha() and not is_latin(char)):
        return char
    parts = unicodedata.normalize("NFKD", char)
    return "".join(part for part in parts if not unicodedata.combining(part))


def is_latin(char: str) -> bool:
    return char.isascii() or unicodedata.name(char, "").startswith("LATIN ")


def writing_system(char: str) -> str:
    """The name of the writing system of a letter, such as Cyrillic."""
    first = unicodedata.name(char, "unknown").split()[0].capitalize()
    return _SYSTEMS.get(first, first)


def greek_name(char: str) -> str:
    """How a single Greek letter is called, or "" for any other character."""
    name = unicodedata.name(char, "")
    if not name.startswith("GREEK ") or " LETTER " not in name:
        return ""
    return name.split(" LETTER ")[1].split()[-1 if "FINAL" in name else 0].lower()
