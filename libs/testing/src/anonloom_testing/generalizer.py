"""Conformance of generalizers: alike within a class, and no cell leaves its original out."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import attrs
import numpy as np

from anonloom import Classes, Release, StageContext
from anonloom.data import Regions
from anonloom_testing import oracle, tables
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.class_checks import complete, plain_classes
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.purity import PURITY_CHECKS, MethodConformance, Scenario, ScenarioResult
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import ORDINARY_TABLES, Sample


@attrs.frozen(eq=False)
class GeneralizerFacts:
    """What the oracle knows: the plain rows, their class (-1: suppressed), absent rows left out."""

    sample: Sample
    label: dict[int, int]

    @property
    def order(self) -> list[int]:
        """The rows that are published, in the order of the table."""
        return sorted(self.label)


class GeneralizerConformance(MethodConformance):
    """Checks of a generalizer.

    Attributes
    ----------
    tables
        The tables to try; all of the kit's by default.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestHierarchy(GeneralizerConformance):
            method = HierarchyGeneralizer
    """

    kind = "generalizer"
    tables: ClassVar[tuple[Callable[[], Sample], ...]] = ORDINARY_TABLES

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Generalize."""
        return method.generalize(inputs["table"], inputs["classes"], context)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield every table in small classes, in one class, wholly suppressed, with regions."""
        for make in self.tables:
            sample, name = make(), make.__name__
            rows, lacking = complete(sample)
            fours = [rows[index : index + 4] for index in range(0, len(rows), 4)]
            yield self._scenario(
                f"{name}, classes of four", sample, fours[:-1], [*lacking, *fours[-1]]
            )
            yield self._scenario(f"{name}, one class", sample, [rows], lacking)
            yield self._scenario(f"{name}, single rows", sample, [[row] for row in rows], lacking)
            yield self._scenario(f"{name}, all suppressed", sample, [], [*rows, *lacking])
        sample = tables.clinic()
        order = tables.shuffled_order(len(sample), 4)
        thirds = [order[:30], order[30:60]]
        yield self._scenario("a subset of the rows", sample, thirds, order[60:70])
        yield self._scenario("regions", sample, thirds, order[60:], regions=True)
        for make in CANARY_TABLES:
            sample = make()
            rows = list(range(len(sample) - 30))
            fives = [rows[index : index + 5] for index in range(0, len(rows), 5)]
            yield self._scenario(make.__name__, sample, fives, [], special=CANARIES)
        yield self._scenario(
            "no column that it may see", sample, fives, [], special=CANARIES, blind=True
        )

    def release_of(self, outcome: ScenarioResult) -> Release | None:
        """Return the release."""
        return outcome.seen.result if isinstance(outcome.seen.result, Release) else None

    def _scenario(
        self,
        name: str,
        sample: Sample,
        classes: list[list[int]],
        suppressed: list[int],
        regions: bool = False,
        special: str = "",
        blind: bool = False,
    ) -> Scenario:
        label = {row: index for index, members in enumerate(classes) for row in members}
        label |= dict.fromkeys(suppressed, -1)

        def make_inputs() -> Mapping[str, Any]:
            table = sample.table().restricted_to(frozenset()) if blind else sample.table()
            made = plain_classes(classes, suppressed)
            if regions:
                made = _whole_axes(made, np.array([axis.size for axis in table.axes]))
            return {"table": table, "classes": made}

        return Scenario(
            name,
            make_inputs,
            GeneralizerFacts(sample, label),
            special,
            may_raise=blind,
            leak_sample=sample if special == CANARIES else None,
        )


def _whole_axes(classes: Classes, sizes: "np.ndarray[tuple[int, ...], np.dtype[Any]]") -> Classes:
    """Assign every class the whole of every axis, as a global recoding might."""
    lo = np.zeros((len(classes), len(sizes)), np.int32)
    hi = lo + (sizes - 1).astype(np.int32)
    return attrs.evolve(classes, regions=Regions(lo, hi), global_recoding=True)


def check_returns_a_release(subject: GeneralizerConformance) -> None:
    """The method returns a `Release` that says truly whether its cells cover the originals."""
    claim = subject.build_method().truthful
    for item in subject.successes():
        assert isinstance(item.seen.result, Release), f"{item.scenario.name}: no Release"
        truthful = item.seen.result.truthful
        assert claim == truthful, (
            f"{item.scenario.name}: the class says {claim}, the release says {truthful}"
        )


def check_rows_keep_their_order(subject: GeneralizerConformance) -> None:
    """The release has exactly the given rows, in the order of the table, and knows their origin."""
    refuse_problems(
        (
            item.scenario.name
            for item in subject.successes()
            if _origin(item) != item.scenario.facts.order
        ),
        "origin is not the given rows in the order of the table",
    )


def check_release_knows_its_classes(subject: GeneralizerConformance) -> None:
    """`release.classes` divides the rows as the given classes do; -1 means suppressed."""
    refuse_problems(
        (item.scenario.name for item in subject.successes() if not _same_division(item)),
        "release.classes disagrees with the classes that were given",
    )


def _origin(outcome: ScenarioResult) -> list[int]:
    origin = outcome.seen.result.origin
    return [] if origin is None else [int(row) for row in origin]


def _same_division(outcome: ScenarioResult) -> bool:
    facts: GeneralizerFacts = outcome.scenario.facts
    labels = outcome.seen.result.classes
    if labels is None or len(labels) != len(facts.order):
        return False
    pairs = {(facts.label[row], int(label)) for row, label in zip(facts.order, labels, strict=True)}
    one_to_one = len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    return one_to_one and all((a == -1) == (b == -1) for a, b in pairs)


def _release_rows(outcome: ScenarioResult) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the rows of a release, each with the row of the table that it came from."""
    facts: GeneralizerFacts = outcome.scenario.facts
    rows = tables.plain(outcome.seen.result.frame, outcome.seen.result.schema)
    if len(rows) == len(facts.order):  # otherwise another check has said so
        yield from zip(facts.order, rows, strict=True)


