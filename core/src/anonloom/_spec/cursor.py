"""A position in a document, from which the grammar reads and complains."""

from collections.abc import Iterable, Mapping

import attrs

from anonloom._spec.document import Node, Step, path_text
from anonloom._spelling import comma_list, did_you_mean
from anonloom.errors import Place, Problem
from anonloom.params import FieldError, shorten


def value_text(value: object) -> str:
    """Return a value as messages write it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, tuple):
        return "a list" if value else "an empty list"
    return shorten(repr(value))


@attrs.frozen
class Cursor:
    """A node, its path, and the list that collects what is wrong.

    Every reading method returns None after it has complained, so that reading goes on and all
    problems are found at once.
    """

    node: Node
    path: tuple[Step, ...]
    problems: list[Problem]

    @property
    def value(self) -> object:
        """What the node holds."""
        return self.node.value

    def below(self, step: Step, node: Node) -> "Cursor":
        """Return the position of a child."""
        return Cursor(node, (*self.path, step), self.problems)

    def error(
        self, what: str, hint: str = "", *, at_key: bool = False, secret: bool = False
    ) -> None:
        """Add a problem at this position."""
        place = self.node.key_place if at_key and self.node.key_place else self.node.place
        if secret:
            place = Place(place.file, place.line, place.column)
        self.problems.append(Problem(what, path_text(self.path), place, hint))

    def expect(self, words: str, hint: str = "") -> None:
        """Add the sentence "must be ... Got ... instead."."""
        if not self.path and isinstance(self.value, str):
            # The whole file is one text: it is no pipeline, and may be a table of persons.
            self.error(
                f"must be {words}. Got text instead.",
                hint or "a pipeline begins with 'version: 1'",
                secret=True,
            )
            return
        self.error(f"must be {words}. Got {value_text(self.value)} instead.", hint)

    def fields(self, known: Iterable[str], name: str) -> "dict[str, Cursor] | None":
        """Return the entries of a mapping; unknown keys are complained of and left out."""
        entries = self.node.mapping
        if entries is None:
            self.expect("a mapping")
            return None
        keys = tuple(known)
        results = {}
        for key, node in entries.items():
            child = self.below(key, node)
            if key in keys:
                results[key] = child
            else:
                hint = did_you_mean(key, keys) or f"known: {comma_list(keys)}"
                child.error(f"unknown key {key!r} in {name}", hint, at_key=True)
        return results

    def entries(self, words: str) -> "dict[str, Cursor] | None":
        """Return the entries of a mapping with free keys."""
        entries = self.node.mapping
        if entries is None:
            self.expect(words)
            return None
        return {key: self.below(key, node) for key, node in entries.items()}

    def elements(self, words: str) -> "list[Cursor] | None":
        """Return the elements of a list."""
        items = self.node.items
        if items is None:
            self.expect(words, "begin each element with '- '" if self.node.mapping else "")
            return None
        return [self.below(index, node) for index, node in enumerate(items)]

    def text(self, words: str = "text that is not empty") -> str | None:
        """Return a text with something in it."""
        if isinstance(self.value, str) and self.value.strip():
            return self.value
        hint = ""
        if isinstance(self.value, int | float):
            hint = f"write it in quotes: '{value_text(self.value)}'"
        self.expect(words, hint)
        return None

    def report(self, errors: Iterable[FieldError], whole: "Cursor | None" = None) -> None:
        """Add the errors of values that were read from this node.

        Parameters
        ----------
        errors : iterable of FieldError
            With paths that begin here.
        whole : Cursor or None
            Where to say what concerns the values as a whole, if not here.
        """
        for error in errors:
            if not error.path and whole is not None:
                whole.error(error.what, error.hint, secret=error.secret)
                continue
            there = Cursor(self.node.at(error.path), (*self.path, *error.path), self.problems)
            there.error(error.what, error.hint, at_key=error.at_key, secret=error.secret)

    def plain(self) -> object:
        """Return the value without places."""
        return self.node.plain()


def values_of(cursor: Cursor | None) -> Mapping[str, object] | None:
    """Return the plain entries of a mapping; an absent or empty one has none."""
    if cursor is None or cursor.value is None:
        return {}
    if cursor.node.mapping is None:
        cursor.expect("a mapping of parameters")
        return None
    values = cursor.plain()
    assert isinstance(values, dict)
    return values
