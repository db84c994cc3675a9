"""Findings and charts of attribute inference: advantage, excess over chance, accuracy."""

from collections.abc import Iterator

import numpy as np

from anonloom import AuditInput, Chart, Finding, Findings, StageContext
from anonloom_prism.attack import InferenceResult, Plan, infer
from anonloom_prism.attack_names import KNOWN
from anonloom_prism.correlations import ALL
from anonloom_prism.targets import Targets
from anonloom_prism.versions import InferenceTask

MEANINGS = {
    "advantage": "How well critical values of '{}' are told apart by an attacker who knows {}: 0 "
    "for guessing, 1 for always right.",
    "excess": "The same advantage, less what chance alone gives; it may be known from the "
    "population.",
    "accuracy_gain": "How much more often an attacker who knows {1} says the value of '{0}' right "
    "than by always saying the most frequent one.",
}
EXCESS = (
    "How well critical values of '{}' can be inferred from the attributes that are published, less "
    "what chance alone gives. It may be known from the population, and of people outside the "
    "release as well: what the release adds is said by 'trees_risk'."
)
REMOVED = "How much of the attacker's advantage over critical values of '{}' the release took away."
MAJORITY = "How often the most frequent value of '{}' is right."


def inference_findings(
    plan: Plan, task: InferenceTask, case: AuditInput, context: StageContext
) -> Findings:
    """Attack both versions, and say what came out.

    Raises
    ------
    NotAssessable
        When there is nothing to infer, or nobody to judge.
    """
    assert case.original is not None
    original, wanted, used = task.original(case.original, context.rng)
    release, sampling = task.release(case, wanted, used, context.rng)
    # One seed for both: where the same people are published, the same people judge.
    seed = int(context.rng.integers(2**63))
    counts = [plan.repeats * len(version.known) for version in (original, release)]
    result = infer(
        original.known,
        original.people,
        plan,
        np.random.default_rng(seed),
        lambda done, _: context.progress(done, sum(counts)),
    ) | infer(
        release.known,
        release.people,
        plan,
        np.random.default_rng(seed),
        lambda done, _: context.progress(counts[0] + done, sum(counts)),
    )
    about = (
        f"the attacker knows the values of {1 - plan.share:.4g} of the people, and the others "
        "judge",
        f"the best of {len(plan.attackers)} attackers and {len(wanted.names)} targets counts, "
        "here and in what chance gives",
        sampling,
        "labels are not among the attributes",
    )
    return Findings.of(_figures(task.sensitive, result, about), _charts(task, wanted, result))


def _figures(
    sensitive: str, found: dict[str, InferenceResult | None], about: tuple[str, ...]
) -> Iterator[Finding]:
    judged, before = found.get("published"), found.get("before")
    yield _excess("excess", judged, EXCESS.format(sensitive), about)
    removed = None
    if judged is not None and before is not None:
        removed = float(before.of_best().mean() - judged.of_best().mean())
    yield Finding(
        name="removed",
        value=removed,
        better="higher",
        status="measured" if removed is not None else "not assessable",
        meaning=REMOVED.format(sensitive),
        assumptions=about,
    )
    for name, knows in KNOWN.items():
        inferred = found.get(name)
        words = (sensitive, knows)
        advantage = None if inferred is None else inferred.of_best()
        yield _figure(
            f"advantage.{name}", inferred, advantage, MEANINGS["advantage"].format(*words), about
        )
        yield _excess(f"excess.{name}", inferred, MEANINGS["excess"], about)
        gain = None if inferred is None else inferred.gain()
        yield _figure(
            f"accuracy_gain.{name}", inferred, gain, MEANINGS["accuracy_gain"].format(*words), about
        )
    yield Finding(
        name="majority_accuracy",
        value=None if before is None else float(before.majority.mean()),
        status="not assessable" if before is None else "measured",
        meaning=MAJORITY.format(sensitive),
        assumptions=about,
    )


def _figure(
    name: str,
    inferred: InferenceResult | None,
    values: np.ndarray[tuple[int], np.dtype[np.float64]] | None,
    meaning: str,
    about: tuple[str, ...],
) -> Finding:
    if inferred is None or values is None:
        return _none(name, meaning, ("nothing of the kind is known, or no division shows it",))
    return Finding(
        name=name,
        value=float(values.mean()),
        interval=_within(inferred.interval(values)),
        meaning=meaning,
        assumptions=about,
    )


def _excess(
    name: str, inferred: InferenceResult | None, meaning: str, about: tuple[str, ...]
) -> Finding:
    if inferred is None:
        return _none(name, meaning, ("nothing of the kind is known, or no division shows it",))
    values = inferred.of_best() - inferred.by_chance
    message = f"chance gives {inferred.by_chance:.3f}, the mean of {len(inferred.chance)} deals"
    ends = _within(inferred.interval(values))
    return Finding(
        name=name,
        value=inferred.excess,
        interval=ends,
        # What chance may well give is no finding.
        status="measured" if ends is None or ends[0] > 0 else "none detected",
        meaning=meaning,
        assumptions=(message, *about),
    )


def _within(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ends is None else (max(ends[0], -1.0), min(ends[1], 1.0))


def _none(name: str, meaning: str, why: tuple[str, ...]) -> Finding:
    return Finding(
        name=name,
        value=None,
        status="not assessable",
        meaning=meaning,
        assumptions=why,
    )


def _charts(
    task: InferenceTask, wanted: Targets, found: dict[str, InferenceResult | None]
) -> Iterator[Chart]:
    some = {name: item for name, item in found.items() if item is not None}
    if not some:
        return
    yield Chart(
        name="advantage",
        kind="bars",
        title="What an attacker infers",
        x="what the attacker knows",
        y="advantage",
        meaning="The best advantage over a critical value, and what the best one is by chance.",
        data={
            "labels": list(some),
            "attacker": [float(item.of_best().mean()) for item in some.values()],
            "chance": [item.by_chance for item in some.values()],
        },
    )
    if task.critical is None:
        # Values that nobody named are cells of the table.
        return
    labels = ["all critical values" if name == ALL else name for name in wanted.names]
    yield Chart(
        name="by_value",
        kind="bars",
        title="What an attacker infers of each critical value",
        x="critical value",
        y="advantage",
        meaning="Mean advantage of the better attacker over each critical value.",
        data={
            "labels": labels,
            **{
                name: [_best(item, index) for index in range(len(labels))]
                for name, item in some.items()
                if item.advantage.shape[2] == len(labels)
            },
        },
    )


def _best(inferred: InferenceResult, target: int) -> float | None:
    values = inferred.advantage[:, :, target]
    known = values[~np.isnan(values).any(axis=1)]
    return float(known.mean(axis=0).max()) if len(known) else None


def unknown(why: str, sensitive: str) -> Findings:
    """Say of every figure why there is none."""
    return Findings.of(
        _none("excess", EXCESS.format(sensitive), (why,)),
        Finding(
            name="removed",
            value=None,
            better="higher",
            status="not assessable",
            meaning=REMOVED.format(sensitive),
            assumptions=(why,),
        ),
        [
            _none(f"{figure}.{name}", meaning.format(sensitive, knows), (why,))
            for name, knows in KNOWN.items()
            for figure, meaning in MEANINGS.items()
        ],
        Finding(
            name="majority_accuracy",
            value=None,
            status="not assessable",
            meaning=MAJORITY.format(sensitive),
            assumptions=(why,),
        ),
    )
