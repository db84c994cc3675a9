"""The auditor `cvpl`: how many records can be linked, beside how many would be by chance."""

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np

from anonloom import AuditInput, Finding, Findings, StageContext, param, short_repr
from anonloom.findings import PrivateRows
from anonloom.kinds import GridRow
from anonloom.params import between, distinct
from anonloom.typing import IntArray
from anonloom_cvpl import attribution, charts, rates
from anonloom_cvpl.attacker import Attacker, true_rows
from anonloom_cvpl.composition import composition
from anonloom_cvpl.configuration import NOTHING, Prepared
from anonloom_cvpl.evidence import Evidence
from anonloom_cvpl.figures import Says
from anonloom_cvpl.groups import group_linkage
from anonloom_cvpl.identified import NO_TRUTH, identified
from anonloom_cvpl.inference import inference
from anonloom_cvpl.pairs import lucky_pairs, wrong_pairs
from anonloom_cvpl.rates import THRESHOLDS
from anonloom_cvpl.representation import Validity, validity
from anonloom_cvpl.strategies import strategies
from anonloom_linkage.bootstrap import block_bootstrap

#: The records that a steward should look at first.
MOST_EXPOSED = 100


@attrs.frozen(kw_only=True)
class Cvpl(Attacker):
    """Measures how many records of the original can be linked to the release by similarity."""

    threshold: float = param(
        help="The attacker's strictness: a pair this similar is a plausible link.",
        default=0.9,
        check=between(0, 1),
    )
    alpha: float = param(
        help="Share of false links that an attacker accepts, for the calibrated threshold.",
        default=0.05,
        check=between(0, 1),
    )
    baselines: tuple[Literal["random-in-block", "no-projection"], ...] = param(
        help="Weaker attackers to compare with.", default=("random-in-block",), check=distinct()
    )
    attribution: bool = param(help="Whether to find out which columns drive linkage.", default=True)

    def attack(self, case: AuditInput, context: StageContext) -> Findings:
        """Link, and compare with what chance alone would link."""
        assert case.original is not None
        control = () if case.control is None else (case.control,)
        others = [case.release, *control, *case.other_releases]
        prepared = self.configuration.prepared(case.original, others, context)
        if prepared is None:
            return _silent()
        announce(prepared, context)
        truth = true_rows(case)
        evidence = prepared.against().evidence(context, truth)
        everyone = np.arange(len(evidence))
        left_out = prepared.left_out(len(case.release), context.rng).evidence(context, everyone)
        return _Audit(self, case, prepared, evidence, left_out, truth, context).findings()

    def summarize(self, grid: Sequence[GridRow]) -> Findings:
        """Draw the risk surface of an experiment."""
        surface = charts.risk_surface(grid)
        return Findings() if surface is None else Findings.of(surface)


def announce(prepared: Prepared, context: StageContext) -> None:
    """Say what there is to be compared, before it is."""
    confrontation = prepared.against()
    blocks = [item for some in confrontation.blocks() for item in some]
    total = sum(int(block.comparisons.sum()) for block in blocks)
    number = sum(len(block) for block in blocks)
    largest = max((int(block.comparisons.max(initial=0)) for block in blocks), default=0)
    context.note(
        f"{total:,} comparisons in {number:,} blocks, {largest:,} of them in the largest; "
        "as many again for the null"
    )


def _silent() -> Findings:
    """Return what is to be said of a release in which nothing can be compared."""
    says = Says(unfit=NOTHING)
    names = ("linkage_rate", "linkage_null", "linkage_excess", "precision_at_1")
    return Findings.of(
        says.always("validity", "not assessable", "Whether the figures mean anything."),
        [says(name, None, "Nothing can be compared.") for name in names],
    )


