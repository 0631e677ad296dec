"""Dates, years, decades and times of day."""

from __future__ import annotations

import re

from greenroom.speech import numbers
from greenroom.speech.numbers import Locale, cardinal, ordinal
from greenroom.speech.reading import Context, rule, words

MONTHS = [
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
]
_SHORT_MONTHS = {
    **{"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "Jun": 6, "Jul": 7, "Aug": 8},
    **{"Sept": 9, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12},
}
_DAYS = {
    **{"Mon": "Monday", "Tues": "Tuesday", "Tue": "Tuesday", "Wed": "Wednesday"},
    **{"Thurs": "Thursday", "Thur": "Thursday", "Thu": "Thursday", "Fri": "Friday"},
    **{"Sat": "Saturday", "Sun": "Sunday"},
}
CALENDAR = {*MONTHS, *_DAYS.values()}
_LONG_MONTH = "|".join([*MONTHS, *map(str.upper, MONTHS)])
_SHORT_MONTH = "|".join([*_SHORT_MONTHS, *map(str.upper, _SHORT_MONTHS)])
_MONTH = rf"(?:(?:{_LONG_MONTH})\b|(?:{_SHORT_MONTH})\b\.?)"
_IS_MONTH = re.compile(_MONTH)
_SUFFIX = "(?:st|nd|rd|th)?"
_HALF = r"(?P<half>[aApP](?:\.[mM]\.?|[mM])(?!\w))"
_ON = {"on", "since", "until", "by", "from", "before", "after", "dated"}
_AT = {"at", "from", "until", "till", "before", "after", "since"}
_ZONES = {"GMT", "BST", "UTC", "tonight"}
_NOT_TIMES = {"percent", "per", "hundred", "thousand", "million", "billion", "points", "degrees"}


def _spoken_date(day: int, month: int, year: int | None, before: str, locale: Locale) -> str:
    nth, name = ordinal(day, locale), MONTHS[month - 1]
    article = "" if before.lower() == "the" else "the "
    date = f"{article}{nth} of {name}" if locale is Locale.GB else f"{name} {nth}"
    return f"{date}, {numbers.year(year, locale)}" if year else date


def _day_and_month(first: int, second: int, locale: Locale) -> tuple[int, int] | None:
    """Day and month in the locale's order, in the other where only that is a date."""
    orders = [(first, second), (second, first)]
    if locale is Locale.US:
        orders.reverse()
    return next(((d, m) for d, m in orders if 1 <= d <= 31 and 1 <= m <= 12), None)


@rule(r"(?P<year>\d{4})(?P<mark>[-/])(?P<month>\d{2})(?P=mark)(?P<day>\d{2})(?![\w/-])")
def iso_date(m: re.Match[str], context: Context) -> str | None:
    """2026-10-12."""
    day, month = int(m["day"]), int(m["month"])
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return None
    return _spoken_date(day, month, int(m["year"]), context.before(m.start()), context.locale)


@rule(
    r"(?P<first>\d{1,2})(?P<mark>[/.-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})(?![\w/-])"
)
def numeric_date(m: re.Match[str], context: Context) -> str | None:
    """10/12/2026: October in en-US, December in en-GB."""
    if m["mark"] != "/" and len(m["year"]) == 2:
        return None
    found = _day_and_month(int(m["first"]), int(m["second"]), context.locale)
    if not found:
        return None
    year = int(m["year"]) + (2000 if len(m["year"]) == 2 else 0)
    return _spoken_date(*found, year, context.before(m.start()), context.locale)


@rule(r"(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\w/])")
def short_date(m: re.Match[str], context: Context) -> str | None:
    """On 10/12; elsewhere that may be a fraction."""
    before = context.before(m.start()).lower()
    found = _day_and_month(int(m["first"]), int(m["second"]), context.locale)
    if before not in _ON or not found or m[0] == "9/11":
        return None
    return _spoken_date(*found, None, before, context.locale)


@rule(
    rf"(?P<day>\d{{1,2}}){_SUFFIX}(?:\s?[-–]\s?(?P<last>\d{{1,2}}){_SUFFIX})?(?=\s(?P<of>of\s)?{_MONTH})"
)
def day_before_month(m: re.Match[str], context: Context) -> str | None:
    """12 October, 12–14 October, the 3rd of May."""
    if not 1 <= int(m["day"]) <= 31 or int(m["last"] or 1) > 31:
        return None
    nth = ordinal(int(m["day"]), context.locale)
    if m["last"]:
        nth += f" to the {ordinal(int(m['last']), context.locale)}"
    article = "" if context.before(m.start()).lower() in ("the", "a") else "the "
    return article + nth + ("" if m["of"] else " of")


@rule(rf"(?P<day>\d{{1,2}}){_SUFFIX}(?:[-–](?P<last>\d{{1,2}}){_SUFFIX})?(?![\w%°]|[.:,/-]\d)")
def day_after_month(m: re.Match[str], context: Context) -> str | None:
    """October 12, Oct. 12–14; but: in May 10 people."""
    month = context.before(m.start())
    if not _IS_MONTH.fullmatch(month) or not 1 <= int(m["day"]) <= 31:
        return None
    start = context.text.rfind(month, 0, m.start())
    if context.before(start).lower() == "in" and context.text[m.end() : m.end() + 1] != ",":
        return None
    article = "the " if context.locale is Locale.GB else ""
    days = [m["day"], m["last"]] if m["last"] else [m["day"]]
    return " to ".join(article + ordinal(int(day), context.locale) for day in days)


@rule(rf"(?P<name>{_SHORT_MONTH})(?P<dot>\.)?(?![\w.'])")
def short_month(m: re.Match[str], context: Context) -> str | None:
    """Oct. 12, 12 Oct; without its dot only beside a number."""
    after = context.after(m.end())
    beside = (
        after[:1].isdigit()
        or _IS_MONTH.match(after.lstrip("-–/"))
        or context.before(m.start())[:1].isdigit()
    )
    if not beside and (not m["dot"] or m["name"].title() in ("Mar", "Jun", "Jul")):
        return None
    return MONTHS[_SHORT_MONTHS[m["name"].title()] - 1]


@rule(rf"(?P<name>{'|'.join([*_DAYS, *map(str.upper, _DAYS)])})(?P<dot>\.)?(?![\w'])")
def short_day(m: re.Match[str], context: Context) -> str | None:
    """Mon., Tues., Mon-Fri; but not: in the sun."""
    after = re.match("[-–/]([A-Za-z]+)", context.text[m.end() : m.end() + 8])
    before = re.search("([A-Za-z]+)[-–/]$", context.text[max(0, m.start() - 8) : m.start()])
    joined = any(found and found[1].title() in _DAYS for found in (before, after))
    if not (m["dot"] or joined) or context.before(m.start()).lower() == "the":
        return None
    return _DAYS[m["name"].title()]


@rule(r"(?P<first>1[1-9]\d\d|20\d\d)(?P<mark>[-–/])(?P<last>\d{4}|\d\d)(?![\w/-]|[.,]\d)")
def years(m: re.Match[str], context: Context) -> str | None:
    """1914–18, 2024-25, 1939–1945; a season 2024/25."""
    first, last = int(m["first"]), int(m["last"])
    if len(m["last"]) == 4:
        end = numbers.year(last, context.locale)
    elif m["last"] == "00":
        end = numbers.year(first // 100 * 100 + 100, context.locale)
    else:
        end = ("oh " if last < 10 else "") + cardinal(last, context.locale)
    middle = " " if m["mark"] == "/" else " to "
    return numbers.year(first, context.locale) + middle + end


@rule(r"(?:(?P<century>1\d|20|21)(?P<decade>\d)0|'?(?P<short>[2-9])0)'?s(?!\w)")
def decade(m: re.Match[str], context: Context) -> str | None:
    """1990s, '90s, in her 50s, the 1800s, the 2000s."""
    if m["short"]:
        return numbers.plural(cardinal(int(m["short"]) * 10, context.locale))
    century = int(m["century"])
    if m["decade"] == "0":
        return "two thousands" if century == 20 else f"{cardinal(century, context.locale)} hundreds"
    tens = cardinal(int(m["decade"]) * 10, context.locale)
    return f"{cardinal(century, context.locale)} {numbers.plural(tens)}"


@rule(r"'(?P<year>\d\d)(?![\w'])")
def short_year(m: re.Match[str], context: Context) -> str | None:
    """The summer of '68."""
    value = int(m["year"])
    return ("oh " if value < 10 else "") + cardinal(value, context.locale)


_COUNTED = words(
    "people men women children homes houses jobs troops soldiers workers staff students miles "
    "kilometres kilometers metres meters tonnes tons pounds dollars euros votes points words seats"
)


@rule(r"(?P<year>1[0-9]\d\d|2[01]\d\d)(?P<of>'s)?(?!\w|[.,:/]\d|[-–]\d)")
def year(m: re.Match[str], context: Context) -> str | None:
    """2026, 1905; years far off only after a word such as in; 1500 people are no year."""
    value, before = int(m["year"]), context.before(m.start()).lower()
    if context.after(m.end()).strip(".,;:?!") in _COUNTED and before not in ("in", "since"):
        return None
    if not 1100 <= value < 2100 and before not in ("in", "since", "by", "until", "year", "of"):
        return None
    return numbers.year(value, context.locale) + (m["of"] or "")


@rule(rf"""(?P<hour>\d{{1,2}})(?P<mark>[:.])(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:\s?{_HALF})?
    (?!\w|[.,:/]\d|\s?%)""")
def clock(m: re.Match[str], context: Context) -> str | None:
    """21:30, 9:05, 9.30pm; 9.30 only after at and the like, in en-GB."""
    hour, minute = int(m["hour"]), int(m["minute"])
    if hour > 24 or minute > 59 or (m["mark"] == "." and not (m["half"] or _is_time(m, context))):
        return None
    words = _time(hour, minute, bool(m["half"]), context.locale)
    if m["second"]:
        words += f" and {cardinal(int(m['second']), context.locale)} seconds"
    return words + _half(m["half"])


def _is_time(m: re.Match[str], context: Context) -> bool:
    """9.30 with neither colon nor half: British newsrooms write it so."""
    if re.match(rf"\s?[-–]\s?\d{{1,2}}[.:]\d\d\s?{_HALF}", context.text[m.end() : m.end() + 12]):
        return True
    after = context.after(m.end()).strip(".,")
    british = context.locale is Locale.GB and context.before(m.start()).lower() in _AT
    return after in _ZONES or (british and after not in _NOT_TIMES)


def _time(hour: int, minute: int, has_half: bool, locale: Locale) -> str:
    if hour in (0, 24):
        return _past_midnight(minute, locale)
    if minute:
        low = "oh " if minute < 10 else ""
        return f"{cardinal(hour, locale)} {low}{cardinal(minute, locale)}"
    if has_half:
        return cardinal(hour, locale)
    return cardinal(hour, locale) + (" o'clock" if hour < 13 else " hundred")


def _past_midnight(minute: int, locale: Locale) -> str:
    if minute in (0, 30):
        return "half past midnight" if minute else "midnight"
    return f"{cardinal(minute, locale)} minute{'s' if minute > 1 else ''} past midnight"


def _half(text: str | None) -> str:
    if not text:
        return ""
    return " ay M" if text[0] in "aA" else " P M"


@rule(rf"(?P<first>\d{{1,2}})(?:\s?[-–]\s?(?P<last>\d{{1,2}}))?\s?{_HALF}")
def hour(m: re.Match[str], context: Context) -> str | None:
    """9am, 5 p.m., 9-11am."""
    hours = [int(h) for h in (m["first"], m["last"]) if h]
    if max(hours) > 24:
        return None
    return " to ".join(cardinal(h, context.locale) for h in hours) + _half(m["half"])


@rule(r"(?P<hours>\d{1,3})h\s?(?P<minutes>\d{1,2})m(?:in)?(?!\w)")
def duration(m: re.Match[str], context: Context) -> str | None:
    """2h 15m."""
    parts = []
    for name in ("hour", "minute"):
        value = int(m[f"{name}s"])
        parts.append(f"{cardinal(value, context.locale)} {name}{'' if value == 1 else 's'}")
    return " ".join(parts)
