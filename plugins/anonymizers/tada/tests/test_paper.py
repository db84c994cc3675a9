"""The running example of the paper: the tree of figure 3, the groups of figure 4, figure 5."""

from math import log

import pandas as pd
import pytest

from anonloom import Column, Finding, Guard, Pipeline, Schema, StageContext, Table
from anonloom_tada.kl_tree import KLTree
from anonloom_testing.auditor import publish_classes
from anonloom_testing.privacy_cases import AtLeast, DistinctValues

#: Figure 1: number of the tuple, gender, age, smoker, disease, risk.
FIGURE_1 = """
1  F 65 former  emphysema    yes
2  M 54 never   cirrhosis    no
3  F 61 current bronchitis   yes
4  M 72 never   cirrhosis    no
5  F 35 former  arthritis    no
6  M 68 former  bronchitis   yes
7  M 64 never   diabetes     no
8  F 15 never   asthma       no
9  F 39 never   osteoporosis no
10 M 29 never   celiac       no
11 M 33 never   arthritis    no
12 F 54 current bronchitis   yes
13 F 75 former  bronchitis   yes
"""
#: Figure 5; its intervals are written [54-75].
FIGURE_5 = """
1  F [54-75] former  emphysema    yes
3  F [54-75] current bronchitis   yes
12 F [54-75] current bronchitis   yes
13 F [54-75] former  bronchitis   yes
2  M [54-64] never   cirrhosis    no
7  M [54-64] never   diabetes     no
4  M [68-72] never   cirrhosis    no
6  M [68-72] former  bronchitis   yes
5  F [15-39] former  arthritis    no
8  F [15-39] never   asthma       no
9  F [15-39] never   osteoporosis no
10 M [29-33] never   celiac       no
11 M [29-33] never   arthritis    no
"""
COLUMNS = ("Gender", "Age", "Smoker", "Disease", "Risk")
GUARD = Guard([AtLeast(k=2), DistinctValues(l=2, of="Disease")])

#: The leaves of figure 3, by their tuples.
YOUNG, WOMEN, MEN = {5, 8, 9, 10, 11}, {1, 3, 12, 13}, {2, 4, 6, 7}

ALONE = "the second step is another package, and this one is tried alone"


def tuples(text):
    """Rows of a figure by the number of their tuple."""
    lines = [line.split() for line in text.strip().splitlines()]
    return {int(number): tuple(cells) for number, *cells in lines}


def people():
    rows = tuples(FIGURE_1)
    frame = pd.DataFrame([rows[number] for number in range(1, 14)], columns=COLUMNS)
    return Table.build(
        frame.assign(Age=frame["Age"].astype(int)),
        Schema(
            [
                Column(name="Gender", role="quasi"),
                Column(name="Age", role="quasi", type="number"),
                Column(name="Smoker", role="other"),
                Column(name="Disease", role="sensitive"),
                Column(name="Risk", role="label"),
            ]
        ),
    )


def groups(classes):
    return [set((classes.members(index) + 1).tolist()) for index in range(len(classes))]


@pytest.mark.parametrize("gain", ["auto", "entropy", "gini"])
def test_the_leaves_are_those_of_figure_3(gain):
    table = people()
    result = KLTree(gain=gain).partition(table, table.whole(), GUARD, StageContext())

    assert [YOUNG, WOMEN, MEN] == groups(result)


def test_the_tree_is_that_of_figure_3():
    """Age first, at a threshold that the figure writes as 40, then Gender among the older ones.

    Ours is the bound that the release shows: nobody is older than 39 and younger than 54.
    """
    run, table = StageContext(), people()
    classes = KLTree(picture="conditions").partition(table, table.whole(), GUARD, run)
    ((picture,),) = (make(publish_classes(table, classes)) for make in run.later)

    def conditions(node):
        own = node["label"].split(": ~")[0]
        return (
            (own, [conditions(child) for child in node["children"]]) if "children" in node else own
        )

    assert (
        "all rows",
        ["Age < 54", ("Age ≥ 54", ["Gender: F", "Gender: not F"])],
    ) == conditions(picture.data)


