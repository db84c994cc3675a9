"""Partitioners that keep their promises, and those that break exactly one of them."""

import random
import socket

import attrs
import numpy as np
from kit_toy_tests import ToyTests

from anonloom import Classes, Guard, Partitioner, param
from anonloom_testing import PartitionerConformance


#: The tables that matter to the broken toys; the good ones meet all of them.
@attrs.frozen(kw_only=True)
class Halves(Partitioner):
    """Cuts each given class in two where the guard allows it."""

    def partition(self, table, classes, guard, context):
        classes = classes.suppress(~guard.admits_classes(table, classes))
        labels = np.repeat(2 * np.arange(len(classes)), classes.sizes)
        for which in range(len(classes)):
            start, stop = classes.bounds[which], classes.bounds[which + 1]
            middle = (start + stop) // 2
            ends = np.array([start, middle]), np.array([middle, stop])
            if guard.admits(table, classes.rows, *ends).all():
                labels[middle:stop] += 1
        return Classes.from_labels(labels, rows=classes.rows, suppressed=classes.suppressed)


class Loses(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        return attrs.evolve(result, suppressed=result.suppressed[1:])


class Doubles(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        return attrs.evolve(result, suppressed=np.append(result.suppressed, result.rows[:1]))


class Invents(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        rest = np.setdiff1d(np.arange(len(table)), np.append(classes.rows, classes.suppressed))
        return attrs.evolve(result, suppressed=np.append(result.suppressed, rest[:1]))


class BelowK(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        if len(result) and result.sizes[0] > 1:
            return attrs.evolve(result, bounds=np.insert(result.bounds, 1, 1), regions=None)
        return result


class IgnoresDiversity(Halves):
    def partition(self, table, classes, guard, context):
        only_size = Guard(guard.models[:1], guard.least_kept)
        return super().partition(table, classes, only_size, context)


class LikesSortedRows(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        if len(table) > 80 and len(classes) == 1 and (np.diff(table.codes[0]) <= 0).all():
            return attrs.evolve(result, bounds=np.insert(result.bounds, 1, 1))
        return result


class Straddles(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        if len(classes) < 2 or not len(result):
            return result
        merged = Classes.whole(result.rows, result.suppressed)
        return merged if guard.admits_classes(table, merged).all() else result


class PutsBack(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        if not len(result):
            return result
        rows = np.append(result.rows, classes.suppressed[:1])
        bounds = np.append(result.bounds[:-1], len(rows))
        back = Classes(rows, bounds, np.setdiff1d(result.suppressed, classes.suppressed[:1]))
        return back if guard.admits_classes(table, back).all() else result


class Prints(Halves):
    def partition(self, table, classes, guard, context):
        print("cutting")
        return super().partition(table, classes, guard, context)


class Warns(Halves):
    def partition(self, table, classes, guard, context):
        np.log(np.zeros(1))
        return super().partition(table, classes, guard, context)


class DrawsGlobally(Halves):
    def partition(self, table, classes, guard, context):
        random.random()
        return super().partition(table, classes, guard, context)


class DrawsFromNumpy(Halves):
    def partition(self, table, classes, guard, context):
        np.random.rand()  # noqa: NPY002
        return super().partition(table, classes, guard, context)


class Varies(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        rows = result.rows.copy()
        if len(result):
            # Drawn from the system: no seed reaches it.
            np.random.default_rng().shuffle(rows[: result.bounds[1]])
        return attrs.evolve(result, rows=rows)


class Phones(Halves):
    def partition(self, table, classes, guard, context):
        with socket.socket() as home:
            home.connect(("192.0.2.1", 80))
        return super().partition(table, classes, guard, context)


class ChangesCodes(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        table.codes[0, 0] += 1
        return result


class ChangesClasses(Halves):
    def partition(self, table, classes, guard, context):
        result = super().partition(table, classes, guard, context)
        classes.rows[:] = classes.rows[::-1].copy()
        return result


class FearsMissing(Halves):
    def partition(self, table, classes, guard, context):
        if any(axis.missing >= 0 for axis in table.axes):
            raise ValueError("a value is missing")
        return super().partition(table, classes, guard, context)


class SaysSo(FearsMissing):
    """May raise where it said beforehand that the table does not suit it."""

    def problem(self, schema):
        return "values may be missing" if all(c.missing == "own" for c in schema) else None

    def partition(self, table, classes, guard, context):
        if self.problem(table.schema):
            raise ValueError("a value is missing")
        return Halves.partition(self, table, classes, guard, context)


class Complains(Halves):
    def problem(self, schema):
        return "it has regions" if "region" in schema else None


class ReturnsLists(Halves):
    def partition(self, table, classes, guard, context):
        return super().partition(table, classes, guard, context).rows.tolist()


@attrs.define(kw_only=True)
class Thawed(Partitioner):
    def partition(self, table, classes, guard, context):
        return Halves().partition(table, classes, guard, context)


class Unpicklable(Halves):
    def __reduce__(self):
        raise TypeError("cannot be pickled")


@attrs.frozen(kw_only=True)
class Unwritable(Halves):
    shape: object = param(help="A set, which YAML cannot write.", default=frozenset({1}))


@attrs.frozen(kw_only=True)
class Undeclared(Halves):
    depth: int = attrs.field(default=3)


class TestToys(ToyTests):
    good = [(PartitionerConformance, Halves), (PartitionerConformance, SaysSo)]
    broken = [
        (PartitionerConformance, Loses, "check_no_row_is_lost"),
        (PartitionerConformance, Doubles, "check_no_row_is_doubled"),
        (PartitionerConformance, Invents, "check_no_row_is_invented"),
        (PartitionerConformance, BelowK, "check_every_class_is_admitted"),
        (PartitionerConformance, IgnoresDiversity, "check_every_class_is_admitted"),
        (PartitionerConformance, LikesSortedRows, "check_row_order_does_not_matter"),
        (PartitionerConformance, Straddles, "check_given_classes_are_refined"),
        (PartitionerConformance, PutsBack, "check_suppressed_rows_stay_suppressed"),
        (PartitionerConformance, Complains, "check_has_no_problem_with_its_table"),
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
    ]
    on_tables = True
    elsewhere = {
        "check_method_is_registered",
        "check_hook_module_is_light",
        "check_unsound_classes_are_refused",
        "check_says_no_cell",
        "check_representations_are_short",
    }
    shared = ()


class Literal(BelowK):
    """A paper's literal rule, which says that it is not sound."""

    @property
    def sound(self):
        return False


def test_an_unsound_method_is_held_to_the_final_check_instead(judged):
    """The runner's check of the published frame refuses what such a method does wrong."""
    results = judged(PartitionerConformance, Literal)
    status = {result.check: result.status for result in results}

    assert "passed" == status["check_unsound_classes_are_refused"]
    assert "skipped" == status["check_every_class_is_admitted"]
    assert {} == results.failed


def test_what_the_final_check_misses_is_reported(judged, monkeypatch):
    from anonloom_testing import class_checks

    monkeypatch.setattr(class_checks, "judge_models", lambda *_: ())

    assert ["check_unsound_classes_are_refused"] == list(
        judged(PartitionerConformance, Literal).failed
    )


class SizesOnly(IgnoresDiversity):
    """Understands sizes only, and says so: the runner merges afterwards."""

    @property
    def guard_use(self):
        return "size"


def test_a_method_that_understands_sizes_only_is_held_to_sizes(judged):
    assert {} == judged(PartitionerConformance, SizesOnly).failed
