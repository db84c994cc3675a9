"""The paper's tables and figures beside those of an experiment, and what became of each claim."""

from collections.abc import Sequence
from typing import Any

from anonloom import Chart, Findings
from anonloom.kinds import GridRow
from papers.cvpl import paper_tables
from papers.cvpl.claims import MARGIN, judge_claims, regimes, rises_with_k
from papers.cvpl.figures import figures
from papers.cvpl.paper_runs import (
    CONTRIBUTION,
    DCR,
    FS,
    FS_P1,
    GCP,
    LR,
    NNDR,
    NOT_QUASI,
    NULL,
    P1,
    PROXIES,
    TIMES,
    TLR,
    TYPICAL,
    TYPICAL_K,
    Runs,
)
from papers.cvpl.utility_and_risk import papers_relation, relations

#: The columns of Table 13 that the paper has, too.
_OF_13 = {"LR": LR, "FS-LR": FS, "P@1": P1, "FS P@1": FS_P1, "DCR": DCR, "NNDR": NNDR}
#: Where the paper's Table 13 has its utility.
_UTILITY = 4


def reproduction(grid: Sequence[GridRow]) -> Findings:
    """Return the tables and the claims; nothing for an experiment of another kind."""
    runs = Runs.of(grid)
    if not runs.cases:
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
    return Findings.of(claims, _tables(runs), figures(runs))


# --- tables --------------------------------------------------------------------------------------


def _table(name: str, title: str, columns: list[str], rows: list[list[Any]], words: str) -> Chart:
    shown = [[_round_cell(cell) for cell in row] for row in rows]
    data = {"columns": columns, "rows": shown}
    return Chart(name=name, kind="table", title=title, data=data, meaning=words)


def _round_cell(cell: Any) -> Any:
    return round(cell, 3) if isinstance(cell, float) else cell


def _tables(runs: Runs) -> list[Chart]:
    return [
        _table_12(runs),
        *([_times(runs)] if runs.family("times") else []),
        _table_13(runs),
        _table_15(runs),
        _table_16(runs),
        _utility_and_risk(runs),
        _contributions(runs),
        _table_20(runs),
        _ablation(runs, 23, "blocking", paper_tables.TABLE_23, "blocking"),
        _ablation(runs, 24, "projection", paper_tables.TABLE_24, "projection"),
        _ablation(runs, 25, "similarity", paper_tables.TABLE_25, "similarity"),
        _ablation(runs, 26, "fit", paper_tables.TABLE_26, "what the projection is fitted on"),
    ]


def _table_12(runs: Runs) -> Chart:
    rows: list[list[Any]] = []
    for (name, paper), cases in zip(paper_tables.TABLE_12.items(), regimes(runs), strict=True):
        rate, true_rate, identified = paper
        rows.append(
            [name, identified, rate, runs.over(LR, cases), runs.over(NULL, cases), true_rate,
             runs.over(TLR, cases), runs.over(P1, cases)]
        )  # fmt: skip
    return _table(
        "table_12", "Table 12: k-anonymity",
        ["k", "1/k", "LR, paper", "LR", "null", "TLR, paper", "TLR", "P@1"], rows,
        "Mean over the values of k and the seeds, without outliers.",
    )  # fmt: skip


def _times(runs: Runs) -> Chart:
    """What the claim of Table 12 becomes when family A treats times otherwise."""
    rows = []
    for name in TIMES:
        low, high = regimes(runs, name)
        rates, outcome = rises_with_k(runs, LR, name)
        rows.append(
            [name, rates, outcome, *(runs.over(P1, cases) for cases in (low, high)),
             *(runs.over(GCP, cases) for cases in (low, high))]
        )  # fmt: skip
    return _table(
        "times", "Family A with other readings of its time rounding",
        ["reading", "LR at k = 2, 5 / 10, 20, 50", "the rate rises with k", "P@1, small k",
         "P@1, large k", "GCP, small k", "GCP, large k"], rows,
        "The paper: 0.032 / 0.149. Three seeds, without outliers.",
    )  # fmt: skip


def _table_13(runs: Runs) -> Chart:
    def row(
        name: str, paper: tuple[float | None, ...], cases: list[str], *, utility: bool = True
    ) -> list[Any]:
        cells: list[Any] = [name]
        of_paper = [value for index, value in enumerate(paper) if index != _UTILITY]
        for figure, value in zip(_OF_13.values(), of_paper, strict=True):
            cells += [value, runs.over(figure, cases)]
            cells += [runs.over(NULL, cases)] if figure == LR else []
            if figure == FS_P1:
                cells += [paper[_UTILITY], *(runs.over(item, cases) for item in PROXIES.values())]
        return cells

    columns = ["protection"]
    for name, figure in _OF_13.items():
        columns += [f"{name}, paper", name, *(["null"] if figure == LR else [])]
        columns += ["utility, paper", *PROXIES] if figure == FS_P1 else []
    rows = [row(case, paper_tables.TABLE_13.get(case, (None,) * 7), [case]) for case in runs.cases]
    rows.append(row("mean of the 13", paper_tables.TABLE_13_AVERAGE, list(paper_tables.TABLE_13)))
    return _table(
        "table_13", "Table 13: all protections", columns, rows,
        "Without outliers; the paper has 13 of the 19. Means are over those that have the figure: "
        "the paper's P@1 counts synthetic rows, which belong to nobody.",
    )  # fmt: skip