def test_the_importance_of_age_and_gender_in_figure_3():
    """By hand: 13 rows with 5 yes, parted into 5 without and 8 with 5; these into 4/4 and 1 of 4."""
    run, table = StageContext(), people()
    KLTree().partition(table, table.whole(), GUARD, run)

    whole, older, men = entropy(13, 5), entropy(8, 5), entropy(4, 1)
    figures = {item.name: item.value for item in run.found if isinstance(item, Finding)}
    assert pytest.approx(1 - men / whole) == figures["explained"]
    assert pytest.approx((whole - older) / (whole - men)) == figures["importance.Age"]
    assert pytest.approx((older - men) / (whole - men)) == figures["importance.Gender"]


def entropy(rows, yes):
    """Of all rows together."""
    return -sum(count * log(count / rows) for count in (yes, rows - yes))


def test_the_threshold_of_figure_3_lies_between_39_and_54():
    """The regions meet between the two ages: every threshold above 39 and up to 54 is the same."""
    table = people()
    result = KLTree().partition(table, table.whole(), GUARD, StageContext())

    age = table.axes[1]
    assert "39" == age.texts([result.regions.hi[0, 1]])[0]
    assert ["54", "54"] == age.texts(result.regions.lo[1:, 1])


def test_with_reuse_the_third_leaf_is_split_by_age_again():
    """As in other decision trees; the paper's figure uses an attribute once per path."""
    table = people()
    result = KLTree(reuse=True).partition(table, table.whole(), GUARD, StageContext())

    assert [YOUNG, WOMEN, {2, 7}, {4, 6}] == groups(result)


def refined(first, **options):
    """The first step of the paper, then Mondrian."""
    mondrian = pytest.importorskip("anonloom_mondrian.mondrian", reason=ALONE)
    table = people()
    leaves = first.partition(table, table.whole(), GUARD, StageContext())
    return table, mondrian.Mondrian(**options).partition(table, leaves, GUARD, StageContext())


@pytest.mark.parametrize("cut", ["widest", "best-loss"])
def test_mondrian_finds_the_groups_of_figure_4(cut):
    """The first leaf is cut by Gender, the third by Age, the second cannot be cut."""
    _, result = refined(KLTree(), cut=cut)

    expected = [{5, 8, 9}, {10, 11}, WOMEN, {2, 7}, {4, 6}]
    assert sorted(map(sorted, expected)) == sorted(map(sorted, groups(result)))


@pytest.mark.parametrize("first", [KLTree(), KLTree(reuse=True)], ids=["once", "reuse"])
def test_figure_5_cell_for_cell(first):
    hierarchy = pytest.importorskip("anonloom_recoding.hierarchy", reason=ALONE)
    table, result = refined(first)

    frame = hierarchy.ByHierarchy().generalize(table, result, StageContext()).frame

    cells = frame[[*COLUMNS]].astype(str)
    published = {index + 1: tuple(row) for index, row in enumerate(cells.itertuples(index=False))}
    assert figure_5() == published


def figure_5():
    return {
        number: (gender, age.replace("-", ", "), *rest)
        for number, (gender, age, *rest) in tuples(FIGURE_5).items()
    }


PIPELINE = """
version: 1
name: figure-5
seed: 1
data:
  source: csv
  with: {path: figure-1.csv}
  columns:
    Gender:  {role: quasi}
    Age:     {role: quasi, type: number}
    Smoker:  {role: other}
    Disease: {role: sensitive}
    Risk:    {role: label}
privacy:
  - k-anonymity: {k: 2}
  - l-diversity: {l: 2, of: Disease}
stages:
  - partitioner: kl-tree
  - partitioner: mondrian
  - generalizer: hierarchy
publish: {to: out}
"""


def test_a_pipeline_file_publishes_figure_5(tmp_path):
    """The same through the runner: narrowed tables, the declared models, the final check."""
    for needed in ("anonloom_mondrian", "anonloom_recoding", "anonloom_privacy_models"):
        pytest.importorskip(needed, reason=ALONE)
    rows = tuples(FIGURE_1)
    frame = pd.DataFrame([rows[number] for number in range(1, 14)], columns=COLUMNS)
    frame.to_csv(tmp_path / "figure-1.csv", index=False)
    (tmp_path / "pipeline.yaml").write_text(PIPELINE, encoding="utf-8")

    published = Pipeline.load(tmp_path / "pipeline.yaml").run().release.frame

    cells = published[[*COLUMNS]].astype(str).itertuples(index=False, name=None)
    assert sorted(figure_5().values()) == sorted(cells)
