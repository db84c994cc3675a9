"""All that a plugin's hook module imports: the hook marker and its descriptors.

A descriptor names its class by a text, ``package.module:Class``, and never imports it: listing
plugins must cost no numpy. The descriptors are tuples and not attrs classes for the same reason:
importing attrs takes four times as long as starting Python.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pluggy

    hookspec = pluggy.HookspecMarker("anonloom")
    hookimpl = pluggy.HookimplMarker("anonloom")
else:
    from anonloom._marks import hookimpl, hookspec

__all__ = [
    "API_VERSION",
    "Command",
    "Kind",
    "KnownPlugin",
    "Method",
    "PLACES",
    "PipelinePlace",
    "ROLES",
    "hookimpl",
    "hookspec",
]

#: The plugin contract that this core speaks. It rises only when a hook or a base class changes in
#: a way that breaks plugins.
API_VERSION = 2

#: What a column of a table can be.
ROLES = ("identifier", "quasi", "sensitive", "label", "other", "person", "group", "truth")


class PipelinePlace(NamedTuple):
    """A place in a pipeline file where methods of a kind may stand.

    Parameters
    ----------
    home : str
        The section of the file; empty where a kind has none of its own.
    runs_as : str
        The key of core's kind as which a run treats what stands here; empty if there is none.
    base : str
        What the base class of a kind that stands here must be or derive from; empty for anything.
    shared : bool
        Whether several kinds may stand here.
    """

    home: str
    runs_as: str
    base: str
    shared: bool


def _stage(key: str, base: str) -> PipelinePlace:
    return PipelinePlace("stages", key, f"anonloom.kinds._{key}:{base}", shared=True)


#: Where the word of a kind may stand in a pipeline file, and what a run does with it there. Kinds
#: of plugins stand where others may, too: in a stage or an audit, where they run as the kind of
#: core whose base theirs derives from; in a section of their own, which is named like their key
#: and whose methods examine the checked release before it is written; or, with no place at all,
#: in the parameters of other methods, which do with them what they like.
PLACES: dict[str, PipelinePlace] = {
    "data": PipelinePlace("data", "source", "", shared=False),
    "privacy": PipelinePlace("privacy", "privacy", "", shared=False),
    "collect": PipelinePlace("collect", "collector", "", shared=False),
    "stages.mechanism": _stage("mechanism", "Mechanism"),
    "stages.partitioner": _stage("partitioner", "Partitioner"),
    "stages.outliers": _stage("outliers", "OutlierHandler"),
    "stages.generalizer": _stage("generalizer", "Generalizer"),
    "stages.sampler": _stage("sampler", "Sampler"),
    "audit": PipelinePlace("audit", "auditor", "anonloom.kinds._auditor:Auditor", shared=True),
    "publish.integrity": PipelinePlace("publish", "integrity", "", shared=False),
    "publish.reporters": PipelinePlace("publish.reporters", "reporter", "", shared=False),
    "engine": PipelinePlace("engine", "engine", "", shared=False),
    "section": PipelinePlace("", "", "anonloom.kinds._section:SectionMethod", shared=True),
    "parameter": PipelinePlace("", "", "", shared=True),
}

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
_WORDS = re.compile(r"[a-z][a-z0-9]*( [a-z0-9]+)*")
_HOOK = re.compile(r"anonloom_register_[a-z0-9_]+")
_CLASS = re.compile(_MODULE.pattern + r":[A-Za-z_]\w*")


def _reads(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _demand(holds: bool, what: str, words: str, value: object) -> None:
    if not holds:
        raise ValueError(f"{what} must {words}. Got {value!r} instead.")


def _check_name(value: object) -> None:
    _demand(_reads(_NAME, value), "name", "be lower-case words joined by '-'", value)


def _check_summary(value: object) -> None:
    fits = isinstance(value, str) and bool(value.strip()) and "\n" not in value
    _demand(fits, "summary", "be one line of text", value)


class _MethodFields(NamedTuple):
    name: str
    target: str
    summary: str
    paper: str
    reads: frozenset[str]
    default: bool
    evidence: tuple[tuple[str, str], ...]


class Method(_MethodFields):
    """A method that a plugin offers, without its code.

    Parameters
    ----------
    name : str
        What a pipeline file calls it: lower-case words joined by ``-``.
    target : str
        Where its class is: ``package.module:Class``.
    summary : str
        One line for listings.
    paper : str
        The paper that it implements: authors, title, venue, year.
    reads : set of str
        The roles of the columns that it looks at. It is given a table that holds no others.
    default : bool
        Whether a pipeline that names none uses it; for reporters, and for engines, of which one
        only may say so.
    evidence : mapping of str to str
        What it can give to auditors, by the word that they have in `needs`, each with the line
        that a pipeline must hold for it, such as ``collect: {collector: ...}``; for collectors.
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        name: str,
        target: str,
        summary: str,
        paper: str = "",
        reads: Iterable[str] = ("quasi",),
        default: bool = False,
        evidence: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    ) -> "Method":
        """Check and make the descriptor."""
        _check_name(name)
        _demand(_reads(_CLASS, target), "target", "read 'package.module:Class'", target)
        _check_summary(summary)
        # A bare text is iterable too: 'quasi' would become five one-letter roles.
        roles = frozenset([reads] if isinstance(reads, str) else reads)
        _demand(roles <= set(ROLES), "reads", f"hold roles ({', '.join(ROLES)})", reads)
        lines = tuple(dict(evidence).items())
        return super().__new__(cls, name, target, summary, paper, roles, default, lines)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, object]]:
        return (), self._asdict()


