"""Settings that all tests of the workspace share."""

import pytest
from hypothesis import HealthCheck, settings

# No deadline: how long an example takes says something about the machine, not about the code.
settings.register_profile(
    "anonloom", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# Where a package is tried alone: what it needs shows in a few examples.
settings.register_profile("quick", settings.get_profile("anonloom"), max_examples=10)
settings.load_profile("anonloom")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the profile `quick` hold for tests that ask for a number of examples themselves, too."""
    if config.getoption("--hypothesis-profile") != "quick":
        return
    few = settings.get_profile("quick").max_examples
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples > few:
            test._hypothesis_internal_use_settings = settings(own, max_examples=few)
