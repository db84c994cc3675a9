"""Full-domain recoding on tables small enough to see the result."""

import numpy as np
import pandas as pd

from anonloom import Classes, Column, Findings, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree, Widths
from anonloom_full_domain.full_domain import FullDomain
from anonloom_testing.privacy_cases import AtLeast, WithinDistance


def test_a_limit_counts_rows_that_already_are_suppressed():
    """One of seven ages is alone; three of ten rows are suppressed before."""
    frame = pd.DataFrame({"age": [1, 1, 2, 2, 3, 3, 50, 9, 9, 9]})
    table = Table.build(frame, Schema([Column(name="age", role="quasi", type="number")]))
    given = Classes.whole(np.arange(7), np.array([7, 8, 9]))

    suppressed = {}
    for share in (0.3, 0.4):
        method = FullDomain(suppress_at_most=share)
        result = method.partition(table, given, Guard([AtLeast(k=2)]), StageContext())
        suppressed[share] = result.suppressed.tolist()

    assert {0.3: [7, 8, 9], 0.4: [6, 7, 8, 9]} == suppressed


def test_levels_of_the_hierarchy_are_told():
    """Ages alone are single; in steps of 10 there are two of each."""
    frame = pd.DataFrame({"age": [21, 25, 33, 38, 41, 49]})
    column = Column(
        name="age", role="quasi", type="number", hierarchy=Widths(widths=(5, 10)), publish="nodes"
    )
    table = Table.build(frame, Schema([column]))

    result = FullDomain().partition(table, table.whole(), Guard([AtLeast(k=2)]), StageContext())

    assert [[2], [2], [2]] == result.regions.level.tolist()
    assert ["[20, 30)", "[30, 40)", "[40, 50)"] == [
        table.axes[0].publish(lo, hi, level)[0]
        for lo, hi, level in zip(
            result.regions.lo, result.regions.hi, result.regions.level, strict=True
        )
    ]


GREEDY = (
    "There are 4 combinations of levels, more than 'most_nodes' (1): only those were tried that a "
    "greedy search passes, and others may lose less. Raise the limit, or leave out columns or "
    "levels of hierarchies."
)


def test_findings_say_whether_the_search_was_exact():
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "sex": list("ffmm")})
    schema = Schema(
        [Column(name="age", role="quasi", type="number"), Column(name="sex", role="quasi")]
    )
    table = Table.build(frame, schema)
    figures, warned = {}, {}
    for most in (1, 100):
        context = StageContext()
        FullDomain(most_nodes=most).partition(table, table.whole(), Guard([AtLeast(k=2)]), context)
        result = Findings.of(context.found)
        figures[most] = {item.name: item.value for item in result}
        warned[most] = [notice.text for notice in result.notices]

    assert {1: "not proven optimal", 100: "optimal"} == {m: s["search"] for m, s in figures.items()}
    # Ages: in two halves, together; no class of two fits into a single age.
    assert 4 == figures[100]["lattice_nodes"]
    assert {1: [GREEDY], 100: []} == warned


def test_weights_decide_what_is_given_up():
    """Age and sex are both unique alone; the one that weighs less is generalized."""
    frame = pd.DataFrame({"old": list("yynn"), "sex": list("fmfm")})
    chosen = {}
    for weight in (0.5, 2.0):
        schema = Schema(
            [Column(name="old", role="quasi", weight=weight), Column(name="sex", role="quasi")]
        )
        table = Table.build(frame, schema)
        result = FullDomain().partition(table, table.whole(), Guard([AtLeast(k=2)]), StageContext())
        chosen[weight] = result.regions.level[0].tolist()

    assert {0.5: [1, 0], 2.0: [0, 1]} == chosen


TOWNS = {"north": ["a", "b"], "south": ["d", "e"]}


def test_a_size_that_is_refused_tells_nothing_of_smaller_ones_where_larger_may_be_worse():
    """Towns have four rows each; of classes of five to eight rows the sampler keeps nothing."""
    frame = pd.DataFrame({"town": list("aaaabbbbddddeeee")})
    schema = Schema([Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS))])
    table = Table.build(frame, schema)

    def least_kept(sizes):
        sizes = np.asarray(sizes, np.int64)
        return np.where((sizes > 4) & (sizes < 9), 0, sizes)

    guard = Guard([AtLeast(k=3)], least_kept)
    result = FullDomain().partition(table, table.whole(), guard, StageContext())

    assert [[0]] * 4 == result.regions.level.tolist()


def test_with_suppression_a_refused_union_tells_nothing_of_its_parts():
    """Towns b and e have the table's shares of illnesses, a and d have not, nor have both regions.

    Suppressing a and d at the level of towns loses 4 of 8; everything together loses 8.
    """
    frame = pd.DataFrame({"town": list("aabbddee"), "illness": list("xxxyyyxy")})
    schema = Schema(
        [
            Column(name="town", role="quasi", hierarchy=Tree(tree=TOWNS)),
            Column(name="illness", role="sensitive"),
        ]
    )
    table = Table.build(frame, schema)
    guard = Guard([WithinDistance(t=0.2, of="illness")])

    result = FullDomain(suppress_at_most=0.5).partition(table, table.whole(), guard, StageContext())

    assert [[0]] * 2 == result.regions.level.tolist()
    assert [0, 1, 4, 5] == result.suppressed.tolist()
