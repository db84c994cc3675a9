"""Findings and charts of what classifiers learned."""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from anonloom import Chart, Finding, Findings, short_repr
from anonloom.findings import Better, FindingBuilder
from anonloom.typing import FloatArray
from anonloom_learning.names import ANSWERS, CLASSIFIERS, LOSSES, METRICS, SINGLE
from anonloom_learning.scores import interval, never_predicted, scores
from anonloom_learning.trials import TestedOn, Trials
from anonloom_learning.versions import Lesson

ORIGINAL, RELEASE = 0, -1

#: The figures that a steward needs first.
KEY = frozenset({"accuracy_over_majority", "largest_accuracy_loss"})


@short_repr
@attrs.frozen(eq=False)
class Figures:
    """Turns counts into findings.

    Attributes
    ----------
    values
        (versions x repeats x classifiers x metrics).
    """

    lesson: Lesson
    trials: Trials
    notes: tuple[str, ...]
    values: FloatArray

    @classmethod
    def of(cls, lesson: Lesson, trials: Trials, train: float, tested_on: TestedOn) -> "Figures":
        """Score all trials."""
        flat = trials.confusions.reshape(-1, lesson.classes, lesson.classes)
        values = np.array([scores(item, lesson.positive) for item in flat])
        values = values.reshape(*trials.confusions.shape[:3], len(METRICS))
        assumptions = (
            _reading(train, tested_on),
            _splits(lesson, trials, tested_on),
            *lesson.notes,
        )
        return cls(lesson, trials, assumptions, values)

    def findings(self) -> Findings:
        """All findings and charts."""
        return Findings.of(
            self._of_release(),
            self._losses(),
            self._summary(),
            [self._chart(index) for index in range(len(METRICS))],
        )

    @property
    def _spread(self) -> float:
        """Rows that judge over rows that are learned from, for the width of intervals."""
        ratios = [
            len(repeat.parts[RELEASE].judging) / len(repeat.parts[RELEASE].learning)
            for repeat in self.trials.repeats
        ]
        return float(np.mean(ratios))

    def _figure(
        self,
        name: str,
        values: FloatArray,
        meaning: str,
        *notes: str,
        better: Better,
        least: float = 0.0,
    ) -> Finding:
        """Mean over the repeats, and its interval within what is possible."""
        ends = interval(values, self._spread)
        if ends is not None:
            ends = max(ends[0], least), min(ends[1], 1.0)
        finding = FindingBuilder((*notes, *self.notes))
        mean = float(values.mean())
        return finding(name, mean, meaning, better, interval=ends, key=name in KEY)

    def _of_release(self) -> Iterator[Finding]:
        for which, metric in enumerate(METRICS):
            for index, name in enumerate(self.trials.classifiers):
                yield self._figure(
                    f"{metric}.{name}",
                    self.values[RELEASE, :, index, which],
                    self._sentence(ANSWERS[metric], name, metric),
                    *self._by_convention(metric, index, RELEASE),
                    better="higher",
                )

    def _sentence(self, sentence: str, name: str, metric: str) -> str:
        about = f"The label is '{self.lesson.label}'."
        message = about if metric == "accuracy" else self.lesson.about
        return f"{sentence.format(who=CLASSIFIERS[name])} {message}"

    def _by_convention(self, metric: str, classifier: int, *versions: int) -> list[str]:
        """Where a precision, and so F1, is 0 because there is none."""
        if metric not in ("precision", "f1"):
            return []
        silent = {
            self.lesson.versions[version].name: sum(
                never_predicted(confusion, self.lesson.positive)
                for confusion in self.trials.confusions[version, :, classifier]
            )
            for version in versions
        }
        return [
            f"{name} table: in {count} of {len(self.trials.repeats)} divisions a value was never "
            "predicted; its precision counts as 0"
            for name, count in silent.items()
            if count
        ]

    def _losses(self) -> Iterator[Finding]:
        for metric in LOSSES:
            loss = self._loss_of(metric)
            for index, name in enumerate(self.trials.classifiers):
                yield self._figure(
                    f"{metric}_loss.{name}",
                    loss[:, index],
                    self._sentence(SINGLE[f"{metric}_loss"], name, metric),
                    *self._by_convention(metric, index, ORIGINAL, RELEASE),
                    better="lower",
                    least=-1.0,
                )

    def _loss_of(self, metric: str) -> FloatArray:
        """(repeats x classifiers): what the original gives less what the release gives."""
        which = METRICS.index(metric)
        loss: FloatArray = self.values[ORIGINAL, :, :, which] - self.values[RELEASE, :, :, which]
        return loss

    def _summary(self) -> Iterator[Finding]:
        loss = self._loss_of("accuracy")
        worst = int(loss.mean(axis=0).argmax())
        yield self._figure(
            "largest_accuracy_loss",
            loss[:, worst],
            SINGLE["largest_accuracy_loss"],
            f"that of {CLASSIFIERS[self.trials.classifiers[worst]]}",
            better="lower",
            least=-1.0,
        )
        majority = self._majority(RELEASE)
        yield self._figure(
            "majority_accuracy", majority, SINGLE["majority_accuracy"], better="neither"
        )
        accuracy = self.values[RELEASE, :, :, 0]
        best = int(accuracy.mean(axis=0).argmax())
        yield self._figure(
            "accuracy_over_majority",
            accuracy[:, best] - majority,
            SINGLE["accuracy_over_majority"],
            f"that of {CLASSIFIERS[self.trials.classifiers[best]]}, the best of "
            f"{len(self.trials.classifiers)} on the same rows",
            better="higher",
            least=-1.0,
        )
        yield Finding(
            name="rows",
            value=len(self.lesson.versions[RELEASE].labels),
            unit="rows",
            meaning=SINGLE["rows"],
            assumptions=self.lesson.notes,
        )
        yield Finding(
            name="not_converged",
            value=self.trials.unconverged,
            better="lower",
            unit="models",
            meaning=SINGLE["not_converged"],
            assumptions=(f"of {self.values.shape[0] * loss.size} models",),
        )

    def _majority(self, version: int) -> FloatArray:
        """Accuracy of always guessing the most frequent label, one per repeat."""
        return np.array(
            [scores(item, self.lesson.positive)[0] for item in self.trials.majority[version]]
        )

    def _chart(self, which: int) -> Chart:
        metric = METRICS[which]
        means = self.values[:, :, :, which].mean(axis=1)
        labels = [*self.trials.classifiers]
        data: dict[str, Any] = {}
        for index, version in enumerate(self.lesson.versions):
            data[version.name] = means[index].tolist()
            if metric == "accuracy":
                data[version.name].append(float(self._majority(index).mean()))
        if metric == "accuracy":
            labels.append("always the most frequent")
        return Chart(
            name=metric,
            kind="bars",
            title=f"{metric.capitalize()} of classifiers",
            x="classifier",
            y=metric,
            meaning=f"Mean {metric} over {len(self.trials.repeats)} divisions, learned from each "
            "version of the table.",
            data={"labels": labels, **data},
        )


