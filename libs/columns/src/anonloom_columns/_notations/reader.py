"""From what a cell of another tool states to the codes of an axis."""

from collections.abc import Sequence

import numpy as np

from anonloom.cells import STAR, place
from anonloom.data import Axis, Cover
from anonloom_columns._notations.statements import Masked, Members, Missing, Span, Vocabulary
from anonloom_columns._notations.table import read_notation


class NotationReader:
    """Reads cells as other tools write them; `table.with_reader(NotationReader)` installs it.

    It is asked when a cell is no value of the original, no node and in no form of ours.
    """

    def __init__(self, axis: Axis) -> None:
        self._axis = axis
        own = axis.texts(np.arange(axis.value_count))
        self._vocabulary = Vocabulary(axis.type, [text for text in own if text is not None])

    def __call__(self, text: str) -> Cover | None:
        """Return what a cell covers, or None when it is in no notation that is known."""
        statement = read_notation(text, self._vocabulary)
        if statement is None:
            return None
        if isinstance(statement, Span):
            return self._axis.cover_between(statement.first, statement.last)
        if isinstance(statement, Members):
            return self._cover_members(statement.texts)
        if isinstance(statement, Masked):
            places = statement.places
            return Cover(int(places[0]), int(places[-1]), members=places, form="nodes")
        no_value = self._axis.read(None) if isinstance(statement, Missing) else None
        # Where the original has every value, one that is missing was taken away.
        return no_value or self._axis.read(STAR)

    def _cover_members(self, members: Sequence[str]) -> Cover:
        axis = self._axis
        if axis.type == "category":
            codes = {self._vocabulary.known[member] for member in members}
            ends = None
        else:
            places = [place(member, axis.type) or 0.0 for member in members]
            covers = [axis.cover_between(single, single) for single in places]
            codes = {cover.first for cover in covers if cover is not None and len(cover)}
            ends = (min(places), max(places))
        first, last = (min(codes), max(codes)) if codes else (0, -1)
        if first == last and (ends is None or ends[0] == ends[1]):
            return Cover(first, last)
        members_of = np.array(sorted(codes), np.int64)
        return Cover(first, last, members=members_of, form="set", ends=ends)
