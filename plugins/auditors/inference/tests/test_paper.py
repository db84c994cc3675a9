"""Claims of Giomi et al. (2023), PoPETs."""

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom_inference.auditor import Inference

SCHEMA = Schema(
    (
        Column(name="a", role="quasi", type="number"),
        Column(name="b", role="quasi", type="number"),
        Column(name="c", role="quasi", type="number"),
        Column(name="secret", role="sensitive"),
    )
)


def people(rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)).round(3), columns=["a", "b", "c"])
    return frame.assign(secret=rng.choice(list("stuvw"), rows))


def test_the_risk_grows_in_proportion_to_the_rows_that_leak():
    """Abstract: the risks scale linearly with the amount of privacy leakage in the data."""
    original, others, control = (people(1500, seed) for seed in (1, 2, 3))
    for share in (0.0, 0.25, 0.5, 1.0):
        leaked = round(share * 1500)
        rows = pd.concat([original[:leaked], others[leaked:]], ignore_index=True)
        release = attrs.evolve(Release.as_it_is(Table.build(rows, SCHEMA)), origin=None)
        case = AuditInput(
            release,
            original=Table.build(original, SCHEMA),
            control=Table.build(control, SCHEMA),
        )

        found = Inference().audit(case, StageContext(seed=1))

        assert share == pytest.approx(found["nearest_secret_risk"].value, abs=0.05)
