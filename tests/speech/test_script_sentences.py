"""Scripts cut into sentences, with pauses, markup and the author's own pronunciations."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.base.errors import InputError
from greenroom.base.flow import Line
from greenroom.base.presets import PausePreset
from greenroom.speech.script import read_script
from greenroom.speech.sentences import LONGEST

SPLITS = [
    "One. | Two? | Three! | Four",
    "Mr. Smith met Dr. Jones at St. Mary's. | They spoke.",
    "It cost 3.5 pounds. | It rose 1.25 percent.",
    "He said: “I won't.” | Then he left.",
    "“Really?” he asked. | “Yes!” she said.",
    "(That was all.) | The end.",
    "Well... maybe not. | No… | Perhaps.",
    "Well… I think so.",
    "They met in the U.S. | The vote was close.",
    "It cost two U.S. dollars. | Then it rose.",
    "The U.S. Senate voted. | It passed.",
    "It was 5 p.m. | Police came.",
    "At 5 p.m. Monday they came. | At 6 p.m. GMT they left.",
    "It fell at 9 a.m. in London.",
    "Acme Inc. Chairman Lee spoke. | He works for Acme Inc. | He left.",
    "J. K. Smith and Mary B. Jones sang. | They won.",
    "Apples, pears, etc. | Then came plums.",
    "See e.g. Leeds or i.e. York. | Or not.",
    "He lives on Main St. | He is old.",
    "The No. 5 bus left on Oct. 12. | No. | It stayed.",
    "Visit www.example.org/news. | It is free.",
    "He won 2-1. | 3,000 came. | “Wow.”",
    "1. First we sing",
    "Was it 5? | Yes.",
]


def _written(lines: list[Line]) -> str:
    return " ".join(line.written for line in lines)


@pytest.mark.parametrize("marked", SPLITS)
def test_sentences(marked: str) -> None:
    wanted = marked.split(" | ")
    assert [line.written for line in read_script(" ".join(wanted))] == wanted


def test_an_abbreviation_at_the_end_keeps_the_stop_of_the_sentence() -> None:
    first, _ = read_script("They met in the U.S. The vote was close.")
    assert first.spoken == "They met in the U S."
    assert read_script("The U.S. dollar fell.")[0].spoken == "The U S dollar fell."


def test_pauses_after_sentences_paragraphs_and_the_last_line() -> None:
    lines = read_script("One. Two?\n\nThree!\nFour.")
    assert [line.pause for line in lines] == [0.5, 1.2, 1.2, 0.6]


def test_pauses_are_chosen_by_the_preset() -> None:
    pauses = PausePreset(sentence=0.1, paragraph=0.2, last=0.3)
    assert [line.pause for line in read_script("A b. C d.\n\nE f.", pauses=pauses)] == [
        0.1,
        0.2,
        0.3,
    ]


@pytest.mark.parametrize(
    ("mark", "seconds"),
    [
        ("[pause 1.5]", 1.5),
        ("[[pause 1.5s]]", 1.5),
        ("[pause: 2 seconds]", 2.0),
        ("[PAUSE 250ms]", 0.25),
        ("[pause]", 1.2),
        ("[pause 0]", 0.0),
        ("[pause 1] [pause 2]", 3.0),
    ],
)
def test_pause_marks(mark: str, seconds: float) -> None:
    inside = read_script(f"Before {mark} after.")
    assert [(line.spoken, line.pause) for line in inside] == [("Before", seconds), ("after.", 0.6)]
    between = read_script(f"Before.\n\n{mark}\n\nAfter.")
    assert [line.pause for line in between] == [seconds, 0.6]
    assert read_script(f"Before. {mark}")[-1].pause == seconds


def test_a_pause_mark_before_the_first_word_is_left_out() -> None:
    assert [line.spoken for line in read_script("[pause 2] Hello.")] == ["Hello."]


@pytest.mark.parametrize("marks", ["[pause 61]", "[pause 31] [pause 30]"])
def test_a_pause_of_minutes_is_an_error(marks: str) -> None:
    with pytest.raises(InputError, match=r"pause .* too long") as caught:
        read_script(f"One. {marks} Two.")
    assert caught.value.got == "61 seconds"


@pytest.mark.parametrize("mark", ["[pause -1]", "[pause 1,5]", "[pause 2 min]", "[[PAUSE: 3x]]"])
def test_a_pause_that_cannot_be_read_is_not_spoken(mark: str) -> None:
    with pytest.raises(InputError, match="a pause") as caught:
        read_script(f"Good evening. {mark} Here is the news.")
    assert caught.value.got == mark


def test_wrapped_lines_are_one_paragraph_and_titles_stand_alone() -> None:
    script = (
        "The weather\n"
        "It will be warm in the south of the country, with a light breeze from\n"
        "the west and a few clouds.\n"
        "More at ten."
    )
    assert [line.written for line in read_script(script)] == [
        "The weather",
        "It will be warm in the south of the country, with a light breeze from the west and a few "
        "clouds.",
        "More at ten.",
    ]


def test_headings_bullets_and_emphasis_are_not_read() -> None:
    script = "## Sport ##\n\n- *First* point\n• Second, __bold__\n> A quote\n\n---\n\n`Done`."
    lines = read_script(script)
    assert [line.spoken for line in lines] == [
        "Sport",
        "First point",
        "Second, bold",
        "A quote",
        "Done.",
    ]


def test_links_are_read_by_their_words() -> None:
    assert read_script("See [our page](https://example.org/a).")[0].spoken == "See our page."


def test_a_long_sentence_is_cut_at_a_comma() -> None:
    clause = "the ministers of all the member states met once more in the old town hall"
    sentence = ", ".join([clause] * 12) + "."
    lines = read_script(sentence)
    assert len(lines) == 3
    assert all(len(line.spoken) <= LONGEST for line in lines)
    assert all(line.spoken.endswith((",", ".")) for line in lines)
    assert [line.pause for line in lines] == [0.15, 0.15, 0.6]
    assert _written(lines) == sentence


def test_a_long_sentence_without_commas_is_cut_between_words() -> None:
    sentence = "word " * 300
    lines = read_script(sentence)
    assert max(len(line.spoken) for line in lines) <= LONGEST
    assert min(len(line.spoken) for line in lines) > LONGEST / 2
    assert _written(lines) == sentence.strip()


def test_a_word_too_long_to_say_is_an_error() -> None:
    with pytest.raises(InputError, match="too long to be said"):
        read_script("a" * 1000)


def test_written_is_the_script_again() -> None:
    script = (
        "At 9:05 a.m. on 12 October, “U.S. aid” — worth $1.2 trillion — fell 3.5 %… (again).\n\n"
        "He’s 6ft 2in tall; she - well - isn't! 10 – 15 km/h? A&B, and/or C."
    )
    lines = read_script(script)
    assert _written(lines).split() == script.split()
    assert all(any(map(str.isalpha, span.spoken)) for line in lines for span in line.spans)


def test_the_example_bulletin_lasts_about_a_minute() -> None:
    script = (Path(__file__).parents[2] / "examples" / "bulletin.txt").read_text(encoding="utf-8")
    lines = read_script(script, locale="en-GB")
    assert _written(lines).split() == script.split()
    assert [line.pause for line in lines].count(1.2) == script.count("\n\n")
    words = sum(len(line.spoken.replace("-", " ").split()) for line in lines)
    assert 60 < words / 3.3 + sum(line.pause for line in lines) < 75  # the voice's words a second


def test_spans_are_words_or_units_of_reading() -> None:
    spans = read_script("It cost $1.2 trillion on 12 October.")[0].spans
    assert [span.written for span in spans] == [
        "It",
        "cost",
        "$1.2 trillion",
        "on",
        "12",
        "October.",
    ]
    assert spans[2].spoken == "one point two trillion dollars"
    assert spans[4].spoken == "the twelfth of"


def test_inline_pronunciation() -> None:
    spans = read_script("In “[Kyiv](/kˈijɪv/),” near [Київ](/kˈijɪv/)’s gate.")[0].spans
    assert [(s.written, s.spoken, s.phonemes) for s in spans] == [
        ("In", "In", ""),
        ("“Kyiv,”", "“Kyiv,”", "kˈijɪv"),
        ("near", "near", ""),
        ("Київ’s", "Київ's", "kˈijɪvz"),
        ("gate.", "gate.", ""),
    ]


def test_inline_pronunciation_of_several_words_is_one_span() -> None:
    spans = read_script("[Bala Lake](/bˈælə lˈAk/)-side news.")[0].spans
    assert [(s.written, s.phonemes) for s in spans] == [
        ("Bala Lake-", "bˈælə lˈAk"),
        ("side", ""),
        ("news.", ""),
    ]


@pytest.mark.parametrize("ipa", ["", " ", "k1v", "<b>", "ˈ"])
def test_a_pronunciation_that_is_no_ipa_is_an_error(ipa: str) -> None:
    with pytest.raises(InputError, match=r"\[Kyiv\]: the pronunciation is not IPA"):
        read_script(f"In [Kyiv](/{ipa}/) today.")
