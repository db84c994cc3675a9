"""Scenes and checks that partitioners and outlier handlers share: both return classes of rows."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import attrs

from anonloom import Classes, Guard, Release, Table
from anonloom.runtime import judge_models
from anonloom_testing import oracle, tables
from anonloom_testing.auditor import publish_classes
from anonloom_testing.canaries import CANARIES, CANARY_TABLES, crowded_canaries
from anonloom_testing.cell_leaks import OVERHEARD
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARED
from anonloom_testing.privacy_cases import Demand, Failing
from anonloom_testing.purity import CONDUCT, Acting, Played, Scene
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import ORDINARY_TABLES, Sample, as_rows


@attrs.frozen(eq=False)
class Given:
    """What the oracle knows of a scene: plain rows, plain classes, and the demand."""

    sample: Sample
    classes: list[list[int]]
    suppressed: list[int]
    demand: Demand

    @property
    def rows(self) -> list[int]:
        """All rows that the method was given."""
        return [row for members in self.classes for row in members] + self.suppressed


class Dividing(Acting):
    """A conformance class whose method returns `Classes`.

    Attributes
    ----------
    tables
        The tables to try; all of the kit's by default.
    """

    tables: ClassVar[tuple[Callable[[], Sample], ...]] = ORDINARY_TABLES

    def seen_by_method(self, table: Table) -> Table:
        """Return the table as the runner would pass it, narrowed to what the method reads."""
        entry = self.entry()
        return table if entry is None else table.restricted_to(entry.method.reads)

    def divided(self, special: str = "") -> list[Played]:
        """Return the scenes in which the method returned classes."""
        results = [item for item in self.returned(special) if isinstance(item.seen.result, Classes)]
        if not results:
            raise NotApplicable("the method returned no classes in any scene")
        return results

    def scene(
        self,
        name: str,
        sample: Sample,
        classes: list[list[int]],
        suppressed: list[int],
        demand: Demand,
        special: str = "",
        fails: bool = False,
    ) -> Scene:
        """Return a scene that starts from these classes."""

        def given() -> Mapping[str, Any]:
            return {
                "table": self.seen_by_method(sample.table()),
                "classes": plain_classes(classes, suppressed),
                "guard": Guard((Failing(),)) if fails else demand.guard(),
            }

        facts = Given(sample, classes, suppressed, demand)
        # A table that the method says not to suit it may make it raise.
        refused = fails or self.build_method().problem(sample.schema) is not None
        overheard = sample if special == CANARIES else None
        return Scene(f"{name} ({demand.words})", given, facts, special, refused, overheard)

    def overheard(self, classes: Callable[[Sample, Demand], list[list[int]]]) -> Iterator[Scene]:
        """Yield the scenes in which it is listened to what the method says.

        Parameters
        ----------
        classes
            Makes the classes that the method is given, of the rows that are not withheld.
        """
        demand = Demand(k=3)
        for make in (*CANARY_TABLES, crowded_canaries):
            sample = make()
            result = classes(sample, demand)
            left = sorted(set(range(len(sample))) - {row for item in result for row in item})
            yield self.scene(make.__name__, sample, result, left, demand, CANARIES)
        yield self.scene("a guard that fails", sample, result, left, demand, CANARIES, fails=True)

    def release_of(self, one: Played) -> Release | None:
        """Return the classes as they would be published, without suppressed rows."""
        if not isinstance(one.seen.result, Classes):
            return None
        classes = attrs.evolve(one.seen.result, suppressed=as_rows([]))
        return publish_classes(one.scene.facts.sample.table(), classes)


def plain_classes(classes: list[list[int]], suppressed: list[int]) -> Classes:
    """Return lists of row numbers as `Classes`."""
    bounds = [0]
    for members in classes:
        bounds.append(bounds[-1] + len(members))
    rows = [row for members in classes for row in members]
    return Classes(as_rows(rows), as_rows(bounds), as_rows(suppressed))


def complete(sample: Sample) -> tuple[list[int], list[int]]:
    """Return the rows to work on, and those that a column with `missing: suppress` suppresses."""
    strict = [column.name for column in sample.schema if column.missing == "suppress"]
    lacking = [
        index for index, row in enumerate(sample.rows) if any(row[name] is None for name in strict)
    ]
    return [index for index in range(len(sample)) if index not in lacking], lacking


def found_classes(one: Played) -> list[list[int]]:
    """Return the classes of a result as lists."""
    rows, bounds = one.seen.result.rows.tolist(), one.seen.result.bounds.tolist()
    return [rows[a:b] for a, b in pairwise(bounds)]


def found_rows(one: Played) -> list[int]:
    """Return every row of a result, the suppressed ones included."""
    return [*one.seen.result.rows.tolist(), *one.seen.result.suppressed.tolist()]


def _row_problems(subject: Dividing, find: Callable[[Played], list[int]], promise: str) -> None:
    refuse_problems(
        (
            f"{item.scene.name}: {len(find(item))} rows, first row {find(item)[0]}"
            for item in subject.divided()
            if find(item)
        ),
        promise,
    )


def check_returns_classes(subject: Dividing) -> None:
    """The method returns `Classes`."""
    refuse_problems(
        (
            f"{item.scene.name}: a {type(item.seen.result).__name__}"
            for item in subject.returned()
            if not isinstance(item.seen.result, Classes)
        ),
        "the method returned something else",
    )


def check_no_row_is_lost(subject: Dividing) -> None:
    """Every row that was given ends in a class or in `suppressed`."""
    _row_problems(
        subject,
        lambda one: oracle.lost_rows(one.scene.facts.rows, found_rows(one)),
        "rows are lost",
    )


def check_no_row_is_doubled(subject: Dividing) -> None:
    """No row ends in two places."""
    _row_problems(subject, lambda one: oracle.doubled_rows(found_rows(one)), "rows are doubled")


def check_no_row_is_invented(subject: Dividing) -> None:
    """No row appears that was not given: the method works on a subset of the table."""
    _row_problems(
        subject,
        lambda one: oracle.invented_rows(one.scene.facts.rows, found_rows(one)),
        "rows appear that were not given",
    )


def refused_classes(subject: Dividing, one: Played) -> list[int]:
    """Return the sizes of the classes that the oracle refuses."""
    given: Given = one.scene.facts
    sizes_only = subject.build_method().guard_use == "size"
    satisfied = given.demand.large_enough if sizes_only else given.demand.holds
    return [
        len(members)
        for members in found_classes(one)
        if not satisfied([given.sample.rows[row] for row in set(members)], given.sample)
    ]


def check_every_class_is_admitted(subject: Dividing) -> None:
    """The oracle, which recounts in plain Python, admits every class (k, l, t, sampling)."""
    _demand_soundness(subject, True)
    _judge_classes(subject, "")


def check_row_order_does_not_matter(subject: Dividing) -> None:
    """The guarantee holds whatever the order of the rows."""
    _demand_soundness(subject, True)
    if any(refused_classes(subject, item) for item in subject.divided()):
        raise NotApplicable("classes are refused in the plain order already")
    _judge_classes(subject, "order")


def _judge_classes(subject: Dividing, special: str) -> None:
    refuse_problems(
        (
            f"{item.scene.name}: {len(refused_classes(subject, item))} of {len(item.seen.result)} "
            f"classes, sizes {refused_classes(subject, item)[:5]}"
            for item in subject.divided(special)
            if refused_classes(subject, item)
        ),
        "classes are refused",
    )


def _demand_soundness(subject: Dividing, wanted: bool) -> None:
    if subject.build_method().sound is not wanted:
        message = "sound = False: the final check refuses what is inadmissible"
        raise NotApplicable(message if wanted else "the method is sound: nothing has to be refused")


def check_unsound_classes_are_refused(subject: Dividing) -> None:
    """What a method with `sound = False` does wrong is seen by the runner's final check."""
    _demand_soundness(subject, False)
    refuse_problems(
        (
            f"{item.scene.name}: {len(refused_classes(subject, item))} classes are inadmissible"
            for item in subject.divided()
            if refused_classes(subject, item) and not _final_check_refuses(item)
        ),
        "the final check published what the oracle refuses",
    )


