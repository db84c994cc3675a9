"""Changing a document before it is read: `vary` and ``--set path=value`` use the same addresses.

A path names any node: ``seed``, ``publish.to``, ``stages[0].with.k``. In a list of methods an
element is also named by its ``id``, by its kind if no other element has it
(``stages.partitioner``), and by the method's name in `privacy` and `audit`
(``privacy.k-anonymity.k``). A bare name put where a method is replaces method and ``with``.
"""

import re
from collections.abc import Collection, Sequence

import attrs

from anonloom._spec.document import Node, Step, read_text
from anonloom._spelling import comma_list, did_you_mean
from anonloom.errors import Place, Problem, SpecError

_STEP = re.compile(
    r"\.?(?:\[(?P<index>[0-9]{1,18})\]|\[(?P<quote>['\"])(?P<quoted>.*?)(?P=quote)\]|(?P<name>[^.\[\]]+))"
)

# What stands beside a method's name; every other word below a method is a parameter.
_BESIDE = ("with", "id", "fail_if")


# Where a bare name stands for a method although the key above it is no kind.
_KIND_BELOW = {"collect": "collector", "audit": "auditor", "reporters": "reporter"}


#: More than any path of a pipeline has; a path of thousands would be a document nested as deeply.
MOST_STEPS = 50


class NoSuchNode(Exception):
    """A path leads nowhere; carries what to say."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


@attrs.frozen
class Setting:
    """A new value for a path.

    Parameters
    ----------
    path : str
        As it is written.
    value : Node
        With the place that problems of the value point at.
    place : Place
        Where the path is written.
    where : str
        The path of the setting itself, for messages; empty for the command line.
    """

    path: str
    value: Node
    place: Place
    where: str = ""

    def apply(self, document: Node, kinds: Collection[str]) -> Node:
        """Return the document with the new value.

        Parameters
        ----------
        kinds : collection of str
            The keys of the kinds of method that there are.

        Raises
        ------
        SpecError
            If the path leads nowhere.
        """
        try:
            # A key that the setting makes is written where the path is.
            value = attrs.evolve(self.value, key_place=self.place)
            return _Change(kinds).put(document, steps_of(self.path), value, "")
        except NoSuchNode as error:
            raise SpecError([Problem(error.what, self.where, self.place, error.hint)]) from None


def from_command_line(text: str) -> Setting:
    """Read ``path=value``, where the value is YAML.

    Raises
    ------
    SpecError
        If it does not have that form, or the value is not YAML.
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        place = Place("--set", 1, 1, text)
        raise SpecError([Problem("must read path=value", place=place, hint="seed=7")])
    if not value.strip():
        # An empty value is null in YAML, and a place is needed all the same.
        return Setting(
            path.strip(), Node(None, Place("--set", 1, 1, text)), Place("--set", 1, 1, text)
        )
    try:
        # The spaces keep the columns of the value where they are on the command line.
        node = read_text(" " * (len(path) + 1) + value, "--set")
    except SpecError as error:
        raise SpecError(_shown_whole(problem, text) for problem in error.problems) from None
    return Setting(path.strip(), _with_source_line(node, text), Place("--set", 1, 1, text))


def _shown_whole(problem: Problem, text: str) -> Problem:
    return problem._replace(place=problem.place and _on(problem.place, text))


def _on(place: Place, text: str) -> Place:
    return place._replace(source_line=text)


def _with_source_line(node: Node, text: str) -> Node:
    value = node.value
    if isinstance(value, dict):
        value = {key: _with_source_line(child, text) for key, child in value.items()}
    elif isinstance(value, tuple):
        value = tuple(_with_source_line(child, text) for child in value)
    key_place = node.key_place and _on(node.key_place, text)
    return Node(value, _on(node.place, text), key_place)


def steps_of(path: str) -> tuple[Step, ...]:
    """Return the steps of a path.

    Raises
    ------
    NoSuchNode
        If the text is no path.
    """
    steps: list[Step] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if not match or (position == 0 and path[0] == ".") or len(steps) == MOST_STEPS:
            raise NoSuchNode(f"{path!r} is not a path", "a path reads stages[0].with.k")
        if match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            steps.append(match["quoted"] if match["quoted"] is not None else match["name"])
        position = match.end()
    return tuple(steps)


