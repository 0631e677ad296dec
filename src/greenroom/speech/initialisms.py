"""Words in capitals: which are spelled out, which are words, and texts that are all capitals."""

from __future__ import annotations

import re

from greenroom.speech import numbers
from greenroom.speech.numbers import Locale
from greenroom.speech.reading import Context, rule, words

# Spelled letter by letter. Also what would look like a word: UN, US, IT, WHO.
INITIALISMS = words(
    """
    ABC AC ADHD AFP AFC AGM AI AIG ANC AP API APR ATM BA BAE BBC BJP BMA BMW BP BSE BST CBC CBE
    CBI CBS CCTV CD CDC CDU CEO CET CFO CIA CNN COO CPI CPS CPU CSI CSU CTO DA DC DIY DJ DNA DOJ DUP
    DVD DVLA DW EC ECB ECHR EEA EEG EFTA EIB EMI EPA ER ESA ESPN EST EDT EU EV EY FA FAA FBI FC FCA
    FDA FDP FIA FM FOI FT GB GCHQ GCSE GDP GDPR GI GMB GMT GOP GP GPS GPU HBO HGV HIV HMRC HP HQ HR
    HRH HSBC IAEA IBM ICAO ICC ICJ ICU ID IDF IEA IFS ILO IMF INS IOC IP IPCC IPO IPSO IQ IRA
    IRS ISP ISS IT ITN ITV IVF JCB JP KFC KGB KPMG LA LED LGBT LGBTQ LNG LPG LSE MBA MBE MEP METI
    MIT MLA MLS MOD MOT MP MPC MRI MS MSF MSP MTV NBA NBC NCAA NDA NFL NGO NHL NHS NI NPR NRA NSA
    NSPCC NUJ NY NYC NYPD OBE OBR OECD OK ONS OSCE PA PBS PC PCR PE PFI PGA PHD PLC PM PMI PPE
    PR PTSD PVC QC RAC RAF RBS RMT RNA RNLI RSPB RSPCA RTE SAS SDLP SDP SEC SFO SMS SNP SOS SPD STD
    SUV TB TGV TNT TSB TUC TV UAE UCLA UEA UFO UK UN UNHCR UPS URL US USA USB USSR UV VAT VC
    VIP VR WHO WFP WTO WWF YMCA
    """
)
# Said as words although written in capitals; a respelling where the voice needs one.
ACRONYMS = {
    word.upper(): word
    for word in words(
        """
    acas aids anzac apec asap asean aukus bafta basic benelux brexit brics cern cobol cobra covid
    defra ebola ecowas ercot fema fifa frontex gif hamas imax interpol isis laser lidar
    mercosur mers modem nafta nascar nasa nasdaq nato navy nimby nimbys ofcom ofgem ofsted ofwat
    opec oscar pin potus radar sage sars scada scotus scuba seal sonar stem swat taser ukip unctad
    unesco unicef unprofor unifil wada wasp zip
    """
    )
} | {
    **{"UEFA": "you eighfa", "FTSE": "footsie", "JPEG": "jay peg", "USAID": "U S aid"},
    "NAACP": "N double ay C P",
}

_SHORT_WORDS = words(
    """
    A I AM AN AS AT BE BY DO GO HE IF IN IS IT ME MY NO OF ON OR SO TO UP US WE THE AND FOR ARE BUT
    NOT YOU ALL ANY CAN HAD HER WAS ONE OUR OUT DAY GET HAS HIM HIS HOW MAN NEW NOW OLD SEE TWO WAY
    WHO ITS LET PUT SAY SHE TOO USE OFF YES BIG TOP WAR WIN WON CUT HIT BAN BID ROW TAX AID OIL GAS
    SEA AIR LAW JOB PAY KEY RED CAR MEN END FAR FEW OWN SET RUN MAY ACT AGE AGO ASK BAD BAY BED BOY
    BUS BUY CUP DEAL DIE DUE DRY EAT FAN FIT FLY GOT GUN HOT ICE KID LEG LIE LOT LOW MET MID MIX
    MUM MOM NET NOR ODD PER RAN RAW SAD SAT SIT SIX SKY SON SUN TEN TIE TRY VIA VOW YET CITY
    """
)
_AMBIGUOUS = {"IT", "WHO", "AM", "LED"}  # in a text of capitals these are words
_BEFORE_COUNTRY = {"THE", "IN", "AND", "OF", "FROM", "VS", "V", "NEW"}  # ... US

