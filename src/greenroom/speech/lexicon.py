"""A pronunciation lexicon: how names are said, one entry a line."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from greenroom.base.errors import InputError
from greenroom.speech.characters import fold, plain

_FORM = "a line such as: Kyiv = /kˈijɪv/ or: Reading = redding"
_MOST_BYTES = 1 << 22
_IN_IPA = set(" .,-'‿|͡↗↘↓→ꜛꜜ()")


@dataclass(frozen=True, slots=True)
class Entry:
    """One written form, and its IPA or the words that sound like it."""

    written: str
    spoken: str
    phonemes: str = ""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Entries in lower case hold for any case; others for their own and for capitals."""

    entries: tuple[Entry, ...] = ()

    def match(self, text: str, position: int) -> Entry | None:
        """The longest entry that stands at `position` of a plain text as whole words."""
        if not self.entries or not (found := _pattern(self.entries).match(text, position)):
            return None
        return _forms(self.entries)[found[0]]


@lru_cache(maxsize=8)
def _forms(entries: tuple[Entry, ...]) -> dict[str, Entry]:
    forms: dict[str, Entry] = {}
    for entry in entries:
        word = entry.written
        if word.islower():
            forms |= dict.fromkeys((word.capitalize(), word.title(), word.upper()), entry)
        elif len(word) > 3:
            forms[word.upper()] = entry
    return forms | {entry.written: entry for entry in entries}


@lru_cache(maxsize=8)
def _pattern(entries: tuple[Entry, ...]) -> re.Pattern[str]:
    forms = sorted(_forms(entries), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)")


def check_ipa(phonemes: str, where: str) -> str:
    """The IPA between slashes; InputError where it is empty or holds what is no IPA."""
    wrong = [c for c in phonemes if not (c.isalpha() or unicodedata.combining(c) or c in _IN_IPA)]
    if wrong or not any(map(_is_sound, phonemes)):
        raise InputError(
            f"{where}: the pronunciation is not IPA",
            got=f"/{phonemes}/" + (f" with {wrong[0]!r}" if wrong else ""),
            wanted="IPA between slashes, such as /kˈijɪv/",
        )
    return phonemes.strip()


def _is_sound(char: str) -> bool:
    return char.isalpha() and unicodedata.category(char) != "Lm"  # Lm: marks of stress and length


def load_lexicon(path: Path | str) -> Lexicon:
    """Read a lexicon: `word = /IPA/` or `word = words that sound like it`; a tab for = is as good.

    Empty lines and lines that start with # are passed over. InputError names the file and line.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            text = _bounded(file.read(_MOST_BYTES + 1), path).decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"the lexicon {path} cannot be read", got=error.strerror or str(error)
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"the lexicon {path} is not UTF-8 text", remedy="save it as UTF-8"
        ) from error
    entries: dict[str, Entry] = {}
    for count, row in enumerate(text.splitlines(), 1):
        if row.strip() and not row.lstrip().startswith("#"):
            entry = _entry(row, f"{path}, line {count}")
            if entries.setdefault(entry.written, entry) != entry:
                raise InputError(f"{path}, line {count}: a second reading of {entry.written!r}")
    return Lexicon(tuple(entries.values()))


def _bounded(data: bytes, path: Path) -> bytes:
    if len(data) > _MOST_BYTES:  # a device without an end, perhaps
        raise InputError(
            f"the lexicon {path} is too long",
            got=f"over {_MOST_BYTES >> 20} MiB",
            wanted=f"lines, each {_FORM}",
        )
    return data


def _entry(row: str, where: str) -> Entry:
    word, mark, said = row.partition("\t" if "\t" in row.strip() else "=")
    word, said = " ".join(plain(word).split()), said.strip().lstrip("=").strip()
    if not (word and mark and said):
        raise InputError(f"{where}: not an entry", got=row.strip(), wanted=_FORM)
    if said.startswith("/"):
        if len(said) < 3 or not said.endswith("/"):
            raise InputError(f"{where}: a slash is missing", got=said, wanted=_FORM)
        return Entry(word, fold(word), check_ipa(said[1:-1], where))
    spoken = " ".join(fold(plain(said)).split())
    if any(char.isnumeric() for char in spoken) or not re.search("[A-Za-z]", spoken):
        raise InputError(f"{where}: say it in letters", got=said, wanted=_FORM)
    return Entry(word, spoken)
