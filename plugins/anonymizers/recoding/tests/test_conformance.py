"""Every method keeps the promises of its kind."""

import attrs

from anonloom import Schema
from anonloom_recoding.centroid import Centroid
from anonloom_recoding.drop_columns import DropColumns
from anonloom_recoding.hierarchy import ByHierarchy
from anonloom_recoding.outliers import LeaveAll, Suppress
from anonloom_recoding.rounding import Round
from anonloom_recoding.sets import Sets
from anonloom_testing import (
    GeneralizerConformance,
    MechanismConformance,
    OutlierHandlerConformance,
)
from anonloom_testing.tables import dates_and_bins


class TestNone(OutlierHandlerConformance):
    method = LeaveAll


class TestSuppress(OutlierHandlerConformance):
    method = Suppress
    params = {"at_most": 0.3}


class TestHierarchy(GeneralizerConformance):
    method = ByHierarchy


class TestHierarchyOfRegions(GeneralizerConformance):
    method = ByHierarchy
    params = {"extent": "region"}


class TestSets(GeneralizerConformance):
    method = Sets


class TestMeans(GeneralizerConformance):
    method = Centroid


class TestMedians(GeneralizerConformance):
    method = Centroid
    params = {"number": "median", "category": "node"}


class TestDropColumns(MechanismConformance):
    method = DropColumns
    params = {"columns": ["outcome"]}


class TestDropSeveralColumns(MechanismConformance):
    method = DropColumns
    params = {"columns": ["note", "illness"]}


def visits():
    """The kit's table of moments and ages, none of them generalized by a privacy model."""
    sample = dates_and_bins()
    columns = [
        attrs.evolve(column, role="other", hierarchy=None, publish=None)
        if column.role == "quasi"
        else column
        for column in sample.schema
    ]
    return attrs.evolve(sample, schema=Schema(columns))


class TestRound(MechanismConformance):
    method = Round
    params = {"to": {"age": 10, "admitted": "month", "seen": "quarter-day"}}
    tables = (visits,)

    def scenarios(self):
        """Of the kit's tables only that one has columns to be rounded."""
        return (item for item in super().scenarios() if item.name == "visits")
