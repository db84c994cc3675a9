"""Findings are plain data, and a figure that cannot be judged says so."""

import json
import math

import numpy as np
import pytest

from anonloom import Chart, Finding, Findings
from anonloom.findings import PrivateRows


def finding(name: str = "risk", value: object = 0.5, **options: object) -> Finding:
    return Finding(name=name, value=value, meaning="What it means.", **options)


def test_numbers_of_numpy_become_plain_ones() -> None:
    result = finding(value=np.float32(0.5), interval=(np.float64(0.25), np.int64(1)))
    assert [float, float, int] == [type(v) for v in (result.value, *result.interval)]
    assert 3 == finding(value=np.array(3)).value
    json.dumps([result.value, result.interval])
    assert True is finding(value=np.bool_(True)).value


@pytest.mark.parametrize(
    ("value", "status", "assessable"),
    [
        (0.0, "measured", True),
        (0, "none detected", True),
        (math.inf, "bound", True),
        (math.nan, "measured", False),
        (np.float64("nan"), "measured", False),
        (None, "not assessable", False),
        (0.0, "not assessable", False),
        ("low", "measured", False),
    ],
)
def test_only_a_figure_can_be_judged(value: object, status: str, assessable: bool) -> None:
    assert assessable == finding(value=value, status=status).assessable


def test_findings_charts_and_rows_are_collected_in_order() -> None:
    chart = Chart(name="sizes", kind="bars", title="Sizes", data={"labels": [], "n": []})
    rows = PrivateRows(name="exposed", rows=np.array([1]), meaning="Look at these.")
    one, other = finding("a"), finding("b")
    result = Findings.of(one, [chart, rows], Findings.of(other), Findings())
    assert (one, chart, rows, other) == result.items
    assert [one, other] == list(result)
    assert (chart,) == result.charts
    assert (rows,) == result.private
    assert other is result["b"] is result.get("b")
    assert None is result.get("sizes")
    assert "a" in result
    assert "sizes" not in result
    with pytest.raises(KeyError, match=r"^'sizes'$"):
        result["sizes"]
    assert () == Findings().items


def test_assumptions_are_frozen() -> None:
    assert ("rows are persons",) == finding(assumptions=["rows are persons"]).assumptions
