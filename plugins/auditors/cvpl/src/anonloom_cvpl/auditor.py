"""The auditor `cvpl`: how many records can be linked, beside how many would be by chance.

Read this file first: `Cvpl.link` is the algorithm, CVPL = tau . s . psi . phi . B (5).

1. `Configuration.prepare` (`configuration`) brings the tables into one space: B divides records
   into blocks (`anonloom_linkage.blocking`, `hashing`), phi makes vectors of them
   (`anonloom_linkage.features`, `vectors`), psi projects these (`projection`), s compares two
   (`similarity`).
2. `LinkageTask.evidence` (`evidence`) compares every record with the candidates of its blocks
   (`candidate_blocks`) in one pass: with the rows of the release, and, for the null, with the other
   records of the original.
3. `_Audit.findings` applies the thresholds tau (`rates`, `strategies`) and turns evidence into
   findings: whether the space is fit (`representation`), what is linked, by whom (`subgroups`) and
   by chance (`chance_law`), who is really found (`true_match_rates`), what groups, other releases
   and columns add (`groups`, `composition`, `attribution`).

None of that makes a headline. `Cvpl.attack` does: the strongest attacker that links by similarity
(`strongest_link`), on a copy, on strangers and on the release, and what he learns (`inference`).
"""

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np

from anonloom import AuditInput, Finding, Findings, StageContext, Table, param, short_repr
from anonloom.findings import FindingBuilder, PrivateRows
from anonloom.kinds import GridRow
from anonloom.params import between, distinct
from anonloom.typing import IntArray
from anonloom_cvpl import attribution, charts, rates
from anonloom_cvpl.attacker import Attacker, one_thread, true_rows
from anonloom_cvpl.chance_law import chance_law
from anonloom_cvpl.composition import composition
from anonloom_cvpl.configuration import NOTHING, LinkageSetup
from anonloom_cvpl.evidence import Beyond, Evidence, announce_search
from anonloom_cvpl.groups import group_linkage
from anonloom_cvpl.inference import inference
from anonloom_cvpl.pairs import lucky_pairs, wrong_pairs
from anonloom_cvpl.rates import THRESHOLDS
from anonloom_cvpl.representation import Validity, validity
from anonloom_cvpl.strategies import strategies
from anonloom_cvpl.strongest_link import Link, strongest_link
from anonloom_cvpl.subgroups import subgroup_rates
from anonloom_cvpl.true_match_rates import NO_TRUTH, true_match_rates
from anonloom_linkage.bootstrap import block_bootstrap
from anonloom_risk import Answers, align_evidence, right_rows

