"""Attacks of one other package on releases, run by its own environment; nothing of Anonloom here.

    python ranking_peer_calls.py '{"peer": "anonymeter", "folder": "...", "releases": {...}, ...}'

reads `original.csv`, `control.csv` and the releases of a folder, and writes, as soon as it is
known, one line of JSON per release to `results.jsonl` there: CPU seconds and figures of every
attack. Everything is called on a few rows before, so that nothing is compiled while the clock runs.
"""

import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Asked = dict[str, Any]
Found = dict[str, Any]
Tables = dict[str, pd.DataFrame]

WARM_UP = 60


def anonymeter(tables: Tables, asked: Asked) -> Iterator[Found]:
    """Its four attacks; success as it counts it.

    - Singling out: a predicate that is true of one distinct row of the release is right when it is
      true of one distinct row of the original.
    - Linkability: a person whose two halves have the same nearest row of the release.
    - Inference: the nearest row by all other columns has the value, or a number within 5 % of it.
    """
    from anonymeter.evaluators import (
        InferenceEvaluator,
        LinkabilityEvaluator,
        SinglingOutEvaluator,
    )

    given = {"ori": tables["original"], "syn": tables["release"], "control": tables["control"]}
    attacks = min(asked["attacks"], len(given["ori"]))

    def single_out(mode: str) -> Any:
        evaluator = SinglingOutEvaluator(
            **given,
            n_attacks=attacks,
            n_cols=asked["predicate"],
            max_attempts=asked["tried"],
            seed=asked["seed"],
        )
        return evaluator.evaluate(mode=mode)

    for mode in ("univariate", "multivariate"):
        yield attack(f"singling out, {mode}", "singling out", partial(single_out, mode))
    halves = tuple(list(half) for half in asked["halves"])
    linking = LinkabilityEvaluator(**given, aux_cols=halves, n_attacks=attacks, n_neighbors=1)
    yield attack("linkability", "linkability", partial(linking.evaluate, n_jobs=1))
    for secret in asked["secrets"]:
        inferring = InferenceEvaluator(
            **given,
            aux_cols=[name for name in given["ori"] if name != secret],
            secret=secret,
            regression=secret in asked["numbers"],
            n_attacks=attacks,
        )
        name = f"inference of {secret}"
        yield attack(name, "inference", partial(inferring.evaluate, n_jobs=1))


def attack(name: str, question: str, evaluate: Callable[[], Any]) -> Found:
    """Run one attack of anonymeter; the shares are raw, risk and interval are its own."""
    evaluator, cpu = clocked(evaluate)
    results, risk = evaluator.results(), evaluator.risk(confidence_level=0.95)
    return {
        "attack": name,
        "question": question,
        "success": results.n_success / results.n_attacks_ori,
        "control": results.n_control / results.n_attacks_control,
        "attacks": results.n_attacks_ori,
        "risk": float(risk.value),
        "interval": [float(end) for end in risk.ci],
        "cpu": cpu,
    }


def domias(tables: Tables, asked: Asked) -> Iterator[Found]:
    """Density ratio with kernel estimates (equation 2); categories are numbered, as synthcity does.

    The control's first half is attacked, its second is the reference.
    """
    from domias.baselines import kde_baseline

    def numbered() -> dict[str, np.ndarray]:
        together = pd.concat(tables.values(), keys=list(tables))
        for name in together:
            if name not in asked["numbers"]:
                together[name] = pd.factorize(together[name], sort=True)[0]
        together = together.fillna(together.mean())
        deviation = together.loc["control"].std()
        together /= deviation.where(deviation > 0, 1.0)
        return {name: together.loc[name].to_numpy(float) for name in tables}

    def score() -> Any:
        points = numbered()
        outside, reference = np.array_split(points["control"], 2)
        attacked = np.concatenate([points["original"], outside])
        return kde_baseline(attacked, points["release"], reference)[1], len(points["original"])

    (scores, members), cpu = clocked(score)
    yield {
        "attack": "density ratio",
        "question": "membership",
        **separation(scores[:members], scores[members:]),
        "cpu": cpu,
    }


