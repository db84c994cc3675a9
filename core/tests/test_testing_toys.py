"""The conformance kit itself: good toys pass everything, each broken toy fails one check."""

import hashlib
import itertools
import json
import os
import random
import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import attrs
import numpy as np
import pandas as pd
import pytest
from anonloom.api import ROLES, Method, hookimpl
from anonloom.data.classes import Classes
from anonloom.data.findings import Chart, Finding, Findings
from anonloom.data.release import Release
from anonloom.data.schema import Column, Schema
from anonloom.data.table import Table
from anonloom.errors import IntegrityError
from anonloom.kinds.auditor import Auditor
from anonloom.kinds.collector import Collector
from anonloom.kinds.generalizer import Generalizer
from anonloom.kinds.integrity import Seal, Sealed, Verified, WorkCheck
from anonloom.kinds.mechanism import Mechanism
from anonloom.kinds.outliers import OutlierHandler
from anonloom.kinds.partitioner import Partitioner
from anonloom.kinds.reporter import Reporter
from anonloom.kinds.sampler import Sampler
from anonloom.kinds.source import Source
from anonloom.kindtable import KINDS
from anonloom.params import param
from anonloom.registry import Registry
from anonloom.testing import (
    AuditorConformance,
    CollectorConformance,
    GeneralizerConformance,
    IntegrityConformance,
    MechanismConformance,
    OutlierHandlerConformance,
    PartitionerConformance,
    PrivacyModelConformance,
    ReporterConformance,
    SamplerConformance,
    SourceConformance,
    demands,
    run_checks,
    tables,
)
from anonloom.testing.running import CONFORMANCE

# The kit plays two scenes and then plays them again.
CALLS = itertools.count()


# --- good toys ----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Halves(Partitioner):
    """Cuts each given class in two where the guard allows it."""

    def partition(self, table, classes, guard, run):
        classes = classes.suppress(~guard.admits_classes(table, classes))
        labels = np.repeat(2 * np.arange(len(classes)), classes.sizes)
        for which in range(len(classes)):
            start, stop = classes.bounds[which], classes.bounds[which + 1]
            middle = (start + stop) // 2
            ends = np.array([start, middle]), np.array([middle, stop])
            if guard.admits(table, classes.rows, *ends).all():
                labels[middle:stop] += 1
        return Classes.from_labels(labels, rows=classes.rows, suppressed=classes.suppressed)


@attrs.frozen(kw_only=True)
class Leave(OutlierHandler):
    """Moves nothing."""

    def handle(self, table, classes, guard, run):
        return classes


@attrs.frozen(kw_only=True)
class Extents(Generalizer):
    """Publishes every class's own extent."""

    def generalize(self, table, classes, run):
        sets = [
            axis.publish_sets([np.unique(codes[classes.members(c)]) for c in range(len(classes))])
            for axis, codes in zip(table.axes, table.codes, strict=True)
        ]
        lo, hi = classes.extents(table.codes)
        cells = [
            sets[at] if axis.form == "set" else axis.publish(lo[:, at], hi[:, at])
            for at, axis in enumerate(table.axes)
        ]
        return Release.from_cells(table, classes, cells, truthful=self.truthful)


