"""Numbers as words: cardinals, ordinals, years, decimals, fractions, digits, Roman numerals."""

from __future__ import annotations

import re
from enum import StrEnum

_LONGEST = 15  # digits; a longer whole number is read digit by digit
_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ROMAN = re.compile(r"M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


class Locale(StrEnum):
    """Whose newsroom English."""

    US = "en-US"
    GB = "en-GB"


def _words(value: int, form: str, locale: Locale) -> str:
    from num2words import num2words

    words = str(num2words(value, to=form)).replace(",", "").replace("oh-", "oh ")
    return words if locale is Locale.GB else words.replace(" and ", " ")


def cardinal(value: int, locale: Locale) -> str:
    """1205 -> one thousand two hundred (and) five; the "and" is British."""
    return _words(value, "cardinal", locale)


def ordinal(value: int, locale: Locale) -> str:
    """21 -> twenty-first."""
    return _words(value, "ordinal", locale)


def year(value: int, locale: Locale) -> str:
    """1905 -> nineteen oh five; 2026 -> twenty twenty-six."""
    return _words(value, "year", locale)


def digits(text: str, zero: str = "zero") -> str:
    """One word for each digit; other characters are passed over."""
    return " ".join(_ONES[int(d)] if d != "0" else zero for d in text if "0" <= d <= "9")


def number(text: str, locale: Locale) -> str:
    """Read figures as written: 1,234.5, .5, 007; also more than one point, as in 1.2.3."""
    whole, *places = text.replace(",", "").split(".")
    words = [_whole(whole, locale)] if whole else []
    if len(places) > 1:
        words += [f"point {_whole(part, locale)}" for part in places]
    elif places:
        words += ["point", digits(places[0])]
    return " ".join(words)


def _whole(text: str, locale: Locale) -> str:
    if len(text) > _LONGEST or (len(text) > 1 and text.startswith("0")):
        return digits(text)
    return cardinal(int(text), locale)


def model_number(text: str, locale: Locale) -> str:
    """The number of a road, a flight, an aircraft: 380 -> three eighty, 101 -> one oh one."""
    if text.startswith("0") or len(text) > 4:
        return digits(text)
    head, tail = text[:-2], text[-2:]
    if not head or text.endswith("00"):
        return cardinal(int(text), locale)
    last = f"oh {digits(tail[1])}" if tail.startswith("0") else cardinal(int(tail), locale)
    return f"{cardinal(int(head), locale)} {last}"


def fraction(top: int, bottom: int, locale: Locale) -> str:
    """3/4 -> three quarters."""
    name = {2: "half", 4: "quarter"}.get(bottom) or ordinal(bottom, locale)
    if top != 1:
        name = "halves" if bottom == 2 else plural(name)
    return f"{cardinal(top, locale)} {name}"


def plural(words: str) -> str:
    """twenty -> twenties, six -> sixes, sixteen -> sixteens."""
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith(("x", "s", "ch")) else "s")


def roman(text: str) -> int | None:
    """XIV -> 14; None where the letters are no Roman numeral in its usual form."""
    if not text or not _ROMAN.fullmatch(text):
        return None
    values = [_ROMAN_VALUES[letter] for letter in text]
    following = [*values[1:], 0]
    return sum(-v if v < after else v for v, after in zip(values, following, strict=True))
