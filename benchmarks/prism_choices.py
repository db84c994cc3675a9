"""Which attributes PrismSVC and PrivateSelection choose on Adult: by seed, by order of the rows.

    python benchmarks/prism_choices.py [--times 20] [--rows 30162] [--only adult-race] [--most 5]

For each of three sensitive columns of Adult (see prism.py), the sets that are chosen with so many
seeds and with the rows in so many random orders, in each of which correlations are searched for
anew: it exits with 1 unless all of them are one set. With `--most` the search by mixed-integer
programming chooses so many of all attributes but the sensitive one, and correlations do not count.
Beside it, how many sets as many random samples of the rows choose (`sample="random"`), which is
what the default does without.
"""

import argparse
import sys
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
from prism import Task, tasks
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning

from anonloom_prism.private_selection import PrivateSelection
from anonloom_prism.svc import PrismSVC

Sets = Counter[tuple[str, ...]]
SENSITIVE = ("adult-race", "adult-marital", "adult-country")
#: The choice comes before the fit, and does not depend on how far the fit gets.
MACHINE: dict[str, Any] = {"max_iter": 1}


def rule(task: Task, rows: np.ndarray, most: int | None) -> dict[str, Any]:
    """What the choice must keep to: correlations among these rows, or a number."""
    if most is not None:
        return {"sensitive": task.sensitive, "max_attributes": most}
    return {"sensitive": task.sensitive, "correlations": task.correlations(rows)}


def chosen(model: Any, task: Task, rows: np.ndarray) -> tuple[str, ...]:
    """Return the attributes of a model that was fitted on rows in this order."""
    model.fit(task.x.iloc[rows], task.y[rows])
    return tuple(sorted(model.attributes_in_.tolist()))


def compare(task: Task, times: int, most: int | None) -> bool:
    """Print one line; say whether every choice was the same."""
    start, given = time.process_time(), np.arange(len(task.frame))
    once = rule(task, given, most)
    seeds, orders, samples = Sets(), Sets(), Sets()
    for seed in range(times):
        seeds[chosen(PrismSVC(**once, **MACHINE, random_state=seed), task, given)] += 1
        mixed = np.random.default_rng(seed).permutation(given)
        again = rule(task, mixed, most)
        orders[chosen(PrismSVC(**again, **MACHINE), task, mixed)] += 1
        wrapped = PrivateSelection(DummyClassifier(), **again, random_state=seed)
        orders[chosen(wrapped, task, mixed)] += 1
        drawn = PrismSVC(**once, **MACHINE, sample="random", random_state=seed)
        samples[chosen(drawn, task, given)] += 1
    print(
        f"| {task.name} | {len(seeds)} | {len(orders)} | {len(samples)} | {', '.join(max(seeds))} "
        f"| {time.process_time() - start:.0f} s |",
        flush=True,
    )
    return len(seeds | orders) == 1


def main() -> int:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--rows", type=int, default=30_162)
    parser.add_argument("--only", action="append", choices=SENSITIVE, help="may be repeated")
    parser.add_argument("--most", type=int, help="choose so many attributes, by programming")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| table | sets: seeds | orders, both estimators | random samples | chosen | CPU |")
    print("| --- " * 6 + "|")
    steady = [
        compare(tasks(given.rows)[name](), given.times, given.most)
        for name in given.only or SENSITIVE
    ]
    return 0 if all(steady) else 1


if __name__ == "__main__":
    sys.exit(main())
