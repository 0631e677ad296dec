"""Greenroom: a neural news anchor that is always on air.

Public names are loaded on first use, so that `import greenroom` and `greenroom --help` are quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["GreenroomError", "RenderOptions", "RenderReport", "render", "stream"]

if TYPE_CHECKING:
    from greenroom.base.errors import GreenroomError
    from greenroom.runtime.options import RenderOptions
    from greenroom.runtime.render import RenderReport, render, stream

_HOMES = {
    "GreenroomError": "greenroom.base.errors",
    "RenderOptions": "greenroom.runtime.options",
    "RenderReport": "greenroom.runtime.render",
    "render": "greenroom.runtime.render",
    "stream": "greenroom.runtime.render",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'greenroom' has no attribute {name!r}")
