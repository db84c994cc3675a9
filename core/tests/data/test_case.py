"""A case says which evidence it has."""

from typing import get_args

import numpy as np
import pandas as pd

from anonloom import AuditInput, Column, Release, Schema, Table
from anonloom.data import Need


def test_a_bare_case_has_a_release_and_nothing_else() -> None:
    table = Table.build(pd.DataFrame({"a": [1]}), Schema([Column(name="a", role="quasi")]))
    release = Release.as_it_is(table)
    bare = AuditInput(release=release)
    assert [] == [need for need in get_args(Need) if bare.has(need)]
    full = AuditInput(
        release=release,
        original=table,
        before_sampling=release,
        truth=np.array([-1]),
        control=table,
        other_releases=(release,),
        groups=np.array([0], np.int32),
        trace={},
    )
    assert None is bare.demanded
    assert list(get_args(Need)) == [need for need in get_args(Need) if full.has(need)]
