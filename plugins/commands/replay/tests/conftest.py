"""The clinic, with the toy methods and this package as everything that is installed."""

import pytest

from anonloom_testing.clinic import clinic, shop
from anonloom_testing.commands import anonloom
from anonloom_testing.hospital import hospital
from anonloom_testing.toy_registry import toy_registry

__all__ = ["anonloom", "clinic", "hospital", "shop"]


@pytest.fixture
def registry():
    """Core's own methods, the toys, and the command."""
    return toy_registry("anonloom-replay")
