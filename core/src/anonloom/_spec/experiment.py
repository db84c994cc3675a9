"""`vary`: from one document to the documents of an experiment."""

import itertools
import json
from collections.abc import Collection, Iterator, Mapping

import attrs

from anonloom._spec.cursor import Cursor
from anonloom._spec.document import Node, path_text
from anonloom._spec.settings import Setting
from anonloom.errors import Problem, SpecError

#: More runs than this are a slip in a product, not an experiment.
MOST_RUNS = 10_000


@attrs.frozen
class Variant:
    """One run of an experiment.

    Attributes
    ----------
    name
        What somebody called its case; nothing for a run of a product alone.
    fixed
        What the case changes.
    varied
        What the product changes.
    """

    name: str = ""
    fixed: tuple[Setting, ...] = ()
    varied: tuple[Setting, ...] = ()

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All that it changes, in order."""
        return (*self.fixed, *self.varied)

    @property
    def label(self) -> str:
        """The case's name and what the product changes."""
        return run_label(self.name, {item.path: item.value.plain() for item in self.varied})

    @property
    def values(self) -> dict[str, object]:
        """Path -> plain value."""
        values = {setting.path: setting.value.plain() for setting in self.settings}
        # Runs of one case have nothing else in common that a table could be grouped by.
        return {"case": self.name, **values} if self.fixed and self.varied else values

    def apply(self, document: Node, kinds: Collection[str]) -> Node:
        """Return the document with the changes, in their order; see `Setting.apply`.

        Raises
        ------
        SpecError
            With every path that leads nowhere.
        """
        problems: list[Problem] = []
        for setting in self.settings:
            try:
                document = setting.apply(document, kinds)
            except SpecError as error:
                problems += error.problems
        if problems:
            raise SpecError(problems)
        return document


def split(document: Node) -> tuple[Node, tuple[Variant, ...]]:
    """Return the document without `vary`, and the runs that it asks for.

    Raises
    ------
    SpecError
        If `vary` is wrong.
    """
    entries = document.mapping
    if entries is None or "vary" not in entries:
        return document, ()
    problems: list[Problem] = []
    cursor = Cursor(entries["vary"], ("vary",), problems)
    rest = {key: node for key, node in entries.items() if key != "vary"}
    if cursor.node.items is not None:
        variants = tuple(_cases(cursor))
    else:
        variants = tuple(_product(cursor))
    if not variants and not problems:
        cursor.error("varies nothing", "remove it, or write a path with a list of values")
    if problems:
        raise SpecError(problems)
    return Node(rest, document.place), variants


def _product(cursor: Cursor) -> Iterator[Variant]:
    entries = cursor.entries("a mapping of paths to lists of values, or a list of cases") or {}
    cases = [Variant()]
    if "cases" in entries:
        cases = list(_cases(entries["cases"]))
    axes = []
    runs = len(cases)
    for path, entry in entries.items():
        if path == "cases":
            continue
        if not entry.node.items:
            entry.expect("a list of values that is not empty")
            continue
        shown = [_short(value.plain()) for value in entry.node.items]
        for index, value in enumerate(entry.node.items):
            if shown[index] in shown[:index]:
                entry.below(index, value).error(f"the value {shown[index]} is there already")
        axes.append([_setting(path, value, entry) for value in entry.node.items])
        runs *= len(entry.node.items)
    if runs > MOST_RUNS:
        cursor.error(f"asks for {runs} runs; at most {MOST_RUNS} are done")
        return
    if not axes and "cases" not in entries:
        return
    for case in cases:
        for settings in itertools.product(*axes):
            yield attrs.evolve(case, varied=settings)


def run_label(name: str, values: Mapping[str, object]) -> str:
    """Return the label of a run: the name of its case, if it is of one, and what is varied."""
    return ", ".join(part for part in (name, label_of(values)) if part)


def label_of(values: Mapping[str, object]) -> str:
    """Return the label of a run of a product."""
    return ", ".join(f"{path}={_short(value)}" for path, value in values.items())


def _cases(cursor: Cursor) -> Iterator[Variant]:
    labels: set[str] = set()
    for element in cursor.elements("a list of cases") or []:
        fields = element.fields(("label", "set"), "a case")
        if fields is None:
            continue
        for key in ("label", "set"):
            if key not in fields:
                element.error(f"a case needs '{key}'", "write {label: NAME, set: {PATH: VALUE}}")
        if len(fields) < 2:
            continue
        label = fields["label"].text()
        changes = fields["set"].entries("a mapping of paths to values")
        if label is None or changes is None:
            continue
        if label in labels:
            fields["label"].error(f"the label {label!r} is already used")
        labels.add(label)
        yield Variant(label, tuple(_setting(path, c.node, c) for path, c in changes.items()))


def _setting(path: str, value: Node, entry: Cursor) -> Setting:
    if path.strip() == "publish.to":
        entry.error(
            "the folder cannot vary: every run is written below that of the experiment", at_key=True
        )
    return Setting(path, value, entry.node.key_place or entry.node.place, path_text(entry.path))


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