@attrs.frozen
class _Change:
    """Puts one value into a document, where some keys are those of kinds."""

    kinds: Collection[str]

    def put(self, node: Node, steps: Sequence[Step], value: Node, above: str) -> Node:
        """Return `node` with `value` at the end of the steps; `above` is the step that led here."""
        if not steps:
            return attrs.evolve(value, key_place=node.key_place)
        step, rest = steps[0], steps[1:]
        if node.items is not None:
            return self.put_in_list(node, node.items, steps, value, above)
        if node.mapping is not None:
            return self.put_in_mapping(node, node.mapping, str(step), rest, value)
        kind = _KIND_BELOW.get(above, above)
        if kind in self.kinds and isinstance(node.value, str):
            # A method that is given by its name alone gets room for parameters.
            return self.put(Node({kind: node}, node.place, node.key_place), steps, value, above)
        if node.value is None:
            return self.put(Node({}, node.place, node.key_place), steps, value, above)
        raise NoSuchNode(f"there is nothing below {above!r} that could be {str(step)!r}")

    def put_in_mapping(
        self, node: Node, entries: dict[str, Node], step: str, rest: Sequence[Step], value: Node
    ) -> Node:
        changed = dict(entries)
        kind = next((key for key in entries if key in self.kinds), None)
        if not rest and step == kind and isinstance(entries[kind].value, str):
            return _with_method(node, entries, kind, value)
        if (
            kind is not None
            and step not in entries
            and step not in _BESIDE
            and self.is_method(entries)
        ):
            step, rest = "with", (step, *rest)
        inner = entries.get(step, Node({} if rest else None, value.place, value.key_place))
        changed[step] = self.put(inner, rest, value, step)
        return Node(changed, node.place, node.key_place)

    def is_method(self, entries: dict[str, Node]) -> bool:
        """Tell an element such as ``{sampler: x, with: ...}`` from a section such as `data`."""
        return all(key in self.kinds or key in _BESIDE for key in entries)

    def put_in_list(
        self, node: Node, items: tuple[Node, ...], steps: Sequence[Step], value: Node, above: str
    ) -> Node:
        step, rest = steps[0], steps[1:]
        index = self.index(items, step)
        item = items[index]
        entries = item.mapping or {}
        name = str(step)
        if isinstance(item.value, str) and rest and self.takes_names(above):
            # `- k-anonymity` in `privacy`, which gets its first parameter.
            changed = self.put(
                Node({name: Node(None, item.place)}, item.place), (name, *rest), value, ""
            )
        elif name in entries and name not in self.kinds:
            # `- k-anonymity: {k: 10}`: the parameters are the value of the name itself.
            whole = not rest and isinstance(value.value, str)
            changed = value if whole else self.put(item, (name, *rest), value, "")
        elif not rest and isinstance(step, str) and any(key in self.kinds for key in entries):
            kind = next(key for key in entries if key in self.kinds)
            changed = _with_method(item, entries, kind, value)
        else:
            changed = self.put(item, rest, value, above)
        return Node((*items[:index], changed, *items[index + 1 :]), node.place, node.key_place)

    def index(self, items: tuple[Node, ...], step: Step) -> int:
        """Return the element that a step names."""
        if isinstance(step, int) or step.isdecimal():
            if int(step) < len(items):
                return int(step)
            raise NoSuchNode(f"there is no element [{step}]: the list has {len(items)}")
        names = [self.names(item) for item in items]
        for rank in range(3):
            results = [index for index, name in enumerate(names) if name[rank] == step]
            if len(results) == 1:
                return results[0]
            if len(results) > 1:
                raise NoSuchNode(
                    f"{step!r} names {len(results)} elements of the list",
                    f"write [{results[0]}], or give the elements an id",
                )
        known = list(dict.fromkeys(name for row in names for name in row if name))
        raise NoSuchNode(
            f"no element of the list is called {step!r}",
            did_you_mean(step, known) or f"there are: {comma_list(known)}",
        )

    def names(self, item: Node) -> tuple[str, str, str]:
        """Return what an element can be called: its id, its kind, its method."""
        if isinstance(item.value, str):
            return "", "", item.value
        entries = item.mapping or {}
        identity = entries["id"].value if "id" in entries else ""
        for key, child in entries.items():
            if key in self.kinds:
                return str(identity), key, child.value if isinstance(child.value, str) else ""
        return str(identity), "", next(iter(entries), "")

    def takes_names(self, above: str) -> bool:
        """Whether elements below a key are names that their parameters follow, as in `privacy`."""
        return above not in _KIND_BELOW and (above == "privacy" or above not in self.kinds)


def _with_method(node: Node, entries: dict[str, Node], kind: str, value: Node) -> Node:
    """Replace method and ``with``; what stands beside them stays."""
    kept = {key: child for key, child in entries.items() if key not in (kind, "with")}
    if value.mapping is not None and kind in value.mapping:
        kept.update(value.mapping)
    else:
        kept[kind] = attrs.evolve(value, key_place=entries[kind].key_place)
    return Node(kept, node.place, node.key_place)
