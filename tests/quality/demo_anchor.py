"""The demo engine and its anchor, without pictures: nothing is pasted where motion is measured."""

from __future__ import annotations

from functools import cache

import torch

from greenroom.avatar.package import find_avatar
from greenroom.base.flow import Loop, Placement
from greenroom.base.presets import preset_named
from greenroom.engine.demo import DemoEngine
from greenroom.runtime.wiring import open_engine


@cache
def demo_engine() -> DemoEngine:
    """As it runs: wired, with the encoder that hears ahead."""
    engine = open_engine(preset_named("demo"), "cpu")
    assert isinstance(engine, DemoEngine)
    return engine


@cache
def vera() -> Loop:
    scene = find_avatar("vera")
    tensors = demo_engine().prepare_avatar(scene.canvas, scene.params())
    placement = Placement(matrix=torch.eye(2, 3), mask=torch.ones(1, 1))
    motion = demo_engine().loop_motion(tensors)
    return Loop(scene.card, motion, pictures=[], plates=[], placement=placement, tensors=tensors)
