"""What comes in at the door: bytes, writing systems, nothing, and any text at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.base.errors import InputError
from greenroom.speech.characters import clean
from greenroom.speech.script import decode_script, read_script

TEXT = "Café: 5 €.\nNext"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.encode("utf-16"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        b"\xff\xfe" + TEXT.replace("\n", "\r\n").encode("utf-16-le"),
    ],
)
def test_decode(data: bytes) -> None:
    assert decode_script(data) == TEXT


def test_windows_1252_is_an_error_that_names_the_byte() -> None:
    with pytest.raises(InputError, match="encoding") as caught:
        decode_script("Café".encode("cp1252"))
    assert "byte 3" in caught.value.got
    assert "UTF-8" in caught.value.remedy


def test_half_a_character_of_utf_16_is_an_error() -> None:
    with pytest.raises(InputError, match="encoding"):
        decode_script(TEXT.encode("utf-16")[:-1])


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        b"RIFF\x24\x00\x00\x00WAVEfmt ",
        b"text\x00text",
        TEXT.encode("utf-16-le"),
    ],
)
def test_binary_data_is_an_error(data: bytes) -> None:
    with pytest.raises(InputError, match="not text"):
        decode_script(data)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n\t\u00a0\ufeff", "empty"),
        ("... — !?", "punctuation"),
        ("***\n\n---", "punctuation"),
        ("🎉 👍🏽 🇬🇧", "emoji"),
        ("Привет, мир", "Cyrillic"),
        ("你好，世界", "Chinese"),
        ("こんにちは", "Hiragana"),
        ("안녕하세요", "Korean"),
        ("مرحبا", "Arabic"),
        ("Γειά σου", "Greek"),
        ("Good evening from Київ.", "Cyrillic"),
    ],
)
def test_nothing_to_read_is_an_error_that_says_why(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_script(text)


def test_a_word_in_another_writing_system_can_be_given_a_pronunciation() -> None:
    with pytest.raises(InputError) as caught:
        read_script("Good evening from Київ.")
    assert "[Київ](/IPA/)" in caught.value.remedy
    assert read_script("Good evening from [Київ](/kˈijɪv/).")


def test_unknown_locale_is_an_error() -> None:
    with pytest.raises(InputError, match="locale") as caught:
        read_script("Hello", locale="de-DE")
    assert caught.value.wanted == "one of en-US, en-GB"


_PARTS = """
    $ £ € ¥ % ° °C m km km/h kg p c bn k am pm a.m. p.m. Oct. St. Mr. No. U.S. BBC AI MPs COVID- F-
    1 2 10 99 2026 1,200 1.5 0 007 1/2 ½ ² ① Ⅷ ٣ XIV II - – — … . , : ; ! ? ' ’ “ ” " ( ) [ ] /
    & + = # @ * _ www. .com http:// th st nd 's s x × word Word WORD [pause ] (/ /)
"""
NEWS = st.sampled_from([*_PARTS.split(), "\n", "\n\n"])


def _check(text: str, locale: str) -> None:
    try:
        lines = read_script(text, locale=locale)
    except InputError:
        return
    assert lines
    for line in lines:
        assert line.spans
        assert line.pause >= 0.0
        assert not any(map(str.isdigit, line.spoken)), line.spoken
        for span in line.spans:
            assert any(map(str.isalpha, span.spoken)), span
            assert span.spoken == " ".join(span.spoken.split())


@given(st.text(max_size=120), st.sampled_from(["en-US", "en-GB"]))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_text_is_read_or_refused(text: str, locale: str) -> None:
    _check(text, locale)


@given(st.lists(NEWS, max_size=24), st.sampled_from(["", " "]), st.sampled_from(["en-US", "en-GB"]))
@settings(max_examples=600, deadline=None, derandomize=True)
def test_any_mixture_of_news_is_read_or_refused(parts: list[str], gap: str, locale: str) -> None:
    _check(gap.join(parts), locale)


LATIN = st.text(
    st.characters(codec="latin-1", exclude_categories=["Cc"], exclude_characters="[]#*_>`-+·"),
    max_size=80,
)


@given(LATIN)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_all_letters_and_figures_of_a_script_are_written_again(text: str) -> None:
    try:
        lines = read_script(text)
    except InputError:
        return
    written = " ".join(line.written for line in lines)
    assert "".join(filter(str.isalnum, written)) == "".join(filter(str.isalnum, clean(text)))


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    try:
        text = decode_script(data)
    except InputError:
        return
    assert "\r" not in text
    assert "\0" not in text
