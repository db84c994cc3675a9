"""The contract file: every hook is specified, documented alike, and in the order of the kinds."""

import inspect

import pytest

from anonloom import hookspecs
from anonloom._registry.kinds import KINDS

HOOKS = {
    name: function
    for name, function in vars(hookspecs).items()
    if name.startswith("anonloom_") and inspect.isfunction(function)
}
OBSERVING = [
    "anonloom_run_started",
    "anonloom_stage_started",
    "anonloom_stage_progress",
    "anonloom_stage_noted",
    "anonloom_stage_finished",
    "anonloom_release_checked",
    "anonloom_run_finished",
]


def test_hooks_stand_in_the_order_in_which_they_fire():
    registering = [kind.hook for kind in KINDS.values()]
    assert [*registering, "anonloom_register_commands", *OBSERVING] == list(HOOKS)


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_says_when_it_is_called_and_what_it_must_not_do(hook):
    text = inspect.getdoc(HOOKS[hook])
    when, must_not = text.index("When it is called\n"), text.index("What it must not do\n")
    assert 0 < when < must_not


@pytest.mark.parametrize("hook", OBSERVING)
def test_observers_get_no_table_and_every_argument_is_documented(hook):
    signature = inspect.signature(HOOKS[hook])
    plain = {str, int, float, bool, int | None, tuple[str, ...], dict[str, object]}
    assert {p.annotation for p in signature.parameters.values()} <= plain
    described = inspect.getdoc(HOOKS[hook]).split("Parameters\n")[1].split("When it is")[0]
    assert [name for name in signature.parameters if name not in described] == []


@pytest.mark.parametrize("hook", [name for name in HOOKS if name not in OBSERVING])
def test_registration_takes_nothing(hook):
    assert {} == dict(inspect.signature(HOOKS[hook]).parameters)
