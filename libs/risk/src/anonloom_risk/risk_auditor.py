"""Risk auditor: an attack that is tried on a copy and on strangers before it counts."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

from anonloom import AuditInput, Auditor, Findings, StageContext, Table
from anonloom.data import Need
from anonloom.findings import AttackResult, Question
from anonloom_risk.answers import Answers
from anonloom_risk.assessment import Assessment


class RiskAuditor(Auditor):
    """Judges a release by attacks, and every attack by what it does where the answer is known.

    A method writes `attack`. This class runs it on the release, on a copy of one half of the
    original, on that half with the other half's people as the original, and compares: figures are
    what people inside are found more often than people outside, on one scale for every attack. An
    attack that misses a copy, or finds strangers, is `not assessable`.

    Promise: `attack` does not depend on who of the targets is inside.
    """

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "risk"
    needs: ClassVar[frozenset[Need]] = frozenset({"original"})
    names_cells: ClassVar[bool] = False
    #: The question that its attacks answer.
    question: ClassVar[Question]

    @abstractmethod
    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Answer about every target, with the release and the control at hand.

        Parameters
        ----------
        case
            Its `control`, where there is one, is a sample of the population: none of the targets.
            Its original says what columns are and, with `truth`, whose rows are.
        targets
            Raw records of people, in and outside the release, in no order.

        Returns
        -------
        Sequence[Answers]
            The same attacks, in the same order, whatever the tables are.
        """

    def examine(
        self, result: AttackResult, inside: Answers, outside: Answers, context: StageContext
    ) -> Findings:
        """Return what else one attack's answers about the release show.

        Parameters
        ----------
        inside, outside
            Answers about people of the original and of the control, of which the attack saw the
            other half; without a control it is not called.
        """
        return Findings()

    def details(self, case: AuditInput, context: StageContext) -> Findings:
        """Return what else the method finds; it makes no headline."""
        return Findings()

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Attack, and say what that is worth; then the details."""
        attacks = self.assess(case, context) if case.original is not None else Findings()
        return Findings.of(attacks, self.details(case, context))

    def assess(self, case: AuditInput, context: StageContext) -> Findings:
        """Return what the attacks find, on the scale of all attacks."""
        return Assessment(self.attack, self.examine, self.question, case, context).findings()
