"""Figures: money, per cent, temperatures, measures, scores, ranges, fractions, plain numbers."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

from greenroom.speech import numbers
from greenroom.speech.numbers import Locale, cardinal, number
from greenroom.speech.reading import Context, rule, words
from greenroom.speech.units import ATTACHED_ONLY, CLEAR_ALONE, CURRENCIES, SCALES, UNITS, unit_name

NUM = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|(?<![\w.])\.\d+)"
SIGN = r"(?:(?<![^\s(“\"'/])(?P<sign>[-–+])(?=[^\s]))?"
END = r"(?!\w|[.,]\d)"
_RANGE = rf"{SIGN}(?P<low>{NUM})(?:\s?[-–]\s?(?P<high>{NUM}))?"
_WORD_SCALE = r"(?:\s(?P<word_scale>hundred|thousand|million|billion|trillion)(?!\w))?"
_BIG = (
    r"(?:\s?(?:bn|bln|tn|trn|mn|mln)|[kKmMbBtT]"
    r"|\s(?:thousand|million|billion|trillion|lakh|crore))(?!\w)"
)


def _either(names: list[str] | dict[str, str]) -> str:
    return "|".join(re.escape(name).replace(r"\ ", r"\s") for name in sorted(names, key=len)[::-1])


_MARKS_BEFORE = "|".join(re.escape(mark) for mark in sorted(CURRENCIES, key=len)[::-1])
_CODES_AFTER = "€|USD|GBP|EUR|JPY|CNY|CHF|CAD|AUD"
_NOT_NOUNS = words(
    "a an and are as at before but by each every for from if in is less more of on or over per "
    "plus than that the to under was were which while will with"
)
_COSTLY = words(
    "bid bill budget cheque contract cost deal debt deficit donation fee fine fund grant "
    "investment jackpot loan loss package payout plan prize profit programme project question "
    "scheme tag"
)
_EVENTS = words("backstroke breaststroke butterfly dash freestyle hurdles race relay sprint")


def _sign(m: re.Match[str]) -> str:
    return {"+": "plus ", None: ""}.get(m["sign"], "minus ")


def _amount(m: re.Match[str], locale: Locale) -> str:
    high = f" to {number(m['high'], locale)}" if m["high"] else ""
    scale = m.groupdict().get("word_scale")
    return _sign(m) + number(m["low"], locale) + high + (f" {scale}" if scale else "")


def _is_one(m: re.Match[str]) -> bool:
    return m["low"] == "1" and not m["high"] and not m.groupdict().get("word_scale")


def _is_adjective(m: re.Match[str], context: Context) -> bool:
    """A ten kilometre run, a five dollar note, but ten kilometres of road."""
    if re.match(r"-(?!plus|a-|per-)[A-Za-z]", context.text[m.end() : m.end() + 5]):
        return True
    following = context.after(m.end())
    word = following.strip(".,;:?!").lower()
    if word in _COSTLY or word in _EVENTS:
        return True
    return (
        following[:1].isalpha()
        and word not in _NOT_NOUNS
        and context.before(m.start()).lower() in ("a", "an")
    )


@rule(
    rf"""{SIGN}(?P<mark>{_MARKS_BEFORE})\s?(?P<minus>[-–])?(?P<low>{NUM})(?P<low_scale>{_BIG})?
    (?:\s?[-–]\s?(?P=mark)?(?P<high>{NUM})(?P<high_scale>{_BIG})?)?{END}"""
)
def money(m: re.Match[str], context: Context) -> str | None:
    """$3.5bn, £1,200, US$5m, $3-5m, £3.20."""
    sign = "minus " if m["minus"] else _sign(m)
    return sign + _money(m, m["mark"], context)


@rule(rf"{_RANGE}(?P<low_scale>{_BIG})?\s?(?P<mark>{_CODES_AFTER})(?P<high_scale>){END}")
def money_after(m: re.Match[str], context: Context) -> str | None:
    """5m EUR, 20 €."""
    return _sign(m) + _money(m, m["mark"], context)


def _money(m: re.Match[str], mark: str, context: Context) -> str:
    currency, locale = CURRENCIES[mark], context.locale
    whole, _, cents = m["low"].partition(".")
    plain = not (m["high"] or m["low_scale"])
    if plain and len(cents) == 2 and currency.part:
        return _with_cents(whole or "0", int(cents), mark, locale)
    low = number(m["low"], locale) + _scale(m["low_scale"])
    high = f" to {number(m['high'], locale)}{_scale(m['high_scale'])}" if m["high"] else ""
    one = (plain and m["low"] == "1") or _is_adjective(m, context)
    return f"{low}{high} {currency.one if one else currency.many}"


def _scale(text: str | None) -> str:
    return f" {SCALES[text.strip().lower()]}" if text else ""


def _with_cents(whole: str, cents: int, mark: str, locale: Locale) -> str:
    currency = CURRENCIES[mark]
    part = f"{cardinal(cents, locale)} {currency.part if cents == 1 else currency.parts}"
    if not whole.strip("0,"):
        return part if cents else f"zero {currency.many}"
    unit = f"{number(whole, locale)} {currency.one if whole == '1' else currency.many}"
    if not cents:
        return unit
    if locale is Locale.GB and cents >= 10:
        return f"{unit} {cardinal(cents, locale)}"
    return f"{unit} and {part}"


@rule(rf"{_RANGE}(?P<part>p|c|¢){END}")
def small_change(m: re.Match[str], context: Context) -> str | None:
    """50p, 99c; 1080p is a picture format."""
    if m["part"] == "p" and m["low"] in ("480", "720", "1080", "2160", "4320"):
        return f"{numbers.model_number(m['low'], context.locale)} P"
    one, many = ("penny", "pence") if m["part"] == "p" else ("cent", "cents")
    return f"{_amount(m, context.locale)} {one if _is_one(m) else many}"


@rule(
    rf"{_RANGE}{_WORD_SCALE}(?:\s?%|\s?pct(?!\w)|pc(?!\w))(?P<points>[-\s](?:points?|pts?))?(?!\w)"
)
def percent(m: re.Match[str], context: Context) -> str | None:
    """1,234.5%; 2% points."""
    name = "percent"
    if m["points"]:
        name = "percentage point" if _is_one(m) else "percentage points"
    return f"{_amount(m, context.locale)} {name}"


@rule(
    rf"""{_RANGE}(?:\s?(?P<mark>°\s?[CFK](?!\w)|℃|℉|°\s?[NSEW](?!\w)|°)
    |(?P<letter>[CF])(?![\w-])){END}"""
)
def temperature(m: re.Match[str], context: Context) -> str | None:
    """−4°C, 72°F, 20°, 20C; 51°N is a place."""
    letter = (m["letter"] or unicodedata.normalize("NFKC", m["mark"]))[-1]
    name = {"C": " Celsius", "F": " Fahrenheit", "K": " Kelvin"}.get(letter) or {
        **{"N": " north", "S": " south", "E": " east", "W": " west"}
    }.get(letter, "")
    return f"{_amount(m, context.locale)} {'degree' if _is_one(m) else 'degrees'}{name}"


@rule(rf"{_RANGE}{_WORD_SCALE}(?P<space>[\s-])?(?P<unit>{_either(UNITS)})(?P<stop>){END}")
def measure(m: re.Match[str], context: Context) -> str | None:
    """90 km/h, 3–4 cm, 5kg; 5m people are five million."""
    if m["space"] and m["space"] != "-" and m["unit"] in ATTACHED_ONLY:
        return None
    if m["unit"] == "m" and not m["space"] and _are_millions(m, context):
        return f"{_amount(m, context.locale)} million"
    one = _is_one(m) or m["space"] == "-" or _is_adjective(m, context)
    return f"{_amount(m, context.locale)} {unit_name(m['unit'], context.locale, one=one)}"


_COUNTED = words(
    "people men women children homes jobs users voters viewers pounds dollars euros tonnes tons "
    "barrels strong doses households patients passengers customers workers refugees litres copies "
    "miles"
)


def _are_millions(m: re.Match[str], context: Context) -> bool:
    following = context.after(m.end()).strip(".,;:!?-")
    if following in _COUNTED or following + "s" in _COUNTED:
        return True
    small = "." in m["low"] or float(m["low"].replace(",", "")) < 50
    return small and following.endswith("s") and following not in _NOT_NOUNS


@rule(r"(?P<feet>\d+)(?:\s?ft\.?\s?|')(?P<inches>\d{1,2})(?:\s?in\b\.?|\"|”|'')")
def height(m: re.Match[str], context: Context) -> str | None:
    """6ft 2in, 5'10"."""
    return " foot ".join(cardinal(int(m[k]), context.locale) for k in ("feet", "inches"))


