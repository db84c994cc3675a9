"""What a collection guarantees, as the report and the manifest say it."""

from collections.abc import Mapping
from typing import Any

from anonloom import Collector
from anonloom.findings import Notice
from anonloom.kinds import ONE_PROCESS

__all__ = [
    "declared_guarantees",
]


def guarantee_facts(collector: Collector) -> dict[str, Any]:
    """Return what a collector guarantees, and under which circumstances it did.

    Where one process played all parties nothing is guaranteed to anybody: what the transport
    declares is told under another name.
    """
    declared = collector.guarantees
    facts: dict[str, Any] = {"simulated": collector.simulated}
    if declared is None:
        return {"guarantees": None, **facts}
    facts = {"entropy": collector.entropy, "parties": collector.parties, **facts}
    if collector.parties == "one-process":
        return {"guarantees": {}, "guarantees_if_deployed": declared.as_dict(), **facts}
    return {"guarantees": declared.as_dict(), **facts}


def declared_guarantees(collection: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what the transport of a reported collection declares, deployed or not."""
    return collection.get("guarantees") or collection.get("guarantees_if_deployed")


def notices(collector: Collector) -> list[Notice]:
    """Return what readers of a release must know of how its rows came together."""
    results = []
    if collector.guarantees is not None and collector.parties == "one-process":
        results.append(Notice(ONE_PROCESS, privacy=True))
    if collector.simulated:
        text = "Keys or coins came from a seeded source: this is a simulation."
        results.append(Notice(text, privacy=True))
    return results
