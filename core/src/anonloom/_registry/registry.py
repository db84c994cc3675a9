"""Entry points -> plugins -> methods: who offers what, and what is wrong with them.

A registry is an object. `Registry.installed()` reads the environment once, on first use;
`Registry.empty()` is for tests. One broken plugin is remembered and shown, and hurts no other.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

from anonloom import hookspecs
from anonloom._registry import core_kinds
from anonloom._registry.api_changes import CHANGES
from anonloom._registry.boundary import Border
from anonloom._registry.entry_points import installed_entry_points
from anonloom._registry.hooks import Hooks, Unusable
from anonloom._registry.kinds import KindClash, Kinds, specification
from anonloom._registry.loading import Entry, class_of, error_line, kit_of, local_entry
from anonloom._registry.observers import Observers
from anonloom._spelling import comma_list, did_you_mean
from anonloom.api import API_VERSION, Command, Kind, KnownPlugin, Method
from anonloom.errors import PluginError

if TYPE_CHECKING:
    from pathlib import Path

    from anonloom._registry.entry_points import Point

T = TypeVar("T", Method, Command, Kind, KnownPlugin)

_KINDS_HOOK = "anonloom_register_kinds"
_KNOWN_HOOK = "anonloom_register_known_plugins"
_OF_KINDS = {kind.hook for kind in core_kinds.anonloom_register_kinds()}
#: The specified hooks that belong to no kind.
_GENERAL_HOOKS = {
    name: getattr(hookspecs, name)
    for name in dir(hookspecs)
    if name.startswith("anonloom_") and name not in _OF_KINDS
}


class CommandEntry(NamedTuple):
    """A command and who offers it."""

    command: Command
    distribution: str
    version: str

    @property
    def label(self) -> str:
        """The command's name and who offers it, for messages."""
        owner = f"{self.distribution} {self.version}".rstrip()
        return f"command {self.command.name!r} of {owner}"


class BrokenPlugin(NamedTuple):
    """A plugin that could not be used, and why."""

    distribution: str
    version: str
    reason: str

    def __str__(self) -> str:
        return f"{f'{self.distribution} {self.version}'.rstrip()} ({self.reason})"


