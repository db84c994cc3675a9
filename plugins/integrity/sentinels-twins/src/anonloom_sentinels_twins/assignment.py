"""Who does what: controls are placed first, and the genuine rows fill the batches up evenly.

A worker must not be able to tell a control from a genuine row. So every job has a new name, every
batch its own order, and no control stands beside the one genuine row that has the same cells.
"""

import hashlib
import itertools
from collections.abc import Mapping

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import DataError, UsageError
from anonloom.lazy import pd
from anonloom.typing import IntArray
from anonloom_sentinels_twins.disguise import disguise_rows
from anonloom_sentinels_twins.key import NONE, Key, fingerprints, spell
from anonloom_sentinels_twins.twin_pairs import sharing_pairs
from anonloom_sentinels_twins.work_check import JOB, RESULT, Assignment, Campaign, Sizing

_SORTS = ("sentinels", "twins")
_SALT = 16
_NAME = 16
# How often a row is moved on before it may stand beside a control with the same cells.
_TRIES = 50


def assign(
    jobs: "pd.DataFrame",
    known: "pd.DataFrame",
    campaign: Campaign,
    sizing: Sizing,
    rng: np.random.Generator,
    disguise: Mapping[str, float],
) -> Assignment:
    """Return each worker's batch, and the key that tells the controls.

    Raises
    ------
    DataError
        When columns differ, or known rows are too few.
    UsageError
        When the numbers of controls cannot be placed.
    """
    sentinels, twins = (sizing.controls.get(sort, 0) for sort in _SORTS)
    _check(jobs, known, campaign, sizing)
    classes, labels = _classes(known, campaign, sentinels)
    rows = pd.concat([jobs, known[jobs.columns]], ignore_index=True)
    alike = _Alike.of(rows, len(jobs))
    drawn = _choose_sentinels(alike, classes, sentinels, len(campaign.classes), rng)
    placed = _place_jobs(alike, drawn, twins, campaign, rng)

    names = _names(len(placed.worker), rng)
    cells = rows.iloc[placed.source].reset_index(drop=True)
    if disguise:
        cells = disguise_rows(cells, placed.copy, disguise, rng)
    cells.insert(0, JOB, names)
    bounds = np.searchsorted(placed.worker, np.arange(campaign.workers + 1))
    batches = tuple(
        cells.iloc[start:end].reset_index(drop=True) for start, end in itertools.pairwise(bounds)
    )
    salt = rng.bytes(_SALT)
    genuine = placed.source < len(jobs)
    known_row = np.maximum(placed.source - len(jobs), 0)
    key = Key(
        campaign=campaign,
        sizing=sizing,
        rows=len(jobs),
        results=labels,
        job=names,
        worker=placed.worker,
        row=np.where(genuine, placed.source, NONE),
        expected=np.where(genuine, NONE, classes[known_row] if len(classes) else NONE),
        copy=placed.copy,
        disguised=bool(disguise),
        salt=salt,
        used=tuple(fingerprints(known[jobs.columns].iloc[drawn], salt)),
    )
    return Assignment(batches=batches, key=key, warnings=_warnings(placed, alike, campaign))


def _check(jobs: "pd.DataFrame", known: "pd.DataFrame", campaign: Campaign, sizing: Sizing) -> None:
    for name in (JOB, RESULT):
        if name in jobs.columns:
            raise DataError(f"the rows have a column '{name}': the batches need that name")
    if len(jobs.columns) == 0:
        raise DataError("the rows have no columns")
    if set(known.columns) != {*jobs.columns, RESULT}:
        raise DataError(
            f"the known rows must have the columns of the rows and '{RESULT}', and no others"
        )
    for name in jobs.columns:
        kinds = {pd.api.types.is_numeric_dtype(item[name]) for item in (jobs, known) if len(item)}
        if len(kinds) > 1:
            raise DataError(
                f"column '{name}' holds numbers in the rows and something else in the known rows, "
                "or the other way round"
            )
    if len(jobs) != campaign.jobs:
        raise UsageError(f"the campaign has {campaign.jobs} jobs; there are {len(jobs)} rows")
    strange = sorted(set(sizing.controls) - set(_SORTS))
    if strange:
        raise UsageError(f"no such sort of control: {', '.join(strange)}")
    if sizing.controls.get("twins", 0) > len(jobs):
        raise UsageError(
            f"{sizing.controls['twins']} twins are more than the {len(jobs)} jobs: "
            "a job has one twin at most"
        )


