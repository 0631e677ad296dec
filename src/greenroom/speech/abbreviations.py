"""Abbreviations with a full stop, titles, saints and streets, and Roman numerals."""

from __future__ import annotations

import re

from greenroom.speech import numbers
from greenroom.speech.initialisms import INITIALISMS, letter
from greenroom.speech.numbers import cardinal, ordinal
from greenroom.speech.reading import Context, rule, words

_TITLES = {
    **{"Mr": "mister", "Mrs": "missus", "Ms": "miz", "Messrs": "messers", "Prof": "professor"},
    **{"Gen": "general", "Lt": "lieutenant", "Col": "colonel", "Maj": "major", "Capt": "captain"},
    **{"Sgt": "sergeant", "Cpl": "corporal", "Pvt": "private", "Adm": "admiral"},
    **{"Cmdr": "commander", "Sen": "senator", "Rep": "representative", "Gov": "governor"},
    **{"Pres": "president", "Rev": "reverend", "Hon": "honorable", "Supt": "superintendent"},
    **{
        "Brig": "brigadier",
        "Insp": "inspector",
        "Det": "detective",
        "Fr": "father",
        "Mt": "mount",
        "Ft": "fort",
    },
}
_WITHOUT_STOP = {"Mr", "Mrs", "Ms", "Messrs", "Prof", "Lt", "Col", "Capt", "Sgt", "Maj", "Mt"}
_NUMBERED = {  # before a figure or a Roman numeral
    **{"no.": "number", "nos.": "numbers", "ch.": "chapter", "vol.": "volume", "fig.": "figure"},
    **{"sec.": "section", "art.": "article", "p.": "page", "pp.": "pages", "pt.": "part"},
    **{
        "ext.": "extension",
        "tel.": "telephone",
        "c.": "circa",
        "ca.": "circa",
        "est.": "established",
    },
}
_PLAIN = {
    **{"e.g.": "for example", "i.e.": "that is", "etc.": "et cetera", "vs.": "versus"},
    **{"approx.": "approximately", "dept.": "department", "govt.": "government"},
    **{"incl.": "including", "esp.": "especially", "min.": "minimum", "max.": "maximum"},
    **{"assn.": "association", "intl.": "international", "natl.": "national", "al.": "al"},
    **{
        "a.k.a.": "also known as",
        "a.m.": "ay M",
        "p.m.": "P M",
        "A.M.": "ay M",
        "P.M.": "P M",
        "viz.": "namely",
    },
    **{"Inc.": "incorporated", "Ltd.": "limited", "Co.": "company", "Corp.": "corporation"},
    **{"Bros.": "brothers", "Jr.": "junior", "Sr.": "senior", "Esq.": "esquire"},
    **{"Ave.": "avenue", "Blvd.": "boulevard", "Rd.": "road", "Hwy.": "highway", "Sq.": "square"},
}
_ABBREVIATIONS = {
    **{name.title(): said for name, said in _PLAIN.items() if len(name) > 4},
    **{name.upper(): said for name, said in _PLAIN.items()},
    **_PLAIN,
}
_WITHOUT_ANY_STOP = {"vs": "versus", "etc": "et cetera", "eg": "for example", "ie": "that is"}

# After these words a full stop belongs to the abbreviation and ends no sentence.
NEVER_LAST = {
    *_TITLES.values(),
    *_NUMBERED.values(),
    *words("saint Saint doctor versus approximately including especially namely"),
    *("for example", "that is"),
}

_SAINTS = words(
    """
    Agnes Albans Andrew Andrews Ann Anne Anthony Augustine Barts Bartholomew Bernard Catharines
    Catherine Clair Cloud Columba Cuthbert David Davids Denis Edmunds Francis Gallen George Giles
    Helena Helens Ives James Jerome Joan John Joseph Kitts Lawrence Leger Lo Louis Lucia Luke Malo
    Margaret Mark Martin Mary Matthew Michael Moritz Nazaire Neots Nicholas Pancras Patrick Paul
    Pauls Peter Petersburg Philip Pierre Pölten Stephen Swithin Thomas Tropez Vincent Xavier
    """
)
_FUNCTION_WORDS = {"in", "at", "on", "the", "from", "to", "of", "and", "but", "near", "for", "by"}


def _cased(names: list[str]) -> str:
    return "|".join(sorted({*names, *(n.upper() for n in names)}, key=len, reverse=True))


def _is_name(word: str) -> bool:
    """A capitalised word that is no little word at the start of a sentence."""
    bare = word.strip("\"'“”(),")
    return bare[:1].isupper() and bare.lower() not in _FUNCTION_WORDS and bare[-1] not in ".?!:;"


@rule(rf"(?P<title>{_cased(list(_TITLES))})\b(?P<dot>\.?)(?=\s+(?:[“\"'(]?[A-Z]|and\s[MD]))")
def title(m: re.Match[str], context: Context) -> str | None:
    """Mr. Smith, Gen. Smith, Mr Smith."""
    name = m["title"].title()
    second = context.before(m.start()).rstrip(".") in ("Lt", "Maj", "Brig")
    return _TITLES[name] if m["dot"] or second or name in _WITHOUT_STOP else None


