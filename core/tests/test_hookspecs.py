"""The contract file: every hook is specified, documented alike, and in the order of the kinds."""

import inspect

import pluggy
import pytest

from anonloom import Registry, hookspecs
from anonloom._registry.kinds import specification
from anonloom.api import hookimpl, hookspec

KINDS = Registry.empty().kinds

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
    before = ["anonloom_register_kinds"]
    after = [
        "anonloom_register_commands",
        "anonloom_register_experiment_runners",
        "anonloom_register_known_plugins",
    ]
    assert [*before, *registering, *after, *OBSERVING] == list(HOOKS)


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_what_is_written_of_a_kind_s_hook_is_what_is_made_from_the_kind(kind):
    written, made = HOOKS[kind.hook], specification(kind)
    assert kind.hook == made.__name__
    assert inspect.signature(written) == inspect.signature(made)
    assert written.anonloom_spec == made.anonloom_spec
    first, rest = (
        words(part) for part in inspect.getdoc(made).split("What it must not do")[0].split("\n", 1)
    )
    assert words(inspect.getdoc(written)).startswith(first.rstrip("."))
    assert rest in words(inspect.getdoc(written))


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


def test_plain_marks_are_pluggys_own():
    """Our markers stand in for pluggy's, which takes long to import."""

    def ours():
        pass

    def theirs():
        pass

    for marker, own in ((hookimpl, pluggy.HookimplMarker), (hookspec, pluggy.HookspecMarker)):
        marker(ours)
        own("anonloom")(theirs)
        assert vars(theirs) == vars(ours)


def test_other_marks_are_made_by_pluggy():
    @hookimpl(trylast=True)
    def hook():
        pass

    assert hook.anonloom_impl["trylast"]
