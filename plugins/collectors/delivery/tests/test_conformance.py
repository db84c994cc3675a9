"""The collector keeps the promise of its kind, whatever carries the rows."""

import pytest

from anonloom import Registry
from anonloom_delivery import plugin
from anonloom_delivery.collector import Delivery
from anonloom_testing.collector import CollectorConformance
from anonloom_testing.transport import carrier


def _registry() -> Registry:
    registry = Registry.empty()
    registry.register(plugin, distribution="anonloom-delivery", version="0.1.0")
    registry.register(carrier, distribution="anonloom-transport", version="0.1.0")
    assert () == registry.broken
    return registry


class TestDelivery(CollectorConformance):
    method = Delivery
    params = {"transport": "carrier", "min_batch": 10}
    registry = _registry()


class TestDeliveryWithATrace(CollectorConformance):
    method = Delivery
    params = {
        "transport": {"transport": "carrier", "with": {"grumbles": True}},
        "servers": 3,
        "min_batch": 1,
        "record_bytes": 500,
        "traced": True,
    }
    registry = _registry()


def _installed(name: str) -> bool:
    return any(entry.name == name for entry in Registry.installed().methods("transport"))


@pytest.mark.skipif(not _installed("direct"), reason="anonloom-direct is not installed")
class TestDeliveryThroughARealTransport(CollectorConformance):
    method = Delivery
