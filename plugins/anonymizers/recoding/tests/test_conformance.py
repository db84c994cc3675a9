"""Every method keeps the promises of its kind."""

from anonloom_recoding.centroid import Centroid
from anonloom_recoding.drop_columns import DropColumns
from anonloom_recoding.hierarchy import ByHierarchy
from anonloom_recoding.outliers import LeaveAll, Suppress
from anonloom_recoding.sets import Sets
from anonloom_testing import (
    GeneralizerConformance,
    MechanismConformance,
    OutlierHandlerConformance,
)


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
