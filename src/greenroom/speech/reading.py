"""What a reading rule is: a pattern, and a function that says what it matched."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from greenroom.speech.numbers import Locale

_REACH = 48  # characters that a rule may look to either side
_BEFORE = re.compile(r"(\S+)\s*$")
_AFTER = re.compile(r"\s*(\S+)")
_OPENING = "([“\"'"


@dataclass(frozen=True, slots=True)
class Context:
    """The text around a match, in the plain form of `characters.plain`."""

    text: str
    locale: Locale
    shouted: frozenset[int] = frozenset()  # where the words of a text in capitals start

    def before(self, position: int) -> str:
        """The word that ends before `position`, its full stop kept; "" at the start."""
        found = _BEFORE.search(self.text[max(0, position - _REACH) : position])
        return found.group(1).lstrip(_OPENING) if found else ""

    def after(self, position: int) -> str:
        """The word that follows `position`; "" at the end."""
        found = _AFTER.match(self.text, position, position + _REACH)
        return found.group(1).lstrip(_OPENING) if found else ""

    def around(self, start: int, end: int, reach: int) -> set[str]:
        """The words within `reach` characters of a match, in lower case."""
        near = self.text[max(0, start - reach) : start] + " " + self.text[end : end + reach]
        return set(re.findall(r"[a-z]+", near.lower()))


def words(text: str) -> frozenset[str]:
    """A table of words, written as one text."""
    return frozenset(text.split())


Reader = Callable[[re.Match[str], Context], str | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """Says what `pattern` matched; a reader that answers None leaves it to the next rule."""

    pattern: re.Pattern[str]
    read: Reader


def rule(pattern: str) -> Callable[[Reader], Rule]:
    """Make a rule of a reader; the pattern is verbose and starts where a word starts."""

    def make(read: Reader) -> Rule:
        return Rule(re.compile(pattern, re.VERBOSE), read)

    return make
