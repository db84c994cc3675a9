"""Worked examples of the papers that define the models."""

import math

import numpy as np
import pandas as pd
import pytest

from anonloom import Column, Schema, Table
from anonloom.hierarchies import Tree
from anonloom_privacy_models.l_diversity import LDiversity
from anonloom_privacy_models.t_closeness import TCloseness

#: Li et al. 2007, table 3: salary in thousands and disease of nine patients.
SALARY = [3, 4, 5, 6, 11, 8, 7, 9, 10]
DISEASE = [
    "gastric ulcer",
    "gastritis",
    "stomach cancer",
    "gastritis",
    "flu",
    "bronchitis",
    "bronchitis",
    "pneumonia",
    "stomach cancer",
]

#: Li et al. 2007, figure 1, without the diseases that table 3 does not have.
DISEASES = {
    "respiratory system diseases": {
        "respiratory infection": ["flu", "pneumonia", "bronchitis"],
    },
    "digestive system diseases": {
        "stomach diseases": ["gastric ulcer", "stomach cancer", "gastritis"],
    },
}


@pytest.fixture
def patients():
    return Table.build(
        pd.DataFrame({"zip": range(9), "salary": SALARY, "disease": DISEASE}),
        Schema(
            [
                Column(name="zip", role="quasi", type="number"),
                Column(name="salary", role="sensitive", type="number"),
                Column(name="disease", role="sensitive", hierarchy=Tree(tree=DISEASES)),
            ]
        ),
    )


def distance(model, table, rows):
    return model.distances(table, np.array(rows), np.array([0]), np.array([len(rows)]))[0]


@pytest.mark.parametrize(("salaries", "expected"), [([3, 4, 5], 0.375), ([6, 8, 11], 0.167)])
def test_salary_distances_of_t_closeness(patients, salaries, expected):
    """Li et al. 2007, section 4: D[P1, Q] = 0.375 and D[P2, Q] = 0.167."""
    model = TCloseness(t=0.2, of="salary", distance="ordered")

    far = distance(model, patients, [SALARY.index(salary) for salary in salaries])

    assert expected == round(far, 3)


@pytest.mark.parametrize(
    ("diseases", "uniform", "counted"),
    [
        (["gastric ulcer", "gastritis", "stomach cancer"], 0.5, 4 / 9),
        (["gastric ulcer", "stomach cancer", "pneumonia"], 5 / 18, 7 / 27),
    ],
)
def test_disease_distances_of_t_closeness(patients, diseases, uniform, counted):
    """Li et al. 2007, section 4: 0.5 and 0.278.

    These are what six equally frequent diseases give, which we infer to be the paper's reading.
    Table 3 has some diseases twice; its own distribution gives 4/9 and 7/27.
    """
    model = TCloseness(t=0.2, of="disease", distance="hierarchical")
    each_once = sorted(set(DISEASE))
    once = patients.take(np.array([DISEASE.index(disease) for disease in each_once]))

    assert uniform == pytest.approx(distance(model, once, [each_once.index(d) for d in diseases]))
    assert counted == pytest.approx(distance(model, patients, [DISEASE.index(d) for d in diseases]))


def test_table_5_of_t_closeness(patients):
    """Li et al. 2007, table 5: 0.167-closeness with respect to salary."""
    rows = np.array([0, 2, 7, 3, 4, 5, 1, 6, 8])
    starts, stops = np.array([0, 3, 6]), np.array([3, 6, 9])

    salary = TCloseness(t=1 / 6, of="salary", distance="ordered")

    assert [True, True, True] == salary.admits(patients, rows, starts, stops).tolist()
    assert "t: 0.17" == salary.would_pass(patients, rows, starts, stops)


#: Machanavajjhala et al. 2006, figure 3: the conditions of a 3-diverse table in its three blocks.
CONDITIONS = [
    *("heart disease", "viral infection", "cancer", "cancer"),
    *("cancer", "heart disease", "viral infection", "viral infection"),
    *("heart disease", "viral infection", "cancer", "cancer"),
]
#: ... and figure 2: 4-anonymous, but the third block has one condition only.
HOMOGENEOUS = [
    *("heart disease", "heart disease", "viral infection", "viral infection"),
    *("cancer", "heart disease", "viral infection", "viral infection"),
    *("cancer", "cancer", "cancer", "cancer"),
]
BLOCKS = np.array([0, 4, 8]), np.array([4, 8, 12])


def inpatients(conditions):
    return Table.build(
        pd.DataFrame({"zip": range(12), "condition": conditions}),
        Schema(
            [
                Column(name="zip", role="quasi", type="number"),
                Column(name="condition", role="sensitive"),
            ]
        ),
    )


def test_the_3_diverse_table_of_l_diversity():
    """Machanavajjhala et al. 2006, figure 3: every block has three conditions."""
    table = inpatients(CONDITIONS)

    verdict = LDiversity(l=3, of="condition").admits(table, np.arange(12), *BLOCKS)

    assert [True, True, True] == verdict.tolist()


def test_the_homogeneity_attack_of_l_diversity():
    """Machanavajjhala et al. 2006, figure 2: everybody in the third block has cancer."""
    table = inpatients(HOMOGENEOUS)

    verdict = LDiversity(l=2, of="condition").admits(table, np.arange(12), *BLOCKS)

    assert [True, True, False] == verdict.tolist()


def test_the_definition_of_entropy_l_diversity():
    """Machanavajjhala et al. 2006, section 4.1: counts 1, 1, 2 have entropy log(2.83)."""
    table = inpatients(CONDITIONS)
    entropy = -(2 * 0.25 * math.log(0.25) + 0.5 * math.log(0.5))

    for least, admitted in ((math.exp(entropy), True), (2.8, True), (2.9, False), (3, False)):
        model = LDiversity(l=least, of="condition", kind="entropy")
        assert [admitted] * 3 == model.admits(table, np.arange(12), *BLOCKS).tolist()


def test_the_definition_of_recursive_l_diversity():
    """Machanavajjhala et al. 2006, section 4.1: r1 < c (r_l + ... + r_m), counts 2, 1, 1."""
    table = inpatients(CONDITIONS)

    for c, least, admitted in ((1.1, 2, True), (1, 2, False), (2.1, 3, True), (2, 3, False)):
        model = LDiversity(l=least, of="condition", kind="recursive", c=c)
        assert [admitted] * 3 == model.admits(table, np.arange(12), *BLOCKS).tolist()
