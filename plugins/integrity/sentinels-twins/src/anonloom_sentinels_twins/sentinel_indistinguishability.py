"""Likeness: whether anybody could tell the known rows from the genuine ones of the same class.

Sentinels are drawn at random from the known rows of their class; a worker that can tell these from
genuine rows works on sentinels only. A classifier tries it here, class by class: sentinels are
spread evenly over the classes on purpose, so that their mix of classes tells nothing against them.

Before the answers are there, nobody knows the class of a genuine row. Both sides are then compared
among the rows for which a model of the known rows *predicts* the class, with about the same
probability, and the known rows are thinned out until their classes occur as often as is expected
among the jobs. The model that predicts a row has seen neither it nor any other row of its fold.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import UsageError
from anonloom.lazy import pd
from anonloom_sentinels_twins.distinguisher import Attempt, attempt
from anonloom_sentinels_twins.features import Matrix, features_of
from anonloom_sentinels_twins.key import spell
from anonloom_sentinels_twins.work_check import JOB, RESULT

#: How often, at most, rows that are alike are said to be told apart: all classes together.
RATE = 0.01
#: Times that the sides are exchanged at random in order to know what chance does.
EXCHANGES = 499
#: Parts of which each is judged by a classifier that learned from the others.
FOLDS = 5
#: Rows of each side below which a class is not judged.
FEWEST = 40
#: Rows of each side of a class that are looked at, and rows of each side in all.
MOST_OF_CLASS, MOST = 1000, 4000
#: Rows of both sides that are compared with each other: equally sure predictions of one class.
_PER_CELL = 40
#: Trees of the model that predicts.
_TREES = 30
#: With more different results than this, no class has rows enough: all are one.
MOST_CLASSES = 40

_Places = NDArray[np.int64]


@attrs.frozen(kw_only=True)
class ClassLikeness:
    """How well known and genuine rows of one class can be told apart.

    Attributes
    ----------
    number
        Of the class, counted from 1 in the order of the classes; 0 for all classes together.
    known, genuine
        Rows of each side that were compared.
    auc
        Cross-validated: 0.5 is chance, 1 is always. None when there are too few rows to tell.
    chance
        The AUC that rows that are alike exceed in `RATE` of all cases, all classes together.
    """

    number: int
    known: int
    genuine: int
    auc: float | None
    chance: float | None

    @property
    def distinguishable(self) -> bool:
        """Whether the classifier does better than chance."""
        return self.auc is not None and self.chance is not None and self.auc > self.chance

    def __str__(self) -> str:
        where = f"class {self.number}" if self.number else "all results"
        rows = f"{self.known} known, {self.genuine} genuine rows"
        if self.auc is None or self.chance is None:
            return f"{where}: too few to tell ({rows})"
        word = "above" if self.distinguishable else "within"
        return f"{where}: AUC {self.auc:.3f}, {word} chance (up to {self.chance:.3f}; {rows})"


@attrs.frozen(kw_only=True)
class Likeness:
    """The outcome for all classes.

    Attributes
    ----------
    classes
        One per class, in order.
    rate
        How often, at most, rows that are alike are said to be told apart in any class.
    answered
        Whether the classes of the genuine rows are those that workers answered; otherwise those
        that a model of the known rows predicts.
    """

    classes: tuple[ClassLikeness, ...]
    rate: float
    answered: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the client should know: numbers of classes, never a cell."""
        texts = [
            f"sentinels of {'class ' + str(item.number) if item.number else 'any class'} can be "
            "told "
            f"from genuine rows: AUC {item.auc:.2f}, by chance at most {item.chance:.2f} "
            f"(a false alarm in {self.rate:.0%} of all plans); a worker that looks closely can "
            f"compute the sentinels only"
            for item in self.classes
            if item.distinguishable
        ]
        few = [str(item.number) for item in self.classes if item.auc is None and item.number]
        if len(few) == len(self.classes) or any(
            item.auc is None and not item.number for item in self.classes
        ):
            return (*texts, _FEW_IN_ALL)
        if few:
            words = f"class {few[0]}" if len(few) == 1 else f"classes {', '.join(few)}"
            texts.append(
                f"too few rows to tell whether sentinels of {words} look like genuine rows: at "
                f"least {FEWEST} known and as many genuine rows of a class are needed"
            )
        return tuple(texts)