_VOWELS = "aeiouy"
_OPENING = re.compile(
    "(?:[bcfgp]l|[bcdfgpt]r|sch|scr|shr|spl|spr|squ?|str|thr|chr|phr?|ch|sh|th|wh|wr|kn|gn|qu"
    "|s[cklmnptw]|[dt]w|[bcdfghjklmnprstvwxyz])?[aeiouy]"
)
_HEAP = re.compile("[^aeiouy]{5}|[aeiou]{4}")
_ENDING = re.compile("[^aeiouy]{3,}$")
_GOOD_ENDING = re.compile(
    "(?:[clmnr]?ch|ck|[cflnprx]?t|ct|ght|l[dfkm]|ll|mp|n[dgk]|ng?th|r[dklmnt]|[lr]th|r?st|s[kp]"
    "|sh|ss|tch|wn)s?"
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def is_pronounceable(word: str) -> bool:
    """Whether a word could be English by its opening, its ending and its heaps of letters."""
    low = word.lower()
    ending = _ENDING.search(low)
    if not _OPENING.match(low) or _HEAP.search(low):
        return False
    if len(low) > 5:  # no initialism is so long
        return True
    return not set(low) <= set(_VOWELS) and (not ending or bool(_GOOD_ENDING.fullmatch(ending[0])))


def letter(char: str, locale: Locale) -> str:
    """One letter as the voice says it: "A" alone would be the article."""
    if char in "aA":
        return "ay"
    return "zed" if char in "zZ" and locale is Locale.GB else char


def letters(word: str, locale: Locale) -> str:
    """BBC -> B B C."""
    return " ".join(letter(char, locale) for char in word if char.isalpha())


def _stem(word: str) -> tuple[str, str]:
    """Part a plural or possessive ending: MPs -> MP, s; BBC's -> BBC, 's."""
    found = re.fullmatch(r"([A-Z]{2,})('s|s|'S|'|)", word)
    return (found.group(1), found.group(2)) if found else (word, "")


def _is_known(word: str) -> bool:
    stem = _stem(word)[0]
    return stem in INITIALISMS or stem in ACRONYMS


def shouted(text: str) -> frozenset[int]:
    """Where words start that belong to a run of capitals too long for initialisms."""
    starts: set[int] = set()
    run: list[re.Match[str]] = []
    for word in [*_WORD.finditer(text), None]:
        if word and word[0].isupper():
            run.append(word)
            continue
        if _is_shouted([w[0] for w in run]):
            starts.update(w.start() for w in run)
        run = []
    return frozenset(starts)


def _is_shouted(run: list[str]) -> bool:
    unknown = [w for w in run if not _is_known(w) and len(w) > 1]
    words = [w for w in unknown if w in _SHORT_WORDS or (len(w) > 3 and is_pronounceable(w))]
    has_long = any(len(w) > 3 for w in words)
    if len(run) < 3:
        return len(words) == 2 and has_long
    counted = sum(len(w) > 1 for w in run)
    return (has_long or len(words) > 1) and 2 * len(words) >= counted - 1


def in_capitals(word: str, context: Context, start: int) -> str:
    """Read one word that is written in capitals."""
    stem, ending = _stem(word)
    is_shouted = start in context.shouted
    ending = "'s" if ending else ""
    if is_shouted and _is_word_there(stem, context, start):
        return word.lower() if word != "I" else word
    if stem in ACRONYMS:
        return ACRONYMS[stem] + ending
    if stem in INITIALISMS or not _looks_like_word(stem, shouted=is_shouted):
        return letters(stem, context.locale) + ending
    return word.lower()


def _is_word_there(stem: str, context: Context, start: int) -> bool:
    if stem == "US":
        before = context.before(start)
        return bool(before) and before not in _BEFORE_COUNTRY and before[-1] not in ".!?:"
    return stem in _AMBIGUOUS or stem in _SHORT_WORDS


def _looks_like_word(stem: str, *, shouted: bool) -> bool:
    if stem in _SHORT_WORDS:
        return True
    return (len(stem) > 3 or shouted) and is_pronounceable(stem)


@rule(r"(?P<word>[A-Z]{2,}(?:'?s|'S)?)(?!\w|'\w)")
def capitals(m: re.Match[str], context: Context) -> str | None:
    """BBC, NATO, MPs, BBC's, and words in capitals."""
    return in_capitals(m["word"], context, m.start())


@rule(r"(?P<dotted>[A-Z](?:\.[A-Z])+)(?P<dot>\.?)(?P<ending>'?s)?(?!\w)")
def dotted(m: re.Match[str], context: Context) -> str | None:
    """U.S., U.K., J.K."""
    stem = m["dotted"].replace(".", "")
    said = ACRONYMS.get(stem) if len(stem) > 3 else None
    return (said or letters(stem, context.locale)) + ("'s" if m["ending"] else "")


@rule(r"(?:Ph\.?D|PhD)\b\.?(?P<ending>'?s)?")
def doctorate(m: re.Match[str], context: Context) -> str | None:
    return "P H D" + ("'s" if m["ending"] else "")


@rule(r"[A-Z]{1,3}(?:&[A-Z]{1,2})+(?P<ending>'s)?(?!\w)")
def joined(m: re.Match[str], context: Context) -> str | None:
    """R&D, AT&T, M&S."""
    parts = m[0].removesuffix("'s").split("&")
    said = " and ".join(letters(part, context.locale) for part in parts)
    return said + (m["ending"] or "")


@rule(r"A(?=-[A-Za-z])|(?<=[a-z]\s)A(?!\w|'|\s[A-Z])")
def letter_a(m: re.Match[str], context: Context) -> str | None:
    """Plan A, A-levels: the letter, not the article."""
    return None if m.start() in context.shouted else "ay"


@rule(r"Z(?!\w)")
def letter_z(m: re.Match[str], context: Context) -> str | None:
    """From A to Z: zee or zed."""
    return letter("Z", context.locale)


_MODEL = (
    r"(?P<body>(?:[A-Z]{1,6}|[A-Z][a-z]{1,2}|[a-z]{1,2}(?=\d)|[Cc]ovid)-?\d+(?:[A-Za-z]+\d*)?"
    r"|\d+[A-Za-z]{1,3}\d*)"
)


@rule(_MODEL + r"(?:(?P<point>\.\d+))?(?P<ending>'?s)?(?![\w]|-\d)")
def model(m: re.Match[str], context: Context) -> str | None:
    """F-16, MI5, G7, A380, H5N1, 5G, COVID-19, PM2.5."""
    body = m["body"]
    if not m["ending"] and re.fullmatch(r".*\d+s", body):
        return _model(body[:-1], context) + "s"
    ending = "'s" if m["ending"] else ""
    if m["point"]:
        head = re.sub(r"\d+$", "", body)
        tail = numbers.number(body[len(head) :] + m["point"], context.locale)
        return f"{_model(head, context)} {tail}"
    return _model(body, context) + ending


def _model(body: str, context: Context) -> str:
    parts = re.findall(r"[A-Za-z]+|\d+", body)
    return " ".join(_model_part(part, context) for part in parts)


def _model_part(part: str, context: Context) -> str:
    if part.isdecimal():
        return numbers.model_number(part, context.locale)
    if part.upper() in ACRONYMS and len(part) > 2:
        return ACRONYMS[part.upper()]
    if len(part) > 1 and part not in INITIALISMS and not part.isupper() and is_pronounceable(part):
        return part
    return letters(part.upper(), context.locale)
