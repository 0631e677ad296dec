"""Which threads torch takes while frames are made."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from conftest import Studio
from greenroom.base.flow import Speech
from greenroom.runtime.scheduler import Scheduler
from greenroom.runtime.session import Session


def test_every_network_runs_on_one_thread(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also on the thread that steps, which has its own number back afterwards."""
    seen: dict[str, set[int]] = {}
    for name in ("predict_motion", "render"):
        call = getattr(studio.engine, name)

        def counted(*args: object, name: str = name, call: object = call) -> object:
            seen.setdefault(name, set()).add(torch.get_num_threads())
            assert callable(call)
            return call(*args)

        monkeypatch.setattr(studio.engine, name, counted)
    scheduler = Scheduler(studio.engine, studio.painter, bypass=False)
    session = Session(
        studio.anchor, studio.engine.encoder, studio.preset.gate, step=studio.engine.step
    )
    scheduler.join(session)
    session.feed(Speech(np.zeros(1280, np.float32), 16000))
    session.finish()
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        while not scheduler.idle:
            scheduler.step()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == {"predict_motion": {1}, "render": {1}}
