"""Byun, Kamra, Bertino and Li, Efficient k-Anonymization Using Clustering Techniques, DASFAA 2007.

The full text was not at hand when these were written: they follow the algorithm box and the
definition of information loss, traced by hand on small tables, not tables of the paper.
"""

import numpy as np
import pandas as pd
import pytest

from anonloom import Classes, Column, Guard, Schema, StageContext, Table
from anonloom.hierarchies import Tree
from anonloom_k_member.k_member import KMember
from anonloom_testing.privacy_cases import AtLeast

PAPER = KMember(start="furthest", measure="height")


def clusters(frame, columns, k, seed=0, method=PAPER):
    """Return the clusters as sorted lists of row numbers."""
    table = Table.build(frame, Schema(columns))
    result = method.partition(table, table.whole(), Guard([AtLeast(k=k)]), StageContext(seed=seed))
    return sorted(sorted(result.members(index).tolist()) for index in range(len(result)))


@pytest.mark.parametrize("seed", range(5))
def test_the_algorithm_box_by_hand(seed):
    """Ages 1, 2, 3, 10, 11, 12, 30 with k = 3, from whichever record the draw begins.

    From 30 the furthest is 1, which takes 2 and 3; from 3 the furthest is 30, which takes 12 and
    11. From any other record 30 comes first, and 1 is the furthest from 11. The record left over
    is 10: it costs {1, 2, 3} 4 x 9 - 3 x 2 = 30 and {11, 12, 30} 4 x 20 - 3 x 19 = 23.
    """
    frame = pd.DataFrame({"age": [1, 2, 3, 10, 11, 12, 30]})
    columns = [Column(name="age", role="quasi", type="number")]

    assert [[0, 1, 2], [3, 4, 5, 6]] == clusters(frame, columns, k=3, seed=seed)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("height", [[0, 1], [2, 3]]),
        ("published", [[0, 2], [1, 3]]),
    ],
)
def test_information_loss_counts_heights_not_leaves(measure, expected):
    """Definition of information loss: the height of the common node over that of the tree.

    Four rows: towns a and b, ages 0 and 6 of a range of 10. Two rows of one age share a group of
    five out of seven towns, which is half as high as the tree: 0.5 by height, 0.71 as published.
    Two rows of one town are 0.6 apart.
    """
    tree = {"north": ["a", "b", "c", "d", "e"], "south": ["f", "g"]}
    towns = ["a", "b", "a", "b", "c", "d", "e", "f", "g"]
    ages = [0, 0, 6, 6, 10, 10, 10, 10, 10]
    columns = [
        Column(name="town", role="quasi", hierarchy=Tree(tree=tree)),
        Column(name="age", role="quasi", type="number"),
    ]
    table = Table.build(pd.DataFrame({"town": towns, "age": ages}), Schema(columns))
    four = Classes.whole(np.arange(4))
    method = KMember(start="furthest", measure=measure)

    result = method.partition(table, four, Guard([AtLeast(k=2)]), StageContext())

    assert expected == sorted(
        sorted(result.members(index).tolist()) for index in range(len(result))
    )