class _CommandFields(NamedTuple):
    name: str
    target: str
    summary: str


class Command(_CommandFields):
    """A command that a plugin adds to ``anonloom``.

    Parameters
    ----------
    name : str
        The word that follows ``anonloom``.
    target : str
        The dotted name of a module of the form of core's own commands, with
        ``configure(parser)`` and ``execute(arguments) -> int``.
    summary : str
        One line for ``--help``.
    """

    __slots__ = ()

    def __new__(cls, *, name: str, target: str, summary: str) -> "Command":
        """Check and make the descriptor."""
        _check_name(name)
        _demand(_reads(_MODULE, target), "target", "be the dotted name of a module", target)
        _check_summary(summary)
        return super().__new__(cls, name, target, summary)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, object]]:
        return (), self._asdict()


class _KnownPluginFields(NamedTuple):
    distribution: str
    install: str
    methods: tuple[tuple[str, str], ...]


class KnownPlugin(_KnownPluginFields):
    """A plugin that may not be installed, and what it would offer, for messages.

    Parameters
    ----------
    distribution : str
        The name under which it is installed.
    install : str
        The command that installs it.
    methods : iterable of (str, str)
        The registration hook and the name of every method.
    """

    __slots__ = ()

    def __new__(
        cls, *, distribution: str, install: str, methods: Iterable[tuple[str, str]]
    ) -> "KnownPlugin":
        """Check and make the descriptor."""
        _demand(_reads(_NAME, distribution), "distribution", "be a distribution", distribution)
        pairs = tuple((hook, name) for hook, name in methods)
        for hook, name in pairs:
            _demand(_reads(_HOOK, hook), "hook", "begin with 'anonloom_register_'", hook)
            _check_name(name)
        return super().__new__(cls, distribution, install, pairs)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, object]]:
        return (), self._asdict()


class _KindFields(NamedTuple):
    key: str
    name: str
    plural: str
    hook: str
    base: str
    kit: str
    where: str


class Kind(_KindFields):
    """A kind of method: what its methods are called, derive from, and are used for.

    Parameters
    ----------
    key : str
        The word that a pipeline file uses, and the kind's identifier in code.
    name, plural : str
        What messages call one and several of them.
    hook : str
        The hook with which plugins name their methods of this kind: ``anonloom_register_`` and the
        plural. Its specification is made from the kind.
    base : str
        The abstract base class of the methods, ``package.module:Class``.
    kit : str
        The class that checks whether a method keeps the kind's promise, ``package.module:Class``,
        for ``anonloom plugins check``; empty if there is none.
    where : str
        Where the word stands in a pipeline file, and so what a run does with the methods: one of
        `PLACES`.
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        key: str,
        name: str,
        base: str,
        where: str,
        plural: str = "",
        hook: str = "",
        kit: str = "",
    ) -> "Kind":
        """Check and make the descriptor."""
        _demand(_reads(_KEY, key), "key", "be one lower-case word", key)
        _demand(_reads(_WORDS, name), "name", "be lower-case words", name)
        plural = plural or f"{name}s"
        _demand(_reads(_WORDS, plural), "plural", "be lower-case words", plural)
        hook = hook or f"anonloom_register_{plural.replace(' ', '_')}"
        _demand(_reads(_HOOK, hook), "hook", "begin with 'anonloom_register_'", hook)
        _demand(_reads(_CLASS, base), "base", "read 'package.module:Class'", base)
        _demand(not kit or _reads(_CLASS, kit), "kit", "read 'package.module:Class'", kit)
        _demand(where in PLACES, "where", f"be a place ({', '.join(PLACES)})", where)
        return super().__new__(cls, key, name, plural, hook, base, kit, where)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, object]]:
        return (), self._asdict()

    @property
    def article(self) -> str:
        """The name with its article: 'a sampler', 'an auditor'."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"

    @property
    def place(self) -> PipelinePlace:
        """Where it stands in a pipeline file."""
        return PLACES[self.where]

    @property
    def home(self) -> str:
        """The section of a pipeline file that it belongs to; empty if it has none."""
        return self.key if self.where == "section" else self.place.home

    @property
    def runs_as(self) -> str:
        """The key of the kind of core as which a run treats it, or its own."""
        return self.place.runs_as or self.key
