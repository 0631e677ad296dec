"""The demo engine and its anchor, without pictures: nothing is pasted where motion is measured."""

from __future__ import annotations

from functools import cache

import torch

from greenroom.audio.logmel import LogMel
from greenroom.avatar.package import find_avatar
from greenroom.base.flow import Loop, Placement
from greenroom.engine.demo import DemoEngine


@cache
def demo_engine() -> DemoEngine:
    return DemoEngine.load(device=torch.device("cpu"), encoder=LogMel(), step=10)


@cache
def vera() -> Loop:
    scene = find_avatar("vera")
    tensors = demo_engine().prepare_avatar(scene.canvas, scene.tensors()["params"])
    placement = Placement(matrix=torch.eye(2, 3), mask=torch.ones(1, 1))
    motion = demo_engine().loop_motion(tensors)
    return Loop(scene.card, motion, pictures=[], plates=[], placement=placement, tensors=tensors)
