"""Values named one by one: lists, sets, values with a sign between them."""

import json
import re
from collections.abc import Callable, Iterable, Sequence

from anonloom.cells import place
from anonloom_columns._notations.statements import Members, Vocabulary

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.S)
_AFTER_QUOTED = re.compile(r" ?[, ] ?")
_PAIRS = {"[": "]", "{": "}", "(": ")"}
_JOINTS = (", ", ",", "; ", ";", " | ", "|", "~", "_")


def read_quoted(text: str, vocabulary: Vocabulary) -> Members | None:
    """Read a list, tuple, set or array of texts as Python or JSON prints it."""
    if _PAIRS.get(text[:1]) != text[-1:]:
        return None
    members, index, end = [], 1, len(text) - 1
    while index < end:
        quoted = _QUOTED.match(text, index, end)
        if quoted is None:
            return None
        members.append(_unquote(quoted[0]))
        index = quoted.end()
        comma = _AFTER_QUOTED.match(text, index, end)
        if comma is None and index < end:
            return None
        index = comma.end() if comma else index
    return _all_known(members, vocabulary)


def _unquote(text: str) -> str:
    if text[0] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.S)


def read_braces(text: str, vocabulary: Vocabulary) -> Members | None:
    if text[:1] != "{" or text[-1:] != "}":
        return None
    return _only_division(text[1:-1], (", ", ","), vocabulary, vocabulary.has, least=1)


def read_numbers(text: str, vocabulary: Vocabulary) -> Members | None:
    """Read a list of numbers; two in brackets are the ends of an interval."""
    if vocabulary.type != "number" or (text[:1], text[-1:]) != ("[", "]"):
        return None
    members = re.split(r" ?, ?| ", text[1:-1])
    return None if len(members) == 2 else _all_known(members, vocabulary)


def read_joined(text: str, vocabulary: Vocabulary) -> Members | None:
    """Read values of the original with a sign between them."""
    joints = [joint for joint in _JOINTS if joint in text]
    members = _only_division(text, joints, vocabulary, vocabulary.known.__contains__, least=2)
    if members is None or vocabulary.type == "category":
        return members
    return None if _may_be_other(text, members, vocabulary) else members


def _may_be_other(text: str, members: Members, vocabulary: Vocabulary) -> bool:
    """Whether two numbers with a sign between them may be something else than these two.

    One number with a comma for its point, or the ends of an interval that holds others.
    """
    if len(members.texts) > 2:
        return bool(re.fullmatch(r"\d{1,3}(,\d{3})+", text))
    ends = sorted(place(member, vocabulary.type) or 0.0 for member in members.texts)
    own = (place(label, vocabulary.type) or 0.0 for label in vocabulary.labels)
    comma = "," in text and ", " not in text
    return comma or ("_" in text and any(ends[0] < value < ends[-1] for value in own))


def _only_division(
    text: str,
    joints: Iterable[str],
    vocabulary: Vocabulary,
    has: Callable[[str], bool],
    least: int,
) -> Members | None:
    """Return the only way to divide a text into so many members or more; None if there are more."""
    ways: set[tuple[str, ...]] = set()
    for joint in joints:
        members = _division(text, joint, vocabulary.most_separators(joint) + 1, has)
        if members is None:
            return None
        if len(members) >= least:
            # A number is the same with a blank before it.
            ordered = vocabulary.type != "category"
            ways.add(tuple(map(str.strip, members)) if ordered else members)
    return Members(ways.pop()) if len(ways) == 1 else None


def _division(
    text: str, joint: str, longest: int, has: Callable[[str], bool]
) -> tuple[str, ...] | None:
    """Return the members between which a joint stands; nothing for no way, None for several.

    Parameters
    ----------
    longest
        A member may hold the joint itself, and then consists of so many pieces at most.
    """
    pieces = text.split(joint)
    # In how many ways the first so many pieces are members, and where the last member begins.
    ways, begins = [1], [0]
    for stop in range(1, len(pieces) + 1):
        starts = [
            start
            for start in range(max(stop - longest, 0), stop)
            if ways[start] and has(joint.join(pieces[start:stop]))
        ]
        ways.append(min(sum(ways[start] for start in starts), 2))
        begins.append(starts[0] if starts else 0)
    if ways[-1] != 1:
        return None if ways[-1] else ()
    members, stop = [], len(pieces)
    while stop:
        members.append(joint.join(pieces[begins[stop] : stop]))
        stop = begins[stop]
    return tuple(reversed(members))


def _all_known(members: Sequence[str], vocabulary: Vocabulary) -> Members | None:
    return Members(tuple(members)) if members and all(map(vocabulary.has, members)) else None
