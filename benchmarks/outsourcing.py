#!/usr/bin/env python3
"""A classification of 100,000 rows by dask workers of whom some are lazy, and who is named.

    python benchmarks/outsourcing.py [--rows 100000] [--workers 6] [--lazy 2] [--budget 1000]

The work is that of a gradient boosting classifier, which was learned from other rows and is sent to
the workers. Each worker is a process of its own. First all of them work, then some omit a fifth of
their jobs and answer the most frequent class. Prints what was planned, the evidence, how many
results are distrusted and how many of the others are wrong; ends with 1 if a lazy worker is not
named, an honest one is, or honest work does not pass.
"""

import argparse
import secrets
import sys
import time

import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from sklearn.ensemble import HistGradientBoostingClassifier

from anonloom_sentinels_twins.dask_executor import BehaviourWork, execute
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.work_check import RESULT, Campaign, Judgement, OmittedWork
from anonloom_sentinels_twins.workers import Opportunistic, Work

OMISSION = 0.2
#: Rows that the classifier learns from, and rows that the client classifies itself.
LEARNED, KNOWN = 5_000, 4_000
RISKS = np.array(["low", "medium", "high"])


def people(count: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw rows to be classified."""
    return pd.DataFrame(
        {
            "age": rng.integers(18, 91, count),
            "weight": rng.normal(75, 14, count).round(1),
            "smokes": rng.integers(0, 2, count),
            "pressure": rng.normal(128, 17, count).round(),
        }
    )


def learned(rng: np.random.Generator) -> HistGradientBoostingClassifier:
    """Learn what the workers are to do."""
    rows = people(LEARNED, rng)
    score = (
        rows["age"] / 10 + 3 * rows["smokes"] + rows["pressure"] / 15 + rng.normal(0, 1, LEARNED)
    )
    risk = RISKS[np.searchsorted(np.quantile(score, [0.5, 0.8]), score)]
    return HistGradientBoostingClassifier(random_state=0).fit(rows, risk)


def judged(
    scheme: SentinelsTwins, key: object, answers: tuple[pd.DataFrame | None, ...]
) -> Judgement:
    """Return the evidence, whether controls failed or not."""
    try:
        return scheme.verify(key, answers)
    except OmittedWork as result:
        print(result)
        return result.judgement


def main() -> int:
    """Plan, send, verify, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, number in (("rows", 100_000), ("workers", 6), ("lazy", 2), ("budget", 1000)):
        parser.add_argument(f"--{name}", type=int, default=number, metavar="N")
    given = parser.parse_args()
    rng = np.random.default_rng(secrets.randbits(256))
    work: Work = learned(rng).predict
    rows, known = people(given.rows, rng), people(KNOWN, rng)
    known[RESULT] = work(known)
    shares = known[RESULT].value_counts(normalize=True)
    campaign = Campaign(
        jobs=given.rows,
        workers=given.workers,
        lazy=given.lazy,
        omission=OMISSION,
        classes=shares.sort_index().tolist(),
        budget=given.budget,
    )
    scheme = SentinelsTwins()
    sizing = scheme.size(campaign)
    plan = scheme.assign(rows, known, campaign, sizing, rng)
    print(*sizing.reasons, *plan.warnings, sep="\n")
    idle = set(rng.choice(given.workers, given.lazy, replace=False).tolist())
    lazy = BehaviourWork(work, Opportunistic(OMISSION), tuple(shares.index))
    staffs = {
        "everybody works": [work] * given.workers,
        f"workers {', '.join(str(item + 1) for item in sorted(idle))} are lazy": [
            lazy if index in idle else work for index in range(given.workers)
        ],
    }
    right, met = work(rows), True
    with (
        LocalCluster(
            n_workers=given.workers, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster, deserializers=["dask", "msgpack"]) as client,
    ):
        for name, staff in staffs.items():
            print(f"\n{name}")
            start = time.monotonic()
            judgement = judged(scheme, plan.key, execute(plan.batches, staff, client, tell=print))
            print(f"{time.monotonic() - start:.1f} s")
            for worker in judgement.workers:
                verdict = "accused" if worker.accused else "-"
                print(f"  worker {worker.worker + 1}: lazy with {worker.lazy:.3f}  {verdict}")
            trusted = ~judgement.distrusted
            wrong = int((right[trusted] != judgement.results[trusted].to_numpy()).sum())
            print(f"  {wrong} of {trusted.sum():,} results that are trusted are wrong")
            met &= set(judgement.accused_workers) == (idle if lazy in staff else set())
    print("\nmet" if met else "\nmissed", "  the lazy workers are named, and nobody else is")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
