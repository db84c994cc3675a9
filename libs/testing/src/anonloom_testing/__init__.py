"""Conformance kit for plugin authors: one class per kind, checks as plain functions.

In a plugin's ``tests/test_conformance.py``::

    from anonloom_testing import PartitionerConformance
    from anonloom_median_cut.partitioner import MedianCut


    class TestMedianCut(PartitionerConformance):
        method = MedianCut

and, without pytest, ``anonloom plugins check median-cut``.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonloom_testing.auditor import AuditorConformance as AuditorConformance
    from anonloom_testing.collector import CollectorConformance as CollectorConformance
    from anonloom_testing.engine import EngineConformance as EngineConformance
    from anonloom_testing.generalizer import GeneralizerConformance as GeneralizerConformance
    from anonloom_testing.integrity import IntegrityConformance as IntegrityConformance
    from anonloom_testing.mechanism import MechanismConformance as MechanismConformance
    from anonloom_testing.outliers import OutlierHandlerConformance as OutlierHandlerConformance
    from anonloom_testing.partitioner import PartitionerConformance as PartitionerConformance
    from anonloom_testing.privacy import PrivacyModelConformance as PrivacyModelConformance
    from anonloom_testing.reporter import ReporterConformance as ReporterConformance
    from anonloom_testing.results import CheckResult as CheckResult
    from anonloom_testing.runner import run_checks as run_checks
    from anonloom_testing.sampler import SamplerConformance as SamplerConformance
    from anonloom_testing.source import SourceConformance as SourceConformance
    from anonloom_testing.transport.conformance import TransportConformance as TransportConformance

_HOMES = {
    "SourceConformance": "source",
    "MechanismConformance": "mechanism",
    "PartitionerConformance": "partitioner",
    "OutlierHandlerConformance": "outliers",
    "GeneralizerConformance": "generalizer",
    "SamplerConformance": "sampler",
    "PrivacyModelConformance": "privacy",
    "TransportConformance": "transport.conformance",
    "CollectorConformance": "collector",
    "AuditorConformance": "auditor",
    "IntegrityConformance": "integrity",
    "ReporterConformance": "reporter",
    "EngineConformance": "engine",
    "CheckResult": "results",
    "run_checks": "runner",
}

# Modules of checks that several kinds share.
_CHECK_MODULES = ("cell_leaks", "class_checks", "conformance", "declaration", "purity")

__all__ = sorted(_HOMES)

# Without this a failing check under pytest would say 'AssertionError' and nothing else. It must
# come before the modules are imported; pytest itself is never imported here.
if "pytest" in sys.modules:
    for _home in {
        *_HOMES.values(),
        "declaration",
        "purity",
        "class_checks",
        "conformance",
        "cell_leaks",
    }:
        sys.modules["pytest"].register_assert_rewrite(f"anonloom_testing.{_home}")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'anonloom_testing' has no attribute {name!r}")
    return getattr(import_module(f"anonloom_testing.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
