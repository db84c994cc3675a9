"""The example of the paper's figure 1: Smoker tells of chronic lung disease; 13 rows prove little."""

from pathlib import Path

import pandas as pd
import pytest

from anonloom_prism.correlations import Measure
from anonloom_prism.discovery import Question, Search, search

FIGURE_1 = pd.read_csv(Path(__file__).with_name("figure_1.csv")).rename(columns=str.title)
CRITICAL = ("bronchitis", "emphysema")


def searched(table: pd.DataFrame, **options: object) -> Search:
    question = Question(threshold=0.6, **options)  # type: ignore[arg-type]  # names of its own
    return search(table, None, "Disease", CRITICAL, ("Gender", "Age", "Smoker"), question)


@pytest.mark.parametrize("measure", ["cramers-v", "multiple-correlation", "classifier"])
def test_smoker_is_found_and_then_only_age_and_gender_are_looked_at(measure: Measure) -> None:
    result = searched(FIGURE_1, measure=measure, alpha=None)
    sets = [(set(item.attributes), item.target) for item in result.found]
    assert [({"Smoker"}, "all"), ({"Smoker"}, "bronchitis")] == sets
    assert {1: 3, 2: 1, 3: 0} == result.looked_at


def test_thirteen_rows_are_too_few_to_rule_chance_out() -> None:
    """The guard divides 0.05 between 27 tests of single attributes and as many of larger sets."""
    result = searched(FIGURE_1)
    assert () == result.found
    assert result.by_chance > 0


def test_twice_as_many_rows_of_the_same_kind_are_enough() -> None:
    # Other people, a year older: the same ones again could be told by their very age.
    others = FIGURE_1.assign(Age=FIGURE_1["Age"] + 1)
    result = searched(pd.concat([FIGURE_1, others], ignore_index=True))
    assert {"Smoker"} == set().union(*(item.attributes for item in result.found if item.size == 1))
