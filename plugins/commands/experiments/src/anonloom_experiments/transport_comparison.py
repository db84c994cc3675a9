"""What changed with the transport, in one sentence made from what transports declare."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from anonloom.kinds import Guarantees, swap_sentence
from anonloom_runner.collection import declared_guarantees

_SIMULATED = "That is what they declare for a deployment: one process played all parties here."


def compare_transports(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """Say what changed between two collections, as reports hold them.

    Returns
    -------
    str or None
        None when one of them sent nothing, or both used the same transport.
    """
    names = (before.get("transport"), after.get("transport"))
    declared = [_guarantees_of(collection) for collection in (before, after)]
    if None in declared or None in names or names[0] == names[1]:
        return None
    first, second = declared
    assert first is not None
    assert second is not None
    text = swap_sentence(str(names[0]), first, str(names[1]), second)
    played = [item.get("parties") == "one-process" for item in (before, after)]
    return f"{text} {_SIMULATED}" if any(played) else text


def transport_comparison(runs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[str]:
    """Say what each transport of an experiment changed, compared with the first one.

    Parameters
    ----------
    runs
        Settings and collection of each run. Two runs are compared if they differ in nothing but
        the transport; one pair per transport, the first.
    """
    texts: dict[Any, str] = {}
    for before, after in _pairs(runs):
        sentence = compare_transports(before, after)
        if sentence is not None:
            texts.setdefault(after["transport"], sentence)
    return list(texts.values())


def _pairs(
    runs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    first: dict[str, Mapping[str, Any]] = {}
    for settings, collection in runs:
        others = {path: value for path, value in settings.items() if not _names_transport(path)}
        before = first.setdefault(repr(sorted(others.items(), key=str)), collection)
        if before is not collection:
            yield before, collection


def _names_transport(path: str) -> bool:
    return path.rpartition(".")[2] == "transport"


def _guarantees_of(collection: Mapping[str, Any]) -> Guarantees | None:
    try:
        return Guarantees(**(declared_guarantees(collection) or {}))
    except (TypeError, ValueError):
        # Nothing was sent, or a version wrote the report that declared other things.
        return None
