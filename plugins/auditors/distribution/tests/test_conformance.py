"""The promises of every auditor."""

from itertools import pairwise
from unittest import mock

import attrs
import numpy as np
import pytest

from anonloom.cells import MOMENTS, cell_text, moment_texts
from anonloom_distribution import figures
from anonloom_distribution.auditor import Distribution
from anonloom_testing import AuditorConformance
from anonloom_testing.canaries import CANARIES
from anonloom_testing.cell_leaks import check_says_no_cell, find_leaks


class TestDistribution(AuditorConformance):
    method = Distribution


class TestDistributionSpread(AuditorConformance):
    method = Distribution
    params = {
        "reading": "spread",
        "scaled": False,
        "correlation": "spearman",
        "samples": 2,
        "least_rows": 1,
    }


# --- what was public once ------------------------------------------------------------------------


def _quantiles_as_they_are(axis, edges, shown):
    """Name ranges as they were named once: by quantiles of the original, to six digits."""
    unit = MOMENTS.get(axis.type)
    if unit is None:
        texts = [cell_text(float(f"{place:.6g}")) for place in edges]
    else:
        texts = moment_texts(edges.astype(np.int64).astype(f"datetime64[{unit}]"), unit)
    if not texts:
        return ["all"]
    return [f"< {texts[0]}", *(f"{a} to {b}" for a, b in pairwise(texts)), f"≥ {texts[-1]}"]


def _values_as_they_are(axis, codes, shown):
    return [str(text) for text in axis.texts(codes)]


@attrs.frozen(kw_only=True)
class OldLabels(Distribution):
    """The auditor with the labels that it once had."""

    def audit(self, case, context):
        with (
            mock.patch.object(figures, "_range_labels", _quantiles_as_they_are),
            mock.patch.object(figures, "_value_labels", _values_as_they_are),
        ):
            return super().audit(case, context)


def test_the_labels_of_old_are_found_by_the_check_when_they_are_put_back():
    class Subject(AuditorConformance):
        method = OldLabels

    with pytest.raises(AssertionError) as result:
        check_says_no_cell(Subject())
    message = str(result.value)
    assert message.startswith("the method tells cells that are not published:\n")
    heard = [
        sighting
        for item in Subject().scenario_results(CANARIES)
        for _, sighting in find_leaks(Subject(), item)
    ]
    columns = {
        column
        for column in ("age", "admitted", "seen", "sex")
        for item in heard
        if f"column '{column}'" in item
    }
    assert {"age", "admitted", "seen", "sex"} == columns
    assert len(heard) > 100
