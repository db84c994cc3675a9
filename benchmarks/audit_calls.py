"""One audit by another package, run by that package's own environment; nothing of Anonloom here.

    python audit_calls.py '{"peer": "splink", "original": "a.csv", "release": "b.csv", ...}'

prints one line of JSON: CPU and wall seconds of the calls, the peak memory of the process, and what
the package found. Row i of the release is that of person i of the original, which only the scores
know, never the package.
"""

import json
import logging
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from peer_calls import WARM_UP, peak_mb

Found = dict[str, Any]

#: Attacks of anonymeter, rows that sdmetrics draws.
ATTACKS = 2_000
SUBSAMPLE = 1_000
#: How many neighbours of a point HNSW keeps, and looks at while it builds and searches.
LINKS, BUILDING, SEARCHING = 16, 80, 32
#: From so many candidates on, comparing all takes minutes.
MOST_FLAT = 100_000


def clocked(call: Callable[[], Any]) -> tuple[Any, Found]:
    """Return what a call returns, and its CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = call()
    return result, {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def anonymeter(asked: Found) -> Found:
    """Linkability: do demographics and behaviour of a record meet in the same published row."""
    from anonymeter.evaluators import LinkabilityEvaluator

    original, release, control = (
        read(asked[name])[asked["compared"]] for name in ("original", "release", "control")
    )
    behaviour = [name for name in asked["compared"] if name not in asked["quasi"]]

    def call(rows: int) -> Any:
        evaluator = LinkabilityEvaluator(
            ori=original[:rows],
            syn=release[:rows],
            control=control[:rows],
            aux_cols=(asked["quasi"], behaviour),
            n_attacks=min(ATTACKS, rows),
            n_neighbors=1,
        )
        return evaluator.evaluate(n_jobs=1).risk(confidence_level=0.95)

    # It compiles, too.
    call(WARM_UP)
    risk, cost = clocked(lambda: call(len(original)))
    return cost | {"risk": float(risk.value), "interval": [float(end) for end in risk.ci]}


def sdmetrics(asked: Found) -> Found:
    """Distance to the closest record, of a sample of rows, beside that of random rows."""
    from sdmetrics.single_table import DCRBaselineProtection

    original, release = (read(asked[name])[asked["compared"]] for name in ("original", "release"))
    kinds = {
        name: {"sdtype": "categorical" if name in asked["categories"] else "numerical"}
        for name in asked["compared"]
    }

    def call() -> Any:
        return DCRBaselineProtection.compute_breakdown(
            real_data=original,
            synthetic_data=release,
            metadata={"tables": {"people": {"columns": kinds}}},
            table_name="people",
            num_rows_subsample=min(SUBSAMPLE, len(original)),
        )

    result, cost = clocked(call)
    return cost | {"score": float(result["score"])}


def recordlinkage(asked: Found) -> Found:
    """Pairs of a block, eight comparisons, and the classifier by expectation maximisation."""
    import recordlinkage as linkage

    original, release = read(asked["original"]), read(asked["release"])

    def call() -> tuple[Any, Any]:
        index = linkage.Index()
        index.block("block")
        pairs = index.index(original, release)
        compare = linkage.Compare()
        for name in asked["categories"]:
            compare.exact(name, name, label=name)
        for name, allowed in asked["tolerance"].items():
            compare.numeric(name, name, method="step", offset=allowed, label=name)
        features = compare.compute(pairs, original, release)
        # What is the same in every pair says nothing, and is no number to its model.
        features = features.loc[:, features.nunique() > 1]
        model = linkage.ECMClassifier()
        model.fit(features)
        return pairs, model.prob(features).to_numpy()

    (pairs, posterior), cost = clocked(call)
    left, right = pairs.get_level_values(0).to_numpy(), pairs.get_level_values(1).to_numpy()
    return cost | linked(left, right, posterior, len(original))


def splink(asked: Found) -> Found:
    """Fellegi-Sunter in SQL: u of random pairs, m by sessions of EM, all pairs of a block scored.

    Each session looks at pairs that agree in most columns, where true pairs are frequent enough to
    be learned from; among all pairs of a block they are too rare.
    """
    import splink.comparison_level_library as levels
    import splink.comparison_library as comparisons
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    def within(name: str, allowed: float) -> Any:
        return comparisons.CustomComparison(
            output_column_name=name,
            comparison_levels=[
                levels.NullLevel(name),
                levels.CustomLevel(f"abs({name}_l - {name}_r) <= {allowed}", "near"),
                levels.ElseLevel(),
            ],
        )

    def agree(name: str) -> str:
        if name in asked["categories"]:
            return f"l.{name} = r.{name}"
        if name == "seconds":
            # On the same day: the engine joins by equality.
            return f"l.{name} // 86400 = r.{name} // 86400"
        return f"abs(l.{name} - r.{name}) <= {asked['tolerance'][name]}"

    prior = 1 / asked["rows"]
    settings = SettingsCreator(
        link_type="link_only",
        unique_id_column_name="row",
        comparisons=[comparisons.ExactMatch(name) for name in asked["categories"]]
        + [within(name, allowed) for name, allowed in asked["tolerance"].items()],
        blocking_rules_to_generate_predictions=[block_on("block")],
        probability_two_random_records_match=prior,
        retain_intermediate_calculation_columns=False,
        retain_matching_columns=False,
    )
    engine = DuckDBAPI()
    connection = engine.duckdb_con
    connection.execute("SET threads = 1")
    for name in ("original", "release"):
        text = f"SELECT row_number() OVER () - 1 AS row, * FROM read_csv('{asked[name]}')"
        connection.execute(f"CREATE TABLE {name} AS {text}")

    def call() -> tuple[Any, Any]:
        tables = [engine.register(name) for name in ("original", "release")]
        linker = Linker(tables, settings, log_level=logging.ERROR)
        linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
        for names in asked["sessions"]:
            rule = " AND ".join(agree(name) for name in names)
            linker.training.estimate_parameters_using_expectation_maximisation(rule)
        return linker, linker.inference.predict()

    (linker, pairs), cost = clocked(call)
    columns = "row_l, row_r, source_dataset_l, match_weight, match_probability"
    text = f"SELECT {columns} FROM {pairs.physical_name}"
    result = connection.execute(text).fetchnumpy()
    left, right = result["row_l"], result["row_r"]
    if str(result["source_dataset_l"][0]) != "original":
        left, right = right, left
    # Its weight counts how rare matches are; the classical one does not.
    weights = np.asarray(result["match_weight"], float) - np.log2(prior / (1 - prior))
    scores = linked(left, right, np.asarray(result["match_probability"], float), asked["rows"])
    return cost | scores | {"positive": reached(left, weights > 0, asked["rows"])} | learned(linker)


def learned(linker: Any) -> Found:
    """Chances that a comparison agrees in pairs that match, m, and in others, u."""
    model = linker.misc.save_model_to_json()
    chances = {}
    for comparison in model["comparisons"]:
        levels = comparison["comparison_levels"]
        agreeing = next(level for level in levels if not level.get("is_null_level"))
        name = comparison["output_column_name"]
        chances[name] = [agreeing.get("m_probability"), agreeing.get("u_probability")]
    return {"chances": chances}


def faiss(asked: Found) -> Found:
    """The two most similar of many vectors for every vector: by a graph, and all compared."""
    import faiss as library

    library.omp_set_num_threads(1)
    records, candidates = unit_vectors(asked)

    def flat() -> Any:
        index = library.IndexFlatIP(candidates.shape[1])
        index.add(candidates)
        return index.search(records, 2)

    def graph() -> Any:
        index = library.IndexHNSWFlat(candidates.shape[1], LINKS, library.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction, index.hnsw.efSearch = BUILDING, SEARCHING
        index.add(candidates)
        return index.search(records, 2)

    (result, _), cost = clocked(graph)
    if asked["rows"] > MOST_FLAT:
        return cost
    (scores, _), of_flat = clocked(flat)
    same = float(np.mean(result[:, 0] >= scores[:, 0] - 1e-6))
    return cost | {"flat_cpu": of_flat["cpu"], "found": same}


def hnswlib(asked: Found) -> Found:
    """The two most similar by a graph, of the library that its authors keep."""
    import hnswlib as library

    records, candidates = unit_vectors(asked)

    def call() -> Any:
        index = library.Index(space="ip", dim=candidates.shape[1])
        index.init_index(len(candidates), M=LINKS, ef_construction=BUILDING, random_seed=1)
        index.set_num_threads(1)
        index.add_items(candidates)
        index.set_ef(SEARCHING)
        return index.knn_query(records, k=2)

    _, cost = clocked(call)
    return cost


def unit_vectors(asked: Found) -> tuple[Any, Any]:
    """Random directions, records and candidates: one block."""
    rng = np.random.default_rng(asked["seed"])
    vectors = rng.standard_normal((2, asked["rows"], asked["width"]), np.float32)
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    return vectors[0], vectors[1]


def linked(left: Any, right: Any, posterior: Any, records: int) -> Found:
    """Share of the records that are linked, and of those whose best pair is the true one."""
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    best = np.full(records, -1.0)
    np.maximum.at(best, left, posterior)
    top = posterior >= best[left] - 1e-12
    ties = np.bincount(left[top], minlength=records)
    true = np.zeros(records, bool)
    true[left[top & (left == right)]] = True
    return {
        "linked": reached(left, posterior > 0.5, records),
        "precision_at_1": float(np.mean(np.where(true, 1 / np.maximum(ties, 1), 0.0))),
    }


def reached(left: Any, those: Any, records: int) -> float:
    """Share of the records that have any such pair."""
    return len(np.unique(np.asarray(left)[those])) / records


def read(file: str) -> Any:
    """Read a table; texts as plain objects, which all packages know."""
    import pandas as pd

    frame = pd.read_csv(file)
    texts = [name for name in frame if frame[name].dtype.kind not in "iufb"]
    return frame.astype(dict.fromkeys(texts, object))


def main() -> None:
    """Call the peer that was asked for."""
    # What a package warns of is its own affair; on the last line only JSON is read.
    warnings.simplefilter("ignore")
    asked = json.loads(sys.argv[1])
    calls = (anonymeter, sdmetrics, recordlinkage, splink, faiss, hnswlib)
    by_name = {call.__name__: call for call in calls}
    result = by_name[asked["peer"]](asked)
    print(json.dumps(result | {"peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
