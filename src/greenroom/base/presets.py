"""Every number a person may choose: frozen dataclasses and one table of named presets."""

from __future__ import annotations

from dataclasses import dataclass, field

from greenroom.base.errors import AssetError

X264_PRESETS = (
    *("ultrafast", "superfast", "veryfast", "faster", "fast"),
    *("medium", "slow", "slower", "veryslow", "placebo"),
)


@dataclass(frozen=True, slots=True)
class GatePreset:
    """The silence gate: times are frames of 40 ms."""

    threshold: float = 0.008  # RMS of one frame at full scale 1; about -42 dBFS
    look_ahead: int = 4  # how far the gate sees
    rise: int = 3  # frames before a loud one over which alpha rises, look_ahead at most
    hold: int = 4  # quiet frames after a loud one that still count as speech
    release: int = 3  # frames after the hold over which alpha falls


@dataclass(frozen=True, slots=True)
class SoundPreset:
    """What the viewer hears."""

    loudness: float | None = -23.0  # LUFS, EBU R128; None leaves the level alone
    true_peak: float = -1.0  # dBTP
    bitrate: int = 160_000  # AAC, bits per second


@dataclass(frozen=True, slots=True)
class VideoPreset:
    """How pictures are encoded."""

    encoder: str = "auto"  # auto, libx264, h264_nvenc
    x264_preset: str = "veryfast"
    crf: int = 18
    x264_params: str = ""  # over x264_preset, in x264's own words: "bframes=0:aq-mode=0"
    keyframe_seconds: float = 2.0
    threads: int = 0  # 0 = as many as there are cores


@dataclass(frozen=True, slots=True)
class PausePreset:
    """How long a newsreader rests, in seconds."""

    sentence: float = 0.5
    paragraph: float = 1.2
    clause: float = 0.15  # where a sentence too long for the voice is cut
    last: float = 0.6  # after the last word of a script


@dataclass(frozen=True, slots=True)
class Preset:
    """One named way to run."""

    name: str
    engine: str
    step: int  # K, frames per turn
    gate: GatePreset = field(default_factory=GatePreset)
    sound: SoundPreset = field(default_factory=SoundPreset)
    video: VideoPreset = field(default_factory=VideoPreset)
    pauses: PausePreset = field(default_factory=PausePreset)


PRESETS: dict[str, Preset] = {
    # For two cores: ultrafast takes 6 ms less of a core per frame than superfast. The price is
    # size: the example bulletin is 60 MB instead of 38 at the same crf. At crf 18 the face was
    # 49.3 dB against 49.6. Smaller files: --x264-preset veryfast.
    "demo": Preset(
        name="demo", engine="demo", step=10, video=VideoPreset(x264_preset="ultrafast", crf=22)
    ),
}


def preset_named(name: str) -> Preset:
    """The preset of that name, or an error that lists the names."""
    if name not in PRESETS:
        raise AssetError(
            "no such preset",
            got=repr(name),
            wanted=f"one of {', '.join(PRESETS)}",
            remedy="choose one with --preset",
        )
    return PRESETS[name]
