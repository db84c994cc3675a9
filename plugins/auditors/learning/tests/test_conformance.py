"""The promises of every auditor."""

from anonloom_learning.auditor import LearningAuditor
from anonloom_testing import AuditorConformance, tables


class TestLearning(AuditorConformance):
    # All eight on every table are for `anonloom plugins check`: ensembles take their time.
    method = LearningAuditor
    params = {"classifiers": ["naive-bayes"], "repeats": 1}


class TestLearningWithAllClassifiers(AuditorConformance):
    method = LearningAuditor
    params = {"repeats": 1}
    tables = (tables.missing_values,)


class TestLearningJudgedByOriginalRows(AuditorConformance):
    method = LearningAuditor
    params = {"tested_on": "original", "classifiers": ["svm"], "repeats": 2, "rows": 20}
    tables = (tables.clinic, tables.published_as_sets, tables.persons_with_many_rows)


class TestLearningASensitiveColumn(AuditorConformance):
    method = LearningAuditor
    params = {
        "label": "illness",
        "positive": "flu",
        "classifiers": ["decision-tree"],
        "repeats": 1,
    }
    tables = (tables.clinic, tables.exactly_three, tables.dates_and_bins)
