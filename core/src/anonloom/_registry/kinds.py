"""The kinds of method, each with its word in YAML, its hook and its base class."""

from typing import NamedTuple


class Kind(NamedTuple):
    """One kind of method.

    Parameters
    ----------
    key : str
        The word that a pipeline file uses, and the kind's identifier in code.
    name, plural : str
        What messages call one and several of them.
    hook : str
        The registration hook.
    base : str
        The abstract base class, ``module:Class``.
    """

    key: str
    name: str
    plural: str
    hook: str
    base: str

    @property
    def article(self) -> str:
        """The name with its article: 'a sampler', 'an auditor'."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"


def _kind(key: str, name: str, base: str, plural: str = "") -> Kind:
    plural = plural or f"{name}s"
    hook = f"anonloom_register_{plural.replace(' ', '_')}"
    return Kind(key, name, plural, hook, f"anonloom.kinds._{key}:{base}")


#: Every kind by its YAML key, in the order in which a run meets them.
KINDS: dict[str, Kind] = {
    kind.key: kind
    for kind in (
        _kind("source", "source", "Source"),
        _kind("mechanism", "mechanism", "Mechanism"),
        _kind("partitioner", "partitioner", "Partitioner"),
        _kind("outliers", "outlier handler", "OutlierHandler"),
        _kind("generalizer", "generalizer", "Generalizer"),
        _kind("sampler", "sampler", "Sampler"),
        _kind("privacy", "privacy model", "PrivacyModel"),
        _kind("transport", "transport", "Transport"),
        _kind("collector", "collector", "Collector"),
        _kind("auditor", "auditor", "Auditor"),
        _kind("integrity", "integrity scheme", "IntegrityScheme"),
        _kind("reporter", "reporter", "Reporter"),
    )
}

#: The kinds that can be stages, in their usual order.
STAGE_KINDS = ("mechanism", "partitioner", "outliers", "generalizer", "sampler")


def kind_called(word: str) -> Kind | None:
    """Return the kind with this key, name or plural ('outliers', 'outlier-handler'), if any."""
    plain = word.strip().lower().replace("-", " ").replace("_", " ")
    for kind in KINDS.values():
        if plain in (kind.key, kind.name, kind.plural):
            return kind
    return None


def kind_of_class(cls: type) -> Kind | None:
    """Return the kind whose base class is `cls` or an ancestor of it, if any."""
    by_base = {kind.base: kind for kind in KINDS.values()}
    for ancestor in cls.__mro__:
        kind = by_base.get(f"{ancestor.__module__}:{ancestor.__qualname__}")
        if kind is not None:
            return kind
    return None
