"""Outlier handlers that keep their promises, and those that break one."""

import attrs
import numpy as np
from kit_toy_tests import ToyTests

from anonloom import Classes, OutlierHandler
from anonloom_testing import OutlierHandlerConformance
from anonloom_testing.class_checks import CLASS_CHECKS


#: The tables that matter to the broken toys; the good ones meet all of them.
@attrs.frozen(kw_only=True)
class Leave(OutlierHandler):
    """Moves nothing."""

    def handle(self, table, classes, guard, context):
        return classes


class HandlerLoses(Leave):
    def handle(self, table, classes, guard, context):
        return attrs.evolve(classes, suppressed=classes.suppressed[:-1])


class HandlerBelowK(Leave):
    def handle(self, table, classes, guard, context):
        if len(classes) and classes.sizes[0] > 1:
            return attrs.evolve(classes, bounds=np.insert(classes.bounds, 1, 1))
        return classes


class RecoversIncomplete(Leave):
    def handle(self, table, classes, guard, context):
        back = np.flatnonzero(table.incomplete)
        if not len(back) or not len(classes):
            return classes
        rows = np.append(classes.rows, back)
        left = np.setdiff1d(classes.suppressed, back)
        moved = Classes(rows, np.append(classes.bounds[:-1], len(rows)), left)
        return moved if guard.admits_classes(table, moved).all() else classes


class TestToys(ToyTests):
    good = [(OutlierHandlerConformance, Leave)]
    broken = [
        (OutlierHandlerConformance, HandlerLoses, "check_no_row_is_lost"),
        (OutlierHandlerConformance, HandlerBelowK, "check_every_class_is_admitted"),
        (OutlierHandlerConformance, RecoversIncomplete, "check_incomplete_rows_stay_suppressed"),
    ]
    on_tables = True
    shared = CLASS_CHECKS