@rule(r"(?:St|ST)\b(?P<dot>\.?)(?!\w)(?P<ending>'s)?")
def saint_or_street(m: re.Match[str], context: Context) -> str | None:
    """St. Mary's is Saint Mary's, Main St. is Main Street."""
    before, after = context.before(m.start()), context.after(m.end())
    name = re.match(r"[^\W\d_]*", after)
    if name and name[0].title() in _SAINTS:
        return "Saint"
    if _is_name(before):
        return "street"
    return "Saint" if after[:1].isupper() else "street"


@rule(r"(?:Dr|DR)\b(?P<dot>\.?)(?!\w)")
def doctor_or_drive(m: re.Match[str], context: Context) -> str | None:
    """Dr. Smith, 12 Elm Dr."""
    if context.after(m.end())[:1].isupper() and not re.match(r"\d", _before_name(m, context)):
        return "doctor"
    return "drive" if m["dot"] and _is_name(context.before(m.start())) else "doctor"


def _before_name(m: re.Match[str], context: Context) -> str:
    """The word before the name of a street: its house number."""
    name = context.before(m.start())
    return context.before(context.text.rfind(name, 0, m.start())) if _is_name(name) else ""


@rule(rf"(?P<name>(?i:{'|'.join(map(re.escape, _NUMBERED))}))\s?(?=\d|[IVXLC]+\b)")
def numbered(m: re.Match[str], context: Context) -> str | None:
    """No. 5, Ch. XIV, p. 12."""
    return _NUMBERED[m["name"].lower()]


@rule(r"No(?=\s\d)")
def number_without_stop(m: re.Match[str], context: Context) -> str | None:
    """No 10."""
    return "number"


@rule(r"(?P<name>(?:[A-Za-z]\.){2,4}|[A-Za-z]{1,6}\.)(?!\w)")
def abbreviation(m: re.Match[str], context: Context) -> str | None:
    """e.g., etc., approx., Inc."""
    if m["name"] == "al." and context.before(m.start()) != "et":
        return None
    if m["name"] in ("min.", "max.") and not context.after(m.end())[:1].islower():
        return None
    return _ABBREVIATIONS.get(m["name"])


@rule(r"(?P<name>vs|etc|eg|ie)(?![\w.'-])")
def abbreviation_without_stop(m: re.Match[str], context: Context) -> str | None:
    return _WITHOUT_ANY_STOP[m["name"]]


@rule(r"v\.?(?=\s[A-Z])")
def against(m: re.Match[str], context: Context) -> str | None:
    """England v Wales."""
    return "versus" if _is_name(context.before(m.start())) else None


@rule(r"(?P<letter>[A-Z])\.(?=\s*[A-Z])")
def initial(m: re.Match[str], context: Context) -> str | None:
    """J. K. Smith, Mary B. Jones; but not: vitamin D. The ..."""
    before = context.before(m.start())
    if before and not (_is_name(before) or re.fullmatch(r"[A-Z]\.", before)):
        return None
    return letter(m["letter"], context.locale)


_RULERS = words(
    """
    Albert Alexander Alfonso Benedict Catherine Charles Christian Constantine Edward Elizabeth
    Felipe Ferdinand Francis Frederick George Gregory Gustav Haakon Harald Henry Ivan James John
    Juan Leo Leopold Louis Ludwig Mary Napoleon Nicholas Olav Otto Paul Peter Philip Philippe Pius
    Rama Richard Urban Victor Wilhelm William
    """
)
_COUNTED = words(
    """
    act apollo appendix art. article book bowl category chapter ch. class division episode figure
    grade group level liga mark part phase pt. rocky sec. section stage tier title type vatican vol.
    volume war
    """
)


@rule(r"(?P<roman>[IVXLCDM]+)(?P<ending>'s)?(?![\w&]|\.[A-Z])")
def roman_numeral(m: re.Match[str], context: Context) -> str | None:
    """Henry VIII, Chapter XIV, World War II, Super Bowl LVIII."""
    value = numbers.roman(m["roman"])
    before = context.before(m.start())
    if value is None or not before:
        return None
    ending = m["ending"] or ""
    if before.lower() in _COUNTED:
        return cardinal(value, context.locale) + ending
    ruler = before.title() in _RULERS and value < 40
    heir = len(m["roman"]) > 1 and value < 20 and m["roman"] not in INITIALISMS
    if not (ruler or (heir and _is_name(before) and before.isalpha())):
        return None
    return f"the {ordinal(value, context.locale)}{ending}"


@rule(r"WW(?P<roman>I{1,3})(?!\w)")
def world_war(m: re.Match[str], context: Context) -> str | None:
    """WWII."""
    return f"world war {cardinal(len(m['roman']), context.locale)}"
