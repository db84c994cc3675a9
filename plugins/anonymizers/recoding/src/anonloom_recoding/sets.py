"""Generalizer `sets`: the values that occur in a class, and no others."""

import attrs

from anonloom import Classes, Generalizer, Release, StageContext, Table
from anonloom_recoding.members import set_cells


@attrs.frozen(kw_only=True)
class Sets(Generalizer):
    """Publishes every quasi-identifier as the set of its values in the class."""

    def generalize(self, table: Table, classes: Classes, context: StageContext) -> Release:
        """Return the release."""
        cells = [
            set_cells(axis, codes, classes)
            for axis, codes in zip(table.axes, table.codes, strict=True)
        ]
        return Release.from_cells(table, classes, cells, truthful=self.truthful)
