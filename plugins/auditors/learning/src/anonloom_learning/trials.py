"""Every classifier on every version, several times: learned from one part, judged by another."""

import warnings
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Literal

import attrs
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from anonloom import StageContext, short_repr
from anonloom.findings import NotAssessable
from anonloom.typing import BoolArray, IntArray
from anonloom_learning.classifiers import fit_model, has_converged
from anonloom_learning.names import ALL
from anonloom_learning.scores import confusion_matrix
from anonloom_learning.versions import Lesson, Version

TestedOn = Literal["own", "original"]

#: They go first, so that no worker is left alone with one of them at the end.
LONGEST = ("k-nearest-neighbours", "random-forest", "adaboost", "bagging")


@attrs.frozen(eq=False)
class Part:
    """What a model learns from, and what it is judged by."""

    learned: Version
    learning: IntArray = attrs.field(repr=False)
    judged: Version
    judging: IntArray = attrs.field(repr=False)

    @property
    def usable(self) -> bool:
        """Whether there is something to learn and somebody to judge."""
        return len(np.unique(self.learned.labels[self.learning])) > 1 and len(self.judging) > 0

    def majority(self, classes: int) -> IntArray:
        """Counts of what always guessing the most frequent label gives."""
        guess = np.bincount(self.learned.labels[self.learning], minlength=classes).argmax()
        true = self.judged.labels[self.judging]
        return confusion_matrix(true, np.full(len(true), guess), classes)

    def judge(self, name: str, seed: int, lesson: Lesson) -> tuple[IntArray, bool]:
        """Learn and predict; return the counts, and whether the model came to rest."""
        rows, labels = self.learned.rows[self.learning], self.learned.labels[self.learning]
        model = fit_model(name, seed, rows, labels, lesson.shares)
        predicted = model.predict(self.judged.rows[self.judging])
        true = self.judged.labels[self.judging]
        return confusion_matrix(true, predicted, lesson.classes), has_converged(model)


@attrs.frozen(eq=False)
class Repeat:
    """One division of the people: a part of every version, and a seed for every classifier."""

    parts: tuple[Part, ...]
    seeds: dict[str, int]


@short_repr
@attrs.frozen(eq=False)
class Trials:
    """What all classifiers made of all versions.

    Attributes
    ----------
    confusions
        (versions x repeats x classifiers x labels x labels): rows that have the first label and
        were given the second.
    majority
        (versions x repeats x labels x labels): the same of always guessing the most frequent label.
    unconverged
        Number of models that were stopped before they came to rest.
    """

    repeats: tuple[Repeat, ...]
    classifiers: tuple[str, ...]
    confusions: IntArray
    majority: IntArray
    unconverged: int


def divide_people(
    lesson: Lesson, train: float, repeats: int, tested_on: TestedOn, rng: np.random.Generator
) -> list[Repeat]:
    """Divide the people again and again; divisions that cannot be used are left out.

    Raises
    ------
    NotAssessable
        When none can be used.
    """
    results = []
    # One stream for each, so that more repeats do not change the first.
    for stream in rng.spawn(repeats):
        chosen = stream.permutation(lesson.people)[: max(round((1 - train) * lesson.people), 1)]
        judges = np.zeros(lesson.people, bool)
        judges[chosen] = True
        seeds = dict(zip(ALL, stream.integers(2**31, size=len(ALL)).tolist(), strict=True))
        parts = _parts(lesson.versions, judges, 1 - train, tested_on, stream)
        if all(part.usable for part in parts):
            results.append(Repeat(parts, seeds))
    if not results:
        raise NotAssessable(
            "no division leaves two values of the label to learn from and a row to judge by"
        )
    return results


def _parts(
    versions: Sequence[Version],
    judges: BoolArray,
    share: float,
    tested_on: TestedOn,
    stream: np.random.Generator,
) -> tuple[Part, ...]:
    """Divide every version: people who judge are in no learning part."""
    parts: list[Part] = []
    for version in versions:
        unknown = version.people < 0
        judging = judges[version.people] & ~unknown
        if tested_on == "own":
            judging |= unknown & (stream.random(len(unknown)) < share)
        learning, own = np.flatnonzero(~judging), np.flatnonzero(judging)
        # The original is the first version: its judges judge them all.
        first = parts[0] if parts and tested_on == "original" else None
        judged, by = (version, own) if first is None else (first.judged, first.judging)
        parts.append(Part(version, learning, judged, by))
    return tuple(parts)


def run_trials(
    lesson: Lesson, repeats: list[Repeat], classifiers: tuple[str, ...], context: StageContext
) -> Trials:
    """Fit and judge all models, `run.workers` at a time; the result does not depend on how many."""
    shape = (len(lesson.versions), len(repeats), len(classifiers))
    confusions = np.zeros((*shape, lesson.classes, lesson.classes), np.int64)
    order = sorted(np.ndindex(shape), key=lambda index: classifiers[index[2]] not in LONGEST)
    unconverged = 0
    context.progress(0, len(order))
    # Scikit-learn's threads would compete with ours, and more threads add numbers up otherwise.
    pools = ThreadpoolController()

    def judge(index: tuple[int, ...]) -> tuple[IntArray, bool]:
        repeat, name = repeats[index[1]], classifiers[index[2]]
        with pools.limit(limits=1):
            return repeat.parts[index[0]].judge(name, repeat.seeds[name], lesson)

    # Models that are stopped are counted (`has_converged`). Filters hold for all threads, which is
    # why they are set around them.
    with warnings.catch_warnings(), pools.limit(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        with ThreadPoolExecutor(max(context.workers, 1)) as pool:
            waiting: dict[Future[tuple[IntArray, bool]], tuple[int, ...]] = {
                pool.submit(judge, index): index for index in order
            }
            try:
                for done, future in enumerate(as_completed(waiting), start=1):
                    confusions[waiting[future]], rested = future.result()
                    unconverged += not rested
                    context.progress(done, len(order))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    majority = [
        [repeat.parts[index].majority(lesson.classes) for repeat in repeats]
        for index in range(len(lesson.versions))
    ]
    return Trials(tuple(repeats), classifiers, confusions, np.array(majority), unconverged)
