"""The rows of a table as what donors send, and the release as what became of them.

In process one program knows whose record is whose. It says so to auditors, who compare with the
truth; no server and no recipient could.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Release, Table
from anonloom.errors import DataError
from anonloom.lazy import pd
from anonloom_anonify.campaign import Campaign
from anonloom_anonify.pipeline_work import spread
from anonloom_anonify.planning import Layouts
from anonloom_anonify.recipient import Recipient

Rows = NDArray[np.int64]


@attrs.frozen(eq=False)
class DonorData:
    """Who sends what.

    Attributes
    ----------
    rows
        (iterations x donors): the row with which each donor answers, -1 for no answer.
    """

    table: Table = attrs.field(repr=False)
    layouts: Layouts
    rows: Rows = attrs.field(repr=False)

    @classmethod
    def of(cls, table: Table, iterations: int, layouts: Layouts) -> "DonorData":
        """Let every row, or every person, be a donor.

        The rows of a person are answers to one iteration after the other, in their order; her
        quasi-identifiers are those of the first.

        Raises
        ------
        DataError
            When a person has more rows than there are iterations, or a row has no person.
        """
        persons = table.persons
        if table.unknown_persons is not None:
            count = int(table.unknown_persons.sum())
            raise DataError(
                f"{count} {'row has' if count == 1 else 'rows have'} no person, and whoever is not "
                "known cannot donate",
                hint="Leave these rows out of the table.",
            )
        if persons is None:
            rows = np.full((iterations, len(table)), -1, np.int64)
            rows[0] = np.arange(len(table))
            return cls(table, layouts, rows)
        donors, number = np.unique(persons, return_inverse=True)
        order = np.argsort(number, kind="stable")
        sizes = np.bincount(number)
        starts = np.cumsum(sizes) - sizes
        if sizes.max(initial=0) > iterations:
            raise DataError(
                f"a person has up to {sizes.max()} rows, and donors answer {iterations} "
                f"{'time' if iterations == 1 else 'times'}: set 'iterations', or keep one row each"
            )
        rows = np.full((iterations, len(donors)), -1, np.int64)
        rows[np.arange(len(order)) - np.repeat(starts, sizes), number[order]] = order
        return cls(table, layouts, rows)

    @property
    def donors(self) -> int:
        """Number of donors."""
        return len(self.rows[0])

    @property
    def records(self) -> NDArray[np.uint8]:
        """The encoded quasi-identifiers of every donor."""
        encoded: NDArray[np.uint8] = self.layouts.registration.encode(self.table)[self.rows[0]]
        return encoded

    @property
    def answers(self) -> list[tuple[NDArray[np.uint8], NDArray[np.bool_]]]:
        """For every iteration the encoded answers of all donors, and who has one."""
        encoded = self.layouts.answer.encode(self.table)
        return [(encoded[rows], rows >= 0) for rows in self.rows]

    # --- what became of them --------------------------------------------------------------------

    def release(self, campaign: Campaign, recipient: Recipient) -> Release:
        """Return what the recipient got, as a release of this table."""
        parts = sorted(recipient.opened.items())
        if not parts:
            raise DataError("no iteration was opened: there is nothing to publish")
        numbers = np.concatenate([opened.numbers for _, opened in parts])
        answers = np.concatenate([opened.answers for _, opened in parts])
        rows = np.concatenate([self.rows[index - 1, campaign.owners[index]] for index, _ in parts])
        frame = self.layouts.answer.decode(answers).frame
        given = Table.build(frame, self.layouts.answer.schema).frame
        cells = campaign.cells
        joins = [join.hex() for _, opened in parts for join in opened.joins]
        return self._release(numbers, rows, cells, given, joins)

    def unsampled_release(self, campaign: Campaign) -> Release:
        """Return what would have been published of everybody in a class, had nothing been erased.

        Nobody ever holds that; it is for auditors, who compare before and after sampling.
        """
        numbers = np.array(
            [-1 if number is None else number for number in campaign.numbers], np.int64
        )
        classed = (self.rows >= 0) & (numbers >= 0)
        index, donors = np.nonzero(classed)
        rows = self.rows[index, donors]
        given = self.table.frame.take(rows).reset_index(drop=True)
        joins = [str(donor) for donor in donors.tolist()]
        return self._release(numbers[donors], rows, campaign.cells, given, joins)

    def _release(
        self,
        numbers: Rows,
        rows: Rows,
        cells: tuple[tuple[str | None, ...], ...],
        given: "pd.DataFrame",
        joins: list[str],
    ) -> Release:
        schema, columns = self.table.schema, dict[str, Any]()
        for name in schema.published_names:
            if name in schema.quasi:
                columns[name] = spread(cells, schema.quasi.index(name), numbers)
            elif schema[name].pseudonymize:
                columns[name] = pd.Series(pd.Categorical(joins))
            else:
                columns[name] = given[name]
        return Release(
            schema=schema,
            frame=pd.DataFrame(columns, index=pd.RangeIndex(len(rows))),
            origin=None if self.table.origin is None else self.table.origin[rows],
            classes=numbers - 1,
        )
