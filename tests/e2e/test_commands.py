"""Every command: quick help, lists, JSON for machines."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import greenroom

COMMANDS: tuple[list[str], ...] = (
    [], ["render"], ["voices"], ["avatars"], ["doctor"], ["conformance"], ["bench"],
    ["bench", "demo"],
)  # fmt: skip
HEAVY = ("torch", "numpy", "av", "onnxruntime", "cv2")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_is_quick_and_light(words: list[str], tmp_path: Path) -> None:
    """Best of five under 0.3 s; none of the heavy libraries is imported for it."""
    seconds = []
    for _ in range(5):
        begin = time.monotonic()
        done = greenroom(*words, "--help", cwd=tmp_path)
        seconds.append(time.monotonic() - begin)
        assert done.returncode == 0
        assert "Usage" in done.stdout
        if min(seconds) < 0.3:
            break
    assert min(seconds) < 0.3
    arguments = ["-X", "importtime", "-m", "greenroom", *words, "--help"]
    trace = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    imported = {row.rsplit("|", 1)[-1].strip().split(".")[0] for row in trace.stderr.splitlines()}
    assert "typer" in imported, "the trace is not read rightly"
    assert not imported & set(HEAVY)


def test_version(tmp_path: Path) -> None:
    assert greenroom("--version", cwd=tmp_path).stdout.startswith("greenroom 0.")


def test_avatars(tmp_path: Path) -> None:
    shown = greenroom("avatars", cwd=tmp_path)
    assert "vera-green" in shown.stdout
    assert "virtual" in shown.stdout
    listed = json.loads(greenroom("avatars", "--json", cwd=tmp_path).stdout)
    assert [a["name"] for a in listed] == ["vera", "vera-green"]
    assert all(a["virtual"] for a in listed)


def test_voices(tmp_path: Path) -> None:
    listed = json.loads(greenroom("voices", "--json", cwd=tmp_path).stdout)
    assert listed[0]["name"] == "af_heart"
    assert "af_heart" in greenroom("voices", cwd=tmp_path).stdout


def test_doctor(tmp_path: Path) -> None:
    done = greenroom("doctor", "--json", cwd=tmp_path)
    findings = {f["what"]: f for f in json.loads(done.stdout)}
    assert findings["encoder"]["state"] == "ok"
    assert findings["demo weights"]["state"] == "ok"
    assert done.returncode == (3 if any(f["state"] == "missing" for f in findings.values()) else 0)


def test_conformance_of_a_folder_without_cases(tmp_path: Path) -> None:
    done = greenroom("conformance", tmp_path, cwd=tmp_path)
    assert done.returncode == 3
    assert "no recorded case" in done.stderr


def test_conformance(tmp_path: Path) -> None:
    """The smallest network here; all six are held in tests/conformance."""
    recorded = Path(__file__).parents[1] / "conformance" / "ditto_v04"
    for name in ("stitch_network.json", "stitch_network_case_a.npz"):
        (tmp_path / name).write_bytes((recorded / name).read_bytes())
    done = greenroom("conformance", tmp_path, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(row["passed"] for row in json.loads(done.stdout)["results"])
