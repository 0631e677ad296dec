"""Lexicon files: their form, their matches and their errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.base.errors import InputError
from greenroom.speech.lexicon import Lexicon, load_lexicon
from greenroom.speech.script import read_script

FILE = """\
# Places
Kyiv\t/kˈijɪv/
Reading = redding
Bala Lake = /bˈælə lˈAk/

quay = key
GJ 504 = gee jay five oh four
AC/DC = A C D C
"""


@pytest.fixture
def lexicon(tmp_path: Path) -> Lexicon:
    path = tmp_path / "names.txt"
    path.write_text(FILE, encoding="utf-8-sig")
    return load_lexicon(path)


def test_ipa_and_respelling(lexicon: Lexicon) -> None:
    (line,) = read_script("From Kyiv to Reading, by quay.", lexicon=lexicon)
    assert [(s.written, s.spoken, s.phonemes) for s in line.spans] == [
        ("From", "From", ""),
        ("Kyiv", "Kyiv", "kˈijɪv"),
        ("to", "to", ""),
        ("Reading,", "redding,", ""),
        ("by", "by", ""),
        ("quay.", "key.", ""),
    ]


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Reading's team", "redding's team"),
        ("READING WINS AGAIN", "redding wins again"),
        ("reading a book", "reading a book"),  # an entry with capitals holds for its own case
        ("Quay and QUAY", "key and key"),
        ("quays", "quays"),  # whole words only
        ("the star GJ 504 shines", "the star gee jay five oh four shines"),
        ("AC/DC played", "A C D C played"),
    ],
)
def test_matches(lexicon: Lexicon, text: str, spoken: str) -> None:
    assert read_script(text, lexicon=lexicon)[0].spoken == spoken


def test_the_longest_entry_and_the_possessive(lexicon: Lexicon) -> None:
    spans = read_script("In Bala Lake and Kyiv's north", lexicon=lexicon)[0].spans
    assert [(s.written, s.phonemes) for s in spans if s.phonemes] == [
        ("Bala Lake", "bˈælə lˈAk"),
        ("Kyiv's", "kˈijɪvz"),
    ]


def test_the_author_overrules_the_lexicon(lexicon: Lexicon) -> None:
    spans = read_script("In [Kyiv](/kˈiv/)", lexicon=lexicon)[0].spans
    assert spans[1].phonemes == "kˈiv"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("Kyiv", "line 2: not an entry"),
        ("= /kˈijɪv/", "line 2: not an entry"),
        ("Kyiv =", "line 2: not an entry"),
        ("Kyiv = /kˈijɪv", "line 2: a slash is missing"),
        ("Kyiv = /", "line 2: a slash is missing"),
        ("Kyiv = /k2v/", "line 2: the pronunciation is not IPA"),
        ("GJ 504 = gee jay 504", "line 2: say it in letters"),
        ("Oslo = uzlo", "line 2: a second reading of 'Oslo'"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, row: str, says: str) -> None:
    path = tmp_path / "names.txt"
    path.write_text(f"Oslo = ozlo\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_lexicon(path)
    assert caught.value.what.startswith(f"{path}, {says}")


def test_a_missing_file_and_a_file_that_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_lexicon(tmp_path / "none.txt")
    path = tmp_path / "names.txt"
    path.write_bytes("Zürich = zoorik".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        load_lexicon(path)


@pytest.mark.timeout(20)
def test_a_device_without_an_end() -> None:
    with pytest.raises(InputError, match="too long"):
        load_lexicon("/dev/zero")
