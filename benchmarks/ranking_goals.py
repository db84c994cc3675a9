"""What the ranking must show: the order of the releases, leaks found, no stranger blamed."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from goal import Goal
from ranking_ours import TOOL
from ranking_releases import COPULA, COPY, INDEPENDENT, LEAKS, NOISES, RELEASES

Record = dict[str, Any]

#: From the most to the least dangerous.
ORDER = (
    COPY,
    *(f"noise {level}" for level in NOISES),
    "5 % verbatim",
    "1 % verbatim",
    COPULA,
    INDEPENDENT,
)
ORDERED_BY = ("linkability", "membership")
QUESTIONS = ("singling out", "linkability", "inference", "membership")
LEAST_OF_A_COPY = 0.95
#: Of 20 seeds the interval of the independent draw holds 0 in 19.
LEAST_COVERED = 0.95
#: Harmonic mean of the shares of leaked rows that are called exposed, and of these that leaked.
#: On Adult one in eight strangers equals a row of the copula, so that no search finds them all.
LEAST_FOUND = 0.4
#: Of the CPU of the other package's attacks.
MOST_CPU = 0.1
PEER, DENSITY = "anonymeter", "domias"
#: Two standard errors of a mean over seeds.
SPREAD = 1.96


class Mean(NamedTuple):
    """A mean over seeds, and half the width of its interval."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Mean":
        """Average what is known; what no seed knows is NaN."""
        known = np.array([value for value in values if value is not None], float)
        if not len(known):
            return cls(float("nan"), float("nan"))
        error = SPREAD * known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else 0.0
        return cls(float(known.mean()), float(error))

    @classmethod
    def over(cls, means: Iterable["Mean"]) -> "Mean":
        """Average means of the same seeds, whose errors may go together."""
        values, errors = zip(*means, strict=True)
        return cls(float(np.mean(values)), float(np.mean(errors)))


