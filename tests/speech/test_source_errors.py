"""What is no sound is refused in plain words: what, got, wanted, remedy."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from speech_sounds import talk, tone, wav, write

from greenroom.base.errors import InputError
from greenroom.speech.source import AudioSource

NOISE = np.random.default_rng(0).bytes(40_000)


def refused(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        AudioSource(path)
    assert caught.value.what
    assert caught.value.got
    assert caught.value.wanted
    assert caught.value.remedy
    assert str(path) in caught.value.what
    return caught.value


def test_a_missing_file(tmp_path: Path) -> None:
    error = refused(tmp_path / "none.wav")
    assert error.got == "No such file or directory"


def test_a_folder(tmp_path: Path) -> None:
    error = refused(tmp_path)
    assert error.got == "Is a directory"
    assert "not a folder" in error.wanted


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked.wav"
    path.write_bytes(wav(tone(800, 8_000), 8_000))

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", denied)  # an administrator may read everything
    error = refused(path)
    assert error.got == "Permission denied"
    assert "permissions" in error.remedy


@pytest.mark.parametrize(
    "content",
    [b"", b"hi", b"Good evening, this is the news.\n" * 500, NOISE, b"\0" * 5_000],
    ids=["empty", "tiny", "text", "noise", "zeros"],
)
@pytest.mark.parametrize("suffix", [".mp3", ".wav", ".m4a"])
def test_no_sound_file_at_all(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"fake{suffix}"
    path.write_bytes(content)
    error = refused(path)
    assert "not a sound file" in error.what or "no sound" in error.what


def test_a_film_without_sound(tmp_path: Path) -> None:
    path = tmp_path / "mute.mp4"
    with av.open(str(path), "w") as file:
        video = file.add_stream("mpeg4", rate=25)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        for _ in range(3):
            file.mux(video.encode(av.VideoFrame(64, 48, "yuv420p")))
        file.mux(video.encode(None))
    error = refused(path)
    assert error.got == "video only"
    assert "audio track" in error.wanted


@pytest.mark.parametrize("declared", [0, None])
def test_a_header_without_samples(tmp_path: Path, declared: int | None) -> None:
    path = tmp_path / "blank.wav"
    path.write_bytes(wav(np.zeros(0, np.int16), 8_000, declared=declared))
    error = refused(path)
    assert error.got == "0 samples"


def test_a_header_that_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "cut.wav"
    path.write_bytes(wav(np.zeros(100, np.int16), 8_000)[:30])
    refused(path)


def test_a_film_that_breaks_off_before_its_index(tmp_path: Path) -> None:
    path = write(tmp_path / "whole.m4a", talk(2, 48_000), 48_000, "aac")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "damaged beyond use" in refused(path).what


@pytest.mark.parametrize("rate", [100, 2_000_000])
def test_rates_that_hold_no_speech(tmp_path: Path, rate: int) -> None:
    path = tmp_path / "strange.wav"
    path.write_bytes(wav(np.zeros(100, np.int16), rate))
    error = refused(path)
    assert error.got == f"{rate} Hz"
    assert "4000 to 768000 Hz" in error.wanted


@pytest.mark.parametrize(
    ("value", "at", "told"),
    [(np.nan, 12_000, "nan at 1.500 s"), (np.inf, 0, "inf at 0.000 s"),
     (-np.inf, 31_999, "-inf at 4.000 s")],
)  # fmt: skip
def test_samples_that_are_not_numbers(tmp_path: Path, value: float, at: int, told: str) -> None:
    sound = tone(32_000, 8_000)
    sound[at:] = value
    path = tmp_path / "nan.wav"
    path.write_bytes(wav(sound, 8_000))
    with pytest.raises(InputError, match="not numbers") as caught:
        list(AudioSource(path))
    assert caught.value.got == told


def test_a_truncated_file_gives_what_it_holds_and_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "whole.flac", talk(8, 16_000), 16_000, "flac")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    source = AudioSource(path)
    held = sum(len(piece.pcm) for piece in source) / 16_000
    assert 2 < held < 6
    remarks = [words for words in source.remarks if "cut off" in words]
    assert len(remarks) == 1
    assert remarks[0].startswith("it says it is 8.0 s long")


def test_a_hole_in_a_file_is_passed_over_and_told(tmp_path: Path) -> None:
    path = write(tmp_path / "whole.m4a", talk(6, 48_000), 48_000, "aac")
    data = bytearray(path.read_bytes())
    data[len(data) // 3 : len(data) // 3 + 2_000] = NOISE[:2_000]
    path.write_bytes(data)
    source = AudioSource(path)
    unread = source.remarks
    held = sum(len(piece.pcm) for piece in source)
    assert unread == ()
    assert 5 * 48_000 < held < 6.1 * 48_000
    assert any("damaged and left out" in words for words in source.remarks)


def test_a_file_that_is_broken_throughout(tmp_path: Path) -> None:
    path = write(tmp_path / "whole.m4a", talk(6, 48_000), 48_000, "aac")
    data = bytearray(path.read_bytes())
    begin, index = data.find(b"mdat") + 4, data.find(b"moov")
    assert 0 < begin < index
    keep = begin + 1_000  # the first frames are whole: the door lets it in
    data[keep : index - 4] = (NOISE * 9)[: index - 4 - keep]
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged beyond use") as caught:
        list(AudioSource(path))
    assert "packets cannot be decoded" in caught.value.got


def test_a_playlist_opens_nothing_else(tmp_path: Path) -> None:
    """ffmpeg would follow it, to any file or address that it names."""
    write(tmp_path / "other.wav", tone(8_000, 8_000), 8_000, "pcm_s16le")
    path = tmp_path / "list.m3u8"
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nother.wav\n#EXT-X-ENDLIST\n")
    refused(path)
    path = tmp_path / "list.ffconcat"
    path.write_text("ffconcat version 1.0\nfile other.wav\n")
    refused(path)
