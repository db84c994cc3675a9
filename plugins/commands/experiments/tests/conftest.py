"""The clinic, with the toy methods and this package as everything that is installed."""

import pytest

from anonloom_testing.clinic import clinic
from anonloom_testing.toy_registry import toy_registry

__all__ = ["clinic"]


@pytest.fixture
def registry():
    """Core's own methods, the toys, and this package."""
    return toy_registry("anonloom-experiments")
