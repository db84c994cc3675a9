"""Settings that all tests of the workspace share."""

import pytest
from hypothesis import HealthCheck, settings

from anonloom_testing.conformance import Conformance

# No deadline: how long an example takes says something about the machine, not about the code.
settings.register_profile(
    "anonloom", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# Where a package is tried alone: what it needs shows in a few examples.
settings.register_profile("quick", settings.get_profile("anonloom"), max_examples=10)
settings.load_profile("anonloom")


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is marked
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave variants of methods to the long tests, and all but a few examples of properties."""
    _mark_variants(items)
    if config.getoption("--hypothesis-profile") == "quick":
        _limit_examples(items)


def _mark_variants(items: list[pytest.Item]) -> None:
    """Mark the conformance classes of a method as long, but for that with fewest parameters.

    Of several it is the first: what is asked of every method every day is asked of its default.
    """
    classes = dict.fromkeys(
        cls
        for item in items
        if (cls := getattr(item, "cls", None)) is not None and issubclass(cls, Conformance)
    )
    defaults: dict[tuple[str, type], type] = {}
    for cls in classes:
        known = defaults.setdefault((cls.__module__, cls.method), cls)
        if len(cls.params) < len(known.params):
            defaults[cls.__module__, cls.method] = cls
    for item in items:
        cls = getattr(item, "cls", None)
        if cls in classes and defaults[cls.__module__, cls.method] is not cls:
            item.add_marker(pytest.mark.long)


def _limit_examples(items: list[pytest.Item]) -> None:
    """Let the profile `quick` hold for tests that ask for a number of examples themselves, too."""
    few = settings.get_profile("quick").max_examples
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples > few:
            test._hypothesis_internal_use_settings = settings(own, max_examples=few)
