"""From the text that names a method's class to the class, judged before it is used."""

import re
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from anonloom._registry.api_changes import moved_to
from anonloom._registry.boundary import Border, put_around
from anonloom._spelling import comma_list
from anonloom.api import ROLES, Kind, Method
from anonloom.errors import FaultyPluginError, PluginError

if TYPE_CHECKING:
    from pathlib import Path

_LOCAL = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")


class Entry(NamedTuple):
    """A method and who offers it.

    Parameters
    ----------
    of : Kind
        What kind of method it is.
    method : Method
        The descriptor.
    distribution, version : str
        The installed package that offers it; empty for local code.
    file : Path or None
        Where the class is, if it is local code that belongs to no package.
    """

    of: Kind
    method: Method
    distribution: str
    version: str
    file: "Path | None" = None

    @property
    def kind(self) -> str:
        """The kind's YAML key."""
        return self.of.key

    @property
    def runs_as(self) -> str:
        """The key of the kind of core as which a run treats the method, or that of its own."""
        return self.of.runs_as

    @property
    def name(self) -> str:
        """The method's name."""
        return self.method.name

    @property
    def owner(self) -> str:
        """Distribution and version, for messages."""
        return str(self.file) if self.file else f"{self.distribution} {self.version}".rstrip()

    @property
    def label(self) -> str:
        """The method's kind, its name and who offers it, for messages."""
        return f"{self.of.name} {self.name!r} of {self.owner}"

    @property
    def local(self) -> bool:
        """Whether the method is local code that belongs to no package."""
        return self.file is not None


def error_line(error: BaseException) -> str:
    """Return an error of somebody else's code in one line."""
    if isinstance(error, FaultyPluginError) and error.__cause__ is not None:
        error = error.__cause__
    try:
        with Border("whoever raised it"):
            text = str(error)
    except Exception:
        # An error that cannot even be told is one all the same.
        text = ""
    return f"{type(error).__name__}: {text}".rstrip(": ")


def local_entry(kind: Kind, name: str, folder: "Path | None") -> Entry | None:
    """Return the entry of ``./file.py:Class``, or None if the name is none of that form.

    Raises
    ------
    PluginError
        If there is no such file, or local code is not allowed: `folder` is None.
    """
    code = _LOCAL.fullmatch(name)
    if code is None:
        return None
    if folder is None:
        raise PluginError(
            f"{name!r} is local code, which runs only with --allow-local-code",
            hint="it is run as it is, with your rights: read it first",
        )
    file = folder / code["file"]
    if not file.is_file():
        raise PluginError(f"there is no file {code['file']!r}", hint=f"looked for {file}")
    stem = re.sub(r"\W", "_", file.stem)
    # Local code says nothing about what it reads, so that it is given every role.
    method = Method(
        name=_method_name(code["name"]),
        target=f"{stem}:{code['name']}",
        summary=f"Local code in {file.name}.",
        reads=frozenset(ROLES),
    )
    return Entry(kind, method, "", "", file)


def _method_name(cls: str) -> str:
    """Return a method's name for a class: 'MedianCut' is 'median-cut'."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", cls)
    name = "-".join(words).lower()
    return name if name[:1].isalpha() else f"local-{name}".rstrip("-")


def class_of(entry: Entry) -> type:
    """Import the class behind an entry.

    Raises
    ------
    PluginError
        If it cannot be imported, is none of the entry's kind, or is not complete.
    """
    kind, label = entry.of, entry.label
    module_name, _, name = entry.method.target.partition(":")
    try:
        with Border(label):
            module = _run_file(entry.file) if entry.file else import_module(module_name)
            cls = getattr(module, name, None)
    except FaultyPluginError:
        raise
    except Exception as error:
        moved = moved_to(error.name) if isinstance(error, ModuleNotFoundError) else ""
        hint = "\n".join(filter(None, [error_line(error), moved]))
        raise PluginError(f"{label} cannot be imported", hint=hint) from error
    if not isinstance(cls, type):
        raise PluginError(f"{label} cannot be used: there is no class {entry.method.target}")
    base = base_of(kind, label)
    if not issubclass(cls, base):
        raise PluginError(
            f"{label} cannot be used: {name} is not {kind.article}",
            hint=f"its class must derive from {kind.base.replace(':', '.')}",
        )
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        raise PluginError(f"{label} cannot be used: {name} lacks {comma_list(missing)}")
    put_around(cls, label)
    return cls


def base_of(kind: Kind, label: str) -> type:
    """Import the base class of a kind.

    Parameters
    ----------
    label : str
        What cannot be used without it, for messages.

    Raises
    ------
    PluginError
        If it cannot be imported, or is none for the kind's place in a pipeline.
    """
    module, _, name = kind.base.partition(":")
    unusable = f"{label} cannot be used: the base class of {kind.plural}, {kind.base},"
    try:
        with Border(f"kind {kind.key!r}"):
            base = getattr(import_module(module), name, None)
    except Exception as error:
        raise PluginError(f"{unusable} cannot be imported", hint=error_line(error)) from error
    if not isinstance(base, type):
        raise PluginError(f"{unusable} is no class")
    wanted = kind.place.base
    if wanted and wanted not in (f"{item.__module__}:{item.__qualname__}" for item in base.__mro__):
        raise PluginError(
            f"{unusable} does not fit its place in a pipeline, {kind.where!r}",
            hint=f"it must derive from anonloom.kinds.{wanted.rpartition(':')[2]}",
        )
    return base


def kit_of(kind: Kind, owner: str) -> type:
    """Import the class that checks the methods of a kind.

    Parameters
    ----------
    owner : str
        Who registers the kind, for messages.

    Raises
    ------
    PluginError
        If there is none, or it is not installed.
    """
    if not kind.kit:
        raise PluginError(
            f"{kind.plural} cannot be checked: the kind {kind.key!r} of {owner} names no kit",
            hint="ask its author for a conformance class, which Kind(kit=...) names",
        )
    module, _, name = kind.kit.partition(":")
    unusable = f"{kind.plural} cannot be checked: their kit, {kind.kit},"
    try:
        with Border(f"kit of the kind {kind.key!r}"):
            kit = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise PluginError(f"{unusable} cannot be imported", hint=error_line(error)) from error
        hint = f"pip install {package.replace('_', '-')}"
        raise PluginError(f"{unusable} is not installed", hint=hint) from error
    except Exception as error:
        raise PluginError(f"{unusable} cannot be imported", hint=error_line(error)) from error
    if not isinstance(kit, type):
        raise PluginError(f"{unusable} is no class")
    return kit


def _run_file(file: "Path") -> ModuleType:
    """Import a file that belongs to no package."""
    from importlib.util import module_from_spec, spec_from_file_location
    from sys import modules

    # The name carries the whole path: two files of one name are two modules, and a class can be
    # pickled, because its module is found again in `sys.modules`.
    name = "anonloom_local_" + re.sub(r"\W", "_", str(file.resolve()))
    if name in modules:
        return modules[name]
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del modules[name]
        raise
    return module