class Registry:
    """What is installed: methods by kind and name, commands, observers, broken plugins.

    Attributes
    ----------
    kinds : Kinds
        The kinds of method by their YAML key: core's own, and what plugins add.
    observers : Observers
        Tells plugins what happens during a run.
    """

    _environment: ClassVar["Registry | None"] = None

    def __init__(self) -> None:
        self._hooks = Hooks(_GENERAL_HOOKS)
        self.kinds = Kinds()
        self._entries: list[Entry] = []
        self._commands: list[CommandEntry] = []
        self._runners: list[CommandEntry] = []
        self._broken: list[BrokenPlugin] = []
        self._loaded: dict[Entry, type] = {}
        self._catalogues: list[tuple[object, str, str]] = []
        self._known: list[KnownPlugin] = []
        self.observers = Observers(self._hooks)
        self._take_kinds(core_kinds, "anonloom-core")

    @classmethod
    def empty(cls) -> "Registry":
        """Return a registry without any plugin, core's own methods included."""
        return cls()

    @classmethod
    def installed(cls) -> "Registry":
        """Return the registry of this environment, read on first use and then kept."""
        if Registry._environment is None:
            registry = cls()
            registry.discover(installed_entry_points("anonloom"))
            Registry._environment = registry
        return Registry._environment

    def discover(self, points: "Iterable[Point]") -> None:
        """Load and take in the plugin behind each entry point."""
        # Entry points come in the order of directory listings; sorted, messages are the same on
        # every machine.
        loaded = []
        owned = [(*_distribution(point), point) for point in points]
        for distribution, version, point in sorted(owned, key=lambda one: (one[0], one[2].name)):
            try:
                with Border(distribution):
                    module = point.load()
            except Exception as error:
                # Whatever a plugin's import does, even sys.exit(), concerns that plugin alone.
                self._broken.append(BrokenPlugin(distribution, version, error_line(error)))
                continue
            loaded.append((module, distribution, version))
        # Who adds kinds comes first: methods of a kind may come from plugins of other authors.
        for module, distribution, version in sorted(
            loaded, key=lambda plugin: not hasattr(plugin[0], _KINDS_HOOK)
        ):
            self.register(module, distribution=distribution, version=version)

    def register(self, module: object, *, distribution: str, version: str = "") -> bool:
        """Take in a plugin: a module, or any object with hook implementations.

        Returns
        -------
        bool
            Whether it is usable. If not, it is remembered in `broken` and offers nothing.
        """
        if self._hooks.holds(module):
            reason = "its hook module is already in use by another entry point"
            self._broken.append(BrokenPlugin(distribution, version, reason))
            return False
        before = tuple(self.kinds.values())
        try:
            with Border(distribution):
                entries, commands, runners = self._examine(module, distribution, version)
        except (Unusable, KindClash) as error:
            reason = str(error)
        except Exception as error:
            reason = error_line(error)
        else:
            self._entries += entries
            self._commands += commands
            self._runners += runners
            if hasattr(module, _KNOWN_HOOK):
                self._catalogues.append((module, distribution, version))
            return True
        # Nothing of a plugin that breaks the contract stays behind, its observers included.
        self._hooks.drop(module)
        for kind in tuple(self.kinds.values())[len(before) :]:
            self.kinds.withdraw(kind)
        self._broken.append(BrokenPlugin(distribution, version, reason))
        return False

    def _examine(
        self, module: object, distribution: str, version: str
    ) -> tuple[list[Entry], list[CommandEntry], list[CommandEntry]]:
        spoken = getattr(module, "ANONLOOM_API", None)
        if spoken is None:
            raise Unusable(f"its hook module does not say ANONLOOM_API = {API_VERSION}")
        if spoken != API_VERSION:
            raise Unusable(_other_version(spoken, distribution))
        self._hooks.refuse_unmarked(module)
        self._take_kinds(module, f"{distribution} {version}".rstrip())
        known = [*_GENERAL_HOOKS, *(kind.hook for kind in self.kinds.values())]
        self._hooks.take(module, f"{distribution} {version}:{id(module)}", known)
        entries = [
            Entry(kind, method, distribution, version)
            for kind in self.kinds.values()
            for method in _answers(module, kind.hook, Method)
        ]
        named = [(entry.kind, entry.name) for entry in entries]
        for kind, name in named:
            if named.count((kind, name)) > 1:
                raise Unusable(f"it names the {self.kinds[kind].name} {name!r} twice")
        commands, runners = (
            [CommandEntry(item, distribution, version) for item in _answers(module, hook, Command)]
            for hook in ("anonloom_register_commands", "anonloom_register_experiment_runners")
        )
        return entries, commands, runners

    def _take_kinds(self, module: object, owner: str) -> None:
        """Take in the kinds that a plugin adds, and specify their hooks."""
        for kind in _answers(module, _KINDS_HOOK, Kind):
            if kind.hook in _GENERAL_HOOKS:
                raise KindClash(
                    f"it registers the kind {kind.key!r} with the hook '{kind.hook}', which is not "
                    "one of a kind"
                )
            self.kinds.add(kind, owner)
            self._hooks.specify(kind.hook, specification(kind))

    @property
    def broken(self) -> tuple[BrokenPlugin, ...]:
        """Plugins that are installed and cannot be used."""
        return tuple(self._broken)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All methods, in the order of the kinds and then by name and owner."""
        return tuple(entry for kind in self.kinds for entry in self.methods(kind))

    @property
    def commands(self) -> tuple[CommandEntry, ...]:
        """Commands of all plugins, by name."""
        return tuple(sorted(self._commands, key=lambda entry: entry.command.name))

    def experiment_runner(self, section: str) -> CommandEntry:
        """Return what runs pipelines that have a section which asks for several runs.

        Raises
        ------
        PluginError
            If nothing does, or more than one.
        """
        runners = [entry for entry in self._runners if entry.command.name == section]
        if not runners:
            raise PluginError(
                f"no installed package runs the experiments that {section!r} asks for",
                hint="`pip install anonloom` brings the one of Anonloom itself",
            )
        if len(runners) > 1:
            owners = comma_list(entry.distribution for entry in runners)
            raise PluginError(
                f"several packages run the experiments that {section!r} asks for: {owners}",
                hint="remove all but one of them",
            )
        return runners[0]

    def methods(self, kind: str) -> tuple[Entry, ...]:
        """Return the methods of a kind, given by its YAML key, sorted by name and owner."""
        results = [entry for entry in self._entries if entry.of is self.kinds[kind]]
        return tuple(sorted(results, key=lambda entry: (entry.name, entry.distribution)))

    def find(self, kind: str, name: str, *, local: "Path | None" = None) -> Entry:
        """Return the method that a name stands for.

        Parameters
        ----------
        kind : str
            The kind's YAML key.
        name : str
            A method's name, ``distribution:name``, or local code, ``./file.py:Class``.
        local : Path or None
            The folder that local code is relative to; None refuses local code.

        Raises
        ------
        PluginError
            If there is no such method, or more than one, or local code is not allowed.
        """
        own = local_entry(self.kinds[kind], name, local)
        if own is not None:
            return own
        distribution, _, plain = name.rpartition(":")
        results = [
            entry
            for entry in self.methods(kind)
            if entry.name == plain and _same(distribution or entry.distribution, entry.distribution)
        ]
        if not results:
            raise self._unknown(self.kinds[kind], name)
        if len(results) > 1:
            raise _ambiguous(self.kinds[kind], name, results)
        return results[0]

    def default(self, kind: str) -> Entry:
        """Return the one method of a kind that is used where nobody names one.

        Raises
        ------
        PluginError
            If none of those that are installed says so, or more than one.
        """
        of = self.kinds[kind]
        results = [entry for entry in self.methods(kind) if entry.method.default]
        if not results:
            known = [
                plugin.install
                for plugin in self.known_plugins()
                if any(hook == of.hook for hook, _ in plugin.methods)
            ]
            own = "`pip install anonloom` brings the one of Anonloom itself"
            hints = [known[0] if known else own]
            hints += [f"not loaded: {broken}" for broken in self._broken]
            raise PluginError(f"no {of.name} is installed", hint="\n".join(hints))
        if len(results) > 1:
            owners = comma_list(entry.label for entry in results)
            raise PluginError(
                f"several {of.plural} want to be used where none is named: {owners}",
                hint="remove all but one of them",
            )
        return results[0]

    def _unknown(self, kind: Kind, name: str) -> PluginError:
        names = [entry.name for entry in self.methods(kind.key)]
        known = next((p for p in self.known_plugins() if (kind.hook, name) in p.methods), None)
        if known:
            what = f"{kind.name} {name!r} is provided by {known.distribution}"
            same = (b for b in self._broken if _same(b.distribution, known.distribution))
            broken = next(same, None)
            if broken:
                return PluginError(f"{what}, which could not be loaded", hint=broken.reason)
            return PluginError(f"{what}, which is not installed", hint=known.install)
        others = [other for other in self.kinds.values() if self._offers(other.key, name)]
        if others:
            what = f"{name!r} is {others[0].article}, not {kind.article}"
        else:
            what = f"no {kind.name} is named {name!r}"
        hints = [did_you_mean(name, names), f"installed: {comma_list(dict.fromkeys(names))}"]
        hints += [f"not loaded: {broken}" for broken in self._broken]
        return PluginError(what, hint="\n".join(filter(None, hints)))

    def known_plugins(self) -> tuple[KnownPlugin, ...]:
        """Return what installed catalogues know of plugins, installed or not; read on first use."""
        while self._catalogues:
            module, distribution, version = self._catalogues.pop(0)
            try:
                self._known += _answers(module, _KNOWN_HOOK, KnownPlugin)
            except Unusable as error:
                self._broken.append(BrokenPlugin(distribution, version, str(error)))
        return tuple(self._known)

    def _offers(self, kind: str, name: str) -> bool:
        return any(entry.name == name for entry in self.methods(kind))

    def load(self, kind: str, name: str, *, local: "Path | None" = None) -> type:
        """Import and return the class of a method; see `find` for the parameters.

        Raises
        ------
        PluginError
            Also if the class cannot be imported, is none of this kind, or is not complete.
        """
        return self.load_entry(self.find(kind, name, local=local))

    def load_entry(self, entry: Entry) -> type:
        """Import and return the class of a method that `find` found."""
        if entry not in self._loaded:
            self._loaded[entry] = class_of(entry)
        return self._loaded[entry]

    def kit(self, kind: str) -> type:
        """Import and return the class that checks the methods of a kind.

        Raises
        ------
        PluginError
            If the kind has none, or it is not installed.
        """
        return kit_of(self.kinds[kind], self.kinds.owner(kind))

    def entry_of(self, cls: type) -> Entry | None:
        """Return the entry that a method's class was registered or loaded under, if any."""
        for entry, loaded in self._loaded.items():
            if loaded is cls:
                return entry
        target = f"{cls.__module__}:{cls.__qualname__}"
        return next((entry for entry in self._entries if entry.method.target == target), None)

    def name_of(self, cls: type) -> str:
        """Return the name under which a class is registered, or ``module:Class`` if it is not."""
        entry = self.entry_of(cls)
        return entry.name if entry else f"{cls.__module__}:{cls.__qualname__}"


