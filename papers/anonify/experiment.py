"""The runs of the paper's experiment, found by the names of their cases."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from anonloom.errors import DataError
from anonloom.files import read_json

_LOSS = re.compile(r"^(?P<name>.+), k = (?P<k>\d+)$")
_SAMPLED = re.compile(r"^(?P<share>\d+) % sampled, run \d+$")

#: Cases that play the protocol, and what it is compared with.
CURATOR, PROTOCOL = "5,000 donors, trusted curator", "5,000 donors, anonify"

ORIGINAL, ANONYMIZED, SAMPLED = "original", "anonymized", "sampled"


@attrs.frozen(eq=False)
class PublishedRun:
    """One published run.

    Attributes
    ----------
    findings
        Figures of the run, and of its auditors as `auditor.finding`.
    charts
        Data of the charts of its auditors, as `auditor.chart`.
    """

    label: str
    findings: Mapping[str, Any]
    charts: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict, repr=False)

    def value(self, figure: str) -> float | None:
        """Value of a figure, None where there is none."""
        result = self.findings.get(figure)
        return float(result) if isinstance(result, int | float) else None


@attrs.frozen(eq=False)
class Experiment:
    """All published runs of the experiment, and what the others were called."""

    runs: tuple[PublishedRun, ...]
    unpublished: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> "Experiment":
        """Read what a finished experiment has published.

        Raises
        ------
        DataError
            When a file of it is missing or broken.
        """
        grid = _json(folder / "public" / "grid.json")
        published = []
        for index, run in enumerate(grid["runs"]):
            if run["status"] == "published":
                path = _run_folder(folder, index) / "public" / "report.json"
                charts = {
                    f"{audit['id']}.{chart['name']}": chart["data"]
                    for audit in _json(path)["audits"]
                    for chart in audit["charts"]
                }
                published.append(PublishedRun(run["label"], run["findings"], charts))
        others = [run["label"] for run in grid["runs"] if run["status"] != "published"]
        return cls(tuple(published), tuple(others))

    # --- figure 6 --------------------------------------------------------------------------------

    @property
    def losses(self) -> dict[str, dict[int, float]]:
        """Loss of every anonymizer at every k."""
        results: dict[str, dict[int, float]] = {}
        for run in self.runs:
            case, loss = _LOSS.match(run.label), run.value("gcp")
            if case is not None and loss is not None:
                results.setdefault(case["name"], {})[int(case["k"])] = loss
        return results

    # --- figures 7 to 15 -------------------------------------------------------------------------

    @property
    def shares(self) -> list[int]:
        """Percentages that were sampled, the largest first."""
        results = {int(case["share"]) for run in self.runs if (case := _SAMPLED.match(run.label))}
        return sorted(results, reverse=True)

    def sampling_runs(self, share: int | None = None) -> list[PublishedRun]:
        """Runs that sampled so many per cent; all that sampled by default."""
        return [
            run
            for run in self.runs
            if (case := _SAMPLED.match(run.label)) and share in (None, int(case["share"]))
        ]

    def values(self, figure: str, share: int | None = None) -> list[float]:
        """A figure of every run that sampled so many per cent."""
        results = [run.value(figure) for run in self.sampling_runs(share)]
        return [value for value in results if value is not None]

    def mean(self, figure: str, share: int | None = None) -> float | None:
        """Mean over those runs; None where none has the figure."""
        return mean(self.values(figure, share))

    def classifier_scores(self, metric: str) -> dict[str, dict[str, float]]:
        """A metric of every classifier on every version of the table, means over the runs."""
        versions: list[tuple[str, str, int | None]] = [
            (ORIGINAL, ORIGINAL, None),
            (ANONYMIZED, ANONYMIZED, None),
            *((f"{share} % sampled", SAMPLED, share) for share in self.shares),
        ]
        results = {}
        for name, series, share in versions:
            data = [
                run.charts[f"learning.{metric}"]
                for run in self.sampling_runs(share)
                if f"learning.{metric}" in run.charts
            ]
            rows = [datum[series] for datum in data if series in datum]
            if rows:
                means = np.mean(np.array(rows, float), axis=0).tolist()
                results[name] = dict(zip(data[0]["labels"], means, strict=True))
        return results

    def groups(self, figure: str, share: int) -> "Groups | None":
        """A figure of groups on the three versions of the table."""
        name = f"distribution.group.{figure}"
        return Groups.of(
            [run.charts[name] for run in self.sampling_runs(share) if name in run.charts]
        )

    # --- all -------------------------------------------------------------------------------------

    def run_of(self, label: str) -> PublishedRun | None:
        """Return the run of a case."""
        return next((run for run in self.runs if run.label == label), None)

    @property
    def on_simulated_persons(self) -> bool:
        """Whether the persons were simulated."""
        return any(run.value("source.simulated") == 1 for run in self.runs)


@attrs.frozen(eq=False)
class Groups:
    """A figure of every group: in the original, anonymized, and in every sample (runs x groups)."""

    labels: tuple[Any, ...]
    original: tuple[float, ...]
    anonymized: tuple[float, ...]
    samples: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, charts: Sequence[Mapping[str, Any]]) -> "Groups | None":
        """Read the charts of several runs; None where there are none."""
        if not charts or not all(SAMPLED in chart for chart in charts):
            return None
        first = charts[0]
        labels = first["labels"] if "labels" in first else first[ORIGINAL]["x"]
        return cls(
            tuple(labels),
            _heights(first[ORIGINAL]),
            _heights(first[ANONYMIZED]),
            tuple(_heights(chart[SAMPLED]) for chart in charts),
        )

    @property
    def sample_means(self) -> tuple[float, ...]:
        """Mean over the samples."""
        return tuple(np.mean(np.array(self.samples), axis=0).tolist())

    @property
    def of_one_sample(self) -> float:
        """How far a single sample is from the original, in the mean."""
        return float(np.mean([self.deviation(sample) for sample in self.samples]))

    def deviation(self, version: Iterable[float], among: Sequence[int] | None = None) -> float:
        """How far a version is from the original, as a share of it, over some groups or all."""
        groups = list(range(len(self.original)) if among is None else among)
        own, other = np.array(self.original)[groups], np.array(list(version))[groups]
        return float(np.abs(other - own).sum() / np.abs(own).sum())


def mean(values: Sequence[float]) -> float | None:
    """Mean, None of nothing."""
    return float(np.mean(values)) if values else None


def _heights(series: Any) -> tuple[float, ...]:
    """Numbers of a bar chart's series, or of a line."""
    return tuple(series["y"] if isinstance(series, Mapping) else series)


def _run_folder(folder: Path, index: int) -> Path:
    """Return where a run is: folders are numbered in the order of the table, from 1."""
    number = f"{index + 1:03d}"
    return next((folder / "runs").glob(f"{number}-*"), folder / "runs" / number)


def _json(path: Path) -> Any:
    try:
        return read_json(path)
    except (OSError, ValueError):
        raise DataError(
            f"'{path}' cannot be read", hint="Run the experiment again with --replace."
        ) from None
