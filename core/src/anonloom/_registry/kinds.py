"""The kinds that a registry knows: looked up by word, by class and by place, and kept apart."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from anonloom._registry import core_kinds
from anonloom.api import Kind, Method, hookspec

#: Words of a pipeline file that stand where the key of a kind could, so that no kind has them.
RESERVED = frozenset(
    "version name seed data privacy suppression collect stages audit publish engine vary with id "
    "fail_if columns unit holdout other_releases cases label set".split()
)
# Keys of core's own kinds that are names of their sections, too.
_OWN_SECTION = ("privacy", "engine")

# The kind of every base class that any registry of this process knows: parameters are declared
# with base classes, and a class does not know in which registry it will be used.
_BY_BASE: dict[str, Kind] = {kind.base: kind for kind in core_kinds.anonloom_register_kinds()}


class KindClash(Exception):
    """A kind takes what another one has; the text says what."""


class Kinds(Mapping[str, Kind]):
    """The kinds by their key, core's first."""

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}
        self._owners: dict[str, str] = {}

    def __getitem__(self, key: str) -> Kind:
        return self._kinds[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, kind: Kind, owner: str) -> None:
        """Take in a kind.

        Raises
        ------
        KindClash
            If its key, name, hook, base or place is taken.
        """
        if kind.key in RESERVED and kind.key not in _OWN_SECTION:
            raise KindClash(
                f"it registers a kind with the key {kind.key!r}, a word of pipeline files"
            )
        for other in self.values():
            clash = _clash(kind, other)
            if clash:
                raise KindClash(
                    f"it registers the kind {kind.key!r}, and {clash} is that of the kind "
                    f"{other.key!r} of {self._owners[other.key]}"
                )
        self._kinds[kind.key] = kind
        self._owners[kind.key] = owner
        _BY_BASE[kind.base] = kind

    def withdraw(self, kind: Kind) -> None:
        """Forget a kind of a plugin that turned out to be unusable."""
        del self._kinds[kind.key], self._owners[kind.key]
        _BY_BASE.pop(kind.base, None)

    def owner(self, key: str) -> str:
        """Return who registers a kind: distribution and version."""
        return self._owners[key]

    def find(self, word: str) -> Kind | None:
        """Return the kind with this key, name or plural ('outliers', 'outlier-handler'), if any."""
        plain = _plain(word)
        return next((kind for kind in self.values() if plain in _words(kind)), None)

    def of_class(self, cls: type) -> Kind | None:
        """Return the kind whose base is `cls` or its nearest ancestor that is one, if any."""
        by_base = {kind.base: kind for kind in self.values()}
        names = (f"{item.__module__}:{item.__qualname__}" for item in cls.__mro__)
        return next((by_base[name] for name in names if name in by_base), None)

    def under(self, home: str) -> tuple[str, ...]:
        """Return the keys of the kinds that stand in a section of a pipeline file."""
        return tuple(kind.key for kind in self.values() if kind.place.home == home)

    def sections(self) -> tuple[Kind, ...]:
        """Return the kinds that have a section of their own."""
        return tuple(kind for kind in self.values() if kind.where == "section")


def _plain(word: str) -> str:
    return word.strip().lower().replace("-", " ").replace("_", " ")


@cache
def _words(kind: Kind) -> frozenset[str]:
    return frozenset(_plain(word) for word in (kind.key, kind.name, kind.plural))


def _clash(kind: Kind, other: Kind) -> str:
    """Return what of a kind another one has already, as a sentence's subject."""
    if kind.key == other.key:
        return "its key"
    if _words(kind) & _words(other):
        return f"its name {kind.name!r}"
    if kind.hook == other.hook:
        return f"its hook '{kind.hook}'"
    if kind.base == other.base:
        return f"its base {kind.base}"
    if kind.where == other.where and not kind.place.shared:
        return f"its place {kind.where!r}"
    return ""


def kind_of_class(cls: type) -> Kind | None:
    """Return the kind whose base class is `cls` or its nearest ancestor that is one, if any."""
    for ancestor in cls.__mro__:
        kind = _BY_BASE.get(f"{ancestor.__module__}:{ancestor.__qualname__}")
        if kind is not None:
            return kind
    return None


def specification(kind: Kind) -> Callable[[], list[Method]]:
    """Return the specification of a kind's hook; those of core's are written out in hookspecs."""

    def hook() -> list[Method]:
        raise NotImplementedError("pluggy never calls a specification")

    base = kind.base.rpartition(":")[2]
    an = "an" if base[0] in "AEIOU" else "a"
    hook.__name__ = hook.__qualname__ = kind.hook
    hook.__doc__ = f"""Name the {kind.plural}.

    Returns
    -------
    list of Method
        One per {kind.name}; each target is {an} `{base}`. Names are unique among all {kind.plural}.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Import the module that holds the method.
    """
    return hookspec(hook)