@attrs.frozen(kw_only=True)
class Half(Sampler):
    """Keeps half of every class, rounded up."""

    def sample(self, classes, run):
        mask = np.zeros(len(classes.rows), bool)
        for start, stop in zip(classes.starts, classes.stops, strict=True):
            size = stop - start
            mask[start + run.rng.permutation(size)[: (size + 1) // 2]] = True
        return mask

    def least_kept(self, sizes):
        return (sizes + 1) // 2


@attrs.frozen(kw_only=True)
class Shuffle(Mechanism):
    """Puts the rows into a random order."""

    truthful = True

    def protect(self, table, run):
        return table.take(run.rng.permutation(len(table)))


@attrs.frozen(kw_only=True)
class Rarity(Auditor):
    """Mean of one over the size of the published class."""

    measures = "risk"
    needs = frozenset({"original"})

    def value(self, case):
        groups = case.release.groups()
        return float((1 / np.bincount(groups)[groups]).mean())

    def audit(self, case, run):
        return Findings.of(
            Finding(
                name="rarity",
                value=self.value(case),
                better="lower",
                meaning="Share that is found.",
                assumptions=("The target is in the release.",),
            )
        )


@attrs.frozen(kw_only=True)
class Sums(Seal):
    """Lists the digests of all files."""

    def digest(self, path):
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def listed(self, public):
        return {p.name: self.digest(p) for p in sorted(public.iterdir()) if p.name != "sums.json"}

    def seal(self, public, private):
        (public / "sums.json").write_text(json.dumps(self.listed(public)))
        return Sealed(public=("sums.json",))

    def verify(self, public, *, key=None):
        try:
            proof = json.loads((public / "sums.json").read_text())
        except (OSError, ValueError):
            raise IntegrityError("the proof cannot be read") from None
        if proof != self.listed(public):
            raise IntegrityError("a file was changed")
        return Verified(covers=("all files",))


@attrs.frozen(kw_only=True)
class Lines(Reporter):
    """Writes the report as a page of one line."""

    def write(self, report, folder):
        text = json.dumps(report).replace("<", "&lt;")
        (folder / "report.html").write_text(f"<p>{text}</p>")
        return ("report.html",)


@attrs.frozen(kw_only=True)
class Pickled(Source):
    """Reads a pickled frame."""

    path: Path = param(help="The file.")

    def frame(self):
        return pd.read_pickle(self.path)

    def load(self, schema, run):
        return Table.build(self.frame(), schema)

    def columns(self):
        return tuple(self.frame().columns)


@attrs.frozen(kw_only=True)
class Trusted(Collector):
    """Runs the stages on the whole table."""

    def collect(self, table, stages, guard, run):
        prepared = stages.prepare(table)
        return stages.sample(stages.generalize(prepared, stages.partition(prepared, guard)))


# --- how the kit sees them ----------------------------------------------------------------------


class HalfConformance(SamplerConformance):
    rate = 0.5


class RarityConformance(AuditorConformance):
    risk_finding = "rarity"


class PickledConformance(SourceConformance):
    params = {"path": "table.pickle"}

    def source(self, frame, folder):
        frame.to_pickle(folder / "table.pickle")
        return self.made(path=str(folder / "table.pickle"))


class DistinctConformance(PrivacyModelConformance):
    params = {"l": 3, "of": "illness"}

    def reference(self, rows, everybody):
        return len({row["illness"] for row in rows} - {None}) >= 3


class AtLeastConformance(PrivacyModelConformance):
    params = {"k": 3}

    def reference(self, rows, everybody):
        return len({row.get("person", row["note"]) for row in rows}) >= 3


class DistanceConformance(PrivacyModelConformance):
    params = {"t": 0.3, "of": "illness"}


class NoReference(PrivacyModelConformance):
    params = {"k": 3}


GOOD = [
    (PartitionerConformance, Halves),
    (OutlierHandlerConformance, Leave),
    (GeneralizerConformance, Extents),
    (HalfConformance, Half),
    (MechanismConformance, Shuffle),
    (AtLeastConformance, demands.AtLeast),
    (DistinctConformance, demands.DistinctValues),
    (DistanceConformance, demands.WithinDistance),
    (RarityConformance, Rarity),
    (IntegrityConformance, Sums),
    (ReporterConformance, Lines),
    (PickledConformance, Pickled),
    (CollectorConformance, Trusted),
]


def registered(kind, cls):
    """Return a registry in which one plugin registers one class."""
    method = Method(
        name=cls.__name__.lower(),
        target=f"{cls.__module__}:{cls.__qualname__}",
        summary="A toy.",
        reads=ROLES,
    )
    plugin = SimpleNamespace(ANONLOOM_API=1)
    setattr(plugin, KINDS[kind].hook, hookimpl(_answering(KINDS[kind].hook, method)))
    registry = Registry.empty()
    registry.register(plugin, distribution="anonloom-toys")
    assert () == registry.broken
    return registry


def _answering(name, method):
    def hook():
        return [method]

    hook.__name__ = name
    return hook


#: The tables that matter to the broken toys; the good ones meet all of them.
FEW = (tables.clinic, tables.one_row, tables.missing_values, tables.incomplete_rows)


def judged(conformance, cls, **more):
    """Run the kit on a toy."""
    attributes = {
        "method": cls,
        "registry": registered(conformance.kind, cls),
        "hook_module": "anonloom.builtin",
        **more,
    }
    return type("Subject", (conformance,), attributes)().results()


def failed(results):
    # pytest adds what it sees in an assert below the message.
    said = {
        result.check: result.detail.split("\nassert ")[0] for result in results if not result.good
    }
    return said


@pytest.mark.parametrize(("conformance", "cls"), GOOD, ids=lambda one: one.__name__)
def test_good_toys_pass_every_check(conformance, cls):
    results = judged(conformance, cls)

    assert {} == failed(results)
    assert len([result for result in results if result.status == "passed"]) >= len(results) - 3


# --- broken toys --------------------------------------------------------------------------------


class Loses(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        return attrs.evolve(found, suppressed=found.suppressed[1:])


class Doubles(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        return attrs.evolve(found, suppressed=np.append(found.suppressed, found.rows[:1]))


class Invents(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        rest = np.setdiff1d(np.arange(len(table)), np.append(classes.rows, classes.suppressed))
        return attrs.evolve(found, suppressed=np.append(found.suppressed, rest[:1]))


class BelowK(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        if len(found) and found.sizes[0] > 1:
            return attrs.evolve(found, bounds=np.insert(found.bounds, 1, 1), regions=None)
        return found


class IgnoresDiversity(Halves):
    def partition(self, table, classes, guard, run):
        from anonloom.kinds.guard import Guard

        only_size = Guard(guard.models[:1], guard.least_kept)
        return super().partition(table, classes, only_size, run)


class LikesSortedRows(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        if len(table) > 80 and len(classes) == 1 and (np.diff(table.codes[0]) <= 0).all():
            return attrs.evolve(found, bounds=np.insert(found.bounds, 1, 1))
        return found


class Straddles(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        if len(classes) < 2 or not len(found):
            return found
        merged = Classes.whole(found.rows, found.suppressed)
        return merged if guard.admits_classes(table, merged).all() else found


class PutsBack(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        if not len(found):
            return found
        rows = np.append(found.rows, classes.suppressed[:1])
        bounds = np.append(found.bounds[:-1], len(rows))
        back = Classes(rows, bounds, np.setdiff1d(found.suppressed, classes.suppressed[:1]))
        return back if guard.admits_classes(table, back).all() else found


class Prints(Halves):
    def partition(self, table, classes, guard, run):
        print("cutting")
        return super().partition(table, classes, guard, run)


class Warns(Halves):
    def partition(self, table, classes, guard, run):
        np.log(np.zeros(1))
        return super().partition(table, classes, guard, run)


class DrawsGlobally(Halves):
    def partition(self, table, classes, guard, run):
        random.random()
        return super().partition(table, classes, guard, run)


class DrawsFromNumpy(Halves):
    def partition(self, table, classes, guard, run):
        np.random.rand()  # noqa: NPY002
        return super().partition(table, classes, guard, run)


class Varies(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        rows = found.rows.copy()
        if len(found):
            # Drawn from the system: no seed reaches it.
            np.random.default_rng().shuffle(rows[: found.bounds[1]])
        return attrs.evolve(found, rows=rows)


class Phones(Halves):
    def partition(self, table, classes, guard, run):
        with socket.socket() as home:
            home.connect(("192.0.2.1", 80))
        return super().partition(table, classes, guard, run)


class ChangesCodes(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        table.codes[0, 0] += 1
        return found


class ChangesClasses(Halves):
    def partition(self, table, classes, guard, run):
        found = super().partition(table, classes, guard, run)
        classes.rows[:] = classes.rows[::-1].copy()
        return found


class FearsMissing(Halves):
    def partition(self, table, classes, guard, run):
        if any(axis.missing >= 0 for axis in table.axes):
            raise ValueError("a value is missing")
        return super().partition(table, classes, guard, run)


class ReturnsLists(Halves):
    def partition(self, table, classes, guard, run):
        return super().partition(table, classes, guard, run).rows.tolist()


@attrs.define(kw_only=True)
class Thawed(Partitioner):
    def partition(self, table, classes, guard, run):
        return Halves().partition(table, classes, guard, run)


class Unpicklable(Halves):
    def __reduce__(self):
        raise TypeError("cannot be pickled")


@attrs.frozen(kw_only=True)
class Unwritable(Halves):
    shape: object = param(help="A set, which YAML cannot write.", default=frozenset({1}))


@attrs.frozen(kw_only=True)
class Undeclared(Halves):
    depth: int = attrs.field(default=3)


class HandlerLoses(Leave):
    def handle(self, table, classes, guard, run):
        return attrs.evolve(classes, suppressed=classes.suppressed[:-1])


class HandlerBelowK(Leave):
    def handle(self, table, classes, guard, run):
        if len(classes) and classes.sizes[0] > 1:
            return attrs.evolve(classes, bounds=np.insert(classes.bounds, 1, 1))
        return classes


class RecoversIncomplete(Leave):
    def handle(self, table, classes, guard, run):
        back = np.flatnonzero(table.incomplete)
        if not len(back) or not len(classes):
            return classes
        rows = np.append(classes.rows, back)
        left = np.setdiff1d(classes.suppressed, back)
        moved = Classes(rows, np.append(classes.bounds[:-1], len(rows)), left)
        return moved if guard.admits_classes(table, moved).all() else classes


class Uncovers(Extents):
    def generalize(self, table, classes, run):
        lo, _ = classes.extents(table.codes)
        cells = [axis.publish(lo[:, at], lo[:, at]) for at, axis in enumerate(table.axes)]
        return Release.from_cells(table, classes, cells, truthful=True)


class MixesMissing(Extents):
    """Publishes an interval for a class in which a value is missing."""

    def generalize(self, table, classes, run):
        release = super().generalize(table, classes, run)
        if "age" not in table.schema or table.axes[0].missing < 0:
            return release
        cells = release.frame["age"].astype(object)
        wrong = (cells == "*") & (release.classes >= 0)
        return attrs.evolve(
            release, frame=release.frame.assign(age=cells.where(~wrong, "[0, 200]"))
        )


class TellsApart(Extents):
    def generalize(self, table, classes, run):
        release = super().generalize(table, classes, run)
        name = table.schema.quasi[0]
        cells = release.frame[name].astype(object).tolist()
        cells[0] = "*"
        return attrs.evolve(release, frame=release.frame.assign(**{name: cells}))


class ShowsSuppressed(Extents):
    def generalize(self, table, classes, run):
        release = super().generalize(table, classes, run)
        name = table.schema.quasi[0]
        cells = np.array(release.frame[name].astype(object).tolist(), object)
        shown = np.array(table.axes[0].texts(table.codes[0]), object)
        order = np.sort(np.append(classes.rows, classes.suppressed))
        cells[release.classes < 0] = shown[order][release.classes < 0]
        return attrs.evolve(release, frame=release.frame.assign(**{name: cells}))


class ChangesOthers(Extents):
    def generalize(self, table, classes, run):
        release = super().generalize(table, classes, run)
        return attrs.evolve(release, frame=release.frame.assign(outcome="well"))


class ForgetsOrigin(Extents):
    def generalize(self, table, classes, run):
        return attrs.evolve(super().generalize(table, classes, run), origin=None)


class ForgetsClasses(Extents):
    def generalize(self, table, classes, run):
        return attrs.evolve(super().generalize(table, classes, run), classes=None)


class ClaimsTruth(Extents):
    def generalize(self, table, classes, run):
        return attrs.evolve(super().generalize(table, classes, run), truthful=False)


class WrongMask(Half):
    def sample(self, classes, run):
        return super().sample(classes, run).astype(int)


class LyingLeast(Half):
    def least_kept(self, sizes):
        return np.minimum((sizes + 1) // 2 + 1, sizes)


class NegativeLeast(Half):
    def least_kept(self, sizes):
        return np.where(sizes == 1, -1, (sizes + 1) // 2)


class KeepsMore(Half):
    def sample(self, classes, run):
        return np.ones(len(classes.rows), bool)


class SeesRows(Half):
    def sample(self, classes, run):
        run.rng.bytes(int(classes.rows.sum()) % 7)
        return super().sample(classes, run)


class CountsMissing(demands.DistinctValues):
    def _counts(self, table, rows, starts, stops):
        codes = table.coded(self.of).codes
        return [len(set(codes[rows[a:b]].tolist())) for a, b in zip(starts, stops, strict=True)]


class FalselyMonotone(demands.AtLeast):
    @property
    def size_only(self):
        return False

    def admits(self, table, rows, starts, stops):
        return (stops - starts >= 3) & (stops - starts <= 6)


class FalseSize(demands.AtLeast):
    @property
    def min_size(self):
        return 5

    @property
    def size_only(self):
        return False


class FalselySizeOnly(demands.DistinctValues):
    @property
    def size_only(self):
        return True


class InCompany(demands.AtLeast):
    @property
    def size_only(self):
        return False

    def admits(self, table, rows, starts, stops):
        return super().admits(table, rows, starts, stops) & (len(starts) > 1)


class Speechless(demands.AtLeast):
    def would_pass(self, table, rows, starts, stops):
        return ""


class Complains(demands.AtLeast):
    def problem(self, schema):
        return "never"


class VerdictNumbers(demands.AtLeast):
    def admits(self, table, rows, starts, stops):
        return super().admits(table, rows, starts, stops).astype(int)


class BlamesNobody(Rarity):
    def value(self, case):
        return 0.0


class BlamesEverybody(Rarity):
    def value(self, case):
        return 1.0


class NoMeaning(Rarity):
    def audit(self, case, run):
        return Findings([attrs.evolve(f, meaning=" ") for f in super().audit(case, run)])


class NoAssumptions(Rarity):
    def audit(self, case, run):
        return Findings([attrs.evolve(f, assumptions=()) for f in super().audit(case, run)])


class Repeats(Rarity):
    def audit(self, case, run):
        return Findings.of(super().audit(case, run), super().audit(case, run))


class HiddenNeed(Rarity):
    needs = frozenset()

    def value(self, case):
        return super().value(case) * (len(case.original) > 0)


class ArrayChart(Rarity):
    def audit(self, case, run):
        chart = Chart(name="c", kind="bars", title="C", data={"labels": np.arange(3)}, meaning="M.")
        return Findings.of(super().audit(case, run), chart)


class SilentNan(Rarity):
    def audit(self, case, run):
        nothing = Finding(name="nothing", value=float("nan"), meaning="Nothing.")
        return Findings.of(super().audit(case, run), nothing)


class MeasuresNothing(Rarity):
    measures = "things"


class ReturnsVerdict(Sums):
    def verify(self, public, *, key=None):
        try:
            return super().verify(public)
        except IntegrityError:
            return False


class ForgetsManifest(Sums):
    def listed(self, public):
        return {n: d for n, d in super().listed(public).items() if n != "manifest.json"}


class ForgetsOrder(Sums):
    def digest(self, path):
        return hashlib.sha256(b"".join(sorted(path.read_bytes().splitlines(True)))).hexdigest()


class AllowsMore(Sums):
    def listed(self, public):
        return {n: d for n, d in super().listed(public).items() if n != "extra.csv"}


class Stumbles(Sums):
    def verify(self, public, *, key=None):
        json.loads((public / "sums.json").read_text())
        return super().verify(public)


class Rewrites(Sums):
    def seal(self, public, private):
        release = public / "release.csv"
        release.write_bytes(release.read_bytes() + b"\n")
        return super().seal(public, private)


class CoversNothing(Sums):
    def verify(self, public, *, key=None):
        return attrs.evolve(super().verify(public), covers=())


class WritesElsewhere(Lines):
    def write(self, report, folder):
        (folder.parent / "copy.html").write_text("")
        return super().write(report, folder)


class Fetches(Lines):
    def write(self, report, folder):
        names = super().write(report, folder)
        page = folder / "report.html"
        page.write_text(page.read_text() + '<script src="https://cdn.example/x.js"></script>')
        return names


class Obeys(Lines):
    def write(self, report, folder):
        (folder / "report.html").write_text(f"<h1>{report['name']}</h1>")
        return ("report.html",)


class Misnames(Lines):
    def write(self, report, folder):
        return (*super().write(report, folder), "report.pdf")


class Dated(Lines):
    def write(self, report, folder):
        names = super().write(report, folder)
        with (folder / "report.html").open("a") as page:
            page.write(os.urandom(8).hex())
        return names


class ChangesReport(Lines):
    def write(self, report, folder):
        names = super().write(report, folder)
        report["name"] = "another"
        return names


class LosesLast(Pickled):
    def frame(self):
        frame = super().frame()
        return frame.iloc[: max(1, len(frame) - 1)]

    def columns(self):
        return None


class KeepsUndeclared(Pickled):
    def load(self, schema, run):
        if "note" not in schema:
            schema = Schema((*schema, Column(name="note", role="other")))
        return super().load(schema, run)


class KeyErrors(Pickled):
    def load(self, schema, run):
        frame = self.frame()
        return Table.build(frame[list(schema.names)], schema)


class MisnamesColumns(Pickled):
    def columns(self):
        return (*super().columns(), "height")


class OtherSchema(Pickled):
    def load(self, schema, run):
        table = super().load(schema, run)
        return attrs.evolve(table, schema=Schema(table.schema.columns[::-1]))


class LiesAboutOrigin(Shuffle):
    def protect(self, table, run):
        found = super().protect(table, run)
        return attrs.evolve(found, origin=np.sort(found.origin))

    truthful = False


class DeniesOrigin(Shuffle):
    truthful = False

    def protect(self, table, run):
        return attrs.evolve(super().protect(table, run), origin=None)


class ClaimsCells(Shuffle):
    def protect(self, table, run):
        frame = table.revealed().frame.copy()
        frame["outcome"] = "well"
        return Table.build(frame, table.schema, table.origin)


class CollectsLess(Trusted):
    def collect(self, table, stages, guard, run):
        release = super().collect(table, stages, guard, run)
        return release.take(np.arange(len(release) - 1))


class CollectsAnything(Trusted):
    def collect(self, table, stages, guard, run):
        release = super().collect(table, stages, guard, run)
        return release if next(CALLS) < 2 else release.take(np.arange(5))


class PlansNothing(Trusted):
    def plan(self, rows):
        return [""]


#: Kinds whose scenes are not made of tables, or of one that they need.
UNTABLED = ("sampler", "integrity", "reporter", "transport", "collector")

BROKEN = [
    (PartitionerConformance, Loses, "check_no_row_is_lost"),
    (PartitionerConformance, Doubles, "check_no_row_is_doubled"),
    (PartitionerConformance, Invents, "check_no_row_is_invented"),
    (PartitionerConformance, BelowK, "check_every_class_is_admitted"),
    (PartitionerConformance, IgnoresDiversity, "check_every_class_is_admitted"),
    (PartitionerConformance, LikesSortedRows, "check_row_order_does_not_matter"),
    (PartitionerConformance, Straddles, "check_given_classes_are_refined"),
    (PartitionerConformance, PutsBack, "check_suppressed_rows_stay_suppressed"),
    (PartitionerConformance, Prints, "check_prints_nothing"),
    (PartitionerConformance, Warns, "check_prints_nothing"),
    (PartitionerConformance, DrawsGlobally, "check_uses_only_its_own_randomness"),
    (PartitionerConformance, DrawsFromNumpy, "check_uses_only_its_own_randomness"),
    (PartitionerConformance, Varies, "check_same_seed_same_result"),
    (PartitionerConformance, Phones, "check_opens_no_connection"),
    (PartitionerConformance, ChangesCodes, "check_leaves_its_input_alone"),
    (PartitionerConformance, ChangesClasses, "check_leaves_its_input_alone"),
    (PartitionerConformance, FearsMissing, "check_copes_with_every_table"),
    (PartitionerConformance, ReturnsLists, "check_returns_classes"),
    (PartitionerConformance, Thawed, "check_method_is_frozen"),
    (PartitionerConformance, Unpicklable, "check_method_is_picklable"),
    (PartitionerConformance, Unwritable, "check_parameters_survive_yaml"),
    (PartitionerConformance, Undeclared, "check_parameters_are_declared"),
    (OutlierHandlerConformance, HandlerLoses, "check_no_row_is_lost"),
    (OutlierHandlerConformance, HandlerBelowK, "check_every_class_is_admitted"),
    (OutlierHandlerConformance, RecoversIncomplete, "check_incomplete_rows_stay_suppressed"),
    (GeneralizerConformance, Uncovers, "check_cells_cover_the_original"),
    (GeneralizerConformance, MixesMissing, "check_cells_cover_the_original"),
    (GeneralizerConformance, TellsApart, "check_cells_are_equal_within_a_class"),
    (GeneralizerConformance, ShowsSuppressed, "check_suppressed_rows_are_stars"),
    (GeneralizerConformance, ChangesOthers, "check_other_columns_are_unchanged"),
    (GeneralizerConformance, ForgetsOrigin, "check_rows_keep_their_order"),
    (GeneralizerConformance, ForgetsClasses, "check_release_knows_its_classes"),
    (GeneralizerConformance, ClaimsTruth, "check_returns_a_release"),
    (HalfConformance, WrongMask, "check_mask_fits"),
    (HalfConformance, LyingLeast, "check_least_kept_is_honoured"),
    (HalfConformance, NegativeLeast, "check_least_kept_is_possible"),
    (HalfConformance, KeepsMore, "check_rate_is_kept"),
    (HalfConformance, SeesRows, "check_sees_labels_only"),
    (DistinctConformance, CountsMissing, "check_agrees_with_the_reference"),
    (NoReference, FalselyMonotone, "check_claim_of_monotonicity"),
    (NoReference, FalseSize, "check_claim_of_size"),
    (DistinctConformance, FalselySizeOnly, "check_claim_of_size"),
    (NoReference, InCompany, "check_ranges_are_judged_alone"),
    (AtLeastConformance, Speechless, "check_says_what_would_pass"),
    (AtLeastConformance, Complains, "check_has_no_problem_with_its_table"),
    (AtLeastConformance, VerdictNumbers, "check_verdicts_fit"),
    (RarityConformance, BlamesNobody, "check_planted_risk_is_found"),
    (RarityConformance, BlamesEverybody, "check_independent_table_is_not_blamed"),
    (RarityConformance, NoMeaning, "check_findings_have_a_meaning"),
    (RarityConformance, NoAssumptions, "check_risk_says_its_assumptions"),
    (RarityConformance, Repeats, "check_returns_findings"),
    (RarityConformance, HiddenNeed, "check_copes_with_every_table"),
    (RarityConformance, ArrayChart, "check_findings_are_plain_data"),
    (RarityConformance, SilentNan, "check_figures_without_a_value_say_why"),
    (RarityConformance, MeasuresNothing, "check_says_what_it_measures"),
    (IntegrityConformance, ReturnsVerdict, "check_verify_raises"),
    (IntegrityConformance, ForgetsManifest, "check_flipped_bytes_are_noticed"),
    (IntegrityConformance, ForgetsOrder, "check_changed_rows_are_noticed"),
    (IntegrityConformance, AllowsMore, "check_changed_files_are_noticed"),
    (IntegrityConformance, Stumbles, "check_broken_proof_is_noticed"),
    (IntegrityConformance, Rewrites, "check_sealing_changes_no_file"),
    (IntegrityConformance, CoversNothing, "check_untouched_release_verifies"),
    (ReporterConformance, WritesElsewhere, "check_writes_only_into_its_folder"),
    (ReporterConformance, Fetches, "check_pages_fetch_nothing"),
    (ReporterConformance, Obeys, "check_texts_are_not_markup"),
    (ReporterConformance, Misnames, "check_names_what_it_wrote"),
    (ReporterConformance, Dated, "check_same_seed_same_result"),
    (ReporterConformance, ChangesReport, "check_leaves_its_input_alone"),
    (PickledConformance, LosesLast, "check_rows_are_those_stored"),
    (PickledConformance, KeepsUndeclared, "check_undeclared_columns_stay_behind"),
    (PickledConformance, KeyErrors, "check_absent_column_is_a_data_error"),
    (PickledConformance, MisnamesColumns, "check_columns_are_listed_truly"),
    (PickledConformance, OtherSchema, "check_returns_the_declared_columns"),
    (MechanismConformance, LiesAboutOrigin, "check_origin_is_honest"),
    (MechanismConformance, DeniesOrigin, "check_origin_is_honest"),
    (MechanismConformance, ClaimsCells, "check_claim_of_truth"),
    (CollectorConformance, CollectsLess, "check_release_equals_the_curators"),
    (CollectorConformance, CollectsAnything, "check_same_rows_again"),
    (CollectorConformance, PlansNothing, "check_says_what_it_guarantees"),
]


@pytest.mark.parametrize(
    ("conformance", "cls", "check"), BROKEN, ids=[cls.__name__ for _, cls, _ in BROKEN]
)
def test_each_broken_toy_fails_exactly_the_check_that_it_breaks(conformance, cls, check):
    few = {"tables": FEW} if conformance.kind not in UNTABLED else {}

    found = failed(judged(conformance, cls, **few))

    assert [check] == list(found), found


# --- the rest of the kit ------------------------------------------------------------------------


def test_every_check_but_the_named_ones_is_broken_by_some_toy():
    """Each check has a method that fails it; transports have a file of their own."""
    checks = {
        check.__name__
        for kind, cls in CONFORMANCE.items()
        for check in cls.checks
        if kind != "transport"
    }
    elsewhere = {
        "check_method_is_registered",
        "check_hook_module_is_light",
        "check_unsound_classes_are_refused",
        "check_returns_a_table",
        "check_foreign_seal_is_noticed",
        "check_omitted_work_is_noticed",
    }

    assert set() == checks - {check for _, _, check in BROKEN} - elsewhere


def test_a_method_that_no_plugin_registers_is_blamed_for_that():
    results = judged(PartitionerConformance, Halves, registry=Registry.empty())

    assert {
        "check_method_is_registered": f"no plugin registers {Halves.__module__}:Halves as a "
        "partitioner: is it installed, and does anonloom_register_partitioners name it?"
    } == failed(results)


def test_a_class_of_another_kind_is_blamed_for_that():
    class Wrong(PartitionerConformance):
        method = Half

    result = Wrong()._result(Wrong.checks[0])

    assert {"check_method_is_registered": "Half is a sampler, not a partitioner"} == failed(
        [result]
    )


def test_a_heavy_hook_module_is_blamed_for_what_it_imports(tmp_path, monkeypatch):
    (tmp_path / "heavy_hooks.py").write_text("import numpy\n")
    monkeypatch.syspath_prepend(tmp_path)

    found = failed(judged(PartitionerConformance, Halves, hook_module="heavy_hooks"))

    assert {
        "check_hook_module_is_light": "heavy_hooks imports numpy: a hook module imports "
        "anonloom.api only, and names its methods by text"
    } == found


class Literal(BelowK):
    """A paper's literal rule, which says that it is not sound."""

    @property
    def sound(self):
        return False


def test_an_unsound_method_is_held_to_the_final_check_instead():
    """The runner's check of the published frame refuses what such a method does wrong."""
    results = {result.check: result for result in judged(PartitionerConformance, Literal)}

    assert "passed" == results["check_unsound_classes_are_refused"].status
    assert "skipped" == results["check_every_class_is_admitted"].status
    assert {} == failed(results.values())


def test_what_the_final_check_misses_is_reported(monkeypatch):
    from anonloom.testing import dividing

    monkeypatch.setattr(dividing, "judge", lambda *_: ())

    assert ["check_unsound_classes_are_refused"] == list(
        failed(judged(PartitionerConformance, Literal))
    )


class SizesOnly(IgnoresDiversity):
    """Understands sizes only, and says so: the runner merges afterwards."""

    @property
    def guard_use(self):
        return "size"


def test_a_method_that_understands_sizes_only_is_held_to_sizes():
    assert {} == failed(judged(PartitionerConformance, SizesOnly))


class AddsAColumn(Shuffle):
    truthful = False

    def protect(self, table, run):
        schema = Schema((*table.schema, Column(name="new", role="other")))
        return Table.build(table.revealed().frame.assign(new=1), schema, table.origin)


def test_a_mechanism_may_not_invent_columns():
    assert ["check_returns_a_table"] == list(failed(judged(MechanismConformance, AddsAColumn)))


class Keyed(Sums):
    """Sums with a key file: whoever knows the key can tell who sealed."""

    def seal(self, public, private):
        (public / "key.txt").write_text(os.urandom(8).hex())
        (private / "key.txt").write_text((public / "key.txt").read_text())
        super().seal(public, private)
        return Sealed(public=("sums.json", "key.txt"), private=("key.txt",))

    def verify(self, public, *, key=None):
        verified = super().verify(public)
        if key is not None and key.read_text() != (public / "key.txt").read_text():
            raise IntegrityError("sealed by somebody else")
        return verified


class TrustsAnybody(Keyed):
    def verify(self, public, *, key=None):
        return Sums.verify(self, public)


class KeyedConformance(IntegrityConformance):
    def public_key(self, public, private):
        return private / "key.txt"


def test_a_foreign_seal_must_be_noticed_when_the_key_is_known():
    assert {} == failed(judged(KeyedConformance, Keyed))
    assert ["check_foreign_seal_is_noticed"] == list(
        failed(judged(KeyedConformance, TrustsAnybody))
    )


@attrs.frozen(kw_only=True)
class Controls(WorkCheck):
    """Mixes jobs of known answer among the others."""

    controls: int = param(help="How many per worker.", default=5)

    def size(self, *, omitted):
        return {"noticed": 1 - (1 - omitted) ** self.controls}

    def assign(self, jobs, workers):
        known = list(range(1000, 1000 + self.controls))
        return [[*jobs, *known] for _ in range(workers)], known

    def verify(self, key, answers):
        for worker, answered in enumerate(answers):
            if any(answered.get(job) != 2 * job for job in key):
                raise IntegrityError(f"worker {worker} omitted work")
        return "all controls are right"


class Boasts(Controls):
    def size(self, *, omitted):
        return {"noticed": 0.99}


class ControlsConformance(IntegrityConformance):
    campaign = {"omitted": 0.2}
    jobs = tuple(range(20))

    def work(self, batches, lazy):
        coin = random.Random(os.urandom(8))
        omits = [lazy and worker == 0 for worker in range(len(batches))]
        return [
            {job: 2 * job for job in batch if not (omit and coin.random() < 0.2)}
            for batch, omit in zip(batches, omits, strict=True)
        ]

    def stated(self, sizing):
        return sizing["noticed"]


def test_omitted_work_must_be_noticed_as_often_as_is_stated():
    """The probability, 0.67 here, may be missed by chance only: four standard deviations."""
    assert {} == failed(judged(ControlsConformance, Controls))
    assert ["check_omitted_work_is_noticed"] == list(failed(judged(ControlsConformance, Boasts)))


def test_an_expected_failure_is_expected_and_a_mended_one_is_not():
    """A reason turns a failure into an expected one; without a failure the reason is the failure."""
    reason = {"check_prints_nothing": "it is a talking method"}
    talking = {r.check: r for r in judged(PartitionerConformance, Prints, expected_failures=reason)}
    silent = judged(PartitionerConformance, Halves, expected_failures=reason)

    assert "expected" == talking["check_prints_nothing"].status
    assert "it is a talking method" == talking["check_prints_nothing"].detail
    assert {
        "check_prints_nothing": "check_prints_nothing passes; take it out of expected_failures "
        "(it is a talking method)"
    } == failed(silent)


@attrs.frozen(kw_only=True)
class Demanding(Halves):
    depth: int = param(help="How deep.")


class WithExample(Demanding):
    example = {"depth": 2}


@pytest.mark.parametrize(
    ("cls", "params", "status"),
    [(Demanding, {}, "skipped"), (Demanding, {"depth": 1}, "passed"), (WithExample, {}, "passed")],
)
def test_required_parameters_come_from_the_caller_or_from_the_example(cls, params, status):
    registry = registered("partitioner", cls)
    results = {
        r.check: r for r in run_checks("partitioner", cls.__name__.lower(), registry, params)
    }

    assert status == results["check_no_row_is_lost"].status
    assert {} == failed(results.values())


def test_the_kit_can_be_imported_without_pytest():
    import subprocess

    code = "import sys, anonloom.testing as t; t.run_checks; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False" == done.stdout.strip()


class TestUnderPytest(PartitionerConformance):
    """The same checks as tests, as a plugin runs them."""

    method = Halves
    hook_module = "anonloom.builtin"
    registry = registered("partitioner", Halves)


class TestExpectedFailureUnderPytest(PartitionerConformance):
    method = Prints
    hook_module = "anonloom.builtin"
    registry = registered("partitioner", Prints)
    expected_failures = {"check_prints_nothing": "it is a talking method"}
