"""Options are refused where they are chosen, with the values that would do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from greenroom import RenderOptions
from greenroom.base.errors import InputError


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kind": "x"}, "auto, text, file"),
        ({"loudness": math.nan}, "-40 to -10"),
        ({"loudness": -9.9}, "-40 to -10"),
        ({"speed": math.nan}, "0.5 to 2"),
        ({"speed": -1}, "0.5 to 2"),
        ({"seed": 1.5}, "a whole number"),
        ({"seed": True}, "a whole number"),
        ({"batch_size": -1}, "from 0 to 64"),
        ({"batch_size": 65}, "from 0 to 64"),
        ({"crf": 52}, "from 0 to 51"),
        ({"x264_preset": "warp9"}, "ultrafast"),
        ({"x264_preset": "ultrafast:crf=3"}, "ultrafast"),
    ],
    ids=str,
)
def test_values_that_no_render_can_have(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        RenderOptions(**options)


def test_values_at_the_edges() -> None:
    RenderOptions(loudness=None, speed=0.5, seed=-(10**30), batch_size=64, crf=0)
    RenderOptions(loudness=-40, speed=np.float32(2), seed=np.int64(3), crf=51)  # type: ignore[arg-type]
    assert RenderOptions(crf=0, x264_preset="slow").resolved().video.crf == 0