@short_repr
@attrs.frozen
class _Audit:
    """One audit: turns evidence into findings."""

    method: Cvpl
    case: AuditInput
    prepared: Prepared
    evidence: Evidence
    left_out: Evidence
    truth: IntArray | None
    run: StageContext

    def findings(self) -> Findings:
        """Return everything that was found."""
        confrontation = self.prepared.against()
        wrong = wrong_pairs(confrontation, self.truth, self.run.rng)
        known = wrong.similarity if self.truth is not None else None
        valid = validity(self.prepared, self.evidence, self.left_out, known)
        says = Says(self._assuming(valid), valid.unfit)
        return Findings.of(
            self._representation(says, valid),
            self._linkage(says),
            identified(
                says,
                self.evidence,
                wrong.similarity,
                self.method.threshold,
                self.truth is not None,
                self.run.rng,
            ),
            strategies(
                says, self.evidence, self.left_out, self.method.alpha, self.truth is not None
            ),
            self._baselines(says),
            inference(says, self.case, self.prepared, self.evidence, self.run),
            group_linkage(says, self.case, self.evidence, self.method.threshold, NO_TRUTH),
            composition(
                says,
                self.case,
                self.prepared,
                self.evidence,
                self._other_releases,
                self.method.threshold,
                self.run,
            ),
            self._attribution(says),
            [
                chart
                for chart in (
                    charts.densities(self.evidence.true, wrong.similarity),
                    charts.block_sizes(self.prepared.schemes[0].sizes())
                    if self.prepared.schemes[0].keys
                    else None,
                )
                if chart is not None
            ],
            self._exposed(),
        )

    @property
    def _other_releases(self) -> range:
        """Numbers of the other releases among the tables: after the release and the control."""
        first = 2 if self.case.control is None else 3
        return range(first, first + len(self.case.other_releases))

    def _assuming(self, valid: Validity) -> tuple[str, ...]:
        return (
            "an attacker who has the original's values and links as configured; others may do "
            "better",
            *(f"weak representation: {weakness}" for weakness in valid.weaknesses),
            *self._roughly(),
        )

    def _roughly(self) -> tuple[str, ...]:
        """Say that a search was approximate, if it was."""
        exact = self.method.exact
        if exact is None or self.evidence.candidates.max(initial=0) <= exact:
            return ()
        return (
            f"blocks of more than {exact:,} candidates were searched approximately: rates and "
            "nulls are bounds from below, their differences are none",
        )

    # --- what was compared -----------------------------------------------------------------------

    def _representation(self, says: Says, valid: Validity) -> list[Finding]:
        unread = sum(column.unread[1] for column in self.prepared.columns)
        reasons = "; ".join((*((valid.unfit,) if valid.unfit else ()), *valid.weaknesses))
        results = [
            says.always("configuration", self.prepared.words, "What was compared, and how."),
            says.always(
                "validity",
                valid.verdict,
                "Whether the figures mean anything" + (f": {reasons}." if reasons else "."),
            ),
            says.always("candidates", valid.candidates, "Mean number of candidates of a record."),
            says.always(
                "without_candidates", valid.without, "Share of the records without any candidate."
            ),
            says.always(
                "zero_vectors", valid.zero, "Share of the records that resemble nothing at all."
            ),
            says.always(
                "equal_records", valid.alike, "Share of the records that another one equals."
            ),
            says.always("unread_cells", unread, "Cells of the release that could not be read."),
        ]
        if valid.auc is not None:
            results.append(
                says.always(
                    "auc", valid.auc, "Chance that a true pair is more similar than a wrong one."
                )
            )
        if valid.retained is not None:
            results.append(
                says.always(
                    "retained_variance", valid.retained, "Share of the variance that was compared."
                )
            )
        return results

    # --- linkage and chance ----------------------------------------------------------------------

    def _linkage(self, says: Says) -> Findings:
        threshold = np.array([self.method.threshold])
        sweep = np.r_[threshold, THRESHOLDS]
        best, null = self.evidence.best, self.left_out.wrong
        hits = (best[:, None] >= sweep).astype(np.int8)
        by_chance = null >= self.method.threshold
        excess = (hits[:, 0] - by_chance)[:, None]
        resampled = block_bootstrap(
            self.evidence.block, np.hstack([hits, by_chance[:, None], excess]), self.run.rng
        )
        intervals = resampled.interval()
        rate = float(hits[:, 0].mean())
        chance = float(by_chance.mean())
        drawn = (f"95 % interval from {len(resampled.shares):,} resamples of {resampled.unit}",)
        index = (f"at similarity {self.method.threshold:g}", *drawn)
        curve = {
            "linkage rate": rates.linkage_rate(self.evidence, THRESHOLDS),
            "chance alone (null)": rates.share_reaching(null, THRESHOLDS),
        }
        if self.truth is not None:
            curve["true links (of pairs in a block)"] = rates.true_link_rate(
                self.evidence, THRESHOLDS
            )
            curve["wrong links"] = rates.false_link_rate(self.evidence, THRESHOLDS)
        results = [
            says(
                "linkage_rate",
                rate,
                "Share of the records of the original that resemble some row of the release: "
                "CVPL-LR. It grows with the number of rows; compare it with its null.",
                interval=intervals[0],
                status="bound" if self._roughly() else "measured",
                assumptions=index,
            ),
            says(
                "linkage_null",
                chance,
                "The share that resembles some other record of the original: what chance links.",
                "neither",
                interval=intervals[-2],
                assumptions=(*index, *self._null_words()),
            ),
            says(
                "linkage_excess",
                rate - chance,
                "Share of the records that are linked because of the release, beyond chance.",
                interval=intervals[-1],
                assumptions=(*index, *self._null_words()),
            ),
            *self._against_control(says, rate),
        ]
        shown = [] if says.unfit else [charts.risk_curve(curve, intervals[1:-2])]
        return Findings.of(results, shown)

    def _null_words(self) -> tuple[str, ...]:
        records, rows = len(self.evidence), len(self.case.release)
        if rows + 1 < records:
            return (f"the null has as many candidates as the release has rows ({rows:,})",)
        if rows > records:
            return (
                f"the release has {rows:,} rows, the null only {records:,}: with as many it would "
                "be higher",
            )
        return ()

    def _against_control(self, says: Says, rate: float) -> list[Finding]:
        """Link people who are not in the release: the same candidates, and nobody to be found."""
        if self.case.control is None:
            return []
        strangers = self.prepared.against(published=1, attacked=2).evidence(self.run)
        chance = float((strangers.best >= self.method.threshold).mean())
        about = (f"{len(strangers):,} people who are not in the release",)
        return [
            says(
                "linkage_null_control",
                chance,
                "The share of people outside the release that resembles some row of it.",
                "neither",
                assumptions=about,
            ),
            says(
                "linkage_excess_control",
                rate - chance,
                "How much more often people in the release are linked than people outside it.",
                assumptions=about,
            ),
        ]

    # --- weaker attackers ------------------------------------------------------------------------

    def _baselines(self, says: Says) -> list[Finding]:
        results = []
        if "random-in-block" in self.method.baselines:
            lucky = lucky_pairs(self.prepared.against(), self.run.rng)
            results.append(
                says("linkage_rate_random", float((lucky >= self.method.threshold).mean()),
                     "Share that is linked if one candidate is drawn at random.", "neither")
            )  # fmt: skip
        if "no-projection" in self.method.baselines:
            plain = attrs.evolve(self.method, projection="none").configuration
            assert self.case.original is not None
            prepared = plain.prepared(self.case.original, [self.case.release], self.run)
            if prepared is not None:
                evidence = prepared.against().evidence(self.run, self.truth)
                lacking = "" if evidence.matched.any() else NO_TRUTH
                results += [
                    says("linkage_rate_unprojected",
                         float((evidence.best >= self.method.threshold).mean()),
                         "Share that is linked without a projection.", "neither"),
                    says("precision_unprojected", rates.precision_at_1(evidence),
                         "Share of right best candidates without a projection.", "neither",
                         lacking=lacking),
                ]  # fmt: skip
        return results

    # --- columns and rows ------------------------------------------------------------------------

    def _attribution(self, says: Says) -> Findings:
        if not self.method.attribution or says.unfit:
            return Findings()
        assert self.case.original is not None
        shares = attribution.contributions(self.prepared, self.run.rng)
        drops = attribution.ablation(self.prepared, self.method.threshold, self.truth, self.run)
        figure = "linkage rate" if self.truth is None else "precision at 1"
        return Findings.of(
            attribution.findings(says, shares, drops, figure, self.case.original.schema.quasi),
            attribution.chart(shares, drops, figure),
        )

    def _exposed(self) -> list[PrivateRows]:
        """Return the records that the attacker gets right with the widest margin."""
        evidence = self.evidence
        if self.truth is None:
            linked = evidence.best >= self.method.threshold
            score = np.full(len(evidence), -np.inf)
            score[linked] = evidence.best[linked] - self.left_out.wrong[linked]
            meaning = "Records that resemble a row of the release more than any other record."
        else:
            right = np.nan_to_num(evidence.hit) > 0.5
            score = np.full(len(evidence), -np.inf)
            score[right] = evidence.true[right] - evidence.wrong[right]
            meaning = "Records whose own row is the most similar, by the margin to the next one."
        score = np.where(np.isposinf(score), 2.0, score)
        order = np.argsort(-score, kind="stable")[:MOST_EXPOSED]
        order = order[np.isfinite(score[order])]
        if not len(order):
            return []
        return [PrivateRows(name="exposed", rows=order, scores=score[order], meaning=meaning)]
