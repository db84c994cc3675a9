"""What an attack's scores show, as figures: for the auditor and for shadow releases alike."""

from collections.abc import Iterator

import attrs
import numpy as np

from anonloom import Chart, Finding, Findings, short_repr
from anonloom.findings import FindingBuilder
from anonloom.typing import BoolArray, FloatArray
from anonloom_membership import roc

#: Shares of the people outside who may be claimed by mistake, with what they are called.
RARE = ((0.01, "1", "1 %"), (0.001, "01", ".1 %"))
#: Who is exposed most: this share of all.
WORST = 0.1

MEANINGS = {
    "auc": "Chance that somebody in the table gets a higher score than somebody who is not; .5 is "
    "chance.",
    "epsilon": "No differentially private release with a smaller epsilon could let people be told "
    "apart as well.",
}
GIVEN = "the threshold is taken as given"


@short_repr
@attrs.frozen(eq=False)
class Separation:
    """Scores of people in and outside a table.

    Attributes
    ----------
    worst
        Who is exposed most on either side, where that is known.
    who
        What the worst tenth is.
    """

    inside: FloatArray
    outside: FloatArray
    worst: tuple[BoolArray, BoolArray] | None = None
    who: str = ""

    def findings(self, name: str, finding: FindingBuilder, rng: np.random.Generator) -> Findings:
        """Return all figures, and the curve."""
        results = [*self._of_all(name, finding, rng), *self._of_the_worst(name, finding)]
        return Findings.of(results, () if finding.unfit else self._chart(name))

    def _of_all(
        self, name: str, finding: FindingBuilder, rng: np.random.Generator
    ) -> Iterator[Finding]:
        yield _area(f"{name}_auc", self.inside, self.outside, MEANINGS["auc"], finding)
        for share, label, words in RARE:
            yield _found(f"{name}_tpr_{label}", self.inside, self.outside, share, words, finding)
        yield finding(
            f"{name}_epsilon",
            roc.epsilon_bound(self.inside, self.outside, rng),
            MEANINGS["epsilon"],
            status="bound",
            assumptions=(
                "a lower bound that holds with 95 %, by Clopper and Pearson; its threshold is "
                "chosen on the other half of the people",
                "who is inside and who is outside was drawn at random",
            ),
        )

    def _of_the_worst(self, name: str, finding: FindingBuilder) -> Iterator[Finding]:
        if self.worst is None:
            return
        inside, outside = self.inside[self.worst[0]], self.outside[self.worst[1]]
        meaning = f"The same among {self.who}."
        yield _area(f"{name}_worst_tenth_auc", inside, outside, meaning, finding)
        share, label, words = RARE[0]
        title = f"{name}_worst_tenth_tpr_{label}"
        yield _found(title, inside, outside, share, words, finding, f" Among {self.who}.")

    def _chart(self, name: str) -> Chart:
        return Chart(
            name=f"{name}_roc",
            kind="line",
            title="People found, by how many others are claimed by mistake",
            data={
                "attack": roc.curve(self.inside, self.outside),
                "chance": {"x": [0.0, 1.0], "y": [0.0, 1.0]},
            },
            x="share of the people outside who are claimed",
            y="share of the people inside who are found",
            meaning="Above the line of chance the release tells who is in the table.",
        )


def _area(
    name: str, inside: FloatArray, outside: FloatArray, meaning: str, finding: FindingBuilder
) -> Finding:
    if not len(inside) or not len(outside):
        return finding(name, None, meaning, lacking="there is nobody inside, or nobody outside")
    area = roc.area_under_curve(inside, outside)
    beside = f"{len(inside):,} people inside, {len(outside):,} outside"
    return finding(name, area.value, meaning, interval=area.interval, assumptions=(beside,))


def _found(
    name: str,
    inside: FloatArray,
    outside: FloatArray,
    share: float,
    words: str,
    finding: FindingBuilder,
    among: str = "",
) -> Finding:
    meaning = (
        f"Share of the people inside who are found while at most {words} of those outside are "
        f"claimed by mistake.{among}"
    )
    least = round(1 / share)
    if len(outside) < least or not len(inside):
        lacking = f"it takes at least {least:,} people outside; there are {len(outside):,}"
        return finding(name, None, meaning, lacking=lacking)
    found = roc.found_at(inside, roc.threshold_at(outside, share))
    return finding(name, found.value, meaning, interval=found.interval, assumptions=(GIVEN,))