def separation(inside: np.ndarray, outside: np.ndarray) -> Found:
    """Return AUC, and how many members are found when 1 % of the others are taken for some."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([inside, outside]))[: len(inside)]
    above = ranks.sum() - len(inside) * (len(inside) + 1) / 2
    threshold = np.quantile(outside, 0.99, method="higher")
    return {
        "auc": float(above / (len(inside) * len(outside))),
        "tpr": float(np.mean(inside > threshold)),
    }


def sdmetrics(tables: Tables, asked: Asked) -> Iterator[Found]:
    """Its scores of protection, here as 1 - score, so that more is worse as with every other.

    Distance to the closest record beside random rows, and beside a holdout; disclosure of what is
    sensitive to who knows the rest.
    """
    from sdmetrics.single_table import (
        DCRBaselineProtection,
        DCROverfittingProtection,
        DisclosureProtectionEstimate,
    )

    original, release = tables["original"], tables["release"]
    kinds = {
        name: {"sdtype": "numerical" if name in asked["numbers"] else "categorical"}
        for name in original
    }
    people = {
        "metadata": {"tables": {"people": {"columns": kinds}}},
        "table_name": "people",
        "num_rows_subsample": min(asked["subsample"], len(original)),
    }
    calls = {
        "DCRBaselineProtection": lambda: DCRBaselineProtection.compute(
            real_data=original, synthetic_data=release, **people
        ),
        "DCROverfittingProtection": lambda: DCROverfittingProtection.compute(
            real_training_data=original,
            synthetic_data=release,
            real_validation_data=tables["control"],
            **people,
        ),
        "DisclosureProtectionEstimate": lambda: DisclosureProtectionEstimate.compute(
            real_data=original,
            synthetic_data=release,
            known_column_names=[name for name in original if name not in asked["sensitive"]],
            sensitive_column_names=list(asked["sensitive"]),
            continuous_column_names=[name for name in asked["numbers"] if name in original],
            num_rows_subsample=min(asked["subsample"], len(original)),
            num_iterations=asked["iterations"],
            verbose=False,
        ),
    }
    questions = ("membership", "membership", "inference")
    for (name, call), question in zip(calls.items(), questions, strict=True):
        score, cpu = clocked(call)
        yield {"attack": name, "question": question, "risk": 1 - float(score), "cpu": cpu}


def clocked(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and its CPU seconds, those of its children included."""
    start = used()
    result = call()
    return result, used() - start


def used() -> float:
    """CPU seconds of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def read(file: Path) -> pd.DataFrame:
    """Read a table; texts as plain objects, which all packages know."""
    frame = pd.read_csv(file, keep_default_na=False)
    texts = [name for name in frame if frame[name].dtype.kind not in "iufb"]
    return frame.astype(dict.fromkeys(texts, object))


def main() -> None:
    """Attack every release that was asked for."""
    # What a package warns of is its own affair.
    warnings.simplefilter("ignore")
    # One thread, like everybody's; read when polars is imported.
    os.environ["POLARS_MAX_THREADS"] = "1"
    asked = json.loads(sys.argv[1])
    folder = Path(asked["folder"])
    peer = {call.__name__: call for call in (anonymeter, domias, sdmetrics)}[asked["peer"]]
    people = {name: read(folder / f"{name}.csv") for name in ("original", "control")}
    few = dict.fromkeys(("original", "control", "release"), people["original"][:WARM_UP])
    # On few rows anything may fail that works on many.
    with warnings.catch_warnings():
        try:
            list(peer(few, asked))
        except Exception as why:
            print(f"warming up: {why}", file=sys.stderr)
    with (folder / "results.jsonl").open("w") as out:
        for name, file in asked["releases"].items():
            np.random.seed(asked["seed"])  # noqa: NPY002  # pandas' samples of these packages use it
            tables = {**people, "release": read(folder / file)}
            line = {"release": name, "attacks": list(peer(tables, asked))}
            out.write(json.dumps(line) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
