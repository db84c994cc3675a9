"""How the tests of the kit run it on a toy."""

import importlib.util
import sys
from pathlib import Path

import pytest

from anonloom_testing.one_class_registry import registry_with


def _share(name, file):
    """Make a module of this folder importable by its tests, which are no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(file))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


_share("kit_toy_tests", "toy_tests.py")


class Judged(list):
    """What the kit said."""

    @property
    def failed(self):
        """The failed checks, each with its message."""
        # pytest adds what it sees in an assert below the message.
        return {r.check: r.detail.split("\nassert ")[0] for r in self if r.status == "failed"}


@pytest.fixture
def judged():
    """Run the kit on a class, with any attribute of the conformance class set."""

    def judge(conformance, cls, **attributes):
        attributes = {
            "method": cls,
            "registry": registry_with(conformance.kind, cls),
            "hook_module": "anonloom._registry.builtin",
            **attributes,
        }
        return Judged(type("Subject", (conformance,), attributes)().results())

    return judge
