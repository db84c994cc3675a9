"""What benchmarks/README.md claims of Adult: searching longer loses less, at every k."""

import pandas as pd
import pytest

from anonloom import Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_level_order.method import LevelOrder
from anonloom_loss import gcp
from anonloom_testing.privacy_cases import AtLeast

pytestmark = pytest.mark.compiled

QUASI = "sex age race marital-status education native-country workclass occupation".split()
STATUS = {
    "spouse present": ["Married-civ-spouse", "Married-AF-spouse"],
    "spouse not present": [
        "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent",
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def adult():
    get_data = pytest.importorskip("get_data", reason="tools/get_data.py is not at hand")
    try:
        path = get_data.find_or_fetch("adult")
    except get_data.DataUnavailableError as problem:
        pytest.skip(str(problem))
    trees = {"marital-status": Tree(tree=STATUS)}
    return Table.build(
        pd.read_csv(path, usecols=QUASI),
        Schema(
            [
                Column(
                    name=name,
                    role="quasi",
                    type="number" if name == "age" else "category",
                    hierarchy=trees.get(name),
                )
                for name in QUASI
            ]
        ),
    )


def loss(table, k, **params):
    classes = LevelOrder(**params).partition(
        table, table.whole(), Guard([AtLeast(k=k)]), StageContext(seed=1)
    )
    assert {True} == {k <= size <= 2 * k - 1 for size in classes.sizes.tolist()}
    return gcp(table, classes)


@pytest.mark.parametrize("k", [5, 10, 20, 50, 100])
def test_blocks_lose_less_than_one_sequence(adult, k):
    one, blocks = (loss(adult, k, search=search) for search in ("none", "blocks"))
    print(k, one, blocks)

    assert blocks < one


def test_a_full_search_loses_less_than_blocks_and_less_the_longer_it_takes(adult):
    """With few rounds; the default has more."""
    losses = [loss(adult, 10), *(loss(adult, 10, search="full", rounds=n) for n in (0, 4, 12))]
    print(losses)

    assert sorted(set(losses), reverse=True) == losses
    assert losses[-1] < 0.95 * losses[0]


def test_larger_classes_lose_more(adult):
    losses = [loss(adult, k) for k in (5, 10, 20, 50, 100)]

    assert sorted(losses) == losses
