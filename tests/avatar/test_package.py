"""A package that somebody else made: whatever is wrong with it is one plain error at the door."""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from greenroom.avatar.package import Scene, bundled_avatars, find_avatar, read_package
from greenroom.base.errors import AssetError

VERA = find_avatar("vera").folder


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return Path(shutil.copytree(VERA, tmp_path / "vera"))


def scene(package: Path, **fields: Any) -> Scene:
    """The package read again, with other fields on its card."""
    path = package / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    return read_package(package)[0]


def parts(found: Scene) -> None:
    """Open everything that a render opens."""
    for part in (found.source, found.canvas, found.body, found.background):
        assert part.dtype == np.uint8
    assert found.params().shape == (200, 60)
    assert len(found.digest()) == 64


def test_the_bundled_avatars_open() -> None:
    scenes = list(bundled_avatars())
    assert [s.name for s in scenes] == ["vera", "vera-green"]
    for found in scenes:
        parts(found)
    assert len({found.digest() for found in scenes}) == 2


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '{"schema": 1', "[" * 100_000, '{"schema": ' + "9" * 5000 + "}"]
)
def test_a_card_that_is_no_card(package: Path, text: str) -> None:
    (package / "card.json").write_text(text)
    with pytest.raises(AssetError, match=r"card\.json"):
        read_package(package)


def test_a_card_that_is_too_large(package: Path) -> None:
    with pytest.raises(AssetError, match="at most"):
        scene(package, padding="x" * 2_000_000)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"schema": 2}, "schema 1"),
        ({"schema": True}, "schema as int"),
        ({"width": 30_000, "height": 30_000}, "16 to 8192"),
        ({"width": 1081}, "even sides"),
        ({"width": 1080.0}, "width as int"),
        ({"loop_frames": 0}, "1 to 90000"),
        ({"loop_frames": True}, "loop_frames as int"),
        ({"canvas": 10**9}, "16 to 8192"),
        ({"feather": 0}, "1 to 500"),
        ({"feather": 10**9}, "1 to 500"),
        ({"box": "abc"}, "box as list"),
        ({"box": [40, 30, 2]}, "inside the picture"),
        ({"box": [0, 0, 5000]}, "inside the picture"),
        ({"box": [True, 0, 16]}, "even"),
        ({"name": "../x"}, "small letters"),
        ({"title": ""}, "1 to 200"),
        ({"title": "Vera\x1b[2J"}, "1 to 200"),
        ({"licence": "x" * 10_000}, "1 to 200"),
        ({"note": 5}, "note as str"),
        ({"virtual": 1}, "virtual as bool"),
        ({"scenes": {}}, "one at least"),
        ({"scenes": {"../x": "#00ff00"}}, "small letters"),
        *(
            ({"scenes": {"studio": value}}, "a file beside")
            for value in ("../../etc/passwd", "/dev/zero", "..", "", None, ["x"])
        ),
    ],
    ids=str,
)
def test_fields_that_cannot_be(package: Path, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(AssetError, match=says) as caught:
        scene(package, **fields)
    assert caught.value.exit_code == 3


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    os.truncate(path, 5000)


def text(path: Path) -> None:
    path.write_text("hello" * 1000)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    """Nobody writes to it: opening it would wait for ever."""
    path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("harm", [Path.unlink, emptied, cut, text, folder, pipe, device])
@pytest.mark.parametrize(
    "name", ["source.png", "canvas.png", "body.png", "studio.png", "tensors.safetensors"]
)
@pytest.mark.timeout(20)
def test_parts_that_are_broken(package: Path, name: str, harm: Callable[[Path], None]) -> None:
    harm(package / name)
    with pytest.raises(AssetError, match=name):
        parts(read_package(package)[0])


def test_a_picture_that_claims_to_be_vast_is_not_decoded(package: Path) -> None:
    head = bytearray((VERA / "body.png").read_bytes())
    head[16:24] = struct.pack(">II", 30_000, 30_000)
    (package / "body.png").write_bytes(head)
    with pytest.raises(AssetError, match="30000"):
        _ = read_package(package)[0].body


@pytest.mark.parametrize(
    "tensors",
    [
        {"other": np.zeros((200, 60), np.float32)},
        {"params": np.zeros((199, 60), np.float32)},
        {"params": np.zeros(200, np.float32)},
        {"params": np.zeros((200, 60), np.int32)},
        {"params": np.full((200, 60), np.nan, np.float32)},
        {"params": np.full((200, 60), 1e30, np.float32)},
    ],
    ids=["key", "frames", "shape", "type", "not a number", "no pose"],
)
def test_params_that_are_none(package: Path, tensors: dict[str, Any]) -> None:
    save_file(tensors, package / "tensors.safetensors")
    with pytest.raises(AssetError, match=r"tensors\.safetensors"):
        read_package(package)[0].params()


def test_a_stranger_in_the_folder_changes_nothing(package: Path) -> None:
    before = read_package(package)[0].digest()
    with (package / "holiday.raw").open("wb") as file:
        file.truncate(1 << 40)  # a hole: reading it would take all memory
    assert read_package(package)[0].digest() == before


def test_a_name_longer_than_any_path() -> None:
    with pytest.raises(AssetError, match="no such avatar"):
        find_avatar("x" * 5000)
