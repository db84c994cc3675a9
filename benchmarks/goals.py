"""The goals: which figure of a run must not exceed which limit."""

from collections.abc import Iterable, Iterator
from typing import Any

from adult_table import ALL_ROWS
from chains import BY_LABEL
from goal import Goal

Record = dict[str, Any]
#: Chain, rows, k, and whether up to the published file.
Key = tuple[str, int, int, bool]
KS = (5, 10, 20, 50, 100)

#: Loss on Adult with ARX's example hierarchies; age as an interval.
LOSS_INTERVAL = {
    "level-order + regroup": (0.051, 0.083, 0.120, 0.172, 0.220),
    "level-order full + regroup": (0.044, 0.071, 0.105, 0.157, 0.205),
    "mondrian": (0.097, 0.173, 0.268, 0.409, 0.517),
    "vp-tree": (0.155, 0.225, 0.305, 0.425, 0.54),
}
#: Strict Mondrian as its rule is usually read, with equally wide axes in the order of the columns.
WIDEST = (0.097, 0.173, 0.268, 0.409, 0.517)
WIDEST_WITHIN = 0.03

#: ARX 3.9.2 on the same rows and hierarchies, every column as nodes; measured elsewhere.
ARX_LOCAL = (0.0656, 0.0902, 0.1206, 0.1674, 0.2109)
ARX_LOCAL_CPU = (2.9, 4.0, 6.6, 13.0, 15.0)
ARX_GLOBAL = (0.667, 0.667, 0.719, 0.732, 0.732)
#: Limits are written with three places.
ROUNDING = 0.0005

DOUBLING = 2.4
#: What must grow no faster: a stage by its name, and a chain that has it.
GROWING = {
    "mondrian": "mondrian",
    "mondrian widest": "mondrian widest",
    "vp-tree": "vp-tree",
    "cof": "rayden",
    "level-order none": "level-order none",
    "level-order": "level-order",
    "regroup": "level-order + regroup",
    "full-domain": "full-domain",
    "local-recoding": "local-recoding",
    "one-pass-kmeans": "one-pass-kmeans",
    "k-member": "k-member",
}
#: Growth is not judged below this many rows: one cell of a clustering method may hold them all.
GROWS_FROM = 20_000
#: Shorter times are noise.
LEAST_SECONDS = 0.02

MILLION = 1_000_000
#: Chains that are also measured up to the published file, and on how many rows.
WHOLE_RUNS = {
    "mondrian": MILLION,
    "mondrian widest": MILLION,
    "rayden": MILLION,
    "level-order none": MILLION,
    "level-order": MILLION,
    "level-order + regroup": ALL_ROWS,
}
TEN_MILLION_MB = 4096


def key(record: Record) -> Key:
    """Tell which measurement a record is of."""
    return record["chain"], record["rows"], record["k"], record.get("whole", False)


def seconds(record: Record, what: str = "cpu") -> float:
    """CPU seconds of a record, of one of its stages or parts if it has that."""
    result: float = record.get("stages", {}).get(what, record.get(what, record["cpu"]))
    return result


def ratio(name: str, ours: Record, unit: Record, limit: float, what: str = "cpu") -> Goal:
    """Return a goal of a time over another; `what` is one stage or part of both."""
    figure = seconds(ours, what) / seconds(unit, what)
    return Goal.at_most(name, figure, limit, times=(key(ours), key(unit)))