def _reading(train: float, tested_on: TestedOn) -> str:
    if tested_on == "own":
        return (
            f"models learn from {train:.4g} of the people of a version and are judged by the other "
            "rows of the same version, generalized as they are"
        )
    return (
        f"models learn from {train:.4g} of the people and are judged by original rows of the "
        "others; widths of intervals are no features, as original rows have none"
    )


def _splits(lesson: Lesson, trials: Trials, tested_on: TestedOn) -> str:
    count = len(trials.repeats)
    times = f"{count} random division{'' if count == 1 else 's'}"
    if all((version.people >= 0).all() for version in lesson.versions):
        return f"{times}, the same people judge in all versions, as far as they are published"
    if tested_on == "own":
        return f"{times}; some published rows correspond to no known person and are drawn alone"
    return (
        f"{times}; some published rows correspond to no known person: a model may have seen "
        "whom it is judged by"
    )


def unknown(classifiers: tuple[str, ...], reason: str) -> Findings:
    """Return all findings without a value."""
    results: list[tuple[str, str, Better]] = []
    for name in classifiers:
        who = CLASSIFIERS[name]
        results += [
            (f"{metric}.{name}", ANSWERS[metric].format(who=who), "higher") for metric in METRICS
        ]
        results += [
            (f"{metric}_loss.{name}", SINGLE[f"{metric}_loss"].format(who=who), "lower")
            for metric in LOSSES
        ]
    results += [
        ("largest_accuracy_loss", SINGLE["largest_accuracy_loss"], "lower"),
        ("majority_accuracy", SINGLE["majority_accuracy"], "neither"),
        ("accuracy_over_majority", SINGLE["accuracy_over_majority"], "higher"),
    ]
    finding = FindingBuilder(unfit=reason)
    return Findings.of(
        finding(name, None, meaning, better, key=name in KEY) for name, meaning, better in results
    )