class Results:
    """The records of a run, found by what was asked."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = list(records)

    @property
    def tables(self) -> list[str]:
        """Every table that was measured."""
        return sorted({record["table"] for record in self.records})

    def where(self, **wanted: Any) -> "Results":
        """Return the records with these values."""
        return Results(
            record
            for record in self.records
            if all(record.get(key) == value for key, value in wanted.items())
        )

    def names(self, key: str) -> list[str]:
        """Every value of a key, in the order in which they were measured."""
        return list(dict.fromkeys(record[key] for record in self.records if key in record))

    def by_seed(self, key: str, together: Callable[[list[Any]], Any] = max) -> dict[int, Any]:
        """Of every seed the worst of a figure; None where it has records, but no figure."""
        seeds: dict[int, list[Any]] = {}
        for record in self.records:
            seeds.setdefault(record["seed"], []).append(record.get(key))
        known = {
            seed: [value for value in values if value is not None] for seed, values in seeds.items()
        }
        return {seed: together(values) if values else None for seed, values in known.items()}

    def mean(self, key: str) -> Mean:
        """Average the worst of every seed."""
        return Mean.of(self.by_seed(key).values())

    def average(self, key: str) -> Mean:
        """Average over all records."""
        return Mean.of(record.get(key) for record in self.records)

    def total(self, key: str) -> Mean:
        """Average the sum of every seed."""
        return Mean.of(self.by_seed(key, sum).values())

    def question(self, question: str) -> "Results":
        """Return the attacks of our audits that answer a question."""
        return self.where(tool=TOOL, kind="attack", question=question)


def goals(results: Results) -> list[Goal]:
    """Judge every table."""
    judged: list[Goal] = []
    for table in results.tables:
        of_table = results.where(table=table)
        if not of_table.where(tool=TOOL, kind="attack").records:
            continue
        parts = (_order, _headlines, _leaks, _attacks, _membership, _cost)
        judged += [goal for part in parts for goal in part(table, of_table)]
    return judged


def _order(table: str, results: Results) -> Iterator[Goal]:
    """A step is missed when it is turned round beyond chance; a tie is named."""
    for question in ORDERED_BY:
        attacks = results.question(question)
        for above, below in pairwise(ORDER):
            first, second = (attacks.where(release=name).by_seed("risk") for name in (above, below))
            seeds = [
                seed for seed in first if first[seed] is not None and second.get(seed) is not None
            ]
            step = Mean.of(first[seed] - second[seed] for seed in seeds)
            tie = ", tie" if abs(step.value) <= step.error else ""
            name = f"{table}, {question}: {above} over {below}{tie}"
            yield Goal(name, step.value, 0.0, step.value + step.error >= 0.0, least=True)


def _headlines(table: str, results: Results) -> Iterator[Goal]:
    heads = results.where(tool=TOOL, kind="headline")
    of_copy = heads.where(release=COPY).mean("risk")
    yield Goal.at_least(f"{table}: headline of a copy", of_copy.value, LEAST_OF_A_COPY)
    # A seed without a headline covers nothing: refusing everything is no self-test.
    draws = heads.where(release=INDEPENDENT).records
    covered = sum(item["interval"][0] <= 0.0 <= item["interval"][1] for item in draws)
    seeds = len({record["seed"] for record in results.where(tool=TOOL).records})
    name = f"{table}: headlines of the independent draw that hold 0"
    yield Goal.at_least(name, covered / seeds, LEAST_COVERED)
    attacks = results.where(tool=TOOL, kind="attack").records
    unable = sum(record["risk"] is None for record in attacks)
    yield Goal.at_most(f"{table}: attacks that are not assessable", unable / len(attacks), 0.0)


def _leaks(table: str, results: Results) -> Iterator[Goal]:
    for release, (share, _) in LEAKS.items():
        if share < max(share for share, _ in LEAKS.values()):
            continue
        best = best_finder(results.where(tool=TOOL, kind="leak", release=release))
        name = f"{table}: rows of {release} found by {best.name}"
        yield Goal.at_least(name, best.both, LEAST_FOUND)


class Finder(NamedTuple):
    """An attack, and how well the rows that it calls exposed are the leaked ones."""

    name: str
    recall: float
    precision: float

    @property
    def both(self) -> float:
        """Harmonic mean."""
        return 2 * self.recall * self.precision / max(self.recall + self.precision, 1e-12)


def finders(leaks: Results) -> list[Finder]:
    """Return every attack on a leak with its means over seeds."""
    results = []
    for name in leaks.names("attack"):
        of_attack = leaks.where(attack=name)
        recall, precision = of_attack.mean("recall"), of_attack.mean("precision")
        results.append(Finder(name, recall.value, precision.value))
    return results


def best_finder(leaks: Results) -> Finder:
    """Return the attack that finds leaked rows best."""
    return max(finders(leaks), key=lambda item: item.both, default=Finder("nothing", 0.0, 0.0))


class Contest(NamedTuple):
    """One attack of ours and one of the other package on a release, on as many people."""

    ours: Results
    theirs: Results

    @property
    def found(self) -> bool:
        """Whether the other package gains more than chance does, over the seeds."""
        excess = self.theirs.mean("excess")
        return excess.value > excess.error


def contests(results: Results, question: str, release: str) -> list[Contest]:
    """Pair attacks of the same name; where there are none, the strongest of either side."""
    there = results.where(release=release, question=question)
    ours, theirs = there.where(tool=TOOL, kind="alone"), there.where(tool=PEER)
    # Other packages may have been asked for fewer seeds.
    seeds = {record["seed"] for record in theirs.records}
    ours = Results(record for record in ours.records if record["seed"] in seeds)
    if not ours.records:
        return []
    names = [name for name in theirs.names("attack") if ours.where(attack=name).records]
    if not names:
        return [Contest(strongest(ours), strongest(theirs))]
    return [
        Contest(strongest(ours.where(attack=name), "method"), theirs.where(attack=name))
        for name in names
    ]


def strongest(side: Results, key: str = "attack") -> Results:
    """Return the attack that gains most over its control."""
    attacks = (side.where(**{key: name}) for name in side.names(key))
    return max(attacks, key=lambda attack: attack.mean("excess").value)


def _attacks(table: str, results: Results) -> Iterator[Goal]:
    for question in QUESTIONS[:3]:
        for release in RELEASES:
            found = [item for item in contests(results, question, release) if item.found]
            for figure in ("success", "excess") if found else ():
                ours = Mean.over(item.ours.mean(figure) for item in found)
                theirs = Mean.over(item.theirs.mean(figure) for item in found)
                name = f"{table}, {question}: our {figure} on {release}"
                yield _as_high(name, ours, theirs)


def _as_high(name: str, ours: Mean, theirs: Mean) -> Goal:
    """Both are means over few seeds: what is less by chance is no less."""
    met = bool(ours.value >= theirs.value - np.hypot(ours.error, theirs.error))
    return Goal(name, ours.value, theirs.value, met, least=True)


def _membership(table: str, results: Results) -> Iterator[Goal]:
    for release in (COPULA, *(f"noise {level}" for level in NOISES)):
        there = results.where(release=release, question="membership")
        ours, theirs = there.where(tool=TOOL, kind="alone"), there.where(tool=DENSITY)
        if not ours.records or not theirs.records:
            continue
        for figure, words in (("auc", "AUC"), ("tpr", "TPR at 1 % FPR")):
            name = f"{table}, membership: our {words} on {release}"
            yield _as_high(name, ours.mean(figure), theirs.mean(figure))


def cpu(side: Results) -> float:
    """CPU seconds of all attacks of a side on one release."""
    runs = [side.where(release=release) for release in side.names("release")]
    return float(np.mean([run.total("cpu").value for run in runs]))


def _cost(table: str, results: Results) -> Iterator[Goal]:
    """Every auditor by itself: each asks the whole question."""
    for question in QUESTIONS[:3]:
        there = results.where(question=question)
        ours, theirs = there.where(tool=TOOL, kind="alone"), there.where(tool=PEER)
        for auditor in ours.names("auditor") if theirs.records else ():
            ratio = cpu(ours.where(auditor=auditor)) / cpu(theirs)
            name = f"{table}, {question}: CPU of {auditor} over {PEER}'s"
            yield Goal.at_most(name, ratio, MOST_CPU)
