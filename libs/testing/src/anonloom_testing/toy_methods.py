"""Small methods for tests of runs and commands: one of every kind that a pipeline can have."""

# ruff: noqa: D102, D103  # their methods do what the kind's contract says, their hooks name them

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np

from anonloom import (
    Auditor,
    Chart,
    Classes,
    Collector,
    Finding,
    Findings,
    Generalizer,
    Mechanism,
    OutlierHandler,
    Partitioner,
    PrivacyModel,
    Release,
    Reporter,
    Sampler,
    Schema,
    Table,
    param,
)
from anonloom.api import ROLES, Method, hookimpl
from anonloom.data import Regions
from anonloom.findings import PrivateRows
from anonloom.kinds import Seal, SealFiles, VerifiedScope

ANONLOOM_API = 2


@attrs.frozen(kw_only=True)
class SizeAtLeast(PrivacyModel):
    """Admits classes of at least k rows, or k persons."""

    k: int = param(help="Least size.", default=3)
    monotone = True

    @property
    def min_size(self) -> Any:
        return self.k

    @property
    def size_only(self) -> Any:
        return True

    def _sizes(self, table: Any, rows: Any, starts: Any, stops: Any) -> Any:
        if table.persons is None:
            return np.asarray(stops) - np.asarray(starts)
        return np.array(
            [
                len(set(table.persons[rows[a:b]].tolist()))
                for a, b in zip(starts, stops, strict=True)
            ]
        )

    def admits(self, table: Any, rows: Any, starts: Any, stops: Any) -> Any:
        return self._sizes(table, rows, starts, stops) >= self.k

    def would_pass(self, table: Any, rows: Any, starts: Any, stops: Any) -> Any:
        return f"k: {int(self._sizes(table, rows, starts, stops).min())}"


@attrs.frozen(kw_only=True)
class TwoValues(PrivacyModel):
    """Admits classes with at least two values of a column."""

    of: str = param(help="The column.")
    monotone = True

    def admits(self, table: Any, rows: Any, starts: Any, stops: Any) -> Any:
        codes = table.encode_column(self.of).codes
        return np.array(
            [len(set(codes[rows[a:b]].tolist())) >= 2 for a, b in zip(starts, stops, strict=True)],
            bool,
        )

    def would_pass(self, table: Any, rows: Any, starts: Any, stops: Any) -> Any:
        return "one value"

    def problem(self, schema: Any) -> Any:
        return None if self.of in schema else f"there is no column '{self.of}'"


@attrs.frozen(kw_only=True)
class Runs(Partitioner):
    """Cuts every class into runs of `length` rows in the order of the first axis."""

    length: int = param(help="Rows per class.", default=4)
    literal: bool = param(help="Keep a short rest as a class of its own.", default=False)
    needs: str = param(help="A column that it cannot do without.", default="")
    note: str = param(help="What to tell whoever waits.", default="")
    loses: bool = param(help="Lose the last row.", default=False)
    revives: bool = param(help="Put suppressed rows into a class.", default=False)
    divides: bool = param(help="Say which part of space each class was given.", default=False)

    @property
    def guard_use(self) -> Any:
        return "size"

    @property
    def sound(self) -> Any:
        return not self.literal

    def problem(self, schema: Any) -> Any:
        if self.needs and self.needs not in schema:
            return f"there is no column '{self.needs}'"
        return None

    def partition(self, table: Table, classes: Any, guard: Any, context: Any) -> Any:
        rows: list[int] = []
        bounds = [0]
        for which in range(len(classes)):
            members = classes.members(which)
            members = members[np.argsort(table.codes[0][members], kind="stable")]
            cuts = [*list(range(0, len(members), self.length)), len(members)]
            if not self.literal and len(cuts) > 2 and cuts[-1] - cuts[-2] < guard.min_size:
                del cuts[-2]
            bounds.extend([len(rows) + cut for cut in cuts[1:]])
            rows.extend(members.tolist())
        context.progress(1, 1)
        if self.note:
            context.note(self.note)
        context.find(Finding(name="runs", value=len(bounds) - 1, meaning="How many runs were cut."))
        suppressed = classes.suppressed
        if self.loses:
            rows, bounds[-1] = rows[:-1], bounds[-1] - 1
        if self.revives:
            rows, bounds[-1] = [*rows, *suppressed.tolist()], bounds[-1] + len(suppressed)
            suppressed = suppressed[:0]
        result = Classes(np.array(rows, np.int64), np.array(bounds, np.int64), suppressed)
        if not self.divides:
            return result
        # From the end of the class before to its own end, and all of the other axes.
        whole = result.space([axis.size for axis in table.axes])
        lo, hi = whole.lo.copy(), whole.hi.copy()
        hi[:-1, 0] = result.extents(table.codes)[1][:-1, 0]
        lo[1:, 0] = hi[:-1, 0] + 1
        return attrs.evolve(result, regions=Regions(lo, hi))


