"""Anonloom: a plugin framework for publishing personal tables safely.

Public names are looked up when they are first used, so that ``import anonloom`` costs nothing.
"""

from anonloom._lazy import lazy_exports

# Type checkers take this name for `typing.TYPE_CHECKING`; importing typing would cost as much as
# the rest of ``anonloom --help``.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._outcome import Outcome as Outcome
    from anonloom._pipeline import Pipeline as Pipeline
    from anonloom._registry.registry import Registry as Registry
    from anonloom._representation import short_repr as short_repr
    from anonloom.data._audit_input import AuditInput as AuditInput
    from anonloom.data._classes import Classes as Classes
    from anonloom.data._release import Release as Release
    from anonloom.data._schema import Column as Column
    from anonloom.data._schema import Schema as Schema
    from anonloom.data._table import Table as Table
    from anonloom.errors import AnonloomError as AnonloomError
    from anonloom.findings import Chart as Chart
    from anonloom.findings import Finding as Finding
    from anonloom.findings import Findings as Findings
    from anonloom.kinds._auditor import Auditor as Auditor
    from anonloom.kinds._collection import Collection as Collection
    from anonloom.kinds._collector import Collector as Collector
    from anonloom.kinds._context import StageContext as StageContext
    from anonloom.kinds._engine import Engine as Engine
    from anonloom.kinds._generalizer import Generalizer as Generalizer
    from anonloom.kinds._guard import Guard as Guard
    from anonloom.kinds._integrity import IntegrityScheme as IntegrityScheme
    from anonloom.kinds._mechanism import Mechanism as Mechanism
    from anonloom.kinds._outliers import OutlierHandler as OutlierHandler
    from anonloom.kinds._partitioner import Partitioner as Partitioner
    from anonloom.kinds._privacy import PrivacyModel as PrivacyModel
    from anonloom.kinds._reporter import Reporter as Reporter
    from anonloom.kinds._sampler import Sampler as Sampler
    from anonloom.kinds._source import Source as Source
    from anonloom.kinds._transport import Transport as Transport
    from anonloom.params._declare import param as param

__all__ = [
    "AnonloomError",
    "AuditInput",
    "Auditor",
    "Chart",
    "Classes",
    "Collection",
    "Collector",
    "Column",
    "Engine",
    "Finding",
    "Findings",
    "Generalizer",
    "Guard",
    "IntegrityScheme",
    "Mechanism",
    "Outcome",
    "OutlierHandler",
    "Partitioner",
    "Pipeline",
    "PrivacyModel",
    "Registry",
    "Release",
    "Reporter",
    "Sampler",
    "Schema",
    "Source",
    "StageContext",
    "Table",
    "Transport",
    "param",
    "short_repr",
]

__version__ = "0.1.0"

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._registry.registry": ("Registry",),
        "anonloom._representation": ("short_repr",),
        "anonloom._outcome": ("Outcome",),
        "anonloom._pipeline": ("Pipeline",),
        "anonloom.data._audit_input": ("AuditInput",),
        "anonloom.data._classes": ("Classes",),
        "anonloom.data._release": ("Release",),
        "anonloom.data._schema": ("Column", "Schema"),
        "anonloom.data._table": ("Table",),
        "anonloom.errors": ("AnonloomError",),
        "anonloom.findings": ("Chart", "Finding", "Findings"),
        "anonloom.kinds._auditor": ("Auditor",),
        "anonloom.kinds._collection": ("Collection",),
        "anonloom.kinds._collector": ("Collector",),
        "anonloom.kinds._context": ("StageContext",),
        "anonloom.kinds._engine": ("Engine",),
        "anonloom.kinds._generalizer": ("Generalizer",),
        "anonloom.kinds._guard": ("Guard",),
        "anonloom.kinds._integrity": ("IntegrityScheme",),
        "anonloom.kinds._mechanism": ("Mechanism",),
        "anonloom.kinds._outliers": ("OutlierHandler",),
        "anonloom.kinds._partitioner": ("Partitioner",),
        "anonloom.kinds._privacy": ("PrivacyModel",),
        "anonloom.kinds._reporter": ("Reporter",),
        "anonloom.kinds._sampler": ("Sampler",),
        "anonloom.kinds._source": ("Source",),
        "anonloom.kinds._transport": ("Transport",),
        "anonloom.params._declare": ("param",),
    },
)
