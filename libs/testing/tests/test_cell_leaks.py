"""Toys that tell a cell, each in another way: the kit hears all of them, and no honest one."""

import logging
import warnings

import attrs
import numpy as np
import pytest

from anonloom import (
    Auditor,
    Chart,
    Collector,
    Finding,
    Findings,
    Generalizer,
    Mechanism,
    OutlierHandler,
    Partitioner,
    Release,
    Reporter,
    Sampler,
    param,
)
from anonloom.errors import DataError
from anonloom_tables import Csv
from anonloom_testing import (
    AuditorConformance,
    CollectorConformance,
    GeneralizerConformance,
    MechanismConformance,
    OutlierHandlerConformance,
    PartitionerConformance,
    PrivacyModelConformance,
    ReporterConformance,
    SamplerConformance,
    SourceConformance,
    tables,
)
from anonloom_testing.privacy_cases import AtLeast

FEW = (tables.clinic,)
HEARD = "check_says_no_cell"


def a_cell(table):
    """The age of somebody in the middle, as nothing else of the table shows it."""
    axis = table.axes[0]
    return axis.values[len(axis.values) // 2]


def by_finding(table, run):
    run.find(Finding(name="median", value=float(a_cell(table)), meaning="The median."))


def by_meaning(table, run):
    run.find(Finding(name="m", value=1, meaning=f"Above {a_cell(table):,} they are rare."))


def by_chart(table, run):
    label = f"< {float(a_cell(table)):.6g}"
    data = {"labels": [label, "others"], "rows": [1, 2]}
    run.find(Chart(name="split", kind="bars", title="Split", data=data, meaning="M."))


def by_note(table, run):
    run.note(f"cutting at {a_cell(table)}")


def by_warning(table, run):
    run.warn(f"nothing above {a_cell(table) + 1} was cut")


def by_log(table, run):
    logging.getLogger("toy").debug("cut at %e", float(a_cell(table)))


def by_seed(table, run):
    run.note(f"seed {run.seed}")


def later(table, run):
    run.find_later(
        lambda release: [Finding(name="m", value=str(a_cell(table)), meaning=f"{len(release)}.")]
    )


WAYS = {
    way.__name__: way
    for way in (by_finding, by_meaning, by_chart, by_note, by_warning, by_log, by_seed, later)
}


@attrs.frozen(kw_only=True)
class Whole(Partitioner):
    """Leaves every class whole, and says something."""

    way: str | None = param(help="How it tells a cell.", default=None)

    def partition(self, table, classes, guard, context):
        if self.way is not None and len(table.axes) and len(table.axes[0].values):
            WAYS[self.way](table, context)
        return classes.suppress(~guard.admits_classes(table, classes))


@pytest.mark.parametrize("way", WAYS)
def test_a_partitioner_is_heard_however_it_tells(judged, way):
    failed = judged(PartitionerConformance, Whole, tables=FEW, params={"way": way}).failed
    assert [HEARD] == list(failed), failed


def test_a_partitioner_that_says_nothing_of_the_table_is_not_blamed(judged):
    assert {} == judged(PartitionerConformance, Whole, tables=FEW).failed


class Prints(Whole):
    def partition(self, table, classes, guard, context):
        print(f"cut at {a_cell(table)}")
        warnings.warn(str(a_cell(table)), stacklevel=1)
        return super().partition(table, classes, guard, context)


class Blames(Whole):
    """Names a cell when something goes wrong, and only then."""

    def partition(self, table, classes, guard, context):
        try:
            return super().partition(table, classes, guard, context)
        except DataError:
            raise DataError(
                f"the guard fails at '{table.axes[0].texts(np.array([3]))[0]}'"
            ) from None


class Lengthy(Whole):
    def __repr__(self):
        return "Lengthy(" + "x" * 2000 + ")"


@attrs.frozen(kw_only=True)
class Shows(OutlierHandler):
    """A handler that tells the cells of rows that it suppresses."""

    def handle(self, table, classes, guard, context):
        column = table.schema.quasi[0]
        worst = table.column(column).iloc[classes.rows[:1]]
        context.find(
            Finding(name="worst", value=str(worst.iloc[0]), meaning="The row that costs most.")
        )
        keep = np.ones(len(classes.rows), bool)
        return classes if keep.all() else classes.take(keep)


@attrs.frozen(kw_only=True)
class Ends(Generalizer):
    """Publishes the declared forms, and tells what lies at their ends."""

    def generalize(self, table, classes, context):
        lo, hi = classes.extents(table.codes)
        cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
        if len(lo) and table.axes:
            axis = table.axes[0]
            ends = {"labels": [str(text) for text in axis.texts(lo[:, 0])], "rows": [1] * len(lo)}
            context.find(Chart(name="ends", kind="bars", title="Ends", data=ends, meaning="M."))
        return Release.from_cells(table, classes, cells, truthful=True)


@attrs.frozen(kw_only=True)
class Drops(Mechanism):
    """Takes the last rows out and names one."""

    truthful = True

    def protect(self, table, context):
        if len(table) > 2:
            gone = table.column("note").iloc[-1] if "note" in table.schema else ""
            context.find(Finding(name="gone", value=str(gone), meaning="What was taken out."))
            return table.take(np.arange(len(table) - 1))
        return table


@attrs.frozen(kw_only=True)
class Remembers(Sampler):
    """Keeps everything, and tells the seed."""

    def least_kept(self, sizes):
        return sizes

    def sample(self, classes, context):
        context.note(f"drawn with {context.seed}")
        return np.ones(len(classes.rows), bool)


@attrs.frozen(kw_only=True)
class Names(AtLeast):
    """Says which value stands in the way."""

    def would_pass(self, table, rows, starts, stops):
        values = table.encode_column("illness").axis.values if len(table.axes) else ["nothing"]
        return f"k: 1, without '{values[0]}'"


@attrs.frozen(kw_only=True)
class Recites(Collector):
    """A curator who reads a row aloud."""

    def collect(self, table, stages, guard, context):
        context.note(f"first came {table.frame.iloc[0].to_dict()}")
        return stages.run(table, guard)


@attrs.frozen(kw_only=True)
class Quantiles(Auditor):
    """The median of the original."""

    measures = "utility"
    needs = frozenset({"original"})

    def audit(self, case, context):
        if not case.original.axes:
            return Findings()
        value = str(a_cell(case.original))
        return Findings.of(Finding(name="median", value=value, meaning="The median."))


@attrs.frozen(kw_only=True)
class Peeks(Reporter):
    """Publishes what lies beside its folder."""

    def write(self, report, folder):
        results = sorted((folder.parent / "private").glob("*"))
        text = results[0].read_text(encoding="utf-8")[-600:] if results else ""
        (folder / "page.txt").write_text(text)
        return ("page.txt",)

    def write_grid(self, report, folder):
        return self.write(report, folder)


@attrs.frozen(kw_only=True)
class Quotes(Csv):
    """A source that quotes the cell that it cannot use."""

    def load(self, schema, context):
        try:
            return super().load(schema, context)
        except DataError as error:
            if "cell" not in str(error):
                raise
            last = self.path.read_text(encoding="utf-8").splitlines()[-1]
            raise DataError(f"{error}: {last}") from None


class QuotesConformance(SourceConformance):
    params = {"path": "table.csv"}

    def source(self, frame, folder):
        frame.to_csv(folder / "table.csv", index=False)
        return Quotes(path=folder / "table.csv")


@pytest.mark.parametrize(
    ("conformance", "toy", "failing"),
    [
        (PartitionerConformance, Prints, {HEARD, "check_prints_nothing"}),
        (PartitionerConformance, Blames, {HEARD}),
        (PartitionerConformance, Lengthy, {"check_representations_are_short"}),
        (OutlierHandlerConformance, Shows, {HEARD}),
        (GeneralizerConformance, Ends, {HEARD}),
        (MechanismConformance, Drops, {HEARD}),
        (SamplerConformance, Remembers, {HEARD}),
        (PrivacyModelConformance, Names, {HEARD}),
        (CollectorConformance, Recites, {HEARD}),
        (AuditorConformance, Quantiles, {HEARD}),
        (ReporterConformance, Peeks, {HEARD}),
        (QuotesConformance, Quotes, {HEARD}),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_every_kind_is_checked_for_leaks(judged, conformance, toy, failing):
    more = {} if toy in (Remembers, Peeks, Recites) else {"tables": FEW}
    if toy is Names:
        more["params"] = {"k": 3}
    assert failing == set(judged(conformance, toy, **more).failed)
