"""Figures: how many people several releases expose, beside each release alone; and who they are."""

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce

import attrs
import numpy as np

from anonloom import Chart, Finding, StageContext, short_repr
from anonloom.findings import FindingBuilder, Item, PrivateRows
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_intersection.candidates import Candidates
from anonloom_intersection.difference import Newcomers

#: The chart counts up to so many candidates.
MOST_SHOWN = 10


@short_repr
@attrs.frozen(kw_only=True, eq=False)
class ColumnFigures:
    """What is left of one sensitive column.

    Attributes
    ----------
    singles
        What each release by itself leaves possible for everybody of the original.
    newcomers
        One for every pair of releases of which somebody is known to be in the first alone.
    unfit
        Why nothing can be said; empty when something can.
    """

    name: str
    attacked: BoolArray
    singles: tuple[Candidates, ...]
    newcomers: list[Newcomers]
    l: int  # noqa: E741  # the papers call it l
    k: int
    assumptions: tuple[str, ...]
    unfit: str

    @cached_property
    def together(self) -> Candidates:
        """What all releases leave possible."""
        return reduce(Candidates.intersect, self.singles)

    @property
    def disclosed(self) -> BoolArray:
        """People attacked of whom one value is left, their own."""
        return self.attacked & self.together.disclosed

    @property
    def disclosed_singly(self) -> BoolArray:
        """The same by one release alone."""
        return self.attacked & _any(one.disclosed for one in self.singles)

    def items(self) -> list[Item]:
        """Return the figures, the chart and the rows."""
        items: list[Item] = [*self._counts(), *self._newcomer_counts()]
        if self.unfit:
            return items
        return [*items, self._chart(), *self._rows(), *self._newcomer_rows()]

    def warn(self, context: StageContext) -> None:
        """Warn of people for whom other releases leave fewer values than each release does."""
        if self.unfit:
            return
        singly = _any(self._few_values(one) for one in self.singles)
        people = int((self._few_values(self.together) & ~singly).sum())
        new = int(((self._left_of_newcomers < self.l) & ~(self._left_alone < self.l)).sum())
        if people or new:
            context.warn(
                f"the releases together leave fewer than {self.l} values of '{self.name}' for "
                f"{people} people, and for {new} who are in one of them alone, which no release "
                "does by itself",
                privacy=True,
            )

    def _counts(self) -> Iterable[Finding]:
        finding = FindingBuilder(self.assumptions, self.unfit)
        few_values, few_rows = self._few_values(self.together), self._few_rows(self.together)
        singly_values = _any(self._few_values(one) for one in self.singles)
        singly_rows = _any(self._few_rows(one) for one in self.singles)
        name, l, k = self.name, self.l, self.k  # noqa: E741  # the papers call it l
        for figure, people, singly, words in (
            ("disclosed", self.disclosed, self.disclosed_singly,
             f"whose value of '{name}' is the only one left"),
            ("below_l", few_values, singly_values,
             f"for whom fewer than {l} values of '{name}' are left"),
            ("below_k", few_rows, singly_rows,
             f"for whom fewer than {k} rows with a possible value of '{name}' are left"),
        ):  # fmt: skip
            yield finding(f"people_{figure}.{name}", int(people.sum()),
                          f"Number of people {words} when all releases are put together.",
                          unit="people", key=figure == "below_l")  # fmt: skip
            yield finding(f"people_{figure}_single.{name}", int(singly.sum()),
                          f"The same by one of the releases alone: people {words} there.",
                          unit="people")  # fmt: skip

    def _few_values(self, candidates: Candidates) -> BoolArray:
        return self.attacked & candidates.right & (candidates.values < self.l)

    def _few_rows(self, candidates: Candidates) -> BoolArray:
        return self.attacked & candidates.right & (candidates.rows < self.k)

    def _newcomer_counts(self) -> Iterable[Finding]:
        finding = FindingBuilder(
            (*self.assumptions, "the attacker knows who is new, or has left"), self.unfit
        )
        lacking = (
            "" if self.newcomers else "nobody is known to be in one release and not in another"
        )
        difference, alone = self._left_of_newcomers, self._left_alone
        people = len(np.unique(np.concatenate([[], *(pair.people for pair in self.newcomers)])))
        for figure, least, words in (
            ("disclosed", 2, f"whose value of '{self.name}' is the only one left"),
            ("below_l", self.l, f"for whom fewer than {self.l} values of '{self.name}' are left"),
        ):
            yield finding(f"newcomers_{figure}.{self.name}", int((difference < least).sum()),
                          f"Number of people in one release alone {words} when another release is "
                          "taken out of it.", lacking=lacking, unit="people",
                          assumptions=(f"{people} people are in one release alone",),
                          key=figure == "below_l")  # fmt: skip
            yield finding(f"newcomers_{figure}_single.{self.name}", int((alone < least).sum()),
                          "The same by the release that they are in alone.",
                          lacking=lacking, unit="people")  # fmt: skip

    @cached_property
    def _left_of_newcomers(self) -> FloatArray:
        return self._fewest((pair.people, pair.candidates) for pair in self.newcomers)

    @cached_property
    def _left_alone(self) -> FloatArray:
        return self._fewest((pair.people, pair.alone) for pair in self.newcomers)

    def _fewest(self, results: Iterable[tuple[IntArray, Candidates]]) -> FloatArray:
        """Return for everybody the fewest values that are left rightly; infinite for the others."""
        fewest = np.full(len(self.attacked), np.inf)
        for people, candidates in results:
            left = np.where(candidates.right, candidates.values, np.inf)
            fewest[people] = np.minimum(fewest[people], left)
        return fewest

    def _rows(self) -> Iterable[PrivateRows]:
        fewest = 1.0 / np.maximum(self.together.values, 1)
        yield from _private_rows(
            f"below_l.{self.name}", np.flatnonzero(self._few_values(self.together)), fewest,
            f"Rows of people for whom fewer than {self.l} values of '{self.name}' are left when "
            "all releases are put together; the score is 1 divided by how many.",
        )  # fmt: skip
        fewest = 1.0 / np.maximum(self.together.rows, 1)
        yield from _private_rows(
            f"below_k.{self.name}", np.flatnonzero(self._few_rows(self.together)), fewest,
            f"Rows of people for whom fewer than {self.k} rows fit all releases; the score is 1 "
            "divided by how many.",
        )  # fmt: skip

    def _newcomer_rows(self) -> Iterable[PrivateRows]:
        left = self._left_of_newcomers
        yield from _private_rows(
            f"newcomers_below_l.{self.name}", np.flatnonzero(left < self.l), 1.0 / left,
            f"Rows of people in one release alone for whom fewer than {self.l} values of "
            f"'{self.name}' are left when another release is taken out of it; the score is 1 "
            "divided by how many.",
        )  # fmt: skip

    def _chart(self) -> Chart:
        labels = [*(str(number) for number in range(1, MOST_SHOWN)), f"{MOST_SHOWN} or more"]
        fewest = np.min([one.values for one in self.singles], axis=0)
        return Chart(
            name=f"candidates.{self.name}",
            kind="bars",
            title=f"Values of '{self.name}' left",
            x="values that are possible for a person",
            y="share of the people attacked",
            meaning="How many values the one release that says most leaves possible for a person, "
            "and how many all releases leave together.",
            data={
                "labels": labels,
                "one release": self._shares(fewest),
                "all releases": self._shares(self.together.values),
            },
        )

    def _shares(self, values: IntArray) -> list[float]:
        right = self.attacked & self.together.right
        bins = np.minimum(values[right], MOST_SHOWN)
        counts = np.bincount(bins, minlength=MOST_SHOWN + 1)[1:]
        return [float(share) for share in counts / max(int(self.attacked.sum()), 1)]