@attrs.frozen(kw_only=True)
class FirstOut(OutlierHandler):
    """Suppresses the first class."""

    def handle(self, table: Any, classes: Any, guard: Any, context: Any) -> Any:
        first = np.zeros(len(classes), bool)
        first[:1] = True
        return classes.suppress(first)


@attrs.frozen(kw_only=True)
class AsDeclared(Generalizer):
    """Publishes every axis in its own form."""

    lies: bool = param(help="Say that cells do not cover the originals.", default=False)

    @property
    def truthful(self) -> Any:
        return not self.lies

    def generalize(self, table: Any, classes: Any, context: Any) -> Any:
        lo, hi = classes.extents(table.codes)
        cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
        return Release.from_cells(table, classes, cells, truthful=self.truthful)


@attrs.frozen(kw_only=True)
class FirstHalf(Sampler):
    """Keeps the first half of every class, rounded up."""

    promise: bool = param(help="Promise what is kept.", default=True)

    def sample(self, classes: Any, context: Any) -> Any:
        place = np.arange(len(classes.rows)) - classes.starts[classes.class_of_position()]
        return place < self.half_sizes(classes.sizes)[classes.class_of_position()]

    def half_sizes(self, sizes: Any) -> Any:
        return -(-np.asarray(sizes) // 2)

    def least_kept(self, sizes: Any) -> Any:
        return self.half_sizes(sizes) if self.promise else np.zeros(len(sizes), np.int64)


@attrs.frozen(kw_only=True)
class AddOne(Mechanism):
    """Adds one to the first axis, which must be a number."""

    forgets: str = param(help="A column to leave out.", default="")

    def protect(self, table: Any, context: Any) -> Any:
        name = table.schema.quasi[0]
        frame = table.frame.copy()
        frame[name] = frame[name] + 1
        kept = Schema(tuple(column for column in table.schema if column.name != self.forgets))
        return Table.build(frame, kept, table.origin)


@attrs.frozen(kw_only=True)
class RowCounter(Auditor):
    """Counts rows; can be told to find nothing."""

    nothing: bool = param(help="Report a figure that could not be assessed.", default=False)
    measures = "utility"

    def audit(self, case: Any, context: Any) -> Any:
        context.find(
            Chart(name="sizes", kind="bars", title="Rows", data={"labels": ["a"], "n": [1]})
        )
        return Findings.of(
            Finding(name="rows", value=len(case.release), meaning="Rows published."),
            Finding(
                name="share",
                value=None if self.nothing else len(case.release) / len(case.original),
                status="not assessable" if self.nothing else "measured",
                meaning="Share of rows published.",
            ),
            PrivateRows(name="first", rows=np.array([0]), meaning="The first row."),
        )

    def summarize(self, grid: Any) -> Any:
        return Findings.of(
            Finding(
                name="most_rows",
                value=max((row.findings["rows"].value for row in grid), default=None),
                meaning="Most rows of any run.",
            ),
            *(chart for row in grid for chart in row.findings.charts),
        )


@attrs.frozen(kw_only=True)
class NeedsControl(Auditor):
    """Needs held-out rows."""

    measures = "risk"
    needs = frozenset({"control"})

    def audit(self, case: Any, context: Any) -> Any:
        return Findings.of(
            Finding(name="control", value=len(case.control), meaning="Rows held out.")
        )


@attrs.frozen(kw_only=True)
class Price(Auditor):
    """What it costs to count."""

    measures = "cost"
    needs = frozenset({"original"})

    def audit(self, case: Any, context: Any) -> Any:
        return Findings.of(Finding(name="price", value=1, meaning="Price of counting."))


@attrs.frozen(kw_only=True)
class NeedsTrace(Auditor):
    """Needs to know what a transport carried."""

    measures = "risk"
    needs = frozenset({"trace"})

    def audit(self, case: Any, context: Any) -> Any:
        return Findings.of(Finding(name="seen", value=len(case.trace), meaning="Rows seen."))


@attrs.frozen(kw_only=True)
class Courier(Collector):
    """Carries rows, and says what was seen of them on the way."""

    kept: bool = param(help="Whether to keep the trace.", default=True)

    @property
    def traced(self) -> Any:
        return self.kept

    def problem(self, schema: Any) -> Any:
        return "it carries no bills" if "tips" in schema else None

    def collect(self, table: Any, stages: Any, guard: Any, context: Any) -> Any:
        context.find(
            Finding(name="carried", value=len(table), meaning="Rows carried."),
            Chart(name="loads", kind="bars", title="Loads", data={"labels": ["a"], "n": [1]}),
        )
        trace = [f"row {row}" for row in range(len(table))] if self.kept else None
        return attrs.evolve(stages.run(table, guard), trace=trace)


@attrs.frozen(kw_only=True)
class NeedsOthers(Auditor):
    """Needs other releases."""

    measures = "risk"
    needs = frozenset({"other_releases"})

    def audit(self, case: Any, context: Any) -> Any:
        rows = sum(len(release) for release in case.other_releases)
        return Findings.of(Finding(name="others", value=rows, meaning="Rows of other releases."))


@attrs.frozen(kw_only=True)
class Stamp(Seal):
    """Writes a stamp and demands it."""

    def seal(self, public: Any, private: Any) -> Any:
        (public / "stamp").write_text("sealed")
        (private / "stamp.key").write_text("key")
        return SealFiles(("stamp",), ("stamp.key",))

    def verify(self, public: Any, *, key: Any = None, known: Any = None) -> Any:
        from anonloom.errors import IntegrityError

        if not (public / "stamp").is_file():
            raise IntegrityError("the stamp is missing")
        return VerifiedScope(("the stamp is there",), ("everything else",))


@attrs.frozen(kw_only=True)
class Note(Reporter):
    """Writes the name of the run."""

    def write(self, report: Any, folder: Any) -> Any:
        (folder / "note.txt").write_text(report["name"])
        return ("note.txt",)

    def write_grid(self, report: Any, folder: Any) -> Any:
        (folder / "grid-note.txt").write_text(f"{len(report['runs'])} runs")
        return ("grid-note.txt",)


def _offers(name: str, cls: type, reads: Iterable[str] = ("quasi",), **more: Any) -> Method:
    return Method(
        name=name,
        target=f"{__name__}:{cls.__name__}",
        summary=(cls.__doc__ or "").splitlines()[0],
        reads=frozenset(reads),
        **more,
    )


@hookimpl
def anonloom_register_privacy_models() -> Any:
    return [_offers("size", SizeAtLeast), _offers("two-values", TwoValues)]


@hookimpl
def anonloom_register_partitioners() -> Any:
    return [_offers("runs", Runs)]


@hookimpl
def anonloom_register_outlier_handlers() -> Any:
    return [_offers("first-out", FirstOut)]


@hookimpl
def anonloom_register_generalizers() -> Any:
    return [_offers("as-declared", AsDeclared)]


@hookimpl
def anonloom_register_samplers() -> Any:
    return [_offers("first-half", FirstHalf)]


@hookimpl
def anonloom_register_mechanisms() -> Any:
    return [_offers("add-one", AddOne, ROLES)]


@hookimpl
def anonloom_register_auditors() -> Any:
    return [
        _offers("counting", RowCounter),
        _offers("needs-control", NeedsControl),
        _offers("needs-others", NeedsOthers),
        _offers("needs-trace", NeedsTrace),
        _offers("price", Price),
    ]


@hookimpl
def anonloom_register_collectors() -> Any:
    line = "collect: {collector: courier, with: {kept: true}}"
    return [_offers("courier", Courier, evidence={"trace": line})]


@hookimpl
def anonloom_register_integrity_schemes() -> Any:
    return [_offers("stamp", Stamp)]


@hookimpl
def anonloom_register_reporters() -> Any:
    return [_offers("note", Note)]
