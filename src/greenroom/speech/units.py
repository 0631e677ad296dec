"""Tables: units of measurement, currencies and scales, and how they are called."""

from __future__ import annotations

from dataclasses import dataclass

from greenroom.speech.numbers import Locale, plural
from greenroom.speech.reading import words

# Singular, British spelling. The words before " per " take the plural.
UNITS = {
    **{"km": "kilometre", "m": "metre", "cm": "centimetre", "mm": "millimetre"},
    **{"km²": "square kilometre", "m²": "square metre", "cm²": "square centimetre"},
    **{"km2": "square kilometre", "m2": "square metre", "sq km": "square kilometre"},
    **{"sq m": "square metre", "sq ft": "square foot", "sq mi": "square mile"},
    **{"m³": "cubic metre", "cm³": "cubic centimetre", "km³": "cubic kilometre"},
    **{"km/h": "kilometre per hour", "kph": "kilometre per hour", "kmh": "kilometre per hour"},
    **{
        "mph": "mile per hour",
        "m.p.h.": "mile per hour",
        "m/s": "metre per second",
        "km/s": "kilometre per second",
    },
    **{
        "ft": "foot",
        "ft.": "foot",
        "in.": "inch",
        "mi": "mile",
        "yd": "yard",
        "yds": "yard",
        "ha": "hectare",
    },
    **{"kg": "kilogram", "g": "gram", "mg": "milligram", "µg": "microgram", "μg": "microgram"},
    **{
        "t": "tonne",
        "lb": "pound",
        "lbs": "pound",
        "oz": "ounce",
        "lbs.": "pound",
        "oz.": "ounce",
        "g/km": "gram per kilometre",
    },
    **{
        "l": "litre",
        "L": "litre",
        "ml": "millilitre",
        "cl": "centilitre",
        "mg/l": "milligram per litre",
    },
    **{"W": "watt", "kW": "kilowatt", "MW": "megawatt", "GW": "gigawatt", "TW": "terawatt"},
    **{"Wh": "watt hour", "kWh": "kilowatt hour", "MWh": "megawatt hour"},
    **{"GWh": "gigawatt hour", "TWh": "terawatt hour", "V": "volt", "kV": "kilovolt"},
    **{"Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz"},
    **{"KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte"},
    **{"Kbps": "kilobit per second", "Mbps": "megabit per second", "Gbps": "gigabit per second"},
    **{"fps": "frame per second", "rpm": "revolution per minute", "dB": "decibel"},
    **{"hPa": "hectopascal", "mb": "millibar", "psi": "pound per square inch"},
    **{"kJ": "kilojoule", "kcal": "kilocalorie", "cal": "calorie", "ppm": "part per million"},
    **{"bps": "basis point", "pp": "percentage point", "mAh": "milliamp hour"},
    **{"ms": "millisecond", "sec": "second", "secs": "second", "min": "minute", "mins": "minute"},
    **{"h": "hour", "hr": "hour", "hrs": "hour", "yr": "year", "yrs": "year", "st": "stone"},
}
# These read as something else when a space parts them from the number: "5 st", "a 5 V".
ATTACHED_ONLY = {"h", "t", "l", "L", "V", "W", "st", "cal", "mb", "ms", "min"}
# These are clear even without a number: "measured in km/h".
CLEAR_ALONE = [
    *words(
        "km/h kph kmh mph m/s km/s km² m² cm² km³ m³ km kg cm mm kW kWh MWh GWh TWh kHz MHz GHz "
        "hPa Mbps Gbps mAh"
    )
]

_IRREGULAR = {"foot": "feet", "stone": "stone"}
_AMERICAN = (("metre", "meter"), ("litre", "liter"), ("tonne", "metric ton"))


def unit_name(unit: str, locale: Locale, *, one: bool) -> str:
    """kg -> kilograms; km/h -> kilometres per hour, or kilometers in American English."""
    name = UNITS[unit]
    if not one:
        head, per, rest = name.partition(" per ")
        first, space, last = head.rpartition(" ")
        name = first + space + _unit_plural(last) + per + rest
    if locale is Locale.US:
        for british, american in _AMERICAN:
            name = name.replace(british, american)
    return name


def _unit_plural(word: str) -> str:
    return word if word.endswith("hertz") else _IRREGULAR.get(word) or plural(word)


SCALES = {
    **{
        "k": "thousand",
        "thousand": "thousand",
        "lakh": "lakh",
        "crore": "crore",
        "hundred": "hundred",
        "million": "million",
    },
    **{"m": "million", "mn": "million", "mln": "million"},
    **{"b": "billion", "bn": "billion", "bln": "billion", "billion": "billion"},
    **{"t": "trillion", "tn": "trillion", "trn": "trillion", "trillion": "trillion"},
}


@dataclass(frozen=True, slots=True)
class Currency:
    """Names of the unit and of its hundredth part; no hundredths where `part` is empty."""

    one: str
    many: str
    part: str = ""
    parts: str = ""


def _dollar(country: str = "") -> Currency:
    return Currency(f"{country} dollar".strip(), f"{country} dollars".strip(), "cent", "cents")


_EURO = Currency("euro", "euros", "cent", "cents")
_POUND = Currency("pound", "pounds", "penny", "pence")
_YEN = Currency("yen", "yen")
_YUAN = Currency("yuan", "yuan")
_RUPEE = Currency("rupee", "rupees", "paisa", "paise")
_WON = Currency("won", "won")

CURRENCIES = {
    **{"$": _dollar(), "US$": _dollar("U S"), "A$": _dollar("Australian")},
    **{"AU$": _dollar("Australian"), "C$": _dollar("Canadian"), "CA$": _dollar("Canadian")},
    **{"NZ$": _dollar("New Zealand"), "HK$": _dollar("Hong Kong"), "S$": _dollar("Singapore")},
    **{"£": _POUND, "€": _EURO, "¥": _YEN, "CN¥": _YUAN, "₹": _RUPEE, "Rs": _RUPEE, "₩": _WON},
    **{"₽": Currency("rouble", "roubles"), "₺": Currency("lira", "lira")},
    **{"₴": Currency("hryvnia", "hryvnias"), "₪": Currency("shekel", "shekels")},
    **{"₦": Currency("naira", "naira"), "R$": Currency("real", "reais")},
    **{"USD": _dollar("U S"), "AUD": _dollar("Australian"), "CAD": _dollar("Canadian")},
    **{"GBP": _POUND, "EUR": _EURO, "JPY": _YEN, "CNY": _YUAN, "INR": _RUPEE, "KRW": _WON},
    **{"CHF": Currency("Swiss franc", "Swiss francs")},
}
