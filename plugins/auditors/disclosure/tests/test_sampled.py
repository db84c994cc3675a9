"""Journalist risk, certainty and SA uncertainty of samples, as sections 3.3 and 6.3 of Anonify.

Values are computed by hand, or with fractions in a loop over persons.
"""

from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import AuditInput, Column, Findings, Release, Schema, StageContext, Table
from anonloom.data import Draw
from anonloom.kinds import GridRow
from anonloom_disclosure.auditor import Disclosure

PLAIN = Schema([Column(name="job", role="quasi"), Column(name="ill", role="sensitive")])
OF_PERSONS = Schema([Column(name="who", role="person"), *PLAIN])
JOURNALIST = (
    "the attacker knows every quasi-identifier of the person exactly",
    "the attacker does not know who is in the release",
)
KNOWS_CLASS = "the attacker knows the person's class, and no sensitive value of anybody"


def table_of(jobs: str, who: str = "") -> Table:
    columns: dict[str, Any] = {"job": list(jobs), "ill": ["flu"] * len(jobs)}
    if who:
        columns = {"who": list(who), **columns}
    return Table.build(pd.DataFrame(columns), OF_PERSONS if who else PLAIN)


def audit(
    table: Table,
    kept: list[int] | None = None,
    *,
    cells: str = "",
    drawn: list[int] | None = None,
) -> Findings:
    """Audit a release of a table.

    Parameters
    ----------
    kept
        Rows that the sampler kept after the classes; None without a sampler.
    cells
        Published jobs; `*` is suppressed.
    drawn
        Rows that were drawn before the classes; None without such a sampler. `cells` and `kept`
        are then about these rows alone.
    """
    prepared = table if drawn is None else table.take(np.array(drawn))
    before = Release.as_it_is(prepared)
    if cells:
        before = attrs.evolve(before, frame=before.frame.assign(job=list(cells)))
    case = AuditInput(
        release=before if kept is None else before.take(np.array(kept)),
        original=table,
        before_sampling=None if kept is None else before,
        presample=None if drawn is None else Draw(table.origin, prepared.origin),
    )
    return Disclosure().audit(case, StageContext(seed=1))


def values(found: Findings, *names: str) -> tuple[Any, ...]:
    return tuple(found[name].value for name in names)


CERTAINTY = ("presence_certainty", "presence_certainty_min", "presence_certainty_max", "rho")
RISK = ("journalist_average", "journalist_max")
BEFORE = ("journalist_average_before", "journalist_max_before")
SETS = ("anonymity_set_min", "anonymity_set_mean")


# --- figures 4 and 5: six donors in two classes, two of three published ---------------------------


def test_the_papers_example() -> None:
    result = audit(table_of("aaabbb"), [0, 2, 3, 4])
    assert (1 / 3, 1 / 3) == values(result, *RISK)
    assert (1 / 3, 1 / 3) == values(result, *BEFORE)
    assert (2 / 3,) * 4 == pytest.approx(values(result, *CERTAINTY))
    assert (3, 3.0) == values(result, *SETS)
    assert 1.0 == result["delivery"].value


# --- by hand --------------------------------------------------------------------------------------


def test_classes_of_different_sizes() -> None:
    # a: 3 of 6, b: 3 of 4.
    result = audit(table_of("aaaaaabbbb"), [0, 1, 2, 6, 7, 8])
    assert 1 / 4 == result["journalist_max"].value
    assert (3 / 6 + 3 / 4) / 6 == result["journalist_average"].value
    assert (2 / 10, 1 / 4) == values(result, *BEFORE)
    assert ((3 * 3 / 6 + 3 * 3 / 4) / 6, 1 / 2, 3 / 4, 3 / 4) == values(result, *CERTAINTY)
    assert (4, (3 * 6 + 3 * 4) / 6) == values(result, *SETS)


def test_risk_is_one_in_the_class_before_sampling_exactly() -> None:
    """Floats too: no product that rounds."""
    for size in (3, 7, 49, 250, 1751):
        result = audit(table_of("a" * size), list(range(0, size, 3)))
        assert (1 / size, 1 / size) == values(result, "journalist_max", "journalist_max_before")


def test_without_a_sampler_everybody_is_there() -> None:
    result = audit(table_of("aaabb"))
    assert (1.0,) * 4 == values(result, *CERTAINTY)
    assert "measured" == result["rho"].status
    assert (
        KNOWS_CLASS,
        "every row is a person of its own",
        "suppressed records are in no class",
    ) == result["rho"].assumptions
    assert (2 / 5, 1 / 2) == values(result, *RISK)
    assert "journalist_max_before" not in result
    assert (2, 13 / 5) == values(result, *SETS)


