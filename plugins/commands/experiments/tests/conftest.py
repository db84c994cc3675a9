"""The clinic, with the toy methods and this package as everything that is installed."""

import pytest

from anonloom_testing.clinic import clinic, shop, simulated_clinic
from anonloom_testing.commands import anonloom
from anonloom_testing.leaving_methods import acme, acme_shop, leaving
from anonloom_testing.toy_registry import toy_registry

__all__ = ["acme", "acme_shop", "anonloom", "clinic", "leaving", "shop", "simulated_clinic"]


@pytest.fixture
def registry():
    """Core's own methods, the toys, and this package."""
    return toy_registry("anonloom-experiments")
