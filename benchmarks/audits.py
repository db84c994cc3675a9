"""One audit, or one yardstick beside it, measured in this process.

    python benchmarks/audits.py '{"name": "cvpl", "rows": 10000}' found.json

CPU and wall seconds are those of the calls alone, the best of several, from the encoded tables to
the findings. Everything is called on a small case before, so that kernels are loaded; the peak is
for whoever started the process to see.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import attrs
import numpy as np
import pandas as pd
from audit_calls import unit_vectors
from marketing_case import BLOCKING, CATEGORIES, CLOCK, NOISE, case, frames, true_agreement
from measure import repeated
from threadpoolctl import threadpool_limits

from anonloom import AuditInput, Auditor, Findings, StageContext
from anonloom_cvpl import evidence
from anonloom_cvpl.auditor import Cvpl
from anonloom_cvpl.configuration import Configuration
from anonloom_distance.auditor import Distance
from anonloom_fellegi_sunter.auditor import FellegiSunter
from anonloom_linkage.top2_search import Best, Blocks, search_top2

WARM_UP = 2_000
#: Every audit by its name; what is not said has its default.
AUDITS: dict[str, Auditor] = {
    "cvpl": Cvpl(blocking=BLOCKING, clock=CLOCK, attribution=False),
    "cvpl + attribution": Cvpl(blocking=BLOCKING, clock=CLOCK),
    "fellegi-sunter": FellegiSunter(blocking=BLOCKING, tolerance=NOISE),
    "distance": Distance(),
}
SHOWN = (
    "linkage_rate",
    "linkage_null",
    "linkage_rate_posterior",
    "precision_at_1",
    "true_link_rate",
    "false_link_rate",
    "model",
    "nearest_is_source",
)
SGEMM = 2_048
#: Numbers beside the categories, as scikit-learn gets them.
NUMBERS = ("age", "days_after_ad", "hour", "weekday")


@attrs.frozen(kw_only=True)
class Asked:
    """One measurement.

    Attributes
    ----------
    workers
        Threads; 0 for as many as there are cores.
    width, seed
        Of the random vectors that are searched.
    """

    name: str
    rows: int
    workers: int = 0
    once: bool = False
    width: int = 22
    seed: int = 1

    @property
    def run(self) -> StageContext:
        """What the audit is given."""
        return StageContext(seed=1, workers=self.workers or os.cpu_count() or 1)


@attrs.define
class Cost:
    """CPU and wall seconds."""

    cpu: float = 0.0
    wall: float = 0.0

    def of(self, call: Callable[[], Any]) -> Any:
        """Return what a call returns, and add what it costs."""
        cpu, wall = time.process_time(), time.perf_counter()
        result = call()
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall
        return result


@attrs.define
class Split:
    """What one audit costs, and its stages: preparation, similarity, and the rest."""

    whole: Cost = attrs.field(factory=Cost)
    prepare: Cost = attrs.field(factory=Cost)
    similarity: Cost = attrs.field(factory=Cost)
    comparisons: int = 0
    products: int = 0

    def audit(self, auditor: Auditor, made: AuditInput, context: StageContext) -> Findings:
        """Audit, and look at the clock around the two stages."""
        search, prepare = evidence.search, Configuration.prepare

        def searching(records: Any, candidates: Any, meetings: Any, *more: Any) -> Any:
            compared = sum(int(meeting.blocks.comparisons.sum()) for meeting in meetings)
            self.comparisons += compared
            self.products += compared * records.shape[1]
            return self.similarity.of(lambda: search(records, candidates, meetings, *more))

        def preparing(made_by: Configuration, *tables: Any) -> Any:
            return self.prepare.of(lambda: prepare(made_by, *tables))

        with (
            patch.object(evidence, "search", searching),
            patch.object(Configuration, "prepare", preparing),
        ):
            findings: Findings = self.whole.of(lambda: auditor.audit(made, context))
        return findings

    def costs(self, part: str) -> dict[str, float]:
        """CPU or wall seconds of every stage."""
        known = {
            "prepare": getattr(self.prepare, part),
            "similarity": getattr(self.similarity, part),
        }
        return known | {"rest": getattr(self.whole, part) - sum(known.values())}


def audited(asked: Asked) -> dict[str, Any]:
    """Measure an audit and its stages."""
    auditor = AUDITS[asked.name]
    Split().audit(auditor, case(WARM_UP), asked.run)
    made = case(asked.rows)
    splits: list[Split] = []
    results: dict[str, Findings] = {}

    def call() -> float:
        splits.append(Split())
        results["last"] = splits[-1].audit(auditor, made, asked.run)
        return splits[-1].whole.cpu

    rounds = repeated(call, asked.once)
    best = min(splits, key=lambda split: split.whole.cpu)
    figures = best_of(rounds, [split.whole.wall for split in splits])
    figures["findings"] = {item.name: item.value for item in results["last"] if item.name in SHOWN}
    if best.comparisons:
        figures |= {
            "stages": best.costs("cpu"),
            "walls": best.costs("wall"),
            "comparisons": best.comparisons,
            "components": best.products // best.comparisons,
            "gflops": 2e-9 * best.products / best.similarity.cpu,
        }
    for chart in results["last"].charts:
        if chart.name == "agreement":
            m, u = chart.data["matching pairs (m)"], chart.data["other pairs (u)"]
            figures["chances"] = {
                name: [m[index], u[index]] for index, name in enumerate(chart.data["labels"])
            }
            figures["true_chances"] = true_agreement(made)
    return figures


def best_of(cpus: list[float], walls: list[float]) -> dict[str, Any]:
    """The least CPU and wall seconds of some calls."""
    return {"cpu": min(cpus), "wall": min(walls), "calls": len(cpus)}


def clocked(call: Callable[[], Any], once: bool) -> dict[str, Any]:
    """Measure a call in one thread."""
    walls = []

    def clock() -> float:
        cost = Cost()
        cost.of(call)
        walls.append(cost.wall)
        return cost.cpu

    with threadpool_limits(1):
        cpus = repeated(clock, once)
    return best_of(cpus, walls)


def sgemm(asked: Asked) -> dict[str, Any]:
    """Measure how fast one core multiplies matrices of single precision."""
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, SGEMM, SGEMM), np.float32)
    clocked(lambda: a @ b, once=True)
    figures = clocked(lambda: a @ b, once=False)
    return figures | {"gflops": 2e-9 * SGEMM**3 / figures["cpu"]}


def scikit_learn(asked: Asked) -> dict[str, Any]:
    """Measure a fit of one-hot categories, scaled numbers and PCA to 90 % of the variance.

    The matrix is dense, which is the encoder's way for PCA in most programs. On the original, and
    on both tables together, which is what the audit fits on.
    """
    # Here, so that its memory is not counted among an audit's.
    from sklearn.compose import make_column_transformer
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    original, release = frames(case(asked.rows))
    columns = [*CATEGORIES, *NUMBERS]
    tables = original[columns], pd.concat([original, release], ignore_index=True)[columns]

    def fit(table: Any) -> None:
        encoder = make_column_transformer(
            (OneHotEncoder(sparse_output=False), list(CATEGORIES)),
            (StandardScaler(), list(NUMBERS)),
        )
        make_pipeline(encoder, PCA(0.9)).fit(table)

    fit(tables[0][:WARM_UP])
    figures = clocked(lambda: fit(tables[0]), asked.once)
    return figures | {"cpu_both": clocked(lambda: fit(tables[1]), asked.once)["cpu"]}


def searched(asked: Asked) -> dict[str, Any]:
    """Measure the exact search among random directions: as many records as candidates."""

    def search(rows: int) -> None:
        records, candidates = unit_vectors({"rows": rows, "width": asked.width, "seed": asked.seed})
        everyone, numbers = np.zeros(rows, np.int64), np.arange(rows)
        blocks = Blocks.of(everyone, everyone, numbers)
        best = Best.none(rows)
        cost.append(Cost())
        cost[-1].of(
            lambda: search_top2(records, candidates, blocks, best, workers=asked.run.workers)
        )

    cost: list[Cost] = []
    search(WARM_UP)
    cost.clear()
    search(asked.rows)
    result = best_of([item.cpu for item in cost], [item.wall for item in cost])
    return result | {"gflops": 2e-9 * asked.rows**2 * asked.width / result["cpu"]}


YARDSTICKS = {"sgemm": sgemm, "scikit-learn": scikit_learn, "exact search": searched}


def main() -> None:
    """Measure what is asked, and write it down."""
    asked = Asked(**json.loads(sys.argv[1]))
    measured = YARDSTICKS.get(asked.name, audited)
    Path(sys.argv[2]).write_text(json.dumps(measured(asked)))


if __name__ == "__main__":
    main()