def _final_check_refuses(one: Played) -> bool:
    """Publish every class under a cell of its own and let the runner's check judge that."""
    given: Given = one.scene.facts
    table, classes = given.sample.table(), one.seen.result
    labels = as_rows(list(range(len(classes)))).astype(str).astype(object)
    release = Release.from_cells(table, classes, [labels for _ in table.axes], truthful=False)
    persons = table.persons
    order = sorted(found_rows(one))
    models = tuple((type(model).__name__, model) for model in given.demand.guard().models)
    verdicts = judge_models(release, models, None if persons is None else persons[order])
    # A sampler's share is not part of the frame; the guard alone can refuse for it.
    return given.demand.halved or not all(verdict.holds for verdict in verdicts)


def check_has_no_problem_with_its_table(subject: Dividing) -> None:
    """`problem` accepts the tables on which the method works."""
    refuse_problems(
        (item.scene.name for item in subject.returned() if item.scene.refused),
        "the method works and complains",
    )


#: Checks of everything that returns classes.
DIVIDED: tuple[Check, ...] = (
    *DECLARED,
    *CONDUCT,
    *OVERHEARD,
    check_returns_classes,
    check_no_row_is_lost,
    check_no_row_is_doubled,
    check_no_row_is_invented,
    check_every_class_is_admitted,
    check_row_order_does_not_matter,
    check_unsound_classes_are_refused,
    check_has_no_problem_with_its_table,
)


def reordered_clinics() -> Iterator[tuple[str, Sample]]:
    """Yield the ordinary table with its rows in other orders."""
    ordinary = tables.clinic()
    by_age = sorted(range(len(ordinary)), key=lambda at: str(ordinary.rows[at]["age"]))
    yield "rows by age", ordinary.reordered(by_age)
    yield "rows by falling age", ordinary.reordered(by_age[::-1])
    yield "rows shuffled", ordinary.reordered(tables.shuffled(len(ordinary), 3))
