"""Figures 6 to 15 of the paper, each beside what became of its claims."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from anonloom import Chart
from papers.anonify.claim_checks import (
    GUESS,
    HALF,
    LEAST,
    METRICS,
    SAME,
    WHOLE_DOMAIN,
    differences,
)
from papers.anonify.claims import DONATION, FOUND, GROUPS, LEARNING, LOSS, Claim, judge_claims
from papers.anonify.experiment import CURATOR, ORIGINAL, PROTOCOL, Experiment, Groups

#: As the paper calls the classifiers.
SHORT = {
    "decision-tree": "DT",
    "naive-bayes": "NB",
    "k-nearest-neighbours": "kNN",
    "svm": "SVM",
    "random-forest": "RF",
    "logistic-regression": "LR",
    "adaboost": "AB",
    "bagging": "BG",
}

#: What the distribution of a group is of, and where the paper shows it.
OF_GROUPS = {
    "glucose": (7, "Mean blood glucose level by age", "age", "mg/dL"),
    "hypertension": (8, "People with hypertension by gender", "gender", "people"),
    "diabetes": (9, "People with diabetes by age", "age", "people"),
}


def chapters(experiment: Experiment) -> list[dict[str, Any]]:
    """Return the parts of the page as plain data; charts that lack their runs are left out."""
    results: list[tuple[str, str, str, Sequence[Chart]]] = [
        (LOSS, "Figure 6: what k costs", _OF_LOSS, list(_loss(experiment))),
        (GROUPS, "Figures 7 to 9: groups", _OF_GROUPS, list(_groups(experiment))),
        (
            LEARNING,
            "Figures 10, 13, 14, 15: classifiers",
            _OF_LEARNING,
            list(_classifier_charts(experiment)),
        ),
        (FOUND, "Figures 11 and 12: who could be found", _OF_FOUND, list(_risks(experiment))),
        (DONATION, "The protocol", _OF_DONATION, list(_protocol(experiment))),
    ]
    claims = {name: judge_claims(experiment, name) for name, *_ in results}
    return [
        _summary(experiment, [claim for some in claims.values() for claim in some]),
        *(
            {
                "title": title,
                "meaning": words,
                "charts": [_plain(chart) for chart in (*charts, _claims(claims[name]))],
            }
            for name, title, words, charts in results
        ),
    ]


_OF_LOSS = (
    "100,000 people; age, gender and body mass index are generalized, nothing is suppressed. NCP "
    "is the mean loss over people and columns: 0 for a table as it was, 1 for nothing but '*'."
)
_OF_GROUPS = (
    f"Classes of 250 people, {HALF} % of each sampled; generalized ages count in the middle of "
    "their interval, and people who are sampled for as many as they stand for. Samples are means "
    "over the runs."
)
_OF_LEARNING = (
    "Each classifier learns from three quarters of a version to predict diabetes and is judged by "
    "the rest. Means over the runs. Accuracy is learning only as far as it is above that of always "
    "guessing the most frequent answer. DT: decision tree, NB: naive Bayes, kNN: neighbours, "
    "SVM: support vector machine, RF: random forest, LR: logistic regression, AB: AdaBoost, BG: "
    "bagging."
)
_OF_FOUND = (
    "Whoever knows the class of a person, and not whether she was sampled, picks her record with "
    "the journalist risk; that her record is there at all is certain to the extent shown."
)
_OF_DONATION = (
    "The other runs are made by a trusted curator, because the collector publishes the same and "
    "rounds with 100,000 donors take longer. Here 5,000 donors go through it, with point functions "
    "and two servers."
)


def _summary(experiment: Experiment, claims: Sequence[Claim]) -> dict[str, Any]:
    counts = Counter(claim.verdict for claim in claims)
    table = "simulated persons" if experiment.on_simulated_persons else "the paper's table"
    runs = len(experiment.sampling_runs(LEAST))
    words = (
        f"On {table}: {counts['holds']} of {len(claims)} claims hold, {counts['does not hold']} "
        f"do not, {counts['not comparable']} cannot be compared. {runs} runs of every share that "
        "is sampled."
    )
    if experiment.on_simulated_persons:
        words += " The paper's figures are not those of simulated persons."
    if experiment.unpublished:
        words += f" Not published: {', '.join(experiment.unpublished)}."
    return {"title": "The paper's claims", "meaning": words, "charts": []}


def _claims(claims: Sequence[Claim]) -> Chart:
    return Chart(
        name="claims",
        kind="table",
        title="What became of the claims",
        data={
            "columns": ["figure", "claim", "checked by", "paper", "ours", "verdict"],
            "rows": [
                [claim.figure, claim.words, claim.how, claim.paper, claim.ours, claim.verdict]
                for claim in claims
            ],
        },
    )


def _plain(chart: Chart) -> dict[str, Any]:
    return {
        "name": chart.name,
        "kind": chart.kind,
        "title": chart.title,
        "x": chart.x,
        "y": chart.y,
        "meaning": chart.meaning,
        "data": dict(chart.data),
    }


# --- figure 6 ------------------------------------------------------------------------------------


def _loss(experiment: Experiment) -> Iterator[Chart]:
    losses = experiment.losses
    if not losses:
        return
    shown = {name: line for name, line in losses.items() if name != WHOLE_DOMAIN}
    if shown:
        yield _lines("figure_6", "Figure 6: NCP and k", shown, "Lower is better.")
    if WHOLE_DOMAIN in losses:
        text = "The same with one level per column for the whole table, which loses most by far."
        every = {**shown, WHOLE_DOMAIN: losses[WHOLE_DOMAIN]}
        yield _lines("figure_6_all", f"Figure 6 with {WHOLE_DOMAIN}", every, text)
    places = sorted({k for line in losses.values() for k in line})
    yield Chart(
        name="figure_6_table",
        kind="table",
        title="NCP in per cent",
        data={
            "columns": ["anonymizer", *(f"k = {k}" for k in places)],
            "rows": [
                [name, *(_percent(line.get(k)) for k in places)] for name, line in losses.items()
            ],
        },
    )


def _lines(name: str, title: str, losses: Mapping[str, Mapping[int, float]], meaning: str) -> Chart:
    data = {
        series: {"x": sorted(line), "y": [line[k] for k in sorted(line)]}
        for series, line in losses.items()
    }
    return Chart(name=name, kind="line", title=title, x="k", y="NCP", meaning=meaning, data=data)


def _percent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 2)


# --- figures 7 to 9 ------------------------------------------------------------------------------


def _groups(experiment: Experiment) -> Iterator[Chart]:
    for name, (number, title, by, unit) in OF_GROUPS.items():
        groups = experiment.groups(name, HALF)
        if groups is not None:
            line = number == 7
            yield Chart(
                name=f"figure_{number}",
                kind="line" if line else "bars",
                title=f"Figure {number}: {title}",
                x=by,
                y=unit,
                meaning=f"Middles of ranges; the band is the range of {len(groups.samples)} "
                "samples."
                if line
                else f"Mean of {len(groups.samples)} samples.",
                data=_series(groups, line),
            )
    deviations = _deviations(experiment)
    if deviations is not None:
        yield deviations


def _deviations(experiment: Experiment) -> Chart | None:
    """How far single samples are from the original, over the share that is sampled."""
    data: dict[str, Any] = {}
    for name in OF_GROUPS:
        results = {share: experiment.groups(name, share) for share in experiment.shares}
        known = {share: groups for share, groups in results.items() if groups is not None}
        if known:
            whole = next(iter(known.values()))
            points = {100: whole.deviation(whole.anonymized)} | {
                share: groups.of_one_sample for share, groups in known.items()
            }
            data[name] = {"x": sorted(points), "y": [points[share] for share in sorted(points)]}
    if not data:
        return None
    return Chart(
        name="deviations",
        kind="line",
        title="How far groups are from the original",
        x="per cent sampled; 100: anonymized only",
        y="mean deviation",
        meaning="Mean over single samples. What is there at 100 is due to generalization.",
        data=data,
    )


def _series(groups: Groups, line: bool) -> dict[str, Any]:
    versions: dict[str, Any] = {
        ORIGINAL: groups.original,
        "anonymized": groups.anonymized,
        f"{HALF} % sampled": groups.sample_means,
    }
    if not line:
        heights = {name: [round(value) for value in values] for name, values in versions.items()}
        return {"labels": list(groups.labels), **heights}
    data: dict[str, Any] = {
        name: {"x": list(groups.labels), "y": list(values)} for name, values in versions.items()
    }
    samples = np.array(groups.samples)
    data[f"{HALF} % sampled"] |= {
        "low": samples.min(axis=0).tolist(),
        "high": samples.max(axis=0).tolist(),
    }
    return data


# --- figures 10, 13 to 15 ------------------------------------------------------------------------


def _classifier_charts(experiment: Experiment) -> Iterator[Chart]:
    for number, metric in METRICS.items():
        learned = experiment.classifier_scores(metric)
        if learned:
            message = "F1" if metric == "f1" else metric
            yield _bars(f"figure_{number}", f"Figure {number}: {message}", message, learned)
            if metric in ("accuracy", "f1"):
                yield _changes(experiment, metric, message, learned)
    accuracy = experiment.classifier_scores("accuracy")
    if accuracy:
        yield _accuracies(experiment, accuracy)


def _changes(
    experiment: Experiment, metric: str, said: str, learned: Mapping[str, Mapping[str, float]]
) -> Chart:
    changes = {version: differences(experiment, metric, version) for version in learned}
    title = f"{said[0].upper()}{said[1:]}, more or less than on the original"
    return _bars(f"{metric}_changes", title, "difference", changes)


def _bars(name: str, title: str, y: str, learned: Mapping[str, Mapping[str, float]]) -> Chart:
    names = [name for name in learned[ORIGINAL] if name != GUESS]
    return Chart(
        name=name,
        kind="bars",
        title=title,
        x="classifier",
        y=y,
        data={
            "labels": [SHORT.get(name, name) for name in names],
            **{version: [of[name] for name in names] for version, of in learned.items()},
        },
    )


def _accuracies(experiment: Experiment, learned: Mapping[str, Mapping[str, float]]) -> Chart:
    lost = differences(experiment, "accuracy", f"{LEAST} % sampled")
    return Chart(
        name="accuracy_table",
        kind="table",
        title="Accuracy in per cent",
        meaning=f"The last column is that of {LEAST} % less that of the original.",
        data={
            "columns": ["classifier", *learned, "difference"],
            "rows": [
                [
                    name,
                    *(_percent(values[name]) for values in learned.values()),
                    _percent(lost.get(name)),
                ]
                for name in learned[ORIGINAL]
            ],
        },
    )


# --- figures 11 and 12 ---------------------------------------------------------------------------


def _risks(experiment: Experiment) -> Iterator[Chart]:
    shares = experiment.shares
    labels = ["anonymized", *(f"{share} %" for share in shares)]
    before = experiment.mean("disclosure.journalist_average_before")
    if before is None:
        return
    highest = experiment.mean("disclosure.journalist_max_before")
    yield Chart(
        name="figure_11",
        kind="bars",
        title="Figure 11: journalist risk",
        x="version",
        y="chance to pick the right record",
        meaning="One in the class before sampling, so that sampling changes nothing.",
        data={
            "labels": labels,
            "mean": [
                before,
                *(experiment.mean("disclosure.journalist_average", share) for share in shares),
            ],
            "highest": [
                highest,
                *(experiment.mean("disclosure.journalist_max", share) for share in shares),
            ],
        },
    )
    yield Chart(
        name="figure_12",
        kind="bars",
        title="Figure 12: certainty",
        x="version",
        y="certainty",
        meaning="Chance that a person's record is there; lower is safer.",
        data={
            "labels": labels,
            "certainty": [
                1.0,
                *(experiment.mean("disclosure.presence_certainty", share) for share in shares),
            ],
        },
    )


# --- the protocol --------------------------------------------------------------------------------


def _protocol(experiment: Experiment) -> Iterator[Chart]:
    ours, theirs = experiment.run_of(PROTOCOL), experiment.run_of(CURATOR)
    if ours is None or theirs is None:
        return
    yield Chart(
        name="protocol",
        kind="table",
        title="5,000 donors",
        data={
            "columns": ["figure", "trusted curator", "anonify"],
            "rows": [[name, theirs.findings.get(name), ours.findings.get(name)] for name in SAME],
        },
    )
