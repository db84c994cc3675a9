"""What an attack answers about the people whom it is tried on."""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import short_repr
from anonloom.findings import Question
from anonloom.typing import FloatArray


@short_repr
@attrs.frozen(kw_only=True, eq=False)
class Answers:
    """What one attack answers about every target.

    Attributes
    ----------
    name
        Unique within the auditor; figures are named after it.
    right
        For every target the chance that the answer is right, 0 where there is none. A row or a
        value that is named is right when it equals the person's own in the columns attacked, so
        that a twin's is right, too. Membership claims that everybody is inside: 1.
    score
        For every target how sure the attacker is; unsure answers are kept back.
    columns
        The columns that it uses.
    meaning
        One sentence: what the attacker does.
    attainable
        For every target the chance with which the best attacker with this knowledge would be right
        about a copy; 1 unless people who look alike to the attacker differ in what he wants.
    otherwise
        For every target the chance that what anybody knows of the population is right, which is
        answered where the attacker is unsure; 0 for attacks that then name nobody. Without it an
        attacker would seem to infer much from a release only because he is unsure about people
        outside.
    weight
        How much every target counts, where not all count alike: of a value that is inferred the
        rare ones tell more than the one that anybody would guess.
    question
        The question that it answers, where that is not the auditor's.
    isolation
        For every target how far it is from other people, where the attack knows.
    """

    name: str
    right: FloatArray
    score: FloatArray
    columns: tuple[str, ...]
    meaning: str
    attainable: FloatArray | None = None
    otherwise: FloatArray | None = None
    weight: FloatArray | None = None
    question: Question | None = None
    isolation: FloatArray | None = None

    def of(self, people: slice) -> "Answers":
        """Return the answers about some of the targets."""
        return attrs.evolve(
            self,
            right=self.right[people],
            score=self.score[people],
            attainable=None if self.attainable is None else self.attainable[people],
            otherwise=None if self.otherwise is None else self.otherwise[people],
            weight=None if self.weight is None else self.weight[people],
            isolation=None if self.isolation is None else self.isolation[people],
        )

    @property
    def unsure(self) -> FloatArray:
        """Chance to be right about every target without an answer from the release."""
        return np.zeros(len(self.right)) if self.otherwise is None else self.otherwise

    @property
    def weights(self) -> FloatArray:
        """How much every target counts."""
        return np.ones(len(self.right)) if self.weight is None else self.weight


def alike_by_value(values: NDArray[np.integer]) -> FloatArray:
    """Return weights with which every value that some target has counts as much as any other."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(len(values) / len(counts) / counts[index], float)


def divide(answers: Sequence[Answers], inside: int) -> list[tuple[Answers, Answers]]:
    """Divide answers into those about the first targets, and those about the others."""
    return [(one.of(slice(None, inside)), one.of(slice(inside, None))) for one in answers]
