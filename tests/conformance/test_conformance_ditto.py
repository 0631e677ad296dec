"""The six networks at full size against the outputs recorded from the public implementation."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.quality.conformance import THRESHOLD, check_cases, read_cases
from greenroom.quality.subjects import SUBJECTS

RECORDED = Path(__file__).parent / "ditto_v04"


@pytest.mark.parametrize("network", SUBJECTS)
def test_network_gives_the_recorded_outputs(network: str) -> None:
    cases = tuple(case for case in read_cases(RECORDED) if case.network == network)
    assert [(case.name, case.batch) for case in cases] == [("a", 1), ("b", 2)]
    results = list(check_cases(cases))
    assert [r.output for r in results if r.case == "a"] == [r.output for r in cases[0].recordings]
    assert {r.output for r in results if r.case == "b"} == set(SUBJECTS[network].outputs)
    errors = {f"{r.case} {r.output}": r.error for r in results}
    assert all(error < THRESHOLD for error in errors.values()), errors
    assert all(r.passed for r in results)
