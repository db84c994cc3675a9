"""Generalizers that keep their promises, and those that break one."""

import attrs
import numpy as np
from kit_toy_tests import ToyTests

from anonloom import Generalizer, Release
from anonloom_testing import GeneralizerConformance


#: The tables that matter to the broken toys; the good ones meet all of them.
@attrs.frozen(kw_only=True)
class Extents(Generalizer):
    """Publishes every class's own extent."""

    def generalize(self, table, classes, context):
        sets = [
            axis.publish_sets([np.unique(codes[classes.members(c)]) for c in range(len(classes))])
            for axis, codes in zip(table.axes, table.codes, strict=True)
        ]
        lo, hi = classes.extents(table.codes)
        cells = [
            sets[index] if axis.form == "set" else axis.publish(lo[:, index], hi[:, index])
            for index, axis in enumerate(table.axes)
        ]
        return Release.from_cells(table, classes, cells, truthful=self.truthful)


class Uncovers(Extents):
    def generalize(self, table, classes, context):
        lo, _ = classes.extents(table.codes)
        cells = [axis.publish(lo[:, index], lo[:, index]) for index, axis in enumerate(table.axes)]
        return Release.from_cells(table, classes, cells, truthful=True)


class MixesMissing(Extents):
    """Publishes an interval for a class in which a value is missing."""

    def generalize(self, table, classes, context):
        release = super().generalize(table, classes, context)
        if "age" not in table.schema or table.axes[0].missing < 0:
            return release
        cells = release.frame["age"].astype(object)
        wrong = (cells == "*") & (release.classes >= 0)
        return attrs.evolve(
            release, frame=release.frame.assign(age=cells.where(~wrong, "[0, 200]"))
        )


class TellsApart(Extents):
    def generalize(self, table, classes, context):
        release = super().generalize(table, classes, context)
        name = table.schema.quasi[0]
        cells = release.frame[name].astype(object).tolist()
        cells[0] = "*"
        return attrs.evolve(release, frame=release.frame.assign(**{name: cells}))


class ShowsSuppressed(Extents):
    def generalize(self, table, classes, context):
        release = super().generalize(table, classes, context)
        name = table.schema.quasi[0]
        cells = np.array(release.frame[name].astype(object).tolist(), object)
        shown = np.array(table.axes[0].texts(table.codes[0]), object)
        order = np.sort(np.append(classes.rows, classes.suppressed))
        cells[release.classes < 0] = shown[order][release.classes < 0]
        return attrs.evolve(release, frame=release.frame.assign(**{name: cells}))


class ChangesOthers(Extents):
    def generalize(self, table, classes, context):
        release = super().generalize(table, classes, context)
        return attrs.evolve(release, frame=release.frame.assign(outcome="well"))


class ForgetsOrigin(Extents):
    def generalize(self, table, classes, context):
        return attrs.evolve(super().generalize(table, classes, context), origin=None)


class ForgetsClasses(Extents):
    def generalize(self, table, classes, context):
        return attrs.evolve(super().generalize(table, classes, context), classes=None)


class ClaimsTruth(Extents):
    def generalize(self, table, classes, context):
        return attrs.evolve(super().generalize(table, classes, context), truthful=False)


class TestToys(ToyTests):
    good = [(GeneralizerConformance, Extents)]
    broken = [
        (GeneralizerConformance, Uncovers, "check_cells_cover_the_original"),
        (GeneralizerConformance, MixesMissing, "check_cells_cover_the_original"),
        (GeneralizerConformance, TellsApart, "check_cells_are_equal_within_a_class"),
        (GeneralizerConformance, ShowsSuppressed, "check_suppressed_rows_are_stars"),
        (GeneralizerConformance, ChangesOthers, "check_other_columns_are_unchanged"),
        (GeneralizerConformance, ForgetsOrigin, "check_rows_keep_their_order"),
        (GeneralizerConformance, ForgetsClasses, "check_release_knows_its_classes"),
        (GeneralizerConformance, ClaimsTruth, "check_returns_a_release"),
    ]
    on_tables = True