def _classes(
    known: "pd.DataFrame", campaign: Campaign, sentinels: int
) -> tuple[IntArray, tuple[str, ...]]:
    """Return the number of each known row's class, and what the classes are called."""
    if sentinels == 0:
        return np.zeros(0, dtype=np.int64), ()
    results = spell(known[RESULT])
    none = sum(result is None for result in results)
    if none:
        raise DataError(f"{none} known rows have no result")
    labels, classes = np.unique(results.astype(str), return_inverse=True)
    if len(labels) != len(campaign.classes):
        raise DataError(
            f"the known rows have {len(labels)} different results; the campaign expects "
            f"{len(campaign.classes)}"
        )
    return classes.astype(np.int64), tuple(map(str, labels))


@attrs.frozen(eq=False)
class _Alike:
    """Which rows have the same cells.

    Attributes
    ----------
    genuine, known
        Equal numbers for equal cells.
    common
        By that number: whether several genuine rows have these cells. One more is nothing that a
        worker could notice, and to avoid such rows would leave only unusual ones as controls.
    """

    genuine: IntArray
    known: IntArray
    common: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: "pd.DataFrame", jobs: int) -> "_Alike":
        """Compare all rows; the first `jobs` of them are genuine."""
        grouped = rows.groupby(list(rows.columns), dropna=False, sort=False, observed=True)
        number = grouped.ngroup().to_numpy(dtype=np.int64)
        count = np.bincount(number[:jobs], minlength=int(number.max(initial=-1)) + 1)
        return cls(number[:jobs], number[jobs:], count > 1)


