"""The kit's checks of a source that makes its rows itself."""

from anonloom import Column, Schema
from anonloom_marketing.source import COLUMNS, Marketing
from anonloom_testing import SourceConformance

TYPES = {"age": "number", "days_after_ad": "number", "purchase_time": "time"}
ROLES = {"person_id": "truth", "age": "quasi", "gender": "quasi", "region": "quasi"}
EVERY = Schema(
    [
        Column(name=name, role=ROLES.get(name, "other"), type=TYPES.get(name, "category"))
        for name in COLUMNS
    ]
)


class TestMarketing(SourceConformance):
    method = Marketing
    params = {"rows": 200}
    schema = EVERY


class TestOutliers(SourceConformance):
    method = Marketing
    params = {"rows": 101, "outliers": 0.5, "products": 10}
    schema = Schema([EVERY["region"], EVERY["purchase_time"]])
