"""A plugin 'acme' whose methods can be left by any error at any entry: what a border must catch.

A `conftest.py` imports the fixtures that it needs; a test writes into `LEAVING` what leaves where.
"""

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from anonloom import Registry
from anonloom.api import API_VERSION, ROLES, Method, hookimpl
from anonloom_tables import Csv
from anonloom_testing import toy_methods
from anonloom_testing.clinic import Clinic

_KINDS = Registry.empty().kinds

#: What leaves which entry of which kind; empty where all is well.
LEAVING: dict[tuple[str, str], BaseException] = {}


def leave(kind: str, entry: str) -> None:
    """Raise what a test wants to leave this entry, if anything."""
    if (kind, entry) in LEAVING:
        raise LEAVING[kind, entry]


#: Where everything is raised, as messages name it.
PLACE = f"{__file__}:{leave.__code__.co_firstlineno + 3}"


def bug_message(kind: str, error: str = "SystemExit") -> str:
    """Return what is said of a method of acme that an error of this type has left."""
    return f"this is a bug of {_KINDS[kind].name} 'acme-{kind}' of acme 2.0: {error} in {PLACE}"


#: What acme's methods are made of.
_BASES: dict[str, type] = {
    "source": Csv,
    "mechanism": toy_methods.AddOne,
    "partitioner": toy_methods.Runs,
    "outliers": toy_methods.FirstOut,
    "generalizer": toy_methods.AsDeclared,
    "sampler": toy_methods.FirstHalf,
    "privacy": toy_methods.SizeAtLeast,
    "collector": toy_methods.Courier,
    "auditor": toy_methods.RowCounter,
    "integrity": toy_methods.Stamp,
    "reporter": toy_methods.Note,
}

#: The clinic, published by methods of acme alone.
PIPELINE = """
version: 1
name: clinic
seed: 7
data:
  source: acme-source
  with: {path: clinic.csv}
  columns:
    age: {role: quasi, type: number}
    sex: {role: quasi}
    illness: {role: sensitive}
privacy:
  - acme-privacy: {k: 1}
suppression: {at_most: 1}
collect: {collector: acme-collector}
stages:
  - mechanism: acme-mechanism
  - partitioner: acme-partitioner
  - outliers: acme-outliers
  - generalizer: acme-generalizer
  - sampler: acme-sampler
audit:
  - auditor: acme-auditor
publish:
  to: out
  integrity: acme-integrity
  reporters: [acme-reporter]
"""


@pytest.fixture
def leaving() -> Iterator[dict[tuple[str, str], BaseException]]:
    """Let nothing leave anything once the test is over."""
    yield LEAVING
    LEAVING.clear()


@pytest.fixture
def acme(
    registry: Registry,
    leaving: dict[tuple[str, str], BaseException],
    monkeypatch: pytest.MonkeyPatch,
) -> types.SimpleNamespace:
    """A plugin with a method of every kind of a pipeline, each made of a toy."""
    module = types.ModuleType("acme_methods")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    plugin = types.SimpleNamespace(ANONLOOM_API=API_VERSION)
    for kind, base in _BASES.items():
        cls = _leaving_class(kind, base)
        cls.__module__ = module.__name__
        setattr(module, cls.__name__, cls)
        target = f"{module.__name__}:{cls.__name__}"
        method = Method(name=f"acme-{kind}", target=target, summary="Leaves.", reads=ROLES)
        setattr(plugin, _KINDS[kind].hook, hookimpl(lambda method=method: [method]))
    assert registry.register(plugin, distribution="acme", version="2.0"), registry.broken
    monkeypatch.setattr(Registry, "_environment", registry)
    return plugin


@pytest.fixture
def acme_shop(
    clinic: Clinic, acme: types.SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> Clinic:
    """The clinic, published by methods of acme alone."""
    clinic.write(PIPELINE)
    monkeypatch.chdir(clinic.folder)
    return clinic


def _leaving_class(kind: str, base: type) -> type:
    """Return a class like `base`, every entry of which can be left."""
    body: dict[str, Any] = {}
    public = [name for name in dir(base) if not name.startswith("_")]
    for name in (*public, "__attrs_post_init__"):
        entry = getattr(base, name, None)
        if isinstance(entry, property):
            body[name] = property(_leaving_entry(kind, name, entry.fget))
        elif isinstance(entry, types.FunctionType) or name == "__attrs_post_init__":
            body[name] = _leaving_entry(kind, name, entry)
    cls: type = attrs.frozen(kw_only=True)(type(f"Leaving{base.__name__}", (base,), body))
    return cls


def _leaving_entry(kind: str, name: str, inside: Callable[..., Any] | None) -> Callable[..., Any]:
    def entry(self: Any, *args: Any, **options: Any) -> Any:
        leave(kind, name)
        return inside(self, *args, **options) if inside is not None else None

    return entry
