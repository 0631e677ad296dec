"""The portable form of an avatar: a folder with card.json, its pictures and its small tensors.

card.json           what it is, in words, and where the face lies
source.png          the face, premultiplied RGBA at the size it has in the picture
canvas.png          the same at the size of the networks' canvas
body.png            the whole person, premultiplied RGBA, as large as the picture
<scene>.png         what stands behind; a scene may be a plain colour (#rrggbb) instead
tensors.safetensors what the engine wants to know per loop frame
preview.jpg         a small picture for people
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from greenroom.base.errors import AssetError
from greenroom.base.flow import Card, Pixels

SCHEMA = 1
_MAX_SIDE = 8192
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class Scene:
    """One avatar in front of one background: what `--avatar NAME` chooses."""

    name: str
    scene: str
    folder: Path
    card: Card
    fields: dict[str, Any]

    @property
    def box(self) -> tuple[int, int, int]:
        """Left, top and side of the square that the face canvas covers, in picture pixels."""
        left, top, side = self.fields["box"]
        return int(left), int(top), int(side)

    @property
    def feather(self) -> int:
        """Width in picture pixels of the soft edge of the square."""
        return int(self.fields["feather"])

    @property
    def background(self) -> Pixels:
        """What stands behind, (H, W, 3) RGB."""
        value = str(self.fields["scenes"][self.scene])
        size = (self.card.height, self.card.width)
        if _COLOUR.fullmatch(value):
            rgb = [int(value[i : i + 2], 16) for i in (1, 3, 5)]
            return np.full((*size, 3), rgb, np.uint8)
        return self._picture(value, (*size, 3))

    @property
    def source(self) -> Pixels:
        side = self.box[2]
        return self._picture("source.png", (side, side, 4))

    @property
    def canvas(self) -> Pixels:
        side = int(self.fields["canvas"])
        return self._picture("canvas.png", (side, side, 4))

    @property
    def body(self) -> Pixels:
        return self._picture("body.png", (self.card.height, self.card.width, 4))

    @property
    def preview(self) -> Path:
        return self.folder / "preview.jpg"

    def tensors(self) -> dict[str, np.ndarray]:
        path = self.folder / "tensors.safetensors"
        try:
            return load_file(path)
        except (OSError, SafetensorError) as error:
            raise _broken(path, str(error)) from error

    def digest(self) -> str:
        """SHA-256 over everything that the painted loop depends on in this package."""
        sha = hashlib.sha256(f"{self.scene}\n".encode())
        for path in sorted(self.folder.iterdir()):
            if path.is_file():
                sha.update(f"{path.name}\n".encode() + path.read_bytes())
        return sha.hexdigest()

    def _picture(self, name: str, shape: tuple[int, int, int]) -> Pixels:
        """A picture of exactly that shape, RGB or RGBA; premultiplied where it has alpha."""
        path = self.folder / name
        if Path(name).name != name:
            raise _broken(path, "a file name with a folder in it")
        bgr = cv2.imread(str(path), cv2.IMREAD_UNCHANGED) if path.is_file() else None
        if bgr is None or bgr.shape != shape or bgr.dtype != np.uint8:
            got = "no readable picture" if bgr is None else f"{bgr.shape} {bgr.dtype}"
            raise _broken(path, got, f"{shape} uint8")
        code = cv2.COLOR_BGRA2RGBA if shape[2] == 4 else cv2.COLOR_BGR2RGB
        return np.asarray(cv2.cvtColor(bgr, code), np.uint8)


def bundled_avatars() -> Iterator[Scene]:
    """The avatars that come with Greenroom, one entry per scene."""
    root = Path(str(files("greenroom") / "assets" / "avatars"))
    for card in sorted(root.glob("*/card.json")):
        yield from read_package(card.parent)


def read_package(folder: Path) -> list[Scene]:
    """All scenes of a package; the first is the default and bears the avatar's own name."""
    path = folder / "card.json"
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _broken(path, str(error)) from error
    _check_fields(path, fields)
    card = Card(
        name=fields["name"],
        title=fields["title"],
        engine=fields["engine"],
        width=fields["width"],
        height=fields["height"],
        loop_frames=fields["loop_frames"],
        licence=fields["licence"],
        virtual=fields["virtual"],
        note=fields.get("note", ""),
        schema=fields["schema"],
    )
    names = [card.name] + [f"{card.name}-{scene}" for scene in list(fields["scenes"])[1:]]
    return [
        Scene(name, scene, folder, card, fields)
        for name, scene in zip(names, fields["scenes"], strict=True)
    ]


_FIELDS: dict[str, type] = {
    "schema": int,
    "name": str,
    "title": str,
    "engine": str,
    "width": int,
    "height": int,
    "loop_frames": int,
    "licence": str,
    "virtual": bool,
    "scenes": dict,
    "box": list,
    "canvas": int,
    "feather": int,
}


def _check_fields(path: Path, fields: Any) -> None:
    if not isinstance(fields, dict):
        raise _broken(path, type(fields).__name__, "an object")
    for key, kind in _FIELDS.items():
        if not isinstance(fields.get(key), kind):
            raise _broken(path, f"{key} = {fields.get(key)!r}", f"{key} as {kind.__name__}")
    if fields["schema"] != SCHEMA:
        raise _broken(path, f"schema {fields['schema']}", f"schema {SCHEMA}")
    if not _NAME.fullmatch(fields["name"]) or not fields["scenes"]:
        raise _broken(path, f"name {fields['name']!r}", "letters, digits, dashes; a scene")
    sides = (fields["width"], fields["height"])
    if any(not 16 <= side <= _MAX_SIDE or side % 2 for side in sides):
        raise _broken(path, f"{sides[0]}x{sides[1]}", f"even sides from 16 to {_MAX_SIDE}")
    if not 1 <= fields["loop_frames"] <= 25 * 3600:
        raise _broken(path, f"{fields['loop_frames']} loop frames", "1 to 90000")
    box = fields["box"]
    if len(box) != 3 or not all(isinstance(v, int) and v >= 0 and v % 2 == 0 for v in box):
        raise _broken(path, f"box {box}", "[left, top, side], even")
    if box[0] + box[2] > sides[0] or box[1] + box[2] > sides[1] or not box[2]:
        raise _broken(path, f"box {box}", "a square inside the picture")


def find_avatar(name: str) -> Scene:
    """An avatar by its name, or by the folder of its package; an error lists what there is."""
    folder = Path(name)
    if (folder / "card.json").is_file():
        return read_package(folder)[0]
    scenes = {scene.name: scene for scene in bundled_avatars()}
    if name not in scenes:
        raise AssetError(
            "no such avatar",
            got=repr(name),
            wanted=f"one of {', '.join(scenes)}, or the folder of an avatar package",
            remedy="greenroom avatars lists them",
        )
    return scenes[name]


def _broken(path: Path, got: str, wanted: str = "") -> AssetError:
    return AssetError(
        f"the avatar package {path.parent} is broken: {path.name}",
        got=got,
        wanted=wanted,
        remedy="take the package anew",
    )
