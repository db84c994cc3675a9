"""The collector keeps the promise of its kind: the release is the trusted curator's."""

import pytest
from anonify_play import installed

from anonloom import Registry
from anonloom_anonify import plugin
from anonloom_anonify.collector import Anonify
from anonloom_testing.collector import CollectorConformance
from anonloom_testing.transport import carrier


def _registry() -> Registry:
    registry = Registry.empty()
    registry.register(plugin, distribution="anonloom-anonify", version="0.1.0")
    registry.register(carrier, distribution="anonloom-transport", version="0.1.0")
    assert () == registry.broken
    return registry


class TestAnonify(CollectorConformance):
    method = Anonify
    params = {"transport": "carrier", "min_batch": 10}
    registry = _registry()


class TestAnonifyWithInvitationsAndWithdrawals(CollectorConformance):
    method = Anonify
    params = {
        "transport": {"transport": "carrier", "with": {"counts": False}},
        "servers": 3,
        "min_batch": 1,
        "credentials": "invitations",
        "withdrawals": True,
        "answer_bytes": 200,
        "traced": True,
    }
    registry = _registry()


class TestAnonifyWithIterations(CollectorConformance):
    method = Anonify
    params = {
        "transport": "carrier",
        "servers": 1,
        "min_batch": 2,
        "iterations": 2,
        "missing": "blank",
        "simulate": {"absent": 0.2},
        "min_leave": 1,
        "tolerated": 0.1,
        "suite": "mlkem768-x25519",
    }
    registry = _registry()


class TestAnonifyWithoutASecondChance(CollectorConformance):
    method = Anonify
    params = {"transport": "carrier", "min_batch": 2, "repeats": 0, "restarts": 0}
    registry = _registry()


@pytest.mark.skipif(not installed(transport="direct"), reason="anonloom-direct is not installed")
class TestAnonifyThroughARealTransport(CollectorConformance):
    method = Anonify
