"""Attribute inference: how well critical values are predicted from what is known of people.

An attacker knows the sensitive values of some people and learns from them; others judge what was
learned. The advantage over a target (a critical value, or all of them together) is 2 AUC - 1: 0 for
guessing, 1 for people with and without it told apart completely. It does not depend on how frequent
the value is, unlike accuracy, in which always saying 'no' is hard to beat for a rare one.

The best of several attackers and targets is positive where nothing can be learned, too. How much
that is shows when the values are dealt anew among the people: the excess is what is left.
"""

import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from anonloom.typing import FloatArray, IntArray
from anonloom_prism.attack_names import Attacker
from anonloom_prism.knowledge import Knowledge
from anonloom_prism.targets import Targets

TREES = 20
#: Smaller leaves learn people by heart.
LEAF = 5
STEPS = 300
#: With fewer judges who have a critical value, or lack it, the advantage over it is noise.
FEWEST_JUDGES = 8


def logistic() -> Any:
    """Return a logistic regression on features of one scale."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=STEPS))


def _attacker(name: Attacker, seed: int) -> Any:
    if name == "logistic-regression":
        return logistic()
    return RandomForestClassifier(TREES, min_samples_leaf=LEAF, random_state=seed)


@attrs.frozen(eq=False)
class People:
    """Rows whose critical values are to be inferred.

    Attributes
    ----------
    targets
        Class of every row, and which classes each target has; no value is missing.
    persons
        Number of every row's person: who judges is not learned from.
    """

    targets: Targets
    persons: IntArray = attrs.field(repr=False)

    def split_rows(self, judging: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
        """Rows of the people who do not judge, and of those who do."""
        judges = judging[self.persons]
        return np.flatnonzero(~judges), np.flatnonzero(judges)

    def permute_values(self, rng: np.random.Generator) -> "People":
        """The same people with each other's values."""
        classes = rng.permutation(self.targets.classes)
        return attrs.evolve(self, targets=attrs.evolve(self.targets, classes=classes))


