"""How each claim of the paper is judged: our figures, and whether they bear it out."""

from collections.abc import Callable, Mapping
from itertools import pairwise

from papers.anonify.experiment import (
    ANONYMIZED,
    CURATOR,
    ORIGINAL,
    PROTOCOL,
    Experiment,
    Groups,
)

#: Returns our figures, and whether the claim holds: None where that cannot be said. Returns None
#: when the experiment lacks the runs.
Judge = Callable[[Experiment], tuple[str, bool | None] | None]

#: The paper's ARX is compared with the first; it does not say which of both ways it took.
ARX, WHOLE_DOMAIN = "local-recoding as ARX does it", "full-domain"
RIVALS = ("mondrian", "OKA")

#: Who loses no more than this part of another's loss loses clearly less.
CLEARLY = 0.9

#: Accuracies that differ by no more are close; other metrics of a rare label vary more.
CLOSE, CLOSE_OTHERS = 0.01, 0.02
#: So many of the eight classifiers have to be close.
ENOUGH = 6
#: Means of groups, and counts of groups, that deviate by no more resemble the original.
RESEMBLES, VARIES_SLIGHTLY = 0.01, 0.05
#: Share that the paper draws figures 7 to 9 for, and the least that it samples.
HALF, LEAST = 50, 30
#: Begin of the age ranges for which the paper sees alterations.
OLD = 60

METRICS = {10: "accuracy", 13: "recall", 14: "precision", 15: "f1"}

#: What is no classifier among the bars of accuracies.
GUESS = "always the most frequent"

# --- figure 6 ------------------------------------------------------------------------------------


def below_rivals(name: str, most: float = 1.0) -> Judge:
    """Whether it loses less than that part of what the better of the paper's other two loses."""

    def judge(experiment: Experiment) -> tuple[str, bool] | None:
        losses = experiment.losses
        places = sorted(set.intersection(*(set(losses.get(item, ())) for item in (name, *RIVALS))))
        if not places:
            return None
        parts = {k: losses[name][k] / min(losses[rival][k] for rival in RIVALS) for k in places}
        more = [k for k, part in parts.items() if part >= most]
        ours = (
            f"{min(parts.values()):.1%} to {max(parts.values()):.1%} of the better one's NCP at "
            f"{len(places)} values of k"
        )
        if more:
            where = "any" if len(more) == len(places) else ", ".join(map(str, more))
            ours += f"; not at {where}"
        return ours, not more

    return judge