#: Records whose null is computed; their candidates are all other records.
MOST_IN_NULL = 100_000
#: The records that a steward should look at first.
MOST_EXPOSED = 100
#: With attribution about so many searches as large as the first, otherwise that and the null's.
ATTRIBUTION = 7
#: What was done with blocks that are too large (Table 6).
DONE: dict[Beyond, str] = {
    "approximate": "searched approximately",
    "cutoff": "cut off",
    "sample": "sampled",
    "divide": "divided",
}
#: The figures that a steward needs first.
KEY = frozenset({"precision_at_1"})


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
    tolerable: float = param(
        help="Linkage rate that is called safe, for the thresholds and runs where it is no higher.",
        default=0.1,
        check=between(0, 1),
    )
    baselines: tuple[Literal["random-in-block", "no-projection"], ...] = param(
        help="Weaker attackers to compare with.", default=("random-in-block",), check=distinct()
    )
    attribution: bool = param(help="Whether to find out which columns drive linkage.", default=True)

    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Name a row for everybody, and say what it tells about the sensitive columns.

        The strongest attacker, whatever blocks, projection and similarity CVPL's own figures have.
        """
        columns = align_evidence(case, targets)
        if self.columns is not None:
            columns = tuple(column for column in columns if column.name in self.columns)
        if not columns:
            link = Link.nobody(len(targets))
        else:
            with one_thread():
                link = strongest_link(columns, context.rng, context.workers)
        right = np.zeros(len(targets))
        if columns:
            right = right_rows(case, columns, link.row, context.rng, context.workers)
        linked = Answers(
            name="linkage",
            right=right,
            score=link.score,
            columns=tuple(column.name for column in columns),
            meaning="A row is named for a person: the most similar one, or the likeliest by what "
            "the release kept of every column.",
        )
        return [linked, *inference(case, targets, columns, link)]

    def link(self, case: AuditInput, context: StageContext) -> Findings:
        """Link, and compare with what chance alone would link."""
        assert case.original is not None
        # B, phi, psi and s: blocks, vectors, their projection, and the similarity of two.
        control = () if case.control is None else (case.control,)
        others = [case.release, *control, *case.other_releases]
        setup = self.configuration.prepare(case.original, others, context)
        if setup is None:
            return _nothing_compared()
        announce(setup, context)
        announce_search(setup.task(), ATTRIBUTION if self.attribution else 2, context)
        # Every record against the release, and against the other records: what chance links.
        truth = true_rows(case)
        evidence = setup.task().evidence(context, truth)
        people = _people_of_null(len(evidence), context.rng)
        null_task = setup.null_task(len(case.release), context.rng)
        if len(people) < len(evidence):
            null_task = attrs.evolve(null_task, chosen=people)
        null_evidence = null_task.evidence(context, people)
        # tau: what is similar enough, and all that follows.
        return _Audit(self, case, setup, evidence, null_evidence, people, truth, context).findings()

    def summarize(self, grid: Sequence[GridRow]) -> Findings:
        """Draw the risk surface of an experiment, and where it is safe."""
        surface = charts.risk_surface(grid)
        if surface is None:
            return Findings()
        return Findings.of(surface, charts.safe_region(surface, self.tolerable))


def _people_of_null(records: int, rng: np.random.Generator) -> IntArray:
    """Draw whose null is computed, among all others: all up to a number that says enough."""
    if records <= MOST_IN_NULL:
        return np.arange(records)
    return np.sort(rng.choice(records, MOST_IN_NULL, replace=False))


def announce(setup: LinkageSetup, context: StageContext) -> None:
    """Note how many comparisons there will be, before they begin."""
    task = setup.task()
    blocks = [item for some in task.blocks() for item in some]
    total = sum(int(block.comparisons.sum()) for block in blocks)
    number = sum(len(block) for block in blocks)
    largest = max((int(block.comparisons.max(initial=0)) for block in blocks), default=0)
    context.note(
        f"{total:,} comparisons in {number:,} blocks, {largest:,} of them in the largest; "
        "as many again for the null"
    )


def _nothing_compared() -> Findings:
    """Return the findings of a release in which nothing can be compared."""
    finding = FindingBuilder(unfit=NOTHING)
    names = ("linkage_rate", "linkage_null", "linkage_excess", "precision_at_1")
    return Findings.of(
        finding.about_audit("validity", "not assessable", "Whether the figures mean anything."),
        [finding(name, None, "Nothing can be compared.", key=name in KEY) for name in names],
    )


@short_repr
@attrs.frozen
class _Audit:
    """One audit: turns evidence into findings."""

    method: Cvpl
    case: AuditInput
    setup: LinkageSetup
    evidence: Evidence
    null_evidence: Evidence
    null_people: IntArray
    truth: IntArray | None
    context: StageContext

    def findings(self) -> Findings:
        """Return everything that was found."""
        task = self.setup.task()
        wrong = wrong_pairs(task, self.truth, self.context.rng)
        known = wrong.similarity if self.truth is not None else None
        threshold = self.method.threshold
        valid = validity(self.setup, self.evidence, self.null_evidence, known, threshold)
        finding = FindingBuilder(self._assumptions(valid), valid.unfit)
        return Findings.of(
            self._representation(finding, valid),
            self._linkage(finding, valid.saturated),
            true_match_rates(
                finding,
                self.evidence,
                wrong.similarity,
                threshold,
                self.truth is not None,
                self.context.rng,
            ),
            strategies(
                finding,
                self.evidence,
                self.null_evidence,
                self.method.alpha,
                self.method.tolerable,
                self.truth is not None,
            ),
            subgroup_rates(
                finding,
                self.setup.columns,
                self.evidence,
                self.null_evidence,
                self.null_people,
                threshold,
            ),
            chance_law(finding, self.evidence, wrong.similarity, threshold, self.truth is not None),
            self._baselines(finding),
            group_linkage(finding, self.case, self.evidence, threshold, NO_TRUTH),
            composition(
                finding,
                self.case,
                self.setup,
                self.evidence,
                self._other_releases,
                threshold,
                self.context,
            ),
            self._attribution(finding),
            [
                chart
                for chart in (
                    charts.densities(self.evidence.true, wrong.similarity),
                    charts.block_sizes(self.setup.schemes[0].sizes())
                    if self.setup.schemes[0].keys
                    else None,
                )
                if chart is not None
            ],
            self._exposed_rows(),
        )

    @property
    def _other_releases(self) -> range:
        """Numbers of the other releases among the tables: after the release and the control."""
        first = 2 if self.case.control is None else 3
        return range(first, first + len(self.case.other_releases))

    def _assumptions(self, valid: Validity) -> tuple[str, ...]:
        return (
            "an attacker who has the original's values and links as configured; others may do "
            "better",
            *(f"weak representation: {weakness}" for weakness in valid.weaknesses),
            *self._approximate_search(),
        )

    def _approximate_search(self) -> tuple[str, ...]:
        """Say that a search was approximate, if it was."""
        exact = self.method.exact
        if exact is None or not self.setup.has_larger_blocks(exact):
            return ()
        return (
            f"blocks of more than {exact:,} candidates were {DONE[self.method.beyond]}: rates and "
            "nulls are bounds from below, their differences are none",
        )

    # --- what was compared -----------------------------------------------------------------------

    def _representation(self, finding: FindingBuilder, valid: Validity) -> list[Finding]:
        unread = sum(column.unread[1] for column in self.setup.columns)
        reasons = "; ".join((*((valid.unfit,) if valid.unfit else ()), *valid.weaknesses))
        results = [
            finding.about_audit(
                "configuration", self.setup.words, "What was compared, and how.", columns=()
            ),
            finding.about_audit(
                "validity",
                valid.verdict,
                "Whether the figures mean anything" + (f": {reasons}." if reasons else "."),
            ),
            finding.about_audit(
                "candidates", valid.candidates, "Mean number of candidates of a record."
            ),
            finding.about_audit(
                "without_candidates", valid.without, "Share of the records without any candidate."
            ),
            finding.about_audit(
                "zero_vectors", valid.zero, "Share of the records that resemble nothing at all."
            ),
            finding.about_audit(
                "equal_records", valid.alike, "Share of the records that another one equals."
            ),
            finding.about_audit(
                "unread_cells", unread, "Cells of the release that could not be read.", columns=()
            ),
        ]
        if valid.auc is not None:
            results.append(
                finding.about_audit(
                    "auc", valid.auc, "Chance that a true pair is more similar than a wrong one."
                )
            )
        if valid.retained_share is not None:
            results.append(
                finding.about_audit(
                    "retained_variance",
                    valid.retained_share,
                    "Share of the variance that was compared.",
                )
            )
        return results

    # --- linkage and chance ----------------------------------------------------------------------

    def _linkage(self, finding: FindingBuilder, saturated: str) -> Findings:
        threshold = np.array([self.method.threshold])
        sweep = np.r_[threshold, THRESHOLDS]
        best, null = self.evidence.best, self.null_evidence.wrong
        hits = (best[:, None] >= sweep).astype(np.int8)
        by_chance = null >= self.method.threshold
        excess = hits[self.null_people, 0] - by_chance
        resampled = block_bootstrap(self.evidence.block, hits, self.context.rng)
        intervals = resampled.interval()
        of_chance, of_excess = block_bootstrap(
            self.evidence.block[self.null_people],
            np.stack([by_chance, excess], axis=1),
            self.context.rng,
        ).interval()
        rate = float(hits[:, 0].mean())
        chance = float(by_chance.mean())
        drawn = (f"95 % interval from {len(resampled.shares):,} resamples of {resampled.unit}",)
        assumptions = (f"at similarity {self.method.threshold:g}", *drawn)
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
            finding(
                "linkage_rate",
                rate,
                "Share of the records of the original that resemble some row of the release: "
                "CVPL-LR. It grows with the number of rows; compare it with its null.",
                interval=intervals[0],
                status="bound" if self._approximate_search() else "measured",
                assumptions=assumptions,
            ),
            finding(
                "linkage_null",
                chance,
                "The share that resembles some other record of the original: what chance links.",
                "neither",
                interval=of_chance,
                assumptions=(*assumptions, *self._null_assumptions()),
            ),
            finding(
                "linkage_excess",
                rate - chance,
                "Share of the records that are linked because of the release, beyond chance.",
                interval=of_excess,
                lacking=saturated,
                assumptions=(*assumptions, *self._null_assumptions()),
            ),
            *self._against_control(finding, rate),
        ]
        shown = [] if finding.unfit else [charts.risk_curve(curve, intervals[1:])]
        return Findings.of(results, shown)

    def _null_assumptions(self) -> tuple[str, ...]:
        drawn = f"the null is of {len(self.null_people):,} records, drawn at random"
        sampled = len(self.null_people) < len(self.evidence)
        return (*((drawn,) if sampled else ()), *self._null_candidates())

    def _null_candidates(self) -> tuple[str, ...]:
        records, rows = len(self.evidence), len(self.case.release)
        if rows + 1 < records:
            return (f"the null has as many candidates as the release has rows ({rows:,})",)
        if rows > records:
            return (
                f"the release has {rows:,} rows, the null only {records:,}: with as many it would "
                "be higher",
            )
        return ()

    def _against_control(self, finding: FindingBuilder, rate: float) -> list[Finding]:
        """Link people who are not in the release: the same candidates, and nobody to be found."""
        if self.case.control is None:
            return []
        strangers = self.setup.task(published=1, attacked=2).evidence(self.context)
        chance = float((strangers.best >= self.method.threshold).mean())
        about = (f"{len(strangers):,} people who are not in the release",)
        return [
            finding(
                "linkage_null_control",
                chance,
                "The share of people outside the release that resembles some row of it.",
                "neither",
                assumptions=about,
            ),
            finding(
                "linkage_excess_control",
                rate - chance,
                "How much more often people in the release are linked than people outside it.",
                assumptions=about,
            ),
        ]

    # --- weaker attackers ------------------------------------------------------------------------

    def _baselines(self, finding: FindingBuilder) -> list[Finding]:
        results = []
        if "random-in-block" in self.method.baselines:
            lucky = lucky_pairs(self.setup.task(), self.context.rng)
            results.append(
                finding("linkage_rate_random", float((lucky >= self.method.threshold).mean()),
                        "Share that is linked if one candidate is drawn at random.", "neither")
            )  # fmt: skip
        if "no-projection" in self.method.baselines:
            plain = attrs.evolve(self.method, projection="none").configuration
            assert self.case.original is not None
            setup = plain.prepare(self.case.original, [self.case.release], self.context)
            if setup is not None:
                evidence = setup.task().evidence(self.context, self.truth)
                lacking = "" if evidence.has_true_row.any() else NO_TRUTH
                results += [
                    finding("linkage_rate_unprojected",
                            float((evidence.best >= self.method.threshold).mean()),
                            "Share that is linked without a projection.", "neither"),
                    finding("precision_unprojected", rates.precision_at_1(evidence),
                            "Share of right best candidates without a projection.", "neither",
                            lacking=lacking),
                ]  # fmt: skip
        return results

    # --- columns and rows ------------------------------------------------------------------------

    def _attribution(self, finding: FindingBuilder) -> Findings:
        if not self.method.attribution or finding.unfit:
            return Findings()
        assert self.case.original is not None
        shares = attribution.contributions(self.setup, self.context.rng)
        drops = attribution.ablation(self.setup, self.method.threshold, self.truth, self.context)
        figure = "linkage rate" if self.truth is None else "precision at 1"
        return Findings.of(
            attribution.findings(finding, shares, drops, figure, self.case.original.schema.quasi),
            attribution.chart(shares, drops, figure),
        )

    def _exposed_rows(self) -> list[PrivateRows]:
        """Return the records that the attacker gets right with the widest margin."""
        evidence = self.evidence
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