def judges(people: People, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw who judges, from every class about the same share."""
    result = np.zeros(int(people.persons.max()) + 1, bool)
    persons, first = np.unique(people.persons, return_index=True)
    classes = people.targets.classes[first]
    for item in np.unique(classes).tolist():
        own = rng.permutation(persons[classes == item])
        result[own[: round(share * len(own))]] = True
    return result


@attrs.frozen(eq=False)
class InferenceResult:
    """What attackers inferred from one sort of knowledge.

    Attributes
    ----------
    advantage
        (repeats x attackers x targets); NaN where hardly any judge has, or lacks, a target.
    accuracy
        (repeats x attackers): share of the judges whose class was said right.
    majority
        (repeats): the same for always saying the most frequent class.
    ratio
        Rows that judge over rows that are learned from.
    chance
        (deals): the best mean advantage with values dealt anew.
    """

    advantage: FloatArray
    accuracy: FloatArray
    majority: FloatArray
    ratio: float
    chance: FloatArray

    @property
    def best(self) -> tuple[int, int]:
        """The attacker and the target with the largest mean advantage."""
        means = _means(self.advantage)
        index = np.unravel_index(int(np.nanargmax(means)), means.shape)
        return int(index[0]), int(index[1])

    def of_best(self) -> FloatArray:
        """Advantage of that attacker over that target, in every repeat."""
        attacker, target = self.best
        values: FloatArray = self.advantage[:, attacker, target]
        return values[~np.isnan(values)]

    @property
    def excess(self) -> float:
        """The best mean advantage, less what chance gives."""
        return float(self.of_best().mean() - self.by_chance)

    @property
    def by_chance(self) -> float:
        """What chance gives; never less than nothing."""
        return max(float(self.chance.mean()), 0.0)

    def gain(self) -> FloatArray:
        """Accuracy of the most accurate attacker over the majority's, in every repeat."""
        best = int(self.accuracy.mean(axis=0).argmax())
        gained: FloatArray = self.accuracy[:, best] - self.majority
        return gained

    def interval(self, values: FloatArray) -> tuple[float, float] | None:
        """95 % interval of a mean over repeated divisions (Nadeau and Bengio)."""
        if len(values) < 2:
            return None
        error = float(np.sqrt(values.var(ddof=1) * (1 / len(values) + self.ratio)))
        half = float(stdtrit(len(values) - 1, 0.975)) * error
        return float(values.mean()) - half, float(values.mean()) + half


def _means(advantage: FloatArray) -> FloatArray:
    known = ~np.isnan(advantage)
    sums = np.where(known, advantage, 0).sum(axis=0)
    counts = known.sum(axis=0)
    means: FloatArray = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means


@attrs.frozen(kw_only=True)
class Plan:
    """How attacks are tried."""

    attackers: tuple[Attacker, ...]
    repeats: int
    deals: int
    share: float
    workers: int = 1


def infer(
    known: Mapping[str, Knowledge],
    people: People,
    plan: Plan,
    rng: np.random.Generator,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
) -> dict[str, InferenceResult | None]:
    """Attack with every sort of knowledge; None where no division shows anything.

    The same divisions serve all sorts, and values dealt anew, so that they can be compared.
    """
    streams = rng.spawn(1 + plan.deals)
    divisions = [
        (people.split_rows(judges(people, plan.share, own)), int(own.integers(2**31)))
        for own in streams[0].spawn(plan.repeats)
    ]
    divisions = [division for division in divisions if all(map(len, division[0]))]
    asked = [people.targets, *(people.permute_values(stream).targets for stream in streams[1:])]
    jobs = [(name, index) for name in known for index in range(len(divisions))]

    def run_job(job: tuple[str, int]) -> list[tuple[FloatArray, FloatArray]]:
        (learn, judge), seed = divisions[job[1]]
        seen = known[job[0]](learn, judge, np.random.default_rng(seed))
        return [
            _attack_once(seen, targets, targets.classes[learn], targets.classes[judge], plan, seed)
            for targets in asked
        ]

    found: dict[str, list[list[tuple[FloatArray, FloatArray]]]] = {name: [] for name in known}
    progress(0, len(jobs))
    # Scikit-learn's threads would compete with ours. Filters hold for all threads, which is why
    # they are set around them. A regression that was stopped is an attacker like any other.
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        with ThreadPoolExecutor(max(plan.workers, 1)) as pool:
            for done, (job, result) in enumerate(
                zip(jobs, pool.map(run_job, jobs), strict=True), start=1
            ):
                found[job[0]].append(result)
                progress(done, len(jobs))
    parts = [rows for rows, _ in divisions]
    return {name: _combine_repeats(results, people, parts) for name, results in found.items()}


def _combine_repeats(
    results: list[list[tuple[FloatArray, FloatArray]]],
    people: People,
    parts: list[tuple[IntArray, IntArray]],
) -> InferenceResult | None:
    """Put the repeats together; every one has true values first, and then dealt ones."""
    if not results:
        return None
    dealt = [
        np.array(item)
        for item in zip(*([gained for gained, _ in of] for of in results), strict=True)
    ]
    if np.isnan(dealt[0]).all():
        return None
    best = [float(np.nanmax(_means(item))) for item in dealt[1:] if not np.isnan(item).all()]
    classes = people.targets.classes
    return InferenceResult(
        advantage=dealt[0],
        accuracy=np.array([of[0][1] for of in results]),
        majority=np.array(
            [
                (classes[judge] == np.bincount(classes[learn]).argmax()).mean()
                for learn, judge in parts
            ]
        ),
        ratio=float(np.mean([len(judge) / len(learn) for learn, judge in parts])),
        chance=np.array(best or [0.0]),
    )


def _attack_once(
    seen: tuple[FloatArray, FloatArray],
    targets: Targets,
    learned: IntArray,
    true: IntArray,
    plan: Plan,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """(attackers x targets) and (attackers): advantage and accuracy in one division."""
    advantage = np.full((len(plan.attackers), len(targets.names)), np.nan)
    accuracy = np.zeros(len(plan.attackers))
    for index, name in enumerate(plan.attackers):
        likely = _likelihoods(name, seed, seen[0], learned, seen[1], targets.members.shape[1])
        accuracy[index] = (likely.argmax(axis=1) == true).mean()
        for target, members in enumerate(targets.members):
            advantage[index, target] = told_apart(likely @ members, members[true])
    return advantage, accuracy


def _likelihoods(
    name: Attacker,
    seed: int,
    learned: FloatArray,
    classes: IntArray,
    judged: FloatArray,
    count: int,
) -> FloatArray:
    result = np.zeros((len(judged), count))
    if len(np.unique(classes)) < 2 or not learned.shape[1]:
        # Nothing to learn from: the most frequent class, of everybody.
        result[:, np.bincount(classes).argmax()] = 1.0
        return result
    model = _attacker(name, seed).fit(learned, classes)
    result[:, model.classes_] = model.predict_proba(judged)
    return result


def told_apart(score: FloatArray, true: NDArray[np.bool_]) -> float:
    """2 AUC - 1 of a score; NaN when hardly any row is true, or hardly any is not."""
    some = int(true.sum())
    others = len(true) - some
    if min(some, others) < FEWEST_JUDGES:
        return float("nan")
    above = rankdata(score)[true].sum() - some * (some + 1) / 2
    return float(2 * above / (some * others) - 1)
