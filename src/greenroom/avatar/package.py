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
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from greenroom.base.errors import AssetError
from greenroom.base.flow import Card, Pixels

SCHEMA = 1
_MAX_SIDE = 8192
_MAX_BYTES = 1 << 28  # of one file; nothing here comes near
_MAX_CARD_BYTES = 1 << 20
_MAX_TITLE = 200  # letters
_MAX_PARAM = 1e3  # degrees and shares of an expression; beyond is no pose
_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"  # signature and the first chunk's length and kind
_PNG_CHANNELS = {2: 3, 6: 4}  # colour type of RGB and RGBA
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

    def params(self) -> NDArray[np.float64]:
        """The engine's numbers per frame of the loop, (F, n)."""
        path = _checked_file(self.folder / "tensors.safetensors", _MAX_BYTES)
        wanted = f"params of {self.card.loop_frames} frames, finite, {_MAX_PARAM:g} at most"
        try:
            params = load_file(path)["params"]
        except (OSError, SafetensorError) as error:
            raise _broken(path, str(error), wanted) from error
        except (KeyError, TypeError, AttributeError) as error:  # of a type that numpy lacks, too
            raise _broken(path, "no params", wanted) from error
        if params.ndim != 2 or len(params) != self.card.loop_frames or params.dtype.kind != "f":
            raise _broken(path, f"params {params.shape} {params.dtype}", wanted)
        if not (np.abs(params) <= _MAX_PARAM).all():  # nor where one is not a number
            raise _broken(path, "params that are no pose", wanted)
        return params.astype(np.float64)

    def digest(self) -> str:
        """SHA-256 over everything that the painted loop depends on in this package."""
        sha = hashlib.sha256(f"{self.scene}\n".encode())
        names = ["card.json", "source.png", "canvas.png", "body.png", "tensors.safetensors"]
        if not _COLOUR.fullmatch(self.fields["scenes"][self.scene]):
            names.append(self.fields["scenes"][self.scene])
        for name in names:
            path = _checked_file(self.folder / name, _MAX_BYTES)
            sha.update(f"{name}\n".encode() + path.read_bytes())
        return sha.hexdigest()

    def _picture(self, name: str, shape: tuple[int, int, int]) -> Pixels:
        """A picture of exactly that shape, RGB or RGBA; premultiplied where it has alpha."""
        path = _checked_file(self.folder / name, _MAX_BYTES)
        height, width, channels = shape
        wanted = f"a PNG of {width}x{height}, {channels} channels of 8 bits"
        found = _png_shape(path)  # before any decoder makes room for what the file claims
        if found != shape:
            raise _broken(path, f"{found or 'no such PNG'}", wanted)
        bgr = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        if bgr is None or bgr.shape != shape:
            raise _broken(path, "a damaged picture", wanted)
        code = cv2.COLOR_BGRA2RGBA if shape[2] == 4 else cv2.COLOR_BGR2RGB
        return np.asarray(cv2.cvtColor(bgr, code), np.uint8)


def _checked_file(path: Path, most: int) -> Path:
    """A file to be read whole: no pipe, no device, and not too large."""
    if not os.path.isfile(path):
        raise _broken(path, "no such file")
    if path.stat().st_size > most:
        raise _broken(path, f"{path.stat().st_size} bytes", f"{most} at most")
    return path


def _png_shape(path: Path) -> tuple[int, int, int] | None:
    """(height, width, channels) that the head of an 8-bit PNG claims; None for another file."""
    with path.open("rb") as file:
        head = file.read(len(_PNG) + 10)
    if len(head) < len(_PNG) + 10 or not head.startswith(_PNG):
        return None
    width, height, depth, colour = struct.unpack(">IIBB", head[len(_PNG) :])
    return (height, width, _PNG_CHANNELS.get(colour, 0)) if depth == 8 else None


def bundled_avatars() -> Iterator[Scene]:
    """The avatars that come with Greenroom, one entry per scene."""
    root = Path(str(files("greenroom") / "assets" / "avatars"))
    for card in sorted(root.glob("*/card.json")):
        yield from read_package(card.parent)


def read_package(folder: Path) -> list[Scene]:
    """All scenes of a package; the first is the default and bears the avatar's own name."""
    path = _checked_file(folder / "card.json", _MAX_CARD_BYTES)
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _broken(path, str(error)) from error
    if isinstance(fields, dict):
        fields.setdefault("note", "")
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
        note=fields["note"],
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
    "note": str,
}


def _check_fields(path: Path, fields: Any) -> None:
    if not isinstance(fields, dict):
        raise _broken(path, type(fields).__name__, "an object")
    for key, kind in _FIELDS.items():
        if type(fields.get(key)) is not kind:  # true is no number
            raise _broken(path, f"{key} = {fields.get(key)!r}", f"{key} as {kind.__name__}")
    if fields["schema"] != SCHEMA:
        raise _broken(path, f"schema {fields['schema']}", f"schema {SCHEMA}")
    for name in (fields["name"], *fields["scenes"]):
        if not _NAME.fullmatch(name):
            raise _broken(path, f"the name {name!r}", "small letters, digits and dashes")
    for key in ("title", "licence"):
        if not fields[key].isprintable() or not 1 <= len(fields[key]) <= _MAX_TITLE:
            raise _broken(path, f"{key} {fields[key]!r:.50}", f"1 to {_MAX_TITLE} letters")
    if not 1 <= fields["loop_frames"] <= 25 * 3600:
        raise _broken(path, f"{fields['loop_frames']} loop frames", "1 to 90000")
    _check_scenes(path, fields["scenes"])
    _check_place(path, fields)


def _check_scenes(path: Path, scenes: dict[str, Any]) -> None:
    if not scenes:
        raise _broken(path, "no scene", "one at least")
    for value in scenes.values():
        is_name = isinstance(value, str) and Path(value).name == value and value not in ("", "..")
        if not is_name:  # "#rrggbb" is a plain name too
            raise _broken(path, f"the scene {value!r:.50}", "a colour or the name of a file beside")


def _check_place(path: Path, fields: dict[str, Any]) -> None:
    """The square of the face inside the picture, its soft edge, and the canvas it is painted on."""
    width, height, box = fields["width"], fields["height"], fields["box"]
    if any(not 16 <= side <= _MAX_SIDE or side % 2 for side in (width, height)):
        raise _broken(path, f"{width}x{height}", f"even sides from 16 to {_MAX_SIDE}")
    if len(box) != 3 or not all(type(v) is int and v >= 0 and v % 2 == 0 for v in box):
        raise _broken(path, f"box {box!r:.50}", "[left, top, side], even")
    left, top, side = box
    if left + side > width or top + side > height or side < 16:
        raise _broken(path, f"box {box}", "a square of 16 or more inside the picture")
    if not 16 <= fields["canvas"] <= _MAX_SIDE:
        raise _broken(path, f"canvas {fields['canvas']}", f"16 to {_MAX_SIDE}")
    if not 1 <= fields["feather"] <= side // 2:
        raise _broken(path, f"feather {fields['feather']}", f"1 to {side // 2}, half of the square")


def find_avatar(name: str) -> Scene:
    """An avatar by its name, or by the folder of its package; an error lists what there is."""
    folder = Path(name)
    if os.path.isfile(folder / "card.json"):  # never an error, however long the name
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
        got=got[:300],
        wanted=wanted,
        remedy="take the package anew",
    )