def rises(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether every anonymizer loses more with every step of k."""
    losses = experiment.losses
    if not losses:
        return None
    exceptions = []
    for name, line in losses.items():
        falls = [str(b) for a, b in pairwise(sorted(line)) if line[b] < line[a]]
        if falls:
            exceptions.append(f"{name} falls at k = {', '.join(falls)}")
        elif len(set(line.values())) == 1:
            exceptions.append(f"{name} does not change")
    ours = f"{len(losses) - len(exceptions)} of {len(losses)} anonymizers rise with every step"
    return "; ".join([ours, *exceptions]), not exceptions


# --- figures 7 to 9 ------------------------------------------------------------------------------


def resembles(figure: str, limit: float) -> Judge:
    """Whether the groups of both versions deviate by no more than a limit."""

    def judge(experiment: Experiment) -> tuple[str, bool] | None:
        groups = experiment.groups(figure, HALF)
        if groups is None:
            return None
        before, after = groups.deviation(groups.anonymized), groups.deviation(groups.sample_means)
        return f"{before:.2%} anonymized, {after:.2%} sampled", max(before, after) <= limit

    return judge


def more_for_diabetes(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether people with diabetes deviate more than those with hypertension."""
    results = {name: experiment.groups(name, HALF) for name in ("hypertension", "diabetes")}
    if None in results.values():
        return None
    shown = {
        name: item.deviation(item.sample_means)
        for name, item in results.items()
        if item is not None
    }
    ours = ", ".join(f"{value:.2%} {name}" for name, value in shown.items())
    return ours, shown["diabetes"] > shown["hypertension"]


def _age(label: str) -> float:
    """Begin of an age range."""
    return float(label.partition(" ")[0])


def among_the_old(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether people with diabetes deviate more where they are old."""
    groups = experiment.groups("diabetes", HALF)
    if groups is None:
        return None
    old = [index for index, label in enumerate(groups.labels) if _age(label) >= OLD]
    young = [index for index, label in enumerate(groups.labels) if _age(label) < OLD]
    a, b = groups.deviation(groups.sample_means, old), groups.deviation(groups.sample_means, young)
    return f"{a:.2%} from {OLD} on, {b:.2%} of the younger", a > b


def by_sampling(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether people with diabetes deviate more in smaller samples."""
    results: dict[int, Groups | None] = {
        share: experiment.groups("diabetes", share) for share in experiment.shares
    }
    known = {share: item for share, item in results.items() if item is not None}
    if len(known) < 2:
        return None
    # Of single samples, not of their mean: that is what the recipient of a release sees.
    each = {share: item.of_one_sample for share, item in known.items()}
    before = known[min(known)]
    shown = ", ".join(f"{value:.2%} ({share} %)" for share, value in each.items())
    ours = f"{before.deviation(before.anonymized):.2%} before sampling; {shown}"
    return ours, all(a < b for a, b in pairwise(each.values()))


# --- figures 10, 13 to 15 ------------------------------------------------------------------------


def differences(experiment: Experiment, metric: str, version: str) -> dict[str, float]:
    """What a version gives more than the original, by classifier."""
    learned = experiment.classifier_scores(metric)
    if not {ORIGINAL, version} <= set(learned):
        return {}
    own = learned[ORIGINAL]
    return {name: value - own[name] for name, value in learned[version].items() if name != GUESS}


def _exceptions(found: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:+.3f}" for name, value in found.items())


def close_at_least(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether enough classifiers are as accurate on the smallest samples."""
    result = differences(experiment, "accuracy", f"{LEAST} % sampled")
    if not result:
        return None
    far = {name: value for name, value in result.items() if abs(value) > CLOSE}
    better = sum(value > 0 for value in result.values())
    ours = f"{len(result) - len(far)} of {len(result)} within {CLOSE:g}, {better} of them better"
    ours += f"; not: {_exceptions(far)}" if far else ""
    return ours, len(result) - len(far) >= ENOUGH


def close_everywhere(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether all classifiers are as accurate on every version."""
    versions = [ANONYMIZED, *(f"{share} % sampled" for share in experiment.shares)]
    worst: dict[str, float] = {}
    for version in versions:
        for name, value in differences(experiment, "accuracy", version).items():
            worst[name] = max(worst.get(name, 0.0), value, key=abs)
    if not worst:
        return None
    far = {name: value for name, value in worst.items() if abs(value) > CLOSE}
    ours = f"{len(worst) - len(far)} of {len(worst)} on all {len(versions)} versions"
    ours += f"; not, at its worst: {_exceptions(far)}" if far else ""
    return ours, not far


def as_good(metric: str) -> Judge:
    """Whether enough classifiers keep up on the smallest samples."""

    def judge(experiment: Experiment) -> tuple[str, bool] | None:
        result = differences(experiment, metric, f"{LEAST} % sampled")
        if not result:
            return None
        worse = {name: value for name, value in result.items() if value < -CLOSE_OTHERS}
        ours = f"{len(result) - len(worse)} of {len(result)} lose at most {CLOSE_OTHERS:g} or gain"
        ours += f"; not: {_exceptions(worse)}" if worse else ""
        return ours, len(result) - len(worse) >= ENOUGH

    return judge


# --- figures 11 and 12 ---------------------------------------------------------------------------


def exact_risk(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether the highest risk is one in the smallest class, to the last digit."""
    runs = experiment.sampling_runs()
    pairs = [
        (run.value("disclosure.journalist_max"), run.value("disclosure.anonymity_set_min"))
        for run in runs
    ]
    if not pairs or any(None in pair for pair in pairs):
        return None
    exact = sum(risk == 1 / size for risk, size in pairs if risk is not None and size is not None)
    sizes = sorted({int(size) for _, size in pairs if size is not None})
    message = " to ".join(str(size) for size in dict.fromkeys((sizes[0], sizes[-1])))
    return (
        f"{exact} of {len(pairs)} runs to the last digit; smallest class of {message} rows",
        exact == len(pairs),
    )


def risk_falls(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether the mean risk falls from share to share."""
    means = {
        share: experiment.mean("disclosure.journalist_average", share)
        for share in experiment.shares
    }
    known = {share: value for share, value in means.items() if value is not None}
    before = experiment.mean("disclosure.journalist_average_before")
    if len(known) < 2 or before is None:
        return None
    shown = ", ".join(f"{value:.6f} ({share} %)" for share, value in known.items())
    # Averages over other records differ in the fourth digit; that is not less risk.
    falls = all(b < 0.99 * a for a, b in pairwise((before, *known.values())))
    return f"{before:.6f} before sampling; {shown}", falls


def risk_is_low(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether the highest risk is what classes of 250 people allow."""
    highest = experiment.values("disclosure.journalist_max")
    if not highest:
        return None
    return f"at most {max(highest):.5f}", max(highest) <= 1 / 250


def stated_risk(experiment: Experiment) -> tuple[str, None] | None:
    """Our mean risk; the paper's cannot be true as it stands."""
    result = experiment.mean("disclosure.journalist_average", LEAST)
    return None if result is None else (f"{result:.6f}, or {result:.4%}", None)


def kept_whole(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether everybody is in the anonymized table."""
    results = [
        run.charts["disclosure.presence"]["certainty"][1]
        for run in experiment.sampling_runs()
        if "disclosure.presence" in run.charts
    ]
    return (f"{min(results):.2%}", min(results) == 1) if results else None


def certainty_is_share(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether certainty is the share, rounded up in every class."""
    means = {
        share: experiment.mean("disclosure.presence_certainty", share)
        for share in experiment.shares
    }
    known = {share: value for share, value in means.items() if value is not None}
    if not known:
        return None
    shown = ", ".join(f"{value:.2%} ({share} %)" for share, value in known.items())
    return shown, all(0 <= value - share / 100 <= CLOSE for share, value in known.items())


# --- the protocol --------------------------------------------------------------------------------

#: Figures that do not depend on who was drawn.
SAME = (
    "rows_out",
    "published_classes",
    "smallest_class",
    "gcp",
    "disclosure.journalist_max",
    "disclosure.presence_certainty",
)


def as_the_curator(experiment: Experiment) -> tuple[str, bool] | None:
    """Whether both collectors give the same figures."""
    ours, theirs = experiment.run_of(PROTOCOL), experiment.run_of(CURATOR)
    if ours is None or theirs is None:
        return None
    differ = [name for name in SAME if ours.findings.get(name) != theirs.findings.get(name)]
    message = f"{len(SAME) - len(differ)} of {len(SAME)} figures equal"
    message += f"; not: {', '.join(differ)}" if differ else ""
    return message, not differ
