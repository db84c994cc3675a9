"""The same numbers as pycanon where both define a figure alike; slow references for the rest."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pycanon import anonymity

from anonloom import AuditInput, Classes, Column, Release, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_disclosure.auditor import Disclosure
from anonloom_testing.auditor import publish_classes

QUASI = ["zip", "sex"]
HIERARCHY = Tree(tree={"lung": {"acute": ["flu", "cold"], "long": ["asthma"]}, "gut": ["ulcer"]})

rows = st.lists(
    st.tuples(
        st.sampled_from("123"),
        st.sampled_from("mf"),
        st.sampled_from(["flu", "cold", "asthma", "ulcer"]),
        st.integers(0, 6),
    ),
    min_size=1,
    max_size=30,
)


def frame_of(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["zip", "sex", "ill", "cost"])


def table_of(frame: pd.DataFrame, hierarchy: Tree | None = None) -> Table:
    schema = Schema(
        [
            Column(name="zip", role="quasi"),
            Column(name="sex", role="quasi"),
            Column(name="ill", role="sensitive", hierarchy=hierarchy),
            Column(name="cost", role="sensitive", type="number"),
        ]
    )
    return Table.build(frame, schema)


def audit(frame: pd.DataFrame, hierarchy: Tree | None = None, **parameters: Any) -> dict[str, Any]:
    table = table_of(frame, hierarchy)
    return figures(Release.as_it_is(table), table, **parameters)


def figures(release: Release, table: Table, **parameters: Any) -> dict[str, Any]:
    result = Disclosure(**parameters).audit(
        AuditInput(release=release, original=table), StageContext()
    )
    return {finding.name: finding.value for finding in result}


def classes_of(frame: pd.DataFrame, column: str) -> list[Counter[Any]]:
    return [Counter(values.dropna()) for _, values in frame.groupby(QUASI)[column]]


def assert_those_of_pycanon(frame: pd.DataFrame, found: dict[str, Any]) -> None:
    """Compare k, l, t, entropy-l, beta and delta of a published frame."""
    assert anonymity.k_anonymity(frame, QUASI) == found["k"]
    for column in ("ill", "cost"):
        assert anonymity.l_diversity(frame, QUASI, [column]) == found[f"l.{column}"]
        theirs = anonymity.entropy_l_diversity(frame, QUASI, [column])
        # pycanon cuts to an integer, and 2 equal values may be 1.9999... to it.
        assert theirs in {math.floor(found[f"entropy_l.{column}"] + slip) for slip in (-1e-9, 1e-9)}
        beta = anonymity.basic_beta_likeness(frame, QUASI, [column])
        assert beta == pytest.approx(found[f"beta.{column}"])
        delta = anonymity.delta_disclosure(frame, QUASI, [column])
        assert delta == pytest.approx(found[f"delta.{column}"])
        if frame[column].nunique() > 1:  # pycanon divides by zero
            t = anonymity.t_closeness(frame, QUASI, [column])
            assert t == pytest.approx(found[f"t.{column}"], abs=1e-9)


@settings(max_examples=30)
@given(rows)
def test_k_l_t_entropy_beta_and_delta_are_those_of_pycanon(rows: list[tuple[Any, ...]]) -> None:
    frame = frame_of(rows)
    assert_those_of_pycanon(frame, audit(frame))


@pytest.mark.parametrize("seed", range(2))
def test_a_larger_table_gives_the_numbers_of_pycanon(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 900
    frame = pd.DataFrame(
        {
            "zip": rng.integers(0, 25, n).astype(str),
            "sex": rng.choice(list("mf"), n),
            "ill": rng.choice(["flu", "cold", "asthma", "ulcer"], n, p=[0.6, 0.2, 0.15, 0.05]),
            "cost": rng.integers(0, 30, n),
        }
    )
    assert_those_of_pycanon(frame, audit(frame))


@settings(max_examples=20)
@given(rows, st.integers(2, 5))
def test_a_release_in_classes_gives_the_numbers_of_pycanon(
    rows: list[tuple[Any, ...]], size: int
) -> None:
    """The figures are those of the published cells, generalized ones included."""
    table = table_of(frame_of(sorted(rows)))
    release = publish_classes(table, Classes.from_labels(np.arange(len(table)) // size))
    assume(not release.suppressed_rows.any())
    frame = release.frame.astype(dict.fromkeys(QUASI, str))
    assert_those_of_pycanon(frame, figures(release, table))


@given(rows, st.integers(2, 4))
def test_recursive_c_is_the_largest_ratio_of_the_paper(
    rows: list[tuple[Any, ...]],
    l: int,  # noqa: E741  # the papers call it l
) -> None:
    frame = frame_of(rows)
    counts = [sorted(c.values(), reverse=True) for c in classes_of(frame, "ill")]
    result = audit(frame, l=l)["recursive_c.ill"]
    if min(map(len, counts)) < l:
        assert result is None
    else:
        assert max(r[0] / sum(r[l - 1 :]) for r in counts) == pytest.approx(result)


@given(rows)
def test_hierarchical_distance_is_the_way_along_the_edges_of_the_tree(
    rows: list[tuple[Any, ...]],
) -> None:
    # In a tree whose leaves are all equally deep, the earth mover's distance is the sum over all
    # edges of the mass that must cross them; an edge is half a level long.
    frame = frame_of(rows)
    above = {
        "flu": ("flu", "acute", "lung"),
        "cold": ("cold", "acute", "lung"),
        "asthma": ("asthma", "long", "lung"),
        "ulcer": ("ulcer", "ulcer", "gut"),
    }
    assume(frame["ill"].nunique() > 1)
    height = 3

    def shares(counts: Counter[Any], level: int) -> dict[str, float]:
        mass: Counter[str] = Counter()
        for leaf, count in counts.items():
            mass[above[leaf][level]] += count / sum(counts.values())
        return mass

    whole = Counter(frame["ill"])
    most = max(
        sum(
            abs(shares(of, level)[node] - mass) / (2 * height)
            for level in range(height)
            for node, mass in shares(whole, level).items()
        )
        for of in classes_of(frame, "ill")
    )
    assert most == pytest.approx(audit(frame, hierarchy=HIERARCHY)["t.ill"], abs=1e-12)


@given(rows)
def test_risks_and_certainty_agree_with_a_loop_over_classes(rows: list[tuple[Any, ...]]) -> None:
    frame = frame_of(rows)
    result = audit(frame, threshold=0.3)
    n = len(frame)
    sizes = frame.groupby(QUASI).size().tolist()
    assert 1 / min(sizes) == result["prosecutor_max"] == result["journalist_max"]
    assert len(sizes) / n == pytest.approx(result["marketer"])
    assert sum(size * (1 / size) for size in sizes) / n == pytest.approx(
        result["prosecutor_average"]
    )
    assert sum(size for size in sizes if 1 / size > 0.3) / n == pytest.approx(
        result["records_at_risk"]
    )
    counts = classes_of(frame, "ill")
    most = [max(c.values()) / sum(c.values()) for c in counts]
    assert max(most) == pytest.approx(result["certainty.ill"])
    mean = sum(share * sum(c.values()) for share, c in zip(most, counts, strict=True)) / n
    assert mean == pytest.approx(result["certainty_mean.ill"])
