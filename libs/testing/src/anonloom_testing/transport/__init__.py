"""Conformance of transports, and doubles for tests of what is built on them.

Needs anonloom-transport: the extra `transport` of this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonloom_testing.transport import adversaries as adversaries
    from anonloom_testing.transport import carrier as carrier
    from anonloom_testing.transport.carrier import GUARANTEES as GUARANTEES
    from anonloom_testing.transport.carrier import Carrier as Carrier
    from anonloom_testing.transport.carrier import PricedCarrier as PricedCarrier
    from anonloom_testing.transport.conformance import TransportConformance as TransportConformance
    from anonloom_testing.transport.entropy import SeededEntropy as SeededEntropy
    from anonloom_testing.transport.full_rounds import full_round as full_round
    from anonloom_testing.transport.full_rounds import measure_traffic as measure_traffic
    from anonloom_testing.transport.full_rounds import run_full_round as run_full_round
    from anonloom_testing.transport.plans import Plan as Plan
    from anonloom_testing.transport.plans import RestartingDriver as RestartingDriver
    from anonloom_testing.transport.plans import make_round as make_round
    from anonloom_testing.transport.plans import messages as messages
    from anonloom_testing.transport.plans import slot_secrets as slot_secrets

_HOMES = {
    "Carrier": "carrier",
    "GUARANTEES": "carrier",
    "Plan": "plans",
    "PricedCarrier": "carrier",
    "RestartingDriver": "plans",
    "SeededEntropy": "entropy",
    "TransportConformance": "conformance",
    "full_round": "full_rounds",
    "make_round": "plans",
    "measure_traffic": "full_rounds",
    "messages": "plans",
    "run_full_round": "full_rounds",
    "slot_secrets": "plans",
}

__all__ = sorted([*_HOMES, "adversaries", "carrier"])


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"anonloom_testing.transport.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"anonloom_testing.transport.{name}")
    raise AttributeError(f"module 'anonloom_testing.transport' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
