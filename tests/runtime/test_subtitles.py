"""Subtitles: grouping, clocks and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from greenroom.base.errors import OutputError
from greenroom.base.flow import Speech, Word
from greenroom.runtime.subtitles import SubtitleFile, cues_of, srt, vtt


def words(text: str, seconds: float = 0.4) -> list[Word]:
    return [Word(w, i * seconds, (i + 1) * seconds) for i, w in enumerate(text.split())]


def test_a_cue_ends_with_its_sentence_and_not_with_a_full_stop(tmp_path: Path) -> None:
    file = SubtitleFile(tmp_path / "a.srt")
    for sentence in ("Mr. Low met the U.S. envoy.", "Rain is near."):
        file.hear(Speech(np.zeros(72000, np.float32), 24000, words=tuple(words(sentence))))
    file.write()
    file.commit()
    texts = file.target.read_text().split("\n")
    assert texts[2] == "Mr. Low met the U.S. envoy."
    assert texts[6] == "Rain is near."


def test_cues_are_short_in_letters_and_in_time() -> None:
    cues = cues_of(words("word " * 60, 0.7))
    assert all(c.end - c.start <= 6.0 + 1e-9 for c in cues)
    assert all(len(line) <= 74 for c in cues for line in c.text.split("\n"))
    assert sum(len(c.text.split()) for c in cues) == 60


def test_clocks() -> None:
    cues = cues_of([Word("Hello & <you>.", 3661.5, 3662.25)])
    assert srt(cues) == "1\n01:01:01,500 --> 01:01:02,250\nHello & <you>.\n\n"
    assert vtt(cues) == "WEBVTT\n\n01:01:01.500 --> 01:01:02.250\nHello &amp; &lt;you&gt;.\n\n"


def test_times_run_on_over_pieces(tmp_path: Path) -> None:
    file = SubtitleFile(tmp_path / "a b.srt")
    second = np.zeros(24000, np.float32)
    file.hear(Speech(second, 24000))
    file.hear(Speech(second, 24000, words=(Word("Now.", 0.25, 0.5),)))
    with file:
        file.write()
        assert not file.target.exists()
        file.commit()
    assert "00:00:01,250 --> 00:00:01,500\nNow." in file.target.read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["a b.srt"]


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    (tmp_path / "old.srt").write_text("precious")
    (tmp_path / "folder.srt").mkdir()
    for name, says in (
        ("a.txt", r"\.srt or \.vtt"),
        ("folder.srt", "is a folder"),
        ("no/such/a.srt", "no folder"),
        (f"{'x' * 300}.srt", "too long"),
        ("old.srt", "no-clobber"),
    ):
        with pytest.raises(OutputError, match=says):
            SubtitleFile(tmp_path / name, no_clobber=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.srt", "old.srt"]


def test_left_without_a_commit_there_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "a.vtt").write_text("precious")
    with SubtitleFile(tmp_path / "a.vtt") as file:
        file.write()
    assert [p.read_text() for p in tmp_path.iterdir()] == ["precious"]