class Results:
    """The records of a run, found by what was asked."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = {key(record): record for record in records}

    def get(self, chain: str, rows: int = ALL_ROWS, k: int = 10, whole: bool = False) -> Any:
        """Return a record, or None if it was not measured."""
        return self.records.get((chain, rows, k, whole))

    def rows(self) -> list[int]:
        """Every number of rows that was measured."""
        return sorted({rows for _, rows, _, _ in self.records})

    def losses(self) -> dict[tuple[str, int], float]:
        """GCP of every chain on all rows of Adult, by chain and k."""
        return {
            (chain, k): record["gcp"]
            for (chain, rows, k, whole), record in self.records.items()
            if rows == ALL_ROWS and not whole and "gcp" in record
        }


def goals(results: Results, publish: str, judge_loss: bool) -> list[Goal]:
    """Judge everything that was measured."""
    result = list(_loss(results, publish)) if judge_loss else []
    return [*result, *_against_peers(results), *_whole_runs(results), *_growth(results)]


def _loss(results: Results, publish: str) -> Iterator[Goal]:
    losses = results.losses()
    if publish == "nodes":
        yield from _loss_of_nodes(losses)
        return
    for chain, limits in LOSS_INTERVAL.items():
        for k, limit in zip(KS, limits, strict=True):
            if (chain, k) in losses:
                name = f"GCP of {chain}, k = {k}"
                yield Goal.at_most(name, losses[chain, k], limit, ROUNDING)
    for k, limit in zip(KS, WIDEST, strict=True):
        if (BY_LABEL, k) in losses:
            off = abs(losses[BY_LABEL, k] / limit - 1)
            yield Goal.at_most(f"deviation of {BY_LABEL}, k = {k}", off, WIDEST_WITHIN)


def _loss_of_nodes(losses: dict[tuple[str, int], float]) -> Iterator[Goal]:
    limits = zip(KS, ARX_LOCAL, ARX_GLOBAL, strict=True)
    for k, local, whole in limits:
        if ("full-domain", k) in losses:
            name = f"GCP of full-domain, k = {k}, ARX's optimum"
            yield Goal.at_most(name, losses["full-domain", k], whole, ROUNDING)
        if ("local-recoding", k) in losses:
            name = f"GCP of local-recoding over ARX's, k = {k}"
            yield Goal.at_most(name, losses["local-recoding", k] / local, 1.03)
        at_k = {chain: loss for (chain, other), loss in losses.items() if other == k}
        if at_k:
            best = min(at_k, key=lambda chain: at_k[chain])
            yield Goal.at_most(f"best GCP over ARX's, k = {k} ({best})", at_k[best] / local, 1.0)


def _against_peers(results: Results) -> Iterator[Goal]:
    chain = "level-order + regroup"
    theirs = results.get("anonypy Mondrian")
    for whole, what in ((False, "partitioning alone"), (True, "to the published cells")):
        ours = results.get(chain, whole=whole)
        if ours and theirs:
            name = f"CPU of {chain} over anonypy's, k = 10, {what}"
            part = "cpu_with_cells" if whole else "cpu"
            yield ratio(name, ours, theirs, 1 / 20, part)
    ours = results.get("rayden", rows=2000)
    for peer in ("pyod COF", "pyod COF on codes"):
        theirs = results.get(peer, rows=2000)
        if ours and theirs:
            name = f"CPU of rayden over {peer}, 2,000 rows, k = 10"
            yield ratio(name, ours, theirs, 1 / 50)


def _whole_runs(results: Results) -> Iterator[Goal]:
    for measure in ("mondrian", "mondrian widest"):
        unit = results.get(measure, rows=MILLION, whole=True)
        for chain in ("rayden", "level-order none", "level-order"):
            ours = results.get(chain, rows=MILLION, whole=True)
            if unit and ours:
                name = f"CPU of {chain} over {measure}, 1,000,000 rows to Parquet"
                yield ratio(name, ours, unit, 3.0)
    for (chain, rows, _, _), record in results.records.items():
        if rows == 10 * MILLION:
            name = f"peak GB of a whole run of {chain}, 10,000,000 rows"
            yield Goal.at_most(name, record["peak_mb"] / 1024, TEN_MILLION_MB / 1024)


def _growth(results: Results) -> Iterator[Goal]:
    """Judge what twice as many rows cost."""
    for stage, chain in GROWING.items():
        for n in results.rows():
            small, large = results.get(chain, rows=n), results.get(chain, rows=2 * n)
            if small and large and n >= GROWS_FROM and seconds(small, stage) >= LEAST_SECONDS:
                name = f"CPU of {stage}, {2 * n:,} rows over {n:,}"
                yield ratio(name, large, small, DOUBLING, stage)
