"""Claims of Cohen and Nissim (2020) and of Giomi et al. (2023)."""

from math import e

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom_singling_out.auditor import SinglingOut

SCHEMA = Schema(tuple(Column(name=f"c{index}", role="quasi", type="number") for index in range(4)))


def people(rows, values, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, values, (rows, 4)), columns=SCHEMA.names)
    return Table.build(frame, SCHEMA)


def audited(original, release, control):
    published = attrs.evolve(Release.as_it_is(release), origin=None)
    case = AuditInput(published, original=original, control=control)
    return SinglingOut().audit(case, StageContext(seed=1))


def test_a_predicate_that_one_of_n_people_meets_isolates_somebody_in_37_percent_by_chance():
    """Cohen and Nissim, section 1: a predicate of weight 1/n isolates with a chance of 1/e."""
    original, release, control = (people(2000, 2000, seed) for seed in (1, 2, 3))

    found = audited(original, release, control)

    for name in ("univariate_predicates", "univariate_predicates_in_control"):
        assert 1 / e == pytest.approx(found[name].value, abs=0.03)


def test_the_risk_grows_in_proportion_to_the_rows_that_leak():
    """Giomi et al., abstract: risks scale linearly with the privacy leakage in the data."""
    original, release, control = (people(1500, 12, seed) for seed in (1, 2, 3))
    for share in (0.25, 0.5, 1.0):
        leaked = round(share * 1500)
        rows = pd.concat([original.frame[:leaked], release.frame[leaked:]], ignore_index=True)

        found = audited(original, Table.build(rows, SCHEMA), control)

        assert share == pytest.approx(found["multivariate_risk"].value, abs=0.06)
