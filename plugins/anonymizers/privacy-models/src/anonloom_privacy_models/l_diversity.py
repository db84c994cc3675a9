"""l-diversity: the sensitive values of a class are many, and well represented."""

import math
import sys
from typing import ClassVar, Literal

import attrs
import numpy as np

from anonloom import PrivacyModel, Schema, Table, param
from anonloom.cells import number_text
from anonloom.kinds import Offsets
from anonloom.params import above
from anonloom.typing import BoolArray, FloatArray
from anonloom_privacy_models.sensitive import problem_with
from anonloom_privacy_models.tallies import Occurrences, Tally

#: Keeps what is equal on paper equal after rounding.
ROUNDING = 1e-9


@attrs.frozen(kw_only=True)
class LDiversity(PrivacyModel):
    """Distinct, entropy or recursive l-diversity (Machanavajjhala et al. 2006, section 4).

    A missing value is no value: rows without one are left out of the counts, and a class that has
    none at all is refused. Where a column names the person, a person counts once per value.
    """

    # Distinct values are monotone always, the other two by the paper's theorems where a row is a
    # person. Persons that two classes share count once in the union, which is then no mixture of
    # both: a claim for every table cannot be made.
    monotone: ClassVar[bool] = False
    #: Parameters with which `anonloom plugins check` tries it.
    example: ClassVar[dict[str, object]] = {"l": 2, "of": "illness"}

    l: int | float = param(  # noqa: E741  # the paper's letter
        help="How many well represented values a class must have; a whole number unless the kind "
        "is entropy.",
        check=above(1),
    )
    of: str = param(help="The sensitive column.")
    kind: Literal["distinct", "entropy", "recursive"] = param(
        help="distinct: at least l values; entropy: the entropy is at least log(l); recursive: the "
        "most frequent value is rarer than c times all but the l - 1 most frequent.",
        default="distinct",
    )
    c: float | None = param(
        help="How dominant the most frequent value may be; for kind recursive only.",
        default=None,
        check=above(0),
    )

    def __attrs_post_init__(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.kind != "entropy" and self.l != int(self.l):
            raise ValueError(f"kind '{self.kind}' needs a whole number l. Got {self.l} instead.")
        if self.kind == "recursive" and self.c is None:
            raise ValueError("kind 'recursive' needs c")
        if self.kind != "recursive" and self.c is not None:
            raise ValueError(f"'c' is for kind 'recursive', not for '{self.kind}'")

    @property
    def min_size(self) -> int:
        """Every value needs a row; a recursive class needs a tail, too."""
        if self.c is None:
            return math.ceil(self.l)
        # Fewest rows: every value once, 1 < c * tail.
        # A c so small that 1 / c is infinite needs more rows than there are, too.
        tail = math.floor(min(1 / self.c, sys.float_info.max)) + 1
        return int(self.l) - 1 + tail

    @property
    def judged(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.of,)

    def meaning(self, unit: str) -> str:
        """Say what l-diversity promises."""
        values = "different" if self.kind == "distinct" else "well-represented"
        return (
            f"Among the {unit} that share a combination there are at least {self.l:g} {values} "
            f"values of '{self.of}', so that finding the group does not tell the value."
        )

    def admits(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> BoolArray:
        """Judge the values of every range."""
        verdict = np.empty(len(starts), bool)
        for tally in Occurrences.of(table, self.of, rows).tallies(starts, stops):
            verdict[tally.which] = self._verdicts(tally)
        return verdict

    def would_pass(self, table: Table, rows: Offsets, starts: Offsets, stops: Offsets) -> str:
        """Say the greatest l, or the least c, that admits all ranges."""
        tallies = list(Occurrences.of(table, self.of, rows).tallies(starts, stops))
        fewest = min((int(tally.distinct.min()) for tally in tallies), default=int(self.l))
        if fewest < 2:
            return "no l"
        if self.kind == "distinct":
            return f"l: {fewest}"
        if self.kind == "entropy":
            least = min(
                (float(np.exp(entropies(tally).min())) for tally in tallies), default=self.l
            )
            floor = math.floor(least * 100 + 1e-7) / 100
            return f"l: {number_text(floor)}" if floor > 1 else "no l"
        l = min(fewest, int(self.l))  # noqa: E741  # the paper's letter
        worst = max((float(dominance(tally, l).max()) for tally in tallies), default=0.0)
        # The model asks for less than c, so c is the next hundredth above.
        c = f"c: {number_text((math.floor(worst * 100 + 1e-7) + 1) / 100)}"
        return c if l == self.l else f"l: {l}, {c}"

    def problem(self, schema: Schema) -> str | None:
        """Refuse a column that is not sensitive."""
        return problem_with(schema, self.of)

    def _verdicts(self, tally: Tally) -> BoolArray:
        if self.kind == "distinct":
            return tally.distinct >= self.l
        if self.kind == "entropy":
            return entropies(tally) >= math.log(self.l) - ROUNDING
        assert self.c is not None
        return dominance(tally, int(self.l)) < self.c * (1 - ROUNDING)


def entropies(tally: Tally) -> FloatArray:
    """Entropy of the values of every range, in nats; minus infinity without any value."""
    totals = np.maximum(tally.totals, 1)
    entropy = np.log(totals) - tally.sums(tally.count * np.log(tally.count)) / totals
    entropy[tally.totals == 0] = -np.inf
    return entropy


def dominance(tally: Tally, l: int) -> FloatArray:  # noqa: E741  # the paper's letter
    """Compare r1 with r_l + ... + r_m in every range (definition 4.3), as their ratio.

    The counts r1 >= r2 >= ... are those of the values; infinite when there are fewer than l.
    """
    order = np.lexsort((-tally.count, tally.range))
    count, of_range = tally.count[order], tally.range[order]
    first = np.searchsorted(of_range, np.arange(len(tally.which)))
    rank = np.arange(len(count)) - first[of_range]
    most = np.bincount(of_range, count * (rank == 0), len(tally.which))
    tail = np.bincount(of_range, count * (rank >= l - 1), len(tally.which))
    ratio = np.full(len(most), np.inf)
    np.divide(most, tail, out=ratio, where=tail > 0)
    return ratio
