"""Which sound of the voice makes which mouth, and which face units make that mouth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

VOWELS = "ɑaʌIæWɛeəAɐiɪᵻYoɔOQuʊɜɚ"  # capitals are Kokoro's diphthongs
BILABIALS = "pbm"
PRIMARY_STRESS, SECONDARY_STRESS = "ˈ", "ˌ"
VOWEL_DOMINANCE, CONSONANT_DOMINANCE = 1.0, 0.55  # of the sounds whose viseme does not say
TWO_SIDED = ("mouthLowerDown", "mouthPress", "mouthSmile", "mouthStretch", "mouthUpperUp")


@dataclass(frozen=True, slots=True)
class Viseme:
    """A mouth shape: the symbols that make it, and ARKit face units 0 ... 1, both sides as one.

    `dominance` is how strongly the shape holds against its neighbours; 0 leaves it to the kind of
    the sound, vowel or consonant.
    """

    name: str
    symbols: str
    units: Mapping[str, float]
    dominance: float = 0.0

    def dominance_of(self, symbol: str) -> float:
        usual = VOWEL_DOMINANCE if symbol in VOWELS else CONSONANT_DOMINANCE
        return self.dominance or usual

    @property
    def weights(self) -> dict[str, float]:
        """The units by their full names, left and right apart."""
        return {
            unit + side: weight
            for unit, weight in self.units.items()
            for side in (("Left", "Right") if unit in TWO_SIDED else ("",))
        }


VISEMES = (
    Viseme("PP", BILABIALS,
           {"jawOpen": 0.05, "mouthClose": 0.06, "mouthPress": 0.45,
            "mouthRollLower": 0.35, "mouthRollUpper": 0.35}, dominance=3.2),
    Viseme("FF", "fv",
           {"jawOpen": 0.10, "mouthRollLower": 0.70, "mouthUpperUp": 0.30,
            "mouthShrugUpper": 0.10}, dominance=2.6),
    Viseme("TH", "θð",
           {"jawOpen": 0.17, "mouthLowerDown": 0.25, "mouthUpperUp": 0.12, "tongueOut": 0.28}),
    Viseme("DD", "tdɾT",
           {"jawOpen": 0.15, "mouthLowerDown": 0.30, "mouthUpperUp": 0.14, "mouthStretch": 0.10}),
    Viseme("kk", "kɡŋhʔ",
           {"jawOpen": 0.22, "mouthLowerDown": 0.22, "mouthUpperUp": 0.10, "mouthStretch": 0.08}),
    Viseme("CH", "ʧʤʃʒ",
           {"jawOpen": 0.13, "mouthFunnel": 0.55, "mouthPucker": 0.12,
            "mouthLowerDown": 0.25, "mouthUpperUp": 0.18}, dominance=1.6),
    Viseme("SS", "sz",
           {"jawOpen": 0.07, "mouthStretch": 0.28, "mouthLowerDown": 0.35,
            "mouthUpperUp": 0.16, "mouthSmile": 0.10}, dominance=1.1),
    Viseme("nn", "nl",
           {"jawOpen": 0.17, "mouthLowerDown": 0.25, "mouthUpperUp": 0.10}),
    Viseme("RR", "ɹɜɚrᵊ",
           {"jawOpen": 0.18, "mouthFunnel": 0.38, "mouthPucker": 0.22, "mouthLowerDown": 0.12}),
    Viseme("aa", "ɑaʌIæW",
           {"jawOpen": 0.62, "mouthLowerDown": 0.18, "mouthUpperUp": 0.10, "mouthStretch": 0.05}),
    Viseme("E", "ɛeəAɐ",
           {"jawOpen": 0.36, "mouthStretch": 0.25, "mouthLowerDown": 0.25,
            "mouthUpperUp": 0.12, "mouthSmile": 0.10}),
    Viseme("ih", "iɪjᵻY",
           {"jawOpen": 0.20, "mouthStretch": 0.30, "mouthLowerDown": 0.28,
            "mouthUpperUp": 0.12, "mouthSmile": 0.18}),
    Viseme("oh", "oɔOQ",
           {"jawOpen": 0.42, "mouthFunnel": 0.50, "mouthPucker": 0.30}, dominance=1.3),
    Viseme("ou", "uʊw",
           {"jawOpen": 0.18, "mouthPucker": 0.75, "mouthFunnel": 0.35}, dominance=1.5),
)  # fmt: skip

VISEME_OF: Mapping[str, Viseme] = MappingProxyType(
    {symbol: viseme for viseme in VISEMES for symbol in viseme.symbols}
)
