"""Proxy workers on real rows: a cheap model answers where it is sure, and is seldom noticed.

Every campaign goes the whole way: rows of the table are divided into those from which the workers
learned their model, those whose result the client knows, and the jobs; the scheme hides the
controls and judges the answers. Blind workers who omit as much are given the same batches.
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anonloom import Chart
from anonloom.typing import FloatArray, IntArray
from anonloom_sentinels_twins import formulas
from anonloom_sentinels_twins.comparison import Plan
from anonloom_sentinels_twins.features import features_of
from anonloom_sentinels_twins.figures import Figure
from anonloom_sentinels_twins.finding_texts import BLIND, NOT_BLIND, say, unknown
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.simulation import Share
from anonloom_sentinels_twins.sizing import size
from anonloom_sentinels_twins.work_check import RESULT, Campaign, Judgement, OmittedWork, Sizing
from anonloom_sentinels_twins.workers import Behaviour, Honest, Opportunistic, Proxy, answers

#: Rows from which the cheap model is learned, at most; and rows that are jobs, at most.
LEARNED, JOBS = 500, 1500
# The name of the column by which rows are found again; workers make nothing of it.
_ROW = "row"


class TooFewRows(Exception):
    """The table does not suffice for a campaign."""


@attrs.frozen(eq=False)
class _Tally:
    """Counts over campaigns, and the sum of what the formulas say."""

    sentinels: list[int] = attrs.field(factory=lambda: [0, 0])
    twins: list[int] = attrs.field(factory=lambda: [0, 0])

    def add(self, judgement: Judgement) -> None:
        """Count failed and answered controls of all workers; a twin is on two sides."""
        for worker in judgement.workers:
            for counted, sort in ((self.sentinels, "sentinels"), (self.twins, "twins")):
                failed, of = worker.controls.get(sort, (0, 0))
                counted[0] += failed
                counted[1] += of

    def shares(self) -> tuple[Share, Share]:
        """Return which share of the sentinels failed, and of the twins."""
        (failed, known), (differed, sides) = self.sentinels, self.twins
        return Share(failed, max(1, known)), Share(differed // 2, max(1, sides // 2))


@attrs.frozen(eq=False)
class _Rows:
    """The table: what workers see, the class of each row, and what their model looks at."""

    cells: pd.DataFrame
    truth: IntArray
    features: NDArray[np.float32]

    def divide(self, plan: Plan, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
        """Return the rows to learn from, the known ones (as many of each class), and the jobs."""
        number = len(plan.classes)
        order = rng.permutation(len(self.truth))
        learned = order[: min(LEARNED, len(order) // 4)]
        left = order[len(learned) :]
        each = max(1, plan.budget // number)
        fewest = int(np.bincount(self.truth[left], minlength=number).min())
        # As many at least remain as jobs, so that no class is strange to them.
        each = min(each, fewest // 2)
        if each == 0 or len(np.unique(self.truth[learned])) < 2:
            raise TooFewRows
        place = pd.Series(self.truth[left]).groupby(self.truth[left]).cumcount().to_numpy()
        return learned, left[place < each], left[place >= each][:JOBS]


def _model(rows: _Rows, learned: IntArray, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Return what a cheap model says of every row, and how sure it is."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    model = LogisticRegression(max_iter=300, random_state=int(rng.integers(2**31)))
    # On so few rows threads would wait for each other longer than they work.
    with threadpool_limits(1):
        model.fit(rows.features[learned], rows.truth[learned])
        chances = model.predict_proba(rows.features)
    return np.asarray(model.classes_[chances.argmax(axis=1)]), np.asarray(chances.max(axis=1))


def proxies(
    plan: Plan, table: pd.DataFrame, labels: pd.Series, played: int, rng: np.random.Generator
) -> Figure:
    """Return how often controls notice workers with a cheap model, beside blind ones.

    Parameters
    ----------
    plan
        Its classes are those of the labels.
    table, labels
        The rows without the labels, and the labels.
    played
        How many campaigns.
    """
    codes = pd.factorize(labels)[0]
    # In the order of frequency, as the plan has the classes.
    rank = np.argsort(np.argsort(-np.bincount(codes), kind="stable"), kind="stable")
    cells = table.reset_index(drop=True)
    if cells.shape[1] == 0:
        return Figure(tuple(unknown(["proxies"], "there is no column to learn from")))
    features = features_of(cells, int(rng.integers(2**31)))
    rows = _Rows(cells.assign(**{_ROW: np.arange(len(cells))}), rank[codes], features)
    outcome = _Outcome()
    try:
        for _ in range(played):
            _play(plan, rows, outcome, rng)
    except TooFewRows:
        return Figure(tuple(unknown(["proxies"], "there are too few rows of some class")))
    if outcome.jobs == 0 or outcome.omitted == 0:
        why = "the cheap model is sure of no row, so that such a worker omits nothing"
        return Figure(tuple(unknown(["proxies"], why)))
    return _figure(plan, outcome)


@attrs.define(eq=False)
class _Outcome:
    proxy: _Tally = attrs.field(factory=_Tally)
    blind: _Tally = attrs.field(factory=_Tally)
    jobs: int = 0
    omitted: int = 0
    right: int = 0
    frequent: int = 0


def _play(plan: Plan, rows: _Rows, outcome: _Outcome, rng: np.random.Generator) -> None:
    learned, known, jobs = rows.divide(plan, rng)
    guess, sure = _model(rows, learned, rng)
    count = np.bincount(rows.truth[jobs], minlength=len(plan.classes))
    omits = sure[jobs] >= Proxy().least
    outcome.jobs += len(jobs)
    outcome.omitted += int(omits.sum())
    outcome.right += int((omits & (guess[jobs] == rows.truth[jobs])).sum())
    outcome.frequent += int(count.max())
    campaign = plan.campaign(jobs=len(jobs), classes=count / count.sum())
    sizing = Sizing(
        controls={"sentinels": len(known), "twins": min(plan.budget, len(jobs))}, undetected=1.0
    )
    scheme = SentinelsTwins(likeness=False)
    mine = rows.cells.iloc[known].assign(**{RESULT: rows.truth[known]})
    made = scheme.assign(
        rows.cells.iloc[jobs].reset_index(drop=True),
        mine.reset_index(drop=True),
        campaign,
        sizing,
        rng,
    )
    chosen = rng.permutation(plan.workers)[: plan.lazy].tolist()
    for tally, behaviour in (
        (outcome.proxy, Proxy()),
        (outcome.blind, Opportunistic(float(omits.mean()))),
    ):
        sent = _answers(made.batches, behaviour, chosen, rows, (guess, sure), campaign, rng)
        try:
            tally.add(scheme.verify(made.key, sent))
        except OmittedWork as result:
            tally.add(result.judgement)


def _answers(
    batches: tuple[pd.DataFrame, ...],
    behaviour: Behaviour,
    lazy: list[int],
    rows: _Rows,
    model: tuple[IntArray, FloatArray],
    campaign: Campaign,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, ...]:
    def work(batch: pd.DataFrame) -> Any:
        return rows.truth[batch[_ROW].to_numpy()]

    def cheap(batch: pd.DataFrame) -> tuple[Any, Any]:
        numbers = batch[_ROW].to_numpy()
        return model[0][numbers], model[1][numbers]

    staff = [behaviour if index in lazy else Honest() for index in range(campaign.workers)]
    classes = np.argsort(-np.asarray(campaign.classes), kind="stable").tolist()
    return answers(batches, staff, work, classes, rng, model=cheap)


def _figure(plan: Plan, outcome: _Outcome) -> Figure:
    share = outcome.omitted / outcome.jobs
    largest, number = outcome.frequent / outcome.jobs, len(plan.classes)
    setting = (plan.workers, plan.lazy, share)
    formula = (
        float(formulas.sentinel_fails(*setting, 1 / number)),
        float(formulas.twin_differs(*setting)) * (1 - largest),
    )
    proxy, blind = outcome.proxy.shares(), outcome.blind.shares()
    sizing = size(plan.campaign(omission=share))
    controls = (sizing.controls["sentinels"], sizing.controls["twins"])
    missed = float(
        np.prod([(1 - item.share) ** n for item, n in zip(proxy, controls, strict=True)])
    )
    assumed = (
        NOT_BLIND,
        f"{plan.lazy} of {plan.workers} workers are such, and in each campaign all of them have "
        "one model: intervals, which take controls for independent, are somewhat too narrow.",
    )
    right = outcome.right / outcome.omitted
    with_them = f"{controls[0]} sentinels and {controls[1]} twins."
    result = (
        say("proxy_omitted", share, assumptions=assumed),
        say("proxy_right", right, more=f"A blind guess is right in {largest:.3g}."),
        say("proxy_per_sentinel", proxy[0].share, interval=proxy[0].interval(),
            assumptions=assumed),
        say("blind_per_sentinel", formula[0], assumptions=(BLIND,), more=_blind_text(blind[0])),
        say("proxy_per_twin", proxy[1].share, interval=proxy[1].interval(), assumptions=assumed),
        say("blind_per_twin", formula[1], assumptions=(BLIND,), more=_blind_text(blind[1])),
        say("proxy_undetected", missed, assumptions=assumed, more=with_them),
        say("blind_undetected", sizing.undetected, assumptions=(BLIND,), status="bound",
            more=with_them),
    )  # fmt: skip
    chart = Chart(
        name="proxies",
        kind="bars",
        title="Workers with a cheap model (not blind)",
        data={
            "labels": ["per sentinel", "per twin"],
            "blind, formula": list(formula),
            "blind, played": [item.share for item in blind],
            "cheap model, played": [item.share for item in proxy],
        },
        y="share of the controls that notice something",
        meaning=f"Both sorts of workers omit {share:.0%} of their jobs; the model is right on "
        f"{right:.1%} of these. The formulas are for blind omission: such a worker is noticed "
        "less often than they say.",
    )
    return Figure((*result, chart))


def _blind_text(share: Share) -> str:
    return f"On the same rows blind workers were noticed in {share.share:.3g}."
