"""The conformance runner: finds a difference, and says what is wrong with a folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from greenroom.base.errors import AssetError
from greenroom.base.weights import load
from greenroom.nets.stitch import StitchNetwork
from greenroom.quality.conformance import check_cases, check_folder, read_cases
from greenroom.quality.subjects import SUBJECTS
from greenroom.quality.synthetic import seeded_normal, synthetic_state

RECORDED = Path(__file__).parents[1] / "conformance" / "ditto_v04"
CASE = "stitch_network_case_a.npz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The stitching network's recordings alone: its run takes no time."""
    for file in RECORDED.glob("stitch_network*"):
        shutil.copy(file, tmp_path)
    return tmp_path


def rewrite(file: Path, **changes: Any) -> None:
    """Change entries of a recording; None takes one out. Dots are written as double underscores."""
    with np.load(file) as archive:
        arrays = {key: archive[key] for key in archive.files}
    arrays |= {key.replace("__", "."): value for key, value in changes.items()}
    kept = {key: value for key, value in arrays.items() if value is not None}
    np.savez(file, **kept)


def test_results_name_what_was_compared(folder: Path) -> None:
    results = check_folder(folder)
    assert [(r.network, r.case, r.batch, r.output) for r in results] == [
        ("stitch_network", "a", 1, "out"),
        ("stitch_network", "b", 2, "out"),
    ]
    assert all(r.passed and 0 <= r.error < 1e-5 for r in results)


def test_results_come_one_by_one(folder: Path) -> None:
    cases = read_cases(folder)
    assert sum(len(case.recordings) for case in cases) == 2
    results = check_cases(cases)
    assert next(results).case == "a"
    assert next(results).case == "b"


def test_a_folder_may_leave_its_manifests_out(folder: Path) -> None:
    with_manifest = check_folder(folder)
    (folder / "stitch_network.json").unlink()
    assert check_folder(folder) == with_manifest


def test_another_salt_case_and_batch_are_rebuilt_from_the_file(folder: Path) -> None:
    state = synthetic_state(SUBJECTS["stitch_network"].manifest, "pepper")
    network = load(StitchNetwork, state, "stitch_network")
    source = 0.35 * torch.from_numpy(seeded_normal("held/stitch_network/kp_source", (3, 21, 3)))
    delta = 0.03 * torch.from_numpy(seeded_normal("held/stitch_network/kp_delta", (3, 21, 3)))
    out = network(source, source + delta).numpy().ravel()
    file = folder / "stitch_network_case_x.npz"
    recording = {"out.shape": [3, 21, 3], "out.index": np.arange(0, 189, 2), "out.sample": out[::2]}
    meta = {"meta.salt": "pepper", "meta.case": "held", "meta.batch": 3}
    np.savez(file, **recording, **meta)  # type: ignore[arg-type]
    assert [r.passed for r in check_folder(folder)] == [True, True, True]
    for change in ({"meta__salt": "salt"}, {"meta__case": "a"}):
        np.savez(file, **recording, **meta)  # type: ignore[arg-type]
        rewrite(file, **change)
        assert [r.passed for r in check_folder(folder)] == [True, True, False]


@pytest.mark.parametrize(("factor", "passed"), [(1.00005, True), (1.0002, False), (np.nan, False)])
def test_the_threshold_is_one_in_ten_thousand(folder: Path, factor: float, passed: bool) -> None:
    with np.load(folder / CASE) as archive:
        sample = archive["out.sample"] * np.float32(factor)
    rewrite(folder / CASE, out__sample=sample)
    first, second = check_folder(folder)
    assert (first.passed, second.passed) == (passed, True)
    if not np.isnan(factor):
        assert first.error == pytest.approx(factor - 1, rel=0.02)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"meta__salt": None}, r"case_a\.npz: broken, KeyError"),
        ({"meta__batch": "two"}, r"case_a\.npz: broken, ValueError"),
        ({"meta__batch": 0}, r"case_a\.npz: batch 0"),
        ({"out__sample": None}, r"case_a\.npz: outputs none"),
        ({"extra__sample": np.ones(1)}, r"case_a\.npz: broken, KeyError"),
        ({"out__index": np.arange(5)}, r"case_a\.npz: broken, .* 5 positions and 63 numbers"),
        ({"out__index": np.arange(63) + 1}, r"case_a\.npz: broken, .* positions outside"),
        ({"out__index": np.arange(63) - 1}, r"case_a\.npz: broken, .* positions outside"),
        ({"out__sample": np.array([object()])}, r"case_a\.npz: broken, ValueError"),
    ],
)
def test_broken_recordings_are_named(folder: Path, changes: dict[str, Any], message: str) -> None:
    rewrite(folder / CASE, **changes)
    with pytest.raises(AssetError, match=message):
        check_folder(folder)


def test_a_strange_output_is_named(folder: Path) -> None:
    file = folder / "lmdm_case_a.npz"
    shutil.copy(folder / CASE, file)
    with pytest.raises(AssetError, match=r"lmdm_case_a\.npz: outputs out, not cond, uncond"):
        check_folder(folder)


def test_a_shape_that_the_network_does_not_give_is_named(folder: Path) -> None:
    rewrite(folder / CASE, out__shape=np.array([1, 3, 21]))
    with pytest.raises(AssetError, match=r"(?s)case_a\.npz records.*\(1, 3, 21\).*\(1, 21, 3\)"):
        check_folder(folder)


def test_every_bad_file_is_named_at_once(folder: Path) -> None:
    content = (folder / CASE).read_bytes()
    (folder / "lmdm_case_q.npz").write_bytes(content[: len(content) // 2])
    (folder / "warp_network_case_r.npz").write_bytes(b"")
    (folder / "face_network_case_a.npz").write_bytes(content)
    (folder / "crop.json").write_text("{}")
    (folder / "README.md").write_text("not looked at")
    with pytest.raises(AssetError) as refused:
        check_folder(folder)
    text = str(refused.value)
    assert "lmdm_case_q.npz: broken" in text
    assert "warp_network_case_r.npz: broken" in text
    assert "face_network_case_a.npz: unknown network 'face_network'" in text
    assert "crop.json: unknown network 'crop'" in text
    assert "README" not in text


def test_a_manifest_of_another_network_is_named(folder: Path) -> None:
    file = folder / "stitch_network.json"
    table = json.loads(file.read_text())
    file.write_text(json.dumps(table | {"network": "lmdm"}))
    with pytest.raises(AssetError, match=r"stitch_network\.json: manifest of 'lmdm'"):
        check_folder(folder)
    table["tensors"][0][1] = [128, 125]
    file.write_text(json.dumps(table))
    with pytest.raises(AssetError, match=r"stitch_network\.json: 1 misshapen: mlp\.0\.weight"):
        check_folder(folder)


def test_folders_without_cases_are_errors(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="no recorded case"):
        check_folder(tmp_path)
    with pytest.raises(AssetError, match="no folder"):
        check_folder(tmp_path / "nowhere")