_FEW_IN_ALL = (
    "too few rows to tell whether sentinels look like genuine rows: at least "
    f"{FEWEST} known and as many genuine rows of a class are needed"
)


def measure(
    jobs: "pd.DataFrame",
    known: "pd.DataFrame",
    rng: np.random.Generator,
    *,
    mix: Sequence[float] | None = None,
    answered: "Sequence[object] | pd.Series | None" = None,
    rate: float = RATE,
) -> Likeness:
    """Return how well a classifier tells known rows from genuine ones, class by class.

    Parameters
    ----------
    jobs
        The genuine rows.
    known
        Rows with the same columns, and in `result` what the client computed.
    mix
        How often each class is expected among the jobs, in the order of their names; by default
        as often as among the known rows. If this is wrong, rows may look different that are not.
    answered
        One result per genuine row, once they are there; rows without one are left out. They are
        taken for right: wrong ones make rows look different that are not.
    rate
        How often, at most, rows that are alike may be said to be told apart.

    Raises
    ------
    UsageError
        When `mix` does not fit the results of the known rows.
    """
    columns = [name for name in jobs.columns if name != JOB]
    results = spell(known[RESULT])
    names = sorted({result for result in results if result is not None})
    if mix is not None and len(mix) != len(names):
        raise UsageError(
            f"the known rows have {len(names)} different results; the campaign expects {len(mix)}"
        )
    classes = _numbers(results, names)
    mine = _sample(np.flatnonzero(classes >= 0), MOST, rng)
    given = None if answered is None else _numbers(spell(pd.Series(answered)), names)
    theirs = np.arange(len(jobs)) if given is None else np.flatnonzero(given >= 0)
    theirs = _sample(theirs, MOST, rng)
    rows = pd.concat([known[columns].iloc[mine], jobs[columns].iloc[theirs]], ignore_index=True)
    genuine = np.repeat([False, True], [len(mine), len(theirs)])
    seen = features_of(rows, int(rng.integers(2**31)))
    folds = _folds(genuine, rng)
    sure, kept = np.zeros(len(rows)), np.ones(len(rows), dtype=np.bool_)
    # Where hardly any result occurs twice, there are no classes to learn.
    if len(names) > min(MOST_CLASSES, len(mine) // FOLDS) or len(names) < 2:
        numbers: tuple[int, ...] = (0,) if len(names) != 1 else (1,)
        strata = np.zeros(len(rows), dtype=np.int64)
    else:
        numbers = tuple(range(1, len(names) + 1))
        if given is not None:
            strata = np.concatenate([classes[mine], given[theirs]])
        else:
            strata, sure = _predict_classes(seen, classes[mine], genuine, folds, rng)
            if mix is not None:
                kept[: len(mine)] = _thin_to_mix(classes[mine], mix, rng)
    attempts = [
        _try(seen, genuine, folds, sure, np.flatnonzero(kept & (strata == index)), rng)
        for index in range(len(numbers))
    ]
    return _compare_with_chance(numbers, attempts, rate, answered=given is not None)


def _numbers(results: NDArray[np.object_], names: list[str]) -> _Places:
    """Return the place of each result in the list of classes; -1 where it is missing or new."""
    places = {name: place for place, name in enumerate(names)}
    return np.array([places.get(result, -1) for result in results], dtype=np.int64)


def _sample(places: _Places, most: int, rng: np.random.Generator) -> _Places:
    if len(places) <= most:
        return places
    return np.sort(rng.choice(places, most, replace=False))


def _folds(genuine: NDArray[np.bool_], rng: np.random.Generator) -> _Places:
    """Return a fold for each row: of both sides as many in each."""
    folds = np.empty(len(genuine), dtype=np.int64)
    for side in (False, True):
        places = np.flatnonzero(genuine == side)
        folds[rng.permutation(places)] = np.arange(len(places)) % FOLDS
    return folds


def _predict_classes(
    seen: Matrix,
    classes: _Places,
    genuine: NDArray[np.bool_],
    folds: _Places,
    rng: np.random.Generator,
) -> tuple[_Places, NDArray[np.float64]]:
    """Return a predicted class for each row, and its probability."""
    from sklearn.ensemble import ExtraTreesClassifier

    strata, sure = np.zeros(len(seen), dtype=np.int64), np.zeros(len(seen))
    known = np.flatnonzero(~genuine)
    for fold in range(FOLDS):
        learn, test = folds[known] != fold, folds == fold
        if not learn.any() or not test.any():
            continue
        model = ExtraTreesClassifier(
            n_estimators=_TREES, min_samples_leaf=2, random_state=int(rng.integers(2**31))
        )
        chances = model.fit(seen[known[learn]], classes[learn]).predict_proba(seen[test])
        strata[test], sure[test] = model.classes_[chances.argmax(axis=1)], chances.max(axis=1)
    return strata, sure


def _thin_to_mix(
    classes: _Places, mix: Sequence[float], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which known rows to keep so that classes are as frequent as they are expected to be.

    As many as the scarcest class allows, and by chance, as in a sample of jobs.
    """
    expected = np.asarray(mix, dtype=np.float64)
    have = np.bincount(classes, minlength=len(expected))
    share = np.divide(expected, have, out=np.zeros(len(expected)), where=have > 0)
    keep = share / max(float(share.max()), 1e-300)
    return np.asarray(rng.random(len(classes)) < keep[classes])


def _try(
    seen: Matrix,
    genuine: NDArray[np.bool_],
    folds: _Places,
    sure: NDArray[np.float64],
    rows: _Places,
    rng: np.random.Generator,
) -> Attempt:
    sides = [_sample(rows[genuine[rows] == side], MOST_OF_CLASS, rng) for side in (False, True)]
    rows = np.concatenate(sides)
    made = None
    if min(map(len, sides)) >= FEWEST:
        bins = max(len(rows) // (FOLDS * _PER_CELL), 1)
        edges = np.quantile(sure[rows], np.arange(1, bins) / bins)
        cells = folds[rows] * bins + np.searchsorted(edges, sure[rows])
        made = attempt(seen[rows], genuine[rows], folds[rows], cells, EXCHANGES, rng)
    return made or Attempt(len(sides[0]), len(sides[1]), None, None)


def _compare_with_chance(
    numbers: tuple[int, ...], attempts: list[Attempt], rate: float, *, answered: bool
) -> Likeness:
    """Compare with what chance does in the worst of all classes, each in its own spread."""
    spreads = [(a.exchanged.mean(), a.exchanged.std()) for a in attempts if a.exchanged is not None]
    worst = [
        (a.exchanged - mean) / max(std, 1e-12)
        for a, (mean, std) in zip(
            [a for a in attempts if a.exchanged is not None], spreads, strict=True
        )
    ]
    limit = 0.0
    if worst:
        # With the observed one among them, the rank of the largest is uniform: exact.
        most = np.sort(np.max(worst, axis=0))[::-1]
        limit = float(most[max(int(rate * (len(most) + 1)) - 1, 0)])
    left = iter(spreads)
    classes = []
    for number, item in zip(numbers, attempts, strict=True):
        chance = None
        if item.exchanged is not None:
            mean, std = next(left)
            chance = float(mean + limit * max(std, 1e-12))
        classes.append(
            ClassLikeness(
                number=number, known=item.known, genuine=item.genuine, auc=item.auc, chance=chance
            )
        )
    return Likeness(classes=tuple(classes), rate=rate, answered=answered)