def test_suppressed_records_are_in_no_class_before_and_after() -> None:
    # Five of a, of whom one is suppressed before sampling and two are kept; one of b is withheld.
    result = audit(table_of("aaaaab"), [0, 1, 4], cells="aaaa**")
    assert (2 / 4,) * 4 == values(result, *CERTAINTY)
    assert (1 / 4, 1 / 4) == values(result, *RISK)
    assert (4, 4.0) == values(result, *SETS)


def test_a_class_that_is_left_out_altogether_counts_before_sampling_only() -> None:
    result = audit(table_of("aaaab"), [0, 1])
    assert (1 / 4, 1 / 4) == values(result, *RISK)
    assert (2 / 5, 1.0) == values(result, *BEFORE)
    assert (1 / 2,) * 4 == values(result, *CERTAINTY)


def test_persons_are_counted_where_they_are_at_hand() -> None:
    # Three persons in a class of six rows; two of them are kept, one with two rows.
    result = audit(table_of("aaaaaa", "xxxyyz"), [0, 1, 3])
    assert (1 / 3, 1 / 3) == values(result, *RISK)
    assert (2 / 3,) * 4 == pytest.approx(values(result, *CERTAINTY))
    assert (3, 3.0) == values(result, *SETS)
    assert "persons" == result["anonymity_set_min"].unit
    assert (
        KNOWS_CLASS,
        "the population is the table before sampling",
        "persons are counted, not rows",
        "a person with many rows is more likely to be kept than one with few",
        "suppressed records are in no class",
    ) == result["rho"].assumptions


# --- before the classes ---------------------------------------------------------------------------


def test_a_draw_before_the_classes_makes_everybody_less_certain() -> None:
    # Eight of ten are drawn: four of a, four of b. Of those, two of a and three of b are kept.
    result = audit(table_of("aaaaabbbbb"), [0, 1, 4, 5, 6], drawn=[0, 1, 2, 3, 5, 6, 7, 8])
    assert (0.8 / 4, 0.8 / 4) == values(result, *RISK)
    assert (0.8 * 2 / 8, 0.8 / 4) == values(result, *BEFORE)
    mean = (2 * (0.8 * 2 / 4) + 3 * (0.8 * 3 / 4)) / 5
    assert (mean, 0.8 * 2 / 4, 0.8 * 3 / 4, 0.8 * 3 / 4) == pytest.approx(
        values(result, *CERTAINTY)
    )
    assert (4, 4.0) == values(result, *SETS)
    assert 1.0 == result["delivery"].value
    words = (
        "the population is the table before any sample: 8 of 10 records were drawn before there "
        "were classes, and whoever is sought was drawn with that chance"
    )
    assert (*JOURNALIST, words, "every row is a person of its own") == result[
        "journalist_max"
    ].assumptions
    assert words in result["rho"].assumptions
    assert ("measured", "measured") == (result["rho"].status, result["journalist_max"].status)


def test_a_draw_before_the_classes_alone() -> None:
    result = audit(table_of("aaaaabbbbb"), drawn=[0, 1, 5, 6])
    assert (0.4 / 2, 0.4 / 2) == values(result, *RISK)
    assert (0.4,) * 4 == values(result, *CERTAINTY)
    assert (1 / 2, 1 / 2) == values(result, "prosecutor_max", "marketer")
    assert "journalist_max_before" not in result


def test_persons_of_a_draw_are_counted() -> None:
    # Four of six rows are drawn, of two of three persons.
    result = audit(table_of("aaaaaa", "xxyyzz"), drawn=[0, 1, 2, 3])
    assert (2 / 3,) * 4 == values(result, *CERTAINTY)
    assert ((2 / 3) / 2, (2 / 3) / 2) == values(result, *RISK)


def test_rows_of_unknown_origin_were_drawn_from_nobody() -> None:
    table = table_of("aabb")
    release = attrs.evolve(Release.as_it_is(table), origin=None)
    draw = Draw(np.arange(8), np.arange(4))
    result = Disclosure().audit(
        AuditInput(release=release, original=table, presample=draw), StageContext()
    )
    assert (1.0, "bound") == (result["rho"].value, result["rho"].status)
    assert "delivery" not in result


# --- evidence -------------------------------------------------------------------------------------


def test_without_the_original_certainty_is_a_bound() -> None:
    result = Disclosure().audit(
        AuditInput(release=Release.as_it_is(table_of("aabb"))), StageContext()
    )
    assert (1.0, "bound") == (
        result["presence_certainty"].value,
        result["presence_certainty"].status,
    )
    assert "nobody is known to have been left out" in result["presence_certainty"].assumptions
    assert "delivery" not in result