def check_cells_are_equal_within_a_class(subject: GeneralizerConformance) -> None:
    """Rows of one class have equal cells in every quasi-identifier."""
    problems = []
    for item in subject.successes():
        facts: GeneralizerFacts = item.scenario.facts
        seen: dict[tuple[int, str], set[object]] = {}
        for row, cells in _release_rows(item):
            for name in facts.sample.schema.quasi:
                seen.setdefault((facts.label[row], name), set()).add(cells[name])
        torn = {name for (label, name), cells in seen.items() if label >= 0 and len(cells) > 1}
        if torn:
            problems.append(f"{item.scenario.name}: columns {sorted(torn)}")
    refuse_problems(problems, "cells differ within a class")


def check_cells_cover_the_original(subject: GeneralizerConformance) -> None:
    """Every published cell covers the value that it replaces, as a reader would read it."""
    if not subject.build_method().truthful:
        raise NotApplicable("truthful = False: cells need not cover the originals")
    problems = []
    for item in subject.successes():
        sample: Sample = item.scenario.facts.sample
        for name in sample.schema.quasi:
            bad = sum(
                not oracle.covers(cells[name], sample.rows[row][name], sample.above.get(name))
                for row, cells in _release_rows(item)
                if item.scenario.facts.label[row] >= 0
            )
            if bad:
                problems.append(f"{item.scenario.name}: {bad} cells of column '{name}'")
    refuse_problems(problems, "cells do not cover the original")


def check_suppressed_rows_are_stars(subject: GeneralizerConformance) -> None:
    """A suppressed row has `*` in every quasi-identifier."""
    problems = []
    for item in subject.successes():
        facts: GeneralizerFacts = item.scenario.facts
        bad = sum(
            facts.label[row] < 0 and any(cells[name] != "*" for name in facts.sample.schema.quasi)
            for row, cells in _release_rows(item)
        )
        if bad:
            problems.append(f"{item.scenario.name}: {bad} rows")
    refuse_problems(problems, "suppressed rows show more than *")


def check_other_columns_are_unchanged(subject: GeneralizerConformance) -> None:
    """The release has the published columns, and all but the quasi-identifiers are as they were."""
    problems = []
    for item in subject.successes():
        sample: Sample = item.scenario.facts.sample
        wanted = list(sample.schema.published_names)
        if list(item.seen.result.frame.columns) != wanted:
            problems.append(f"{item.scenario.name}: the columns are not {wanted}")
            continue
        others = [name for name in wanted if name not in sample.schema.quasi]
        bad = sum(
            any(cells[name] != sample.rows[row][name] for name in others)
            for row, cells in _release_rows(item)
        )
        if bad:
            problems.append(f"{item.scenario.name}: {bad} rows")
    refuse_problems(problems, "columns that are no quasi-identifiers changed")


_CHECKS: tuple[Check, ...] = (
    check_returns_a_release,
    check_rows_keep_their_order,
    check_release_knows_its_classes,
    check_cells_are_equal_within_a_class,
    check_cells_cover_the_original,
    check_suppressed_rows_are_stars,
    check_other_columns_are_unchanged,
)
GeneralizerConformance.checks = (*DECLARATION_CHECKS, *PURITY_CHECKS, *LEAK_CHECKS, *_CHECKS)