def _same(one: str, other: str) -> bool:
    """Return whether two names are those of one distribution, as package indexes see it."""
    first, second = (name.lower().replace("_", "-").replace(".", "-") for name in (one, other))
    return first == second


def _distribution(point: "Point") -> tuple[str, str]:
    """Return name and version of the distribution behind an entry point."""
    if point.dist is None:
        return point.value, ""
    # Read as text: parsing the metadata as the e-mail that they are costs more than all the rest.
    lines = (point.dist.read_text("METADATA") or "").split("\n", 20)
    headers = dict(line.split(": ", 1) for line in lines[:20] if ": " in line)
    if "Name" in headers and "Version" in headers:
        return headers["Name"].strip(), headers["Version"].strip()
    return point.dist.name, point.dist.version


def _other_version(spoken: object, distribution: str) -> str:
    newer = isinstance(spoken, int) and spoken > API_VERSION
    remedy = "upgrade anonloom-core" if newer else f"upgrade {distribution}"
    change = CHANGES.get(spoken, "") if isinstance(spoken, int) else ""
    sentence = f"it speaks plugin API {spoken}, this core speaks {API_VERSION}: {remedy}"
    return f"{sentence}; {change}" if change else sentence


def _answers(module: object, hook: str, expected: type[T]) -> list[T]:
    """Call one registration hook of one plugin and judge what it returns."""
    implementation = getattr(module, hook, None)
    if implementation is None:
        return []
    try:
        with Border(hook):
            answer = implementation()
    except Exception as error:
        raise Unusable(f"{hook} failed: {error_line(error)}") from error
    name = expected.__name__
    if answer is None:
        raise Unusable(f"{hook} returned None instead of a list of {name}; is a return missing?")
    # A descriptor is a tuple itself; forgotten brackets must not look like a list of texts.
    if not isinstance(answer, list | tuple) or isinstance(answer, expected):
        raise Unusable(f"{hook} returned a {type(answer).__name__} instead of a list of {name}")
    for element in answer:
        if not isinstance(element, expected):
            raise Unusable(
                f"{hook} returned a list that holds {type(element).__name__}; "
                f"every element must be a {name}"
            )
    return list(answer)


def _ambiguous(kind: Kind, name: str, found: list[Entry]) -> PluginError:
    owners = " and ".join(entry.owner for entry in found)
    choices = " or ".join(f"'{entry.distribution}:{entry.name}'" for entry in found)
    return PluginError(
        f"{kind.name} {name!r} is provided by {owners}",
        hint=f"write {choices}, or uninstall one",
    )
