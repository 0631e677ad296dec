"""Web and e-mail addresses, handles, hashtags, telephone numbers."""

from __future__ import annotations

import re

from greenroom.speech import numbers
from greenroom.speech.characters import fold
from greenroom.speech.initialisms import INITIALISMS, in_capitals, is_pronounceable, letters
from greenroom.speech.numbers import Locale
from greenroom.speech.reading import Context, rule

_TOP = (
    "com|org|net|gov|edu|int|info|news|live|app|mil|tv|io|ai|fm|eu|uk|ie|de|fr|es|nl|ch|ca|au|nz|za"
)
_HOST = r"(?:[A-Za-z0-9-]{1,63}\.){1,6}"
_TAIL = r"(?:[^\s<>\"“”()\[\]{}|]*[\w/=])?"
_NAMES = {".": "dot", "/": "slash", "-": "dash", "_": "underscore", ":": "colon", "@": "at"}
_NAMES |= {"+": "plus", "~": "tilde", "&": "and", "=": "equals"}
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+|[^\s]")
_KEPT_SHORT = {"co", "go", "my", "on", "in", "at", "to", "the", "no"}


def _name(piece: str, context: Context) -> str:
    """A piece of an address: letters where nobody could say it as a word."""
    if piece.isdecimal():
        return numbers.number(piece, context.locale)
    if piece in _NAMES or not piece[0].isalpha():
        return _NAMES.get(piece, "")
    if piece.isupper() and piece.isascii():
        return in_capitals(piece, context, -1)
    piece = "".join(filter(str.isalpha, fold(piece)))
    spelled = piece.upper() in INITIALISMS or not is_pronounceable(piece) or len(piece) < 3
    if spelled and piece.lower() not in _KEPT_SHORT and piece.isascii():
        return letters(piece, context.locale)
    return piece


def _spell(text: str, context: Context) -> str:
    said = (_name(piece, context) for piece in _PIECES.findall(text))
    return " ".join(word for word in said if word)


@rule(
    rf"""(?:https?://)(?P<web>[^\s<>\"“”()\[\]{{}}|]*[\w/=])
    |(?P<www>www\.{_TAIL})
    |(?P<bare>{_HOST}(?:{_TOP})(?![\w@-]|\.[A-Za-z])(?:/{_TAIL})?)"""
)
def web_address(m: re.Match[str], context: Context) -> str | None:
    """www.example.org/news; what a person would not say (https, queries) is left out."""
    address = m["web"] or m["www"] or m["bare"]
    address = re.split(r"[?#]", address)[0]
    address = re.sub(r"%[0-9A-Fa-f]{2}", " ", address).rstrip("/")
    return _spell(address, context) or None


@rule(r"[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,}(?!\w)")
def email(m: re.Match[str], context: Context) -> str | None:
    """news.desk@example.org."""
    return _spell(m[0], context)


@rule(r"\#(?P<tag>\w+)")
def hashtag(m: re.Match[str], context: Context) -> str | None:
    """#GreenRoom; #5 is number five."""
    if m["tag"].isdecimal():
        return f"number {numbers.number(m['tag'], context.locale)}"
    return f"hashtag {_spell(m['tag'], context)}"


@rule(r"@(?P<handle>\w+(?:\.\w+)*)")
def handle(m: re.Match[str], context: Context) -> str | None:
    """@GreenRoom."""
    return f"at {_spell(m['handle'], context)}"


def _phone(text: str, locale: Locale) -> str:
    """Groups of digits, a short rest between them."""
    zero = "oh" if locale is Locale.GB else "zero"
    groups = [numbers.digits(group, zero) for group in re.findall(r"\d+", text)]
    return ("plus " if text.startswith("+") else "") + ", ".join(groups)


@rule(
    r"""\+\d{1,3}(?:[\s.-]?\(?\d{1,4}\)?){2,6}(?!\w)
    |\(?0\d{2,5}\)?(?:[\s-]\d{3,8}){1,3}(?![\w.,/:-]*\d) | 0\d{9,10}(?!\w)
    |(?:1-)?\(?\d{3}\)?[\s.-]?\d{3}-\d{4}(?![\w-])
    |\d{3}-\d{4}(?![\w-])"""
)
def telephone(m: re.Match[str], context: Context) -> str | None:
    """+44 20 7946 0958, 020 7946 0958, (555) 555-0123, 555-0199."""
    if sum(char.isdigit() for char in m[0]) < 7:
        return None
    return _phone(m[0], context.locale)


_CALLING = {"call", "calling", "called", "dial", "dialling", "dialing", "dialled", "ring", "text"}


@rule(r"\d{3,6}(?!\w|[.,:/-]\d)")
def short_number(m: re.Match[str], context: Context) -> str | None:
    """Call 999."""
    if context.before(m.start()).lower() not in _CALLING:
        return None
    return numbers.digits(m[0], "oh" if context.locale is Locale.GB else "zero")
