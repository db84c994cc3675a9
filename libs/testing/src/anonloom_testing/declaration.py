"""Checks of every kind: how a method is declared, registered and built."""

import functools
import os
import pickle
import subprocess
import sys

import yaml

from anonloom.params import as_values, build, params_of
from anonloom_testing.conformance import Check, Conformance
from anonloom_testing.results import NotApplicable

#: What a hook module must not import: listing plugins would pay for it.
HEAVY = ("numpy", "pandas", "pyarrow")

_LOOK = """
import importlib, sys
module = importlib.import_module(sys.argv[1])
for name in dir(module):
    if name.startswith("anonloom_register_"):
        getattr(module, name)()
print(",".join(name for name in sys.argv[2:] if name in sys.modules))
"""


def check_method_is_registered(subject: Conformance) -> None:
    """A plugin registers the class, under the kind that its base class says."""
    kinds = subject.where().kinds
    kind = kinds.of_class(subject.method)
    base = kinds[subject.kind].base.replace(":", ".")
    assert kind is not None, f"{subject.method.__name__} must derive from {base}"
    assert kind.key == subject.kind, (
        f"{subject.method.__name__} is {kind.article}, not {kinds[subject.kind].article}"
    )
    entry = subject.entry()
    assert entry is not None, (
        f"no plugin registers {subject.method.__module__}:{subject.method.__qualname__} as "
        f"{kind.article}: is it installed, and does {kind.hook} name it?"
    )
    loaded = subject.where().load(subject.kind, f"{entry.distribution}:{entry.name}")
    assert loaded is subject.method, f"the registered target is {loaded!r}"


def check_hook_module_is_light(subject: Conformance) -> None:
    """Importing the plugin's hook module and calling its hooks imports neither numpy nor pandas."""
    module = subject.hook_module or _hook_module(subject)
    error, heavy = _imported_by(module, os.pathsep.join(filter(None, sys.path)))
    assert not error, f"{module} cannot be imported:\n{error}"
    assert not heavy, (
        f"{module} imports {heavy}: a hook module imports anonloom.api only, and names its "
        "methods by text"
    )


@functools.cache  # a plugin's methods share its hook module
def _imported_by(module: str, path: str) -> tuple[str, str]:
    """Return why a hook module cannot be imported, and what heavy modules it imports."""
    # A fresh interpreter, because this one has imported everything; its path, because the plugin
    # may be importable only from there.
    done = subprocess.run(
        [sys.executable, "-c", _LOOK, module, *HEAVY],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stderr.strip() if done.returncode else "", done.stdout.strip())


def _hook_module(subject: Conformance) -> str:
    import importlib_metadata

    entry = subject.entry()
    if entry is None:
        raise NotApplicable("the method is not registered")
    try:
        result = importlib_metadata.distribution(entry.distribution)
    except importlib_metadata.PackageNotFoundError:
        raise NotApplicable(f"{entry.distribution} is not installed; give hook_module") from None
    points = result.entry_points.select(group="anonloom")
    return str(next(point.value for point in points))


def check_parameters_are_declared(subject: Conformance) -> None:
    """Every parameter is declared with `param()`: by keyword only, with a help text and a type."""
    try:
        params_of(subject.method)
    except TypeError as error:
        raise AssertionError(str(error)) from None


def check_parameters_survive_yaml(subject: Conformance) -> None:
    """Parameters written as YAML and read again give the same method."""
    method, registry = subject.build_method(), subject.where()
    values = as_values(method, registry.name_of)
    again: object = build(
        subject.method, yaml.safe_load(yaml.safe_dump(values)), load=registry.load
    )
    assert values == as_values(again, registry.name_of)


def check_method_is_frozen(subject: Conformance) -> None:
    """A method is its parameters: no attribute of it can be set."""
    method = subject.build_method()
    for name in [*params_of(subject.method), "something_new"]:
        before = getattr(method, name, None)
        try:
            setattr(method, name, before)
        except AttributeError:
            continue
        raise AssertionError(f"'{name}' can be set: decorate the class with @attrs.frozen")


def check_method_is_picklable(subject: Conformance) -> None:
    """A method can be sent to another process: experiments run in parallel."""
    method, registry = subject.build_method(), subject.where()
    again = pickle.loads(pickle.dumps(method))
    assert as_values(method, registry.name_of) == as_values(again, registry.name_of)


DECLARATION_CHECKS: tuple[Check, ...] = (
    check_method_is_registered,
    check_hook_module_is_light,
    check_parameters_are_declared,
    check_parameters_survive_yaml,
    check_method_is_frozen,
    check_method_is_picklable,
)
