"""The promises of every auditor."""

from itertools import pairwise
from unittest import mock

import attrs
import numpy as np
import pytest

from anonloom.data.cells import MOMENTS, cell_text, moment_texts
from anonloom.testing import AuditorConformance
from anonloom.testing.canaries import CANARIES
from anonloom.testing.telling import check_says_no_cell, sightings
from anonloom_distribution import figures
from anonloom_distribution.auditor import Distribution


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

    def audit(self, case, run):
        with (
            mock.patch.object(figures, "_range_labels", _quantiles_as_they_are),
            mock.patch.object(figures, "_value_labels", _values_as_they_are),
        ):
            return super().audit(case, run)


def test_the_labels_of_old_are_found_by_the_check_when_they_are_put_back():
    class Subject(AuditorConformance):
        method = OldLabels

    with pytest.raises(AssertionError) as found:
        check_says_no_cell(Subject())
    said = str(found.value)
    assert said.startswith("the method tells cells that are not published:\n")
    heard = [
        sighting for one in Subject().played(CANARIES) for _, sighting in sightings(Subject(), one)
    ]
    told = {
        column
        for column in ("age", "admitted", "seen", "sex")
        for one in heard
        if f"column '{column}'" in one
    }
    assert {"age", "admitted", "seen", "sex"} == told
    assert len(heard) > 100