@rule(rf"(?P<unit>{_either(CLEAR_ALONE)})(?!\w)")
def bare_unit(m: re.Match[str], context: Context) -> str | None:
    """A unit without a number: in km/h."""
    return unit_name(m["unit"], context.locale, one=False)


@rule(rf"{_RANGE}(?P<scale>bn|bln|tn|trn|mn|mln|k){END}")
def scaled(m: re.Match[str], context: Context) -> str | None:
    """5bn, 10k, without a currency."""
    return f"{_amount(m, context.locale)} {SCALES[m['scale']]}"


@rule(r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,15})(?P<suffix>(?i:st|nd|rd|th))(?!\w)")
def ordinal(m: re.Match[str], context: Context) -> str | None:
    """3rd, 21st; but 11st is eleven stone."""
    teen = m["number"][-2:] in ("11", "12", "13")
    right = "th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(m["number"][-1], "th")
    if m["suffix"].lower() != right:
        return None
    return numbers.ordinal(int(m["number"].replace(",", "")), context.locale)


@rule(rf"(?P<low>{NUM})(?:x|×)(?P<high>{NUM})?{END}")
def times(m: re.Match[str], context: Context) -> str | None:
    """4x4, 1920×1080; 3x is three times."""
    low = number(m["low"], context.locale)
    return f"{low} by {number(m['high'], context.locale)}" if m["high"] else f"{low} times"


