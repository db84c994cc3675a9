"""The kit's checks of a source that makes its rows itself."""

from anonloom import Column, Schema
from anonloom_diabetes.file import NUMBERS
from anonloom_diabetes.source import COLUMNS, Diabetes
from anonloom_testing import SourceConformance

QUASI = ("age", "gender", "bmi")
EVERY = Schema(
    [
        Column(
            name=name,
            role="quasi" if name in QUASI else "sensitive",
            type="number" if name in NUMBERS else "category",
        )
        for name in COLUMNS
    ]
)


class TestSimulated(SourceConformance):
    method = Diabetes
    params = {"which": "simulated", "rows": 200}
    schema = EVERY


class TestSomeColumns(SourceConformance):
    method = Diabetes
    params = {"which": "simulated", "rows": 101}
    schema = Schema([EVERY["bmi"], EVERY["diabetes"]])