def disclosed_people(
    columns: Sequence[ColumnFigures],
    attacked: BoolArray,
    outside: BoolArray | None,
    finding: FindingBuilder,
) -> list[Finding]:
    """Return the share of the people attacked who lose a sensitive value, beside its baselines.

    Parameters
    ----------
    outside
        Who of the control would be found as well; None without a control.
    """
    people = int(attacked.sum())
    nobody = "" if people else "nobody is known to be in all releases"
    together = _any([column.disclosed for column in columns], len(attacked))
    singly = _any([column.disclosed_singly for column in columns], len(attacked))
    beside = (
        f"{int(together.sum())} of {people} people attacked",
        "without a control it is not known how many people outside would be found as well"
        if outside is None
        else f"{int(outside.sum())} of {len(outside)} people outside the releases",
    )
    control = "no control: no people who are known to be in none of the releases"
    return [
        finding("people_attacked", people, "People of the original who are attacked.", "neither",
                unit="people"),
        finding("disclosed", float(together.sum() / max(people, 1)),
                "Share of the people attacked of whom a sensitive value is the only one left when "
                "all releases are put together.", lacking=nobody, assumptions=beside, key=True),
        finding("disclosed_single", float(singly.sum() / max(people, 1)),
                "The same by one of the releases alone.", lacking=nobody),
        finding("disclosed_control", None if outside is None else float(outside.mean()),
                "Share of people outside the releases of whom a sensitive value would be taken for "
                "the only one left, and rightly.", "neither",
                lacking=control if outside is None else ""),
    ]  # fmt: skip


def _any(marks: Iterable[BoolArray], people: int | None = None) -> BoolArray:
    marks = list(marks)
    return np.any(marks, axis=0) if marks else np.zeros(people or 0, bool)


def _private_rows(
    name: str, rows: IntArray, scores: FloatArray, meaning: str
) -> Iterable[PrivateRows]:
    """Yield the rows, the most exposed first; nothing where there are none."""
    if len(rows):
        order = rows[np.argsort(-scores[rows], kind="stable")]
        yield PrivateRows(name=name, rows=order, scores=scores[order], meaning=meaning)
