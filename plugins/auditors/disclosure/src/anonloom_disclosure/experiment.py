"""Journalist risk and certainty over the runs of an experiment (Anonify, figures 11 and 12)."""

from collections.abc import Sequence

from anonloom import Chart
from anonloom.kinds import GridRow


def over_runs(grid: Sequence[GridRow]) -> list[Chart]:
    """Charts with one group of bars per setting; runs that differ in their seed are averaged."""
    settings = list(dict.fromkeys(row.setting for row in grid if "rho" in row.findings))
    if len(settings) < 2:
        return []

    def series(name: str) -> list[float | None]:
        return [
            _mean(name, [row for row in grid if row.setting == setting]) for setting in settings
        ]

    risk: dict[str, list[float | None]] = {"published": series("journalist_average")}
    before = series("journalist_average_before")
    if any(value is not None for value in before):
        risk = {"before sampling": before, **risk}
    return [
        Chart(
            name="journalist_by_run",
            kind="bars",
            title="Journalist risk, run by run",
            x="run",
            y="mean chance to link a person to the right record",
            meaning="One in her class before sampling; the mean is over the records of a version.",
            data={"labels": settings, **risk},
        ),
        Chart(
            name="presence_by_run",
            kind="bars",
            title="Certainty that somebody is in the release, run by run",
            x="run",
            y="chance that a person's record is there",
            meaning="Lower is safer: what a class tells may then not be told about her.",
            data={
                "labels": settings,
                "mean": series("presence_certainty"),
                "surest class": series("presence_certainty_max"),
            },
        ),
    ]


def _mean(name: str, rows: Sequence[GridRow]) -> float | None:
    results = [row.findings.get(name) for row in rows]
    values = [
        float(item.value)
        for item in results
        if item is not None and item.assessable and isinstance(item.value, int | float)
    ]
    return sum(values) / len(values) if values else None