def test_what_did_not_arrive_is_no_sample() -> None:
    """A transport that lost a row did not draw it: certainty is a bound, and delivery tells."""
    table = table_of("aaaaabbbbb")
    release = Release.as_it_is(table).take(np.arange(9))
    result = Disclosure().audit(AuditInput(release=release, original=table), StageContext())
    assert (0.9, 1.0, "bound") == (
        result["delivery"].value,
        result["rho"].value,
        result["rho"].status,
    )


def test_dropped_rows_were_delivered() -> None:
    table = table_of("aaaaabbbbb")
    release = attrs.evolve(Release.as_it_is(table).take(np.arange(9)), dropped=1)
    result = Disclosure().audit(AuditInput(release=release, original=table), StageContext())
    assert (1.0, "measured") == (result["delivery"].value, result["rho"].status)


def test_nobody_left_is_nobody_present() -> None:
    result = audit(table_of("aabb"), cells="****")
    assert (0.0,) * 4 == values(result, *CERTAINTY)
    assert (None, None) == values(result, *SETS)


# --- a slow oracle --------------------------------------------------------------------------------

people = st.lists(st.sampled_from("abc"), min_size=1, max_size=25)


@settings(max_examples=60)
@given(people, st.data())
def test_all_figures_agree_with_a_loop_over_persons(jobs: list[str], data: st.DataObject) -> None:
    n = len(jobs)
    some = st.lists(st.integers(0, n - 1), min_size=1, unique=True).map(sorted)
    drawn = data.draw(st.none() | some)
    prepared = list(range(n)) if drawn is None else drawn
    positions = st.integers(0, len(prepared) - 1)
    kept = data.draw(st.lists(positions, min_size=1, unique=True).map(sorted))
    result = audit(table_of("".join(jobs)), kept, drawn=drawn)

    early = Fraction(len(prepared), n)
    before = [jobs[row] for row in prepared]
    after = [before[index] for index in kept]
    # Of every published record: was she kept, times is she the one picked among those kept.
    left = [Fraction(after.count(job), before.count(job)) * early for job in after]
    risk = [c * Fraction(1, after.count(job)) for c, job in zip(left, after, strict=True)]
    earlier = [early * Fraction(1, before.count(job)) for job in before]
    expected = {
        "journalist_average": sum(risk) / len(risk),
        "journalist_max": max(risk),
        "journalist_average_before": sum(earlier) / len(earlier),
        "journalist_max_before": max(earlier),
        "presence_certainty": sum(left) / len(left),
        "presence_certainty_min": min(left),
        "presence_certainty_max": max(left),
        "rho": max(left),
        "anonymity_set_min": min(before.count(job) for job in after),
        "anonymity_set_mean": Fraction(sum(before.count(job) for job in after), len(after)),
        "delivery": 1,
    }
    for name, value in expected.items():
        assert float(value) == pytest.approx(result[name].value, rel=1e-12), name


# --- charts ---------------------------------------------------------------------------------------


def charts(found: Findings) -> dict[str, Any]:
    return {chart.name: dict(chart.data) for chart in found.charts}


def test_charts_show_every_version() -> None:
    drawn = charts(audit(table_of("aaaaaabbbb"), [0, 1, 2, 6, 7, 8]))
    assert {
        "labels": ["anonymized", "sampled"],
        "average": [2 / 10, (3 / 6 + 3 / 4) / 6],
        "highest": [1 / 4, 1 / 4],
    } == drawn["journalist"]
    assert {
        "labels": ["original", "anonymized", "sampled"],
        "certainty": [1.0, 1.0, (3 * 3 / 6 + 3 * 3 / 4) / 6],
    } == drawn["presence"]


def test_charts_without_a_sampler_have_no_sample() -> None:
    drawn = charts(audit(table_of("aabb")))
    assert ["anonymized"] == drawn["journalist"]["labels"]
    assert [1.0, 1.0] == drawn["presence"]["certainty"]


def test_an_experiment_compares_its_runs_and_averages_repeats() -> None:
    table = table_of("aaaaaabbbb")
    grid = [
        GridRow("share=0.5, seed=1", {}, audit(table, [0, 1, 2, 6, 7])),
        GridRow("share=0.5, seed=2", {}, audit(table, [0, 1, 2, 6, 7, 8])),
        GridRow("all", {}, audit(table)),
    ]
    drawn = charts(Disclosure().summarize(grid))
    assert ["share=0.5", "all"] == drawn["presence_by_run"]["labels"]
    first, second = 1 / 2, (3 * 3 / 6 + 3 * 3 / 4) / 6
    assert [(first + second) / 2, 1.0] == pytest.approx(drawn["presence_by_run"]["mean"])
    assert [(1 / 2 + 3 / 4) / 2, 1.0] == pytest.approx(drawn["presence_by_run"]["surest class"])
    assert [2 / 10, None] == drawn["journalist_by_run"]["before sampling"]
    assert () == Disclosure().summarize(grid[:2]).items
