"""Figures 2, 5 and 6 of the paper, drawn from an experiment."""

from typing import Any

from anonloom import Chart
from papers.cvpl import paper_tables
from papers.cvpl.paper_runs import (
    CLOSER,
    CLOSER_EXCESS,
    DCR,
    FS,
    FS_P1,
    LR,
    NNDR,
    NULL,
    P1,
    Runs,
)


def figures(runs: Runs) -> list[Chart]:
    """Return the figures whose protections were run."""
    return [
        *(_figure_2(runs) if runs.family("k-anonymity") else []),
        *_figure_5(runs),
        *(_figure_6(runs) if runs.family("synthetic") else []),
    ]


def _figure_2(runs: Runs) -> list[Chart]:
    cases = runs.by_k()
    k = list(cases)
    lines: dict[str, list[Any]] = {
        "linkage rate": [runs.mean(LR, case) for case in cases.values()],
        "its null": [runs.mean(NULL, case) for case in cases.values()],
        "right best candidates": [runs.mean(P1, case) for case in cases.values()],
        "1/k": [1 / value for value in k],
        "linkage rate, paper": [
            paper_tables.TABLE_12["k = 10 to 50" if value >= paper_tables.HIGH_K else "k = 2 to 7"][
                0
            ]
            for value in k
        ],
    }
    return [
        _lines(
            "figure_2", "Figure 2: linkage rate and 1/k", "k", k, lines,
            "Existential linkage, and what k-anonymity promises: nobody is told from k - 1 others "
            "by the quasi-identifiers.",
        )
    ]  # fmt: skip


def _figure_5(runs: Runs) -> list[Chart]:
    cases = [case for case in paper_tables.TABLE_13 if case in runs.cases]
    if not cases:
        return []
    paper = paper_tables.TABLE_13
    both = (
        ("rates", "linkage rates", (LR, 0), (FS, 1), cases),
        ("precision", "right best candidates", (P1, 2), (FS_P1, 3),
         [case for case in cases if not case.startswith("synthetic")]),
    )  # fmt: skip
    return [
        Chart(
            name=f"figure_5_{name}",
            kind="bars",
            title=f"Figure 5: {what}, CVPL and Fellegi-Sunter",
            data={
                "labels": shown,
                "CVPL": [runs.mean(figure, case) for case in shown],
                "CVPL, paper": [paper[case][index] for case in shown],
                "Fellegi-Sunter": [runs.mean(rival, case) for case in shown],
                "Fellegi-Sunter, paper": [paper[case][rivals] for case in shown],
            },
            x="protection",
            y=what,
            meaning="The protections of Table 13.",
        )
        for name, what, (figure, index), (rival, rivals), shown in both
        if shown
    ]


def _figure_6(runs: Runs) -> list[Chart]:
    cases = {float(case.split("=")[1]): case for case in reversed(runs.family("synthetic"))}
    rho, names = list(cases), list(cases.values())
    means = {figure: [runs.mean(figure, case) for case in names]
             for figure in (LR, NULL, CLOSER, CLOSER_EXCESS, DCR, NNDR)}  # fmt: skip
    paper = [paper_tables.TABLE_13.get(case, (None,) * 7) for case in names]
    chance = [
        None if share is None or excess is None else share - excess
        for share, excess in zip(means[CLOSER], means[CLOSER_EXCESS], strict=True)
    ]
    shares: dict[str, list[Any]] = {
        "linkage rate": means[LR],
        "its null": means[NULL],
        "linkage rate, paper": [row[0] for row in paper],
        "closer to the original than to held-out people": means[CLOSER],
        "the same by chance": chance,
        "closest is the source, paper": [paper_tables.RCE] * len(rho),
    }
    distances: dict[str, list[Any]] = {
        "DCR": means[DCR],
        "DCR, paper": [row[5] for row in paper],
        "NNDR": means[NNDR],
        "NNDR, paper": [row[6] for row in paper],
    }
    return [
        _lines(
            "figure_6_shares", "Figure 6: synthetic rows, linkage and memorization", "rho", rho,
            shares, "Shares of the records; the paper has no null of its linkage rate.",
        ),
        _lines(
            "figure_6_distances", "Figure 6: synthetic rows, distances", "rho", rho, distances,
            "Ours in standard deviations of all columns; the paper does not give its scale.",
        ),
    ]  # fmt: skip


def _lines(
    name: str, title: str, x: str, places: list[Any], lines: dict[str, list[Any]], words: str
) -> Chart:
    data = {line: {"x": places, "y": values} for line, values in lines.items()}
    return Chart(name=name, kind="line", title=title, data=data, x=x, meaning=words)