def _table_15(runs: Runs) -> Chart:
    rows = [
        [case, rate, runs.mean(LR, case), precision, runs.mean(P1, case), utility,
         *(runs.mean(figure, case) for figure in PROXIES.values())]
        for case, (rate, precision, utility) in paper_tables.TABLE_15.items()
    ]  # fmt: skip
    return _table(
        "table_15", "Table 15: perturbation",
        ["level", "LR, paper", "LR", "P@1, paper", "P@1", "utility, paper", *PROXIES], rows,
        "More noise, fewer links.",
    )  # fmt: skip


def _table_16(runs: Runs) -> Chart:
    of_rows = (["perturbation, high"], runs.family("synthetic"))
    rows = [
        [name, distance, runs.over(DCR, cases), precision, runs.over(P1, cases)]
        for (name, (distance, precision)), cases in zip(
            paper_tables.TABLE_16.items(), of_rows, strict=True
        )
    ]
    return _table(
        "table_16", "Table 16: distances and identification",
        ["protection", "DCR, paper", "DCR", "P@1, paper", "P@1"], rows,
        "Synthetic rows belong to nobody: there is no P@1.",
    )  # fmt: skip


def _utility_and_risk(runs: Runs) -> Chart:
    rows: list[list[Any]] = [["the paper's utility, as printed", *paper_tables.UTILITY_AND_RISK]]
    found = {"the paper's utility, from its Table 13": papers_relation()} | {
        name: relations(runs, figure) for name, figure in PROXIES.items()
    }
    for name, relation in found.items():
        known = (None,) * 4 if relation is None else (
            relation.r, relation.p, relation.rank, relation.rank_p
        )  # fmt: skip
        rows.append([name, *known])
    return _table(
        "utility_and_risk", "R9: utility and linkage rate over the 13 protections of Table 13",
        ["utility", "Pearson", "p", "Spearman", "p"], rows, "Proxies of Table 11, one by one.",
    )  # fmt: skip


def _contributions(runs: Runs) -> Chart:
    rows: list[list[Any]] = [
        [name, paper, runs.everywhere(f"{CONTRIBUTION}{column}")]
        for name, (paper, column) in paper_tables.TABLE_19.items()
    ]
    rest = "all that is no quasi-identifier"
    rows.append([rest, paper_tables.NOT_QUASI, runs.everywhere(NOT_QUASI)])
    return _table(
        "table_19", "Table 19: contributions", ["category", "paper", "ours"], rows,
        "By loadings, mean over all runs.",
    )  # fmt: skip


def _table_20(runs: Runs) -> Chart:
    rows = []
    for share, paper in paper_tables.TABLE_20.items():
        row: list[Any] = [f"{share:.0%}", 0.149, runs.mean(LR, TYPICAL_K, share)]
        for name, value in zip(("sd", "p95", "above_0.5", "above_0.7"), paper, strict=True):
            row += [value, runs.mean(f"cvpl-variants:blocks.{name}", TYPICAL_K, share)]
        rows.append(row)
    return _table(
        "table_20", "Table 20: outliers and the linkage rates of blocks",
        ["outliers", "LR, paper", "LR", "sd, paper", "sd", "95 %, paper", "95 %",
         "P(> 0.5), paper", "P(> 0.5)", "P(> 0.7), paper", "P(> 0.7)"], rows,
        f"Protection: {TYPICAL_K}. Rates of blocks of at least 30 records.",
    )  # fmt: skip


def _ablation(runs: Runs, number: int, table: str, paper: dict[str, Any], title: str) -> Chart:
    default = next(iter(paper))
    base = runs.mean(f"cvpl-variants:{table}.{default}.linkage_rate", TYPICAL)
    rows = []
    for name, (rate, precision) in paper.items():
        figure = f"cvpl-variants:{table}.{name}"
        ours = runs.mean(f"{figure}.linkage_rate", TYPICAL)
        rows.append(
            [name, rate, ours, _change(paper[default][0], rate), _change(base, ours), precision,
             runs.mean(f"{figure}.precision_at_1", TYPICAL)]
        )  # fmt: skip
    return _table(
        f"table_{number}",
        f"Table {number}: {title}",
        ["variant", "LR, paper", "LR", "change, paper", "change", "P@1, paper", "P@1"],
        rows,
        f"Ours: {TYPICAL}, without outliers; the paper does not say which protection.",
    )


def _change(base: float | None, value: float | None) -> str | None:
    """The paper's relative change against its default (Appendix B); none of the default itself."""
    if base is None or value is None or base == value:
        return None
    percent = round(100 * (value - base) / base)
    return f"{percent:+d}%" if percent else "0%"
