"""The people on whom every attack is tried."""

import attrs
import numpy as np
import pandas as pd

from anonloom import AuditInput, Column, Release, Schema, Table


def test_every_attack_is_tried_on_the_same_people():
    schema = Schema((Column(name="age", role="quasi", type="number"),))
    table = Table.build(pd.DataFrame({"age": range(50)}), schema)
    case = AuditInput(release=Release.as_it_is(table), original=table, attacked=7)
    people = case.people_attacked(3)
    assert (7, 7) == (len(people), len(np.unique(people)))
    assert people.tolist() == sorted(people) == case.people_attacked(3).tolist()
    assert people.tolist() != case.people_attacked(4).tolist()
    for most in (None, 50, 60):
        everybody = attrs.evolve(case, attacked=most).people_attacked(3)
        assert list(range(50)) == everybody.tolist()
    assert [] == attrs.evolve(case, original=None).people_attacked(3).tolist()
