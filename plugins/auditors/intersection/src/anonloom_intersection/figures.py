"""Figures: how many people several releases expose, beside each release alone; and who they are."""

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce

import attrs
import numpy as np

from anonloom import Chart, Finding, StageContext, short_repr
from anonloom.findings import FindingBuilder, Item, PrivateRows
from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_intersection.candidates import Candidates
from anonloom_intersection.register import Known, Pair

REGISTER = "the attacker has a register of everybody in both releases"
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
    pairs
        Every pair of releases whose people are known.
    unfit
        Why nothing can be said; empty when something can.
    """

    name: str
    attacked: BoolArray
    singles: tuple[Candidates, ...]
    pairs: list[Pair]
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
        items: list[Item] = [*self._counts(), *self._register_counts()]
        if self.unfit:
            return items
        return [*items, self._chart(), *self._rows(), *self._register_rows()]

    def warn(self, context: StageContext) -> None:
        """Warn of people for whom releases together leave fewer values than each does."""
        if self.unfit:
            return
        singly = _any(self._few_values(one) for one in self.singles)
        people = self._few_values(self.together) & ~singly
        for group in self._groups:
            people |= (group.together < self.l) & ~(group.singly < self.l)
        if people.any():
            context.warn(
                f"the releases together leave fewer than {self.l} values of '{self.name}' for "
                f"{int(people.sum())} people, which none of them does by itself",
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

    def _register_counts(self) -> Iterable[Finding]:
        finding = FindingBuilder((*self.assumptions, REGISTER), self.unfit)
        unknown = "" if self.pairs else "nobody says who is in two of the releases"
        for group in self._groups:
            nobody = "" if group.people else f"nobody is known to be in {group.where}"
            for figure, least, words in (
                ("disclosed", 2, f"whose value of '{self.name}' is the only one left"),
                ("below_l", self.l,
                 f"for whom fewer than {self.l} values of '{self.name}' are left"),
            ):  # fmt: skip
                yield finding(f"{group.name}_{figure}.{self.name}",
                              int((group.together < least).sum()),
                              f"Number of people in {group.where} {words} to an attacker who also "
                              "knows all other members.", lacking=unknown or nobody,
                              assumptions=(f"{group.people} people are in {group.where}",),
                              unit="people", key=figure == "below_l")  # fmt: skip
                yield finding(f"{group.name}_{figure}_single.{self.name}",
                              int((group.singly < least).sum()),
                              "The same by one of the releases alone.",
                              lacking=unknown or nobody, unit="people")  # fmt: skip

    @cached_property
    def _groups(self) -> "tuple[_Group, _Group]":
        people = len(self.attacked)
        apart = [known for pair in self.pairs for known in pair.apart]
        return (
            _Group.of("register", "two releases", [pair.both for pair in self.pairs], people),
            _Group.of("newcomers", "one release and not in another", apart, people),
        )

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

    def _register_rows(self) -> Iterable[PrivateRows]:
        for group in self._groups:
            yield from _private_rows(
                f"{group.name}_below_l.{self.name}", np.flatnonzero(group.together < self.l),
                1.0 / group.together,
                f"Rows of people in {group.where} for whom fewer than {self.l} values of "
                f"'{self.name}' are left to an attacker who also knows all other members; the "
                "score is 1 divided by how many.",
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


@short_repr
@attrs.frozen(eq=False)
class _Group:
    """People in two releases, or in one alone, and how few values are left for each.

    Attributes
    ----------
    where
        Where they are, in words.
    people
        How many they are.
    together, singly
        For everybody of the original the fewest values that any pair of releases leaves, and that
        any release of them does by itself; infinite where the own value is not among them.
    """

    name: str
    where: str
    people: int
    together: FloatArray
    singly: FloatArray

    @classmethod
    def of(cls, name: str, where: str, results: Sequence[Known], people: int) -> "_Group":
        known = np.zeros(people, bool)
        together, singly = np.full(people, np.inf), np.full(people, np.inf)
        for result in results:
            known[result.people] = True
            for candidates, fewest in (
                (result.candidates, together),
                *((single, singly) for single in result.single),
            ):
                left = np.where(candidates.right, candidates.values, np.inf)
                fewest[result.people] = np.minimum(fewest[result.people], left)
        return cls(name, where, int(known.sum()), together, singly)


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
