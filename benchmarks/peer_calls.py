"""One call of another package, run by that package's own environment; nothing of Anonloom here.

    python peer_calls.py '{"peer": "anonypy", "table": "adult.csv", "k": 10, "out": "classes.csv"}'

prints one line of JSON: CPU seconds of the call and the peak memory of the process. What the peer
published goes to `out`, with the number of every row, so that all are scored by the same code.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

WARM_UP = 300


def clocked(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and its CPU seconds."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def anonypy(frame: pd.DataFrame, asked: dict[str, Any]) -> dict[str, float]:
    """Mondrian: the partitioning alone, and with the making of the published cells."""
    from anonypy.anonypy import anonymize
    from anonypy.mondrian import Mondrian

    def partitioned(rows: pd.DataFrame) -> tuple[Any, list[Any]]:
        method = Mondrian(rows, asked["quasi"], asked["sensitive"])
        return method, method.partition(asked["k"])

    for name in [*asked["quasi"], asked["sensitive"]]:
        if name != "age":
            frame[name] = frame[name].astype("category")
    partitioned(frame[:WARM_UP].copy())
    (method, parts), cpu = clocked(lambda: partitioned(frame))
    publish = (method.df, parts, method.feature_columns, method.sensitive_column)
    peak = peak_mb()
    labels = np.empty(len(frame), int)
    for index, part in enumerate(parts):
        labels[part] = index
    pd.DataFrame({"row": np.arange(len(frame)), "class": labels}).to_csv(asked["out"], index=False)
    _, more = clocked(lambda: anonymize(*publish)) if asked.get("cells") else (None, 0.0)
    return {"cpu": cpu, "cpu_with_cells": cpu + more, "peak_mb": peak}


def anjana(frame: pd.DataFrame, asked: dict[str, Any]) -> dict[str, float]:
    """Greedy full-domain generalization; what it suppresses is absent from its result."""
    from anjana.anonymity import k_anonymity

    trees = {
        name: {level: np.array(labels, object) for level, labels in enumerate(levels)}
        for name, levels in asked["hierarchies"].items()
    }
    frame = frame.astype(dict.fromkeys(asked["quasi"], object))
    frame["age"] = frame["age"].astype(str)
    frame["row"] = np.arange(len(frame))

    def generalized(rows: pd.DataFrame) -> pd.DataFrame:
        limit = asked.get("suppressed_percent", 0)
        return k_anonymity(rows, [], list(asked["quasi"]), asked["k"], limit, trees)

    generalized(frame[:WARM_UP].copy())
    result, cpu = clocked(lambda: generalized(frame))
    peak = peak_mb()
    result[["row", *asked["quasi"]]].to_csv(asked["out"], index=False)
    return {"cpu": cpu, "peak_mb": peak}


def pyod(frame: pd.DataFrame, asked: dict[str, Any]) -> dict[str, float]:
    """Connectivity-based outlier factor of all rows with half of k neighbours.

    One-hot categories are as far apart as Gower's; as codes they are wrong, but cheaper.
    """
    from pyod.models.cof import COF

    rows = frame[asked["quasi"]]
    if asked.get("codes"):
        rows = rows.apply(lambda column: pd.factorize(column, sort=True)[0])
    points = pd.get_dummies(rows).to_numpy(float)
    points /= points.max(axis=0)
    model = COF(n_neighbors=max(2, asked["k"] // 2))
    # Equal rows have no distance to divide by; the time is the same.
    with np.errstate(all="ignore"):
        model.fit(points[:WARM_UP])
        _, cpu = clocked(lambda: model.fit(points))
    return {"cpu": cpu, "peak_mb": peak_mb()}


def peak_mb() -> float:
    """Peak memory of this process; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.is_file() else []
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Call the peer that was asked for."""
    asked = json.loads(sys.argv[1])
    frame = pd.read_csv(asked["table"], keep_default_na=False)
    calls = {"anonypy": anonypy, "anjana": anjana, "pyod": pyod}
    # A peer may print what it likes before; the last line is ours.
    print(json.dumps(calls[asked["peer"]](frame, asked)))


if __name__ == "__main__":
    main()
