"""The paper's tables beside those of an experiment, and what became of each claim."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anonloom import Chart, Findings
from anonloom.kinds import GridRow
from papers.cvpl import paper_tables
from papers.cvpl.claims import MARGIN, judge_claims
from papers.cvpl.paper_runs import (
    CORRELATION,
    DCR,
    FS,
    FS_P1,
    LR,
    MARGINALS,
    NNDR,
    NOT_QUASI,
    NULL,
    P1,
    TLR,
    TYPICAL,
    TYPICAL_K,
    Runs,
)


def reproduction(grid: Sequence[GridRow]) -> Findings:
    """Return the tables and the claims; nothing for an experiment of another kind."""
    runs = Runs.of(grid)
    if not runs.rows:
        return Findings()
    claims = _table(
        "claims",
        "What became of the paper's claims",
        ["where", "claim", "paper", "ours", "verdict"],
        [
            [item.where, item.words, item.paper, item.ours, item.verdict]
            for item in judge_claims(runs)
        ],
        f"Reproduced: found by more than {MARGIN:g}; contradicted: the opposite was; not "
        "reproduced: neither.",
    )
    return Findings.of(claims, _tables(runs))


# --- tables --------------------------------------------------------------------------------------


def _table(name: str, title: str, columns: list[str], rows: list[list[Any]], words: str) -> Chart:
    shown = [[_round_cell(cell) for cell in row] for row in rows]
    data = {"columns": columns, "rows": shown}
    return Chart(name=name, kind="table", title=title, data=data, meaning=words)


def _round_cell(cell: Any) -> Any:
    return round(cell, 3) if isinstance(cell, float) else cell


def _tables(runs: Runs) -> list[Chart]:
    k_low = [c for c in runs.family("k-anonymity") if int(c.split("=")[1]) <= 7]
    k_high = [c for c in runs.family("k-anonymity") if int(c.split("=")[1]) >= 10]
    synthetic, high = runs.family("synthetic"), ["perturbation, high"]
    charts = [
        _table(
            "table_12", "Table 12: k-anonymity",
            ["k", "LR, paper", "LR", "null", "TLR, paper", "TLR", "P@1"],
            [[name, *_beside(paper_tables.TABLE_12[name][0], runs.over(LR, cases)),
              runs.over(NULL, cases),
              *_beside(paper_tables.TABLE_12[name][1], runs.over(TLR, cases)),
              runs.over(P1, cases)]
             for name, cases in zip(paper_tables.TABLE_12, (k_low, k_high), strict=True)],
            "Mean over the values of k and the seeds, without outliers.",
        ),
        _table(
            "table_13", "Table 13: all protections",
            ["protection", "LR, paper", "LR", "null", "FS-LR, paper", "FS-LR", "P@1, paper", "P@1",
             "FS P@1, paper", "FS P@1", "utility, paper", "marginals", "correlations",
             "DCR, paper", "DCR", "NNDR, paper", "NNDR"],
            [_row_13(runs, case) for case in runs.cases],
            "Without outliers. The paper does not say how its utility is put together.",
        ),
        _table(
            "table_15", "Table 15: perturbation",
            ["level", "LR, paper", "LR", "P@1, paper", "P@1", "utility, paper", "marginals",
             "correlations"],
            [[case, *_beside(paper[0], runs.mean(LR, case)),
              *_beside(paper[1], runs.mean(P1, case)), paper[2],
              runs.mean(MARGINALS, case), runs.mean(CORRELATION, case)]
             for case, paper in paper_tables.TABLE_15.items()],
            "More noise, fewer links.",
        ),
        _table(
            "table_16", "Table 16: distances and identification",
            ["protection", "DCR, paper", "DCR", "P@1, paper", "P@1"],
            [[name, *_beside(paper_tables.TABLE_16[name][0], runs.over(DCR, cases)),
              *_beside(paper_tables.TABLE_16[name][1], runs.over(P1, cases))]
             for name, cases in zip(paper_tables.TABLE_16, (high, synthetic), strict=True)],
            "Synthetic rows belong to nobody: there is no P@1.",
        ),
        _contributions(runs),
        _table(
            "table_20", "Table 20: outliers and the linkage rates of blocks",
            ["outliers", "LR, paper", "LR", "sd, paper", "sd", "95 %, paper", "95 %",
             "P(> 0.5), paper", "P(> 0.5)", "P(> 0.7), paper", "P(> 0.7)"],
            [_row_20(runs, share) for share in paper_tables.TABLE_20],
            f"Protection: {TYPICAL_K}. Rates of blocks of at least 30 records.",
        ),
    ]  # fmt: skip
    for number, table, paper, title in (
        (23, "blocking", paper_tables.TABLE_23, "blocking"),
        (24, "projection", paper_tables.TABLE_24, "projection"),
        (25, "similarity", paper_tables.TABLE_25, "similarity"),
        (26, "fit", paper_tables.TABLE_26, "what the projection is fitted on"),
    ):
        charts.append(_ablation(runs, number, table, paper, title))
    return charts


def _beside(paper: float | None, ours: float | None) -> tuple[float | None, float | None]:
    return paper, ours


def _row_13(runs: Runs, case: str) -> list[Any]:
    paper: tuple[float | None, ...] = paper_tables.TABLE_13.get(case, (None,) * 7)
    return [
        case,
        *_beside(paper[0], runs.mean(LR, case)),
        runs.mean(NULL, case),
        *_beside(paper[1], runs.mean(FS, case)),
        *_beside(paper[2], runs.mean(P1, case)),
        *_beside(paper[3], runs.mean(FS_P1, case)),
        *_beside(paper[4], runs.mean(MARGINALS, case)),
        runs.mean(CORRELATION, case),
        *_beside(paper[5], runs.mean(DCR, case)),
        *_beside(paper[6], runs.mean(NNDR, case)),
    ]


def _row_20(runs: Runs, share: float) -> list[Any]:
    figures = ("sd", "p95", "above_0.5", "above_0.7")
    row: list[Any] = [f"{share:.0%}", 0.149, runs.mean(LR, TYPICAL_K, share)]
    for name, paper in zip(figures, paper_tables.TABLE_20[share], strict=True):
        row += _beside(paper, runs.mean(f"cvpl-variants:blocks.{name}", TYPICAL_K, share))
    return row


def _contributions(runs: Runs) -> Chart:
    """Table 19, from the charts of the auditor `cvpl`."""
    shares: dict[str, list[float]] = {}
    for row in runs.rows:
        for chart in row.others.get("cvpl", Findings()).charts:
            if chart.name == "contributions":
                values = chart.data["share by loadings"]
                for name, value in zip(chart.data["labels"], values, strict=True):
                    shares.setdefault(name, []).append(value)
    rows: list[list[Any]] = [
        [name, *_beside(paper, float(np.mean(shares[column])) if column in shares else None)]
        for name, (paper, column) in paper_tables.TABLE_19.items()
    ]
    rest = "all that is no quasi-identifier"
    rows.append([rest, *_beside(paper_tables.NOT_QUASI, runs.everywhere(NOT_QUASI))])
    return _table(
        "table_19", "Table 19: contributions", ["category", "paper", "ours"], rows,
        "By loadings, mean over all runs.",
    )  # fmt: skip


def _ablation(runs: Runs, number: int, table: str, paper: dict[str, Any], title: str) -> Chart:
    rows = []
    for name, (rate, precision) in paper.items():
        figure = f"cvpl-variants:{table}.{name}"
        rows.append(
            [name, *_beside(rate, runs.mean(f"{figure}.linkage_rate", TYPICAL)),
             *_beside(precision, runs.mean(f"{figure}.precision_at_1", TYPICAL))]
        )  # fmt: skip
    return _table(
        f"table_{number}",
        f"Table {number}: {title}",
        ["variant", "LR, paper", "LR", "P@1, paper", "P@1"],
        rows,
        f"Ours: {TYPICAL}, without outliers; the paper does not say which protection.",
    )