_PAIRS = {
    **{"9/11": "nine eleven", "7/7": "seven seven", "24/7": "twenty-four seven"},
    **{"50/50": "fifty fifty", "20/20": "twenty twenty"},
}


@rule(r"(?:(?P<whole>\d{1,6})\s)?(?P<top>\d{1,3})/(?P<bottom>\d{1,3})(?![\w/]|\.\d)")
def vulgar_fraction(m: re.Match[str], context: Context) -> str | None:
    """1/2, 2 1/2, 8/10; 24/7 and the like are names."""
    if m[0] in _PAIRS:
        return _PAIRS[m[0]]
    top, bottom = int(m["top"]), int(m["bottom"])
    if bottom == 10 and not m["whole"]:
        return f"{cardinal(top, context.locale)} out of ten"
    if not 0 < top < bottom or bottom > 100:
        return None if m["whole"] else _both(m["top"], m["bottom"], " ", context.locale)
    return _mixed(m["whole"], top, bottom, context.locale)


def _both(low: str, high: str, between: str, locale: Locale) -> str:
    return number(low, locale) + between + number(high, locale)


@rule(r"(?:(?P<whole>\d{1,6})\s?)?(?P<mark>[¼½¾⅐-⅞])")
def fraction_mark(m: re.Match[str], context: Context) -> str | None:
    """½, 3½."""
    value = Fraction(unicodedata.numeric(m["mark"])).limit_denominator(10)
    return _mixed(m["whole"], value.numerator, value.denominator, context.locale)


def _mixed(whole: str | None, top: int, bottom: int, locale: Locale) -> str:
    part = numbers.fraction(top, bottom, locale)
    if not whole:
        return part
    article = "an" if bottom == 8 else "a"
    part = part.replace("one ", f"{article} ", 1) if top == 1 else part
    return f"{number(whole, locale)} and {part}"


_SCORING = words(
    "won win wins winning lost lose loses beat beats beaten beating drew draw draws drawn defeat "
    "defeated victory score scores scored lead leads led leading loss vote voted down up ahead "
    "trail trailing trailed aggregate match game final ruling"
)
_ODDS = words("odds chance chances shot favourite favorite ratio")


@rule(r"(?P<low>\d{1,3})(?P<dash>[-–])(?P<high>\d{1,3})(?![\w]|[-–.,/:]\d|\s?[%°])")
def score(m: re.Match[str], context: Context) -> str | None:
    """2-1, 3-0; 10-15 is a range and left to `span`."""
    low, high = int(m["low"]), int(m["high"])
    if low != high and context.around(m.start(), m.end(), 12) & _ODDS:
        return None
    if low < high and not context.around(m.start(), m.end(), 40) & _SCORING:
        return None
    nil = "nil" if context.locale is Locale.GB else "zero"
    return " ".join(cardinal(n, context.locale) if n else nil for n in (low, high))


@rule(r"\d{1,2}(?:[-–]\d{1,2}){2,4}(?![\w-])")
def formation(m: re.Match[str], context: Context) -> str | None:
    """4-4-2."""
    return " ".join(number(part, context.locale) for part in re.split("[-–]", m[0]))


_ROUTES = {"boeing", "airbus", "flight", "route", "highway", "interstate", "room"}


@rule(r"\d{3}(?:-\d{1,3})?(?!\w|[.,-]\d)")
def route(m: re.Match[str], context: Context) -> str | None:
    """Boeing 747, Boeing 737-800, flight 101."""
    if context.before(m.start()).lower() not in _ROUTES:
        return None
    parts = m[0].split("-")
    return " ".join(numbers.model_number(part, context.locale) for part in parts)


@rule(rf"(?P<low>{NUM}):(?P<high>{NUM}){END}")
def ratio(m: re.Match[str], context: Context) -> str | None:
    """3:1, where it is no time of day."""
    return _both(m["low"], m["high"], " to ", context.locale)


@rule(rf"{_RANGE}{_WORD_SCALE}{END}")
def span(m: re.Match[str], context: Context) -> str | None:
    """10–15, 1,200, -4, 1.5."""
    return _amount(m, context.locale)


@rule(r"\d{1,15}(?:\.\d{1,15}){2,5}(?!\w)")
def version(m: re.Match[str], context: Context) -> str | None:
    """1.2.3."""
    return number(m[0], context.locale)