def _choose_sentinels(
    alike: _Alike, classes: IntArray, sentinels: int, n_classes: int, rng: np.random.Generator
) -> IntArray:
    """Return which known rows become sentinels: as many of each class, equal ones in a row."""
    if sentinels == 0:
        return np.zeros(0, dtype=np.int64)
    available = np.bincount(classes, minlength=n_classes)
    wanted = np.full(n_classes, sentinels // n_classes)
    # Which classes have one more is chance: if the frequent ones had it whenever rare ones are
    # scarce, guesses would be right more often than is stated. So all need as many known rows.
    wanted[rng.permutation(n_classes)[: sentinels % n_classes]] += 1
    needed = -(-sentinels // n_classes)
    lacking = np.flatnonzero(available < needed)
    if len(lacking):
        missing = "\n".join(
            f"class {index + 1} of {n_classes} lacks {needed - available[index]} of {needed} rows"
            for index in lacking
        )
        raise DataError(
            f"the known rows are too few for {sentinels} sentinels, as many of each class",
            hint=f"{missing}\nclasses are counted in the order of their names",
        )
    shuffled = rng.permutation(len(classes))
    # Rows that repeat the cells of another come last, so that they are drawn in need only.
    repeated = pd.Series(alike.known[shuffled]).groupby(alike.known[shuffled]).cumcount()
    repeated = np.where(alike.common[alike.known[shuffled]], 0, repeated.to_numpy())
    shuffled = shuffled[np.lexsort((repeated, classes[shuffled]))]
    starts = np.concatenate([[0], np.cumsum(available)[:-1]])
    place = np.arange(len(classes)) - np.repeat(starts, available)
    chosen = shuffled[place < np.repeat(wanted, available)]
    # Dealt in this order, rows with equal cells go to different workers. The order is random but
    # for that: in the order of classes some workers would have sentinels of one class only.
    place = rng.permutation(len(alike.common))[alike.known[chosen]]
    return np.asarray(chosen[np.argsort(place, kind="stable")], dtype=np.int64)


@attrs.frozen(eq=False)
class _JobTable:
    """All jobs, by worker: where its cells come from, whose it is, whether it is a second copy."""

    source: IntArray
    worker: IntArray
    copy: NDArray[np.bool_]


def _place_jobs(
    alike: _Alike, drawn: IntArray, twins: int, campaign: Campaign, rng: np.random.Generator
) -> _JobTable:
    jobs, workers = len(alike.genuine), campaign.workers
    watched = rng.permutation(workers)[np.arange(len(drawn)) % workers]
    beside = _beside(alike, drawn, watched)
    shuffled = rng.permutation(jobs)
    # A row that equals a sentinel is twinned in need only: a single job is easier to keep apart.
    bound = np.isin(shuffled, beside[:, 0])
    shuffled = shuffled[np.argsort(bound, kind="stable")]
    twinned, single = shuffled[:twins], shuffled[twins:]
    pairs = _pairs(twins, campaign, rng)
    load = np.bincount(np.concatenate([pairs.ravel(), watched]), minlength=workers)
    owner = np.empty(jobs, dtype=np.int64)
    owner[twinned] = pairs[:, 0]
    owner[single] = rng.permutation(
        np.repeat(np.arange(workers), _balance_load(load, len(single), rng))
    )
    _move_apart(owner, single, beside, rng)
    source = np.concatenate([np.arange(jobs), twinned, jobs + drawn])
    worker = np.concatenate([owner, pairs[:, 1], watched])
    copy = np.zeros(len(source), dtype=bool)
    copy[jobs : jobs + twins] = True
    order = np.lexsort((rng.permutation(len(source)), worker))
    return _JobTable(source[order], worker[order], copy[order])


def _beside(alike: _Alike, drawn: IntArray, watched: IntArray) -> IntArray:
    """Return which genuine row must not be whose job, one line each."""
    codes = alike.known[drawn]
    place = np.full(len(alike.common), NONE, dtype=np.int64)
    place[alike.genuine] = np.arange(len(alike.genuine))
    row = np.where(alike.common[codes], NONE, place[codes]) if len(codes) else codes
    lines: IntArray = np.column_stack([row, watched])[row != NONE]
    return lines


def _pairs(twins: int, campaign: Campaign, rng: np.random.Generator) -> IntArray:
    """Return two workers for each twin: each two who may share a job have nearly as many.

    Even over pairs of workers, not over workers: see `formulas` for why that would not be enough.
    """
    if twins == 0:
        return np.zeros((0, 2), dtype=np.int64)
    apart = sharing_pairs(campaign.workers, campaign.groups)
    if len(apart) == 0:
        raise UsageError("twins need two workers who may share a job")
    rounds = -(-twins // len(apart))
    # All pairs once in every round; which of them the last round leaves out is chance.
    order = np.concatenate([rng.permutation(len(apart)) for _ in range(rounds)])[:twins]
    return rng.permuted(apart[order], axis=1)


def _balance_load(load: IntArray, extra: int, rng: np.random.Generator) -> IntArray:
    """Return how many more jobs each worker gets so that all have nearly as many."""
    lowest = np.sort(load)
    needed = np.arange(1, len(load) + 1) * lowest - np.cumsum(lowest)
    below = int(np.searchsorted(needed, extra, side="right"))
    level = (extra + int(lowest[:below].sum())) // below
    more = np.maximum(level - load, 0)
    open_to = rng.permutation(np.flatnonzero(load <= level))
    more[open_to[: extra - int(more.sum())]] += 1
    return more


def _move_apart(
    owner: IntArray, single: IntArray, beside: IntArray, rng: np.random.Generator
) -> None:
    """Exchange rows between workers until none stands beside a sentinel with its cells."""
    bound: dict[int, set[int]] = {}
    for row, worker in beside.tolist():
        bound.setdefault(row, set()).add(worker)
    free = single[~np.isin(single, beside[:, 0])]
    if len(free) == 0:
        return
    alone = set(single.tolist())
    for row, forbidden in bound.items():
        if row in alone and int(owner[row]) in forbidden:
            others = rng.choice(free, size=_TRIES)
            fitting = [other for other in others if int(owner[other]) not in forbidden]
            if fitting:
                owner[[row, fitting[0]]] = owner[[fitting[0], row]]


def _names(count: int, rng: np.random.Generator) -> NDArray[np.str_]:
    """Return new names.

    Workers see them, so they go through a hash: whoever could compute the generator's state from
    its output would know every batch.
    """
    text = hashlib.shake_256(rng.bytes(2 * _NAME)).hexdigest(_NAME * count)
    return np.frombuffer(text.encode(), dtype=f"S{2 * _NAME}").astype(np.str_)


def _warnings(placed: _JobTable, alike: _Alike, campaign: Campaign) -> tuple[str, ...]:
    number = np.concatenate([alike.genuine, alike.known])[placed.source]
    seen = pd.DataFrame({"worker": placed.worker, "number": number})
    twice = seen.duplicated(keep=False).to_numpy() & ~alike.common[number]
    sentinel = placed.source >= len(alike.genuine)
    results = []
    if (twice & sentinel).any():
        results.append(
            f"{(twice & sentinel).sum()} sentinels stand beside a row with the same cells, which "
            "gives them away: there are too few known rows, or too few workers"
        )
    watched = set(placed.worker[sentinel])
    if len(watched) < campaign.workers:
        results.append(
            f"{campaign.workers - len(watched)} of {campaign.workers} workers have no sentinel: "
            "whatever they omit, nothing proves it"
        )
    return tuple(results)
