"""How the tests of the kit run it on a toy."""

import pytest

from anonloom.testing.registering import registered


class Judged(list):
    """What the kit said."""

    @property
    def failed(self):
        """The failed checks, each with its message."""
        # pytest adds what it sees in an assert below the message.
        return {r.check: r.detail.split("\nassert ")[0] for r in self if not r.good}


@pytest.fixture
def judged():
    """Run the kit on a class, with any attribute of the conformance class set."""

    def judge(conformance, cls, **attributes):
        attributes = {
            "method": cls,
            "registry": registered(conformance.kind, cls),
            "hook_module": "anonloom.builtin",
            **attributes,
        }
        return Judged(type("Subject", (conformance,), attributes)().results())

    return judge
