"""The ranking of releases: its tables are what it says, and its goals judge as they should."""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Column, Release, Schema

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
ROWS = 120


@pytest.fixture(scope="module", autouse=True)
def _benchmarks() -> Iterator[None]:
    """Find modules beside the benchmark: the folder is no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield


@pytest.fixture(scope="module")
def case() -> Any:
    """Three parts of a made-up population, and the releases of one."""
    releases = import_module("ranking_releases")
    rng = np.random.default_rng(1)
    rows = 4 * ROWS
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows).astype(float),
            "weight": rng.normal(70, 15, rows).round(2),
            "town": rng.choice(["north", "south", "east"], rows),
            "ill": rng.choice(["yes", "no"], rows),
        }
    )
    schema = Schema(
        (
            Column(name="age", role="quasi", type="number"),
            Column(name="weight", role="quasi", type="number"),
            Column(name="town", role="quasi"),
            Column(name="ill", role="sensitive"),
        )
    )
    halves = (("age", "town"), ("weight", "ill"))
    return releases.divide(releases.Population("toy", frame, schema, halves), 1, ROWS)


def _rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return sorted(frame.itertuples(index=False, name=None))


def _plain(item: Any) -> pd.DataFrame:
    releases = import_module("ranking_releases")
    release = item if isinstance(item, Release) else Release.as_it_is(item)
    frame: pd.DataFrame = releases.plain(release)
    return frame


def test_the_three_parts_share_no_row(case: Any) -> None:
    parts = [_rows(_plain(case.original)), _rows(_plain(case.control))]
    parts.append(_rows(_plain(case.releases["independent"].release)))
    together = [row for part in parts for row in part]
    assert [ROWS] * 3 == [len(part) for part in parts]
    assert len(together) == len(set(together))


def test_a_copy_has_the_rows_of_the_original_in_another_order(case: Any) -> None:
    copy = _plain(case.releases["copy"].release)
    assert _rows(_plain(case.original)) == _rows(copy)
    assert not _plain(case.original).equals(copy)


def test_verbatim_rows_are_in_the_release_and_no_others_of_the_original(case: Any) -> None:
    original = _plain(case.original).apply(tuple, axis=1)
    for name, count in (("5 % verbatim", 6), ("1 % verbatim", 1)):
        protected = case.releases[name]
        published = set(_rows(_plain(protected.release)))
        assert count == len(protected.leaked)
        assert set(protected.leaked) == set(np.flatnonzero(original.isin(published)))


def test_jittered_rows_are_near_the_originals(case: Any) -> None:
    protected = case.releases["5 % jittered"]
    published = _plain(protected.release)
    for _, person in _plain(case.original).iloc[protected.leaked].iterrows():
        near = (published["age"] - person["age"]).abs() < 15
        near &= (published["weight"] - person["weight"]).abs() < 10
        near &= (published["town"] == person["town"]) & (published["ill"] == person["ill"])
        assert near.any()


def test_the_generalized_release_is_k_anonymous(case: Any) -> None:
    releases = import_module("ranking_releases")
    release = case.releases[releases.GENERALIZED].release
    sizes = np.bincount(release.groups(("age", "weight", "town")))
    assert sizes.min() >= releases.K


def test_no_release_says_whose_its_rows_are(case: Any) -> None:
    assert {None} == {item.release.origin for item in case.releases.values()}


def test_an_interval_is_published_to_other_packages_as_its_middle() -> None:
    releases = import_module("ranking_releases")
    schema = Schema((Column(name="age", role="quasi", type="number"),))
    cells = pd.DataFrame({"age": pd.Series(["[20, 30]", "41.5"], dtype="category")})
    assert [25.0, 41.5] == list(releases.plain(Release(schema, cells))["age"])


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=30),
    st.lists(st.integers(0, 5), min_size=1, max_size=30),
)
def test_auc_is_the_share_of_pairs_in_order(inside: list[int], outside: list[int]) -> None:
    calls = import_module("ranking_peer_calls")
    pairs = [(a > b) + (a == b) / 2 for a in inside for b in outside]
    result = calls.separation(np.array(inside, float), np.array(outside, float))
    assert np.mean(pairs) == pytest.approx(result["auc"])


def test_at_most_one_stranger_in_a_hundred_is_taken_for_a_member() -> None:
    calls = import_module("ranking_peer_calls")
    outside = np.arange(1000.0)
    inside = np.array([980.0, 990.0, 991.0, 2000.0])
    assert 0.5 == calls.separation(inside, outside)["tpr"]


def _records(risks: dict[str, list[float]]) -> list[dict[str, Any]]:
    return [
        {
            "table": "toy",
            "tool": "anonloom",
            "kind": "attack",
            "question": "linkability",
            "attack": "nearest",
            "release": release,
            "seed": seed,
            "risk": risk,
        }
        for release, values in risks.items()
        for seed, risk in enumerate(values)
    ]


def _verdict(above: list[float], below: list[float]) -> tuple[bool, bool]:
    """Whether a step is met, and whether it is called a tie."""
    goals = import_module("ranking_goals")
    results = goals.Results(_records({"copy": above, "noise low": below}))
    name = "toy, linkability: copy over noise low"
    (goal,) = [goal for goal in goals.goals(results) if goal.name.startswith(name)]
    return goal.met, goal.name.endswith("tie")


def test_steps_of_the_order_are_met_tied_or_missed() -> None:
    assert (True, False) == _verdict([0.9, 0.91, 0.92], [0.5, 0.51, 0.5])
    assert (True, True) == _verdict([0.5, 0.6, 0.4], [0.6, 0.5, 0.5])
    assert (False, False) == _verdict([0.5, 0.51, 0.5], [0.9, 0.91, 0.92])


def test_a_step_without_figures_is_missed() -> None:
    goals = import_module("ranking_goals")
    results = goals.Results(_records({"copy": [1.0]}))
    unknown = [goal for goal in goals.goals(results) if np.isnan(goal.figure)]
    assert unknown
    assert not any(goal.met for goal in unknown)


def test_what_a_package_found_is_kept_under_tables_and_settings(
    case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peers = import_module("ranking_peers")
    asked: list[list[str]] = []

    def answer(command: list[str], most_seconds: float) -> str:
        question = json.loads(command[2])
        asked.append(list(question["releases"]))
        lines = [
            json.dumps({"release": name, "attacks": [{"attack": "density", "auc": 0.5}]})
            for name in question["releases"]
        ]
        (Path(question["folder"]) / "results.jsonl").write_text("\n".join(lines))
        return ""

    monkeypatch.setattr(peers, "KEPT", tmp_path)
    monkeypatch.setattr(peers, "environment", lambda required: Path("python"))
    monkeypatch.setattr(peers, "run", answer)
    first = peers.measure_peer("domias", case)
    assert first == peers.measure_peer("domias", case)
    assert [list(case.releases)] == asked
    monkeypatch.setitem(peers.PEERS, "domias", peers.Peer(("domias==1",)))
    assert first == peers.measure_peer("domias", case)
    assert [list(case.releases)] * 2 == asked
