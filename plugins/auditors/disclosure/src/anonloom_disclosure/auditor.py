"""The auditor `disclosure`: re-identification and inference from the published frame."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import attrs
import numpy as np

from anonloom import AuditInput, Auditor, Chart, Finding, Findings, Schema, StageContext, param
from anonloom.data import EncodedColumn, Need, coerce, encode
from anonloom.findings import Better, FindingBuilder
from anonloom.kinds import GridRow
from anonloom.params import at_least, between, distinct
from anonloom_disclosure import inference
from anonloom_disclosure.counting import PublishedClasses, Tally, persons_of
from anonloom_disclosure.distances import closeness, distance_for
from anonloom_disclosure.experiment import over_runs
from anonloom_disclosure.population import Population
from anonloom_disclosure.presence import presence, version_charts
from anonloom_disclosure.reidentification import exposed_rows, exposure_chart, reidentification

#: How often values are dealt anew to learn what certainty chance alone gives.
DEALS = 3

#: Names of the figures about persons, for a release in which nobody is left.
NOBODY_LEFT = (
    ("k", "higher"),
    ("prosecutor_max", "lower"),
    ("prosecutor_average", "lower"),
    ("records_at_risk", "lower"),
    ("journalist_max", "lower"),
    ("journalist_average", "lower"),
    ("marketer", "lower"),
    ("presence_certainty", "lower"),
    ("presence_certainty_min", "lower"),
    ("presence_certainty_max", "lower"),
    ("rho", "lower"),
    ("anonymity_set_min", "higher"),
    ("anonymity_set_mean", "higher"),
)


@attrs.frozen(kw_only=True)
class Disclosure(Auditor):
    """Measures who could be found in a release, and what could be inferred about them."""

    measures: ClassVar[Literal["risk", "utility", "cost"]] = "risk"
    names_cells: ClassVar[bool] = False
    needs: ClassVar[frozenset[Need]] = frozenset()

    threshold: float = param(
        help="Records that could be picked with a higher chance than this count as at risk.",
        default=0.2,
        check=between(0, 1),
    )
    of: tuple[str, ...] | None = param(
        help="Columns whose values must not be inferred; by default the sensitive ones.",
        default=None,
        check=distinct(),
    )
    l: int | None = param(  # noqa: E741  # the papers call it l
        help="The l of recursive (c, l)-diversity; by default the distinct l of the column.",
        default=None,
        check=at_least(2),
    )

    def problem(self, schema: Schema) -> str | None:
        """Say which of the columns cannot be judged because it is not published."""
        return schema.publication_problem(self.of or ())

    def audit(self, case: AuditInput, context: StageContext) -> Findings:
        """Measure what the published frame gives away."""
        persons = persons_of(case, case.release)
        published = PublishedClasses.of(case.release, persons)
        schema = case.release.schema
        columns = self.of if self.of is not None else schema.names_with_role("sensitive")
        if not len(published):
            return Findings.of([_none_left(name, better) for name, better in NOBODY_LEFT])  # type: ignore[arg-type]  # the texts are Better's own
        counting = self._counting_rule(case, persons is not None)
        results: list[Finding] = []
        certainties: dict[str, list[float]] = {}
        for name in columns:
            if name not in case.release.frame or name in schema.quasi:
                continue
            # A suppressed row has lost its value, also where the original may lack none.
            column = attrs.evolve(schema[name], missing="own")
            coded = encode(coerce(case.release.frame[name], column), column)
            of_column, chart = self._inference(name, coded, published, counting, context)
            results += of_column
            certainties[name] = chart
        population = Population.of(case, published)
        return Findings.of(
            reidentification(case, published, population, self.threshold, counting),
            presence(case, published, population, counting),
            results,
            exposure_chart(published),
            version_charts(published, population),
            [_certainty_chart(certainties, published)] if certainties else [],
            exposed_rows(case, published, self.threshold),
        )

    def summarize(self, grid: Sequence[GridRow]) -> Findings:
        """Compare journalist risk and certainty of all runs."""
        return Findings.of(over_runs(grid))

    def _counting_rule(self, case: AuditInput, by_person: bool) -> tuple[str, ...]:
        if by_person:
            return ("persons are counted, not rows",)
        schemas = [case.release.schema]
        if case.original is not None:
            schemas.append(case.original.schema)
        if any(schema.names_with_role("person") for schema in schemas):
            return ("rows are counted: the persons behind them are not at hand",)
        return ("every row is a person of its own",)

    def _inference(
        self,
        name: str,
        coded: EncodedColumn,
        published: PublishedClasses,
        counting: tuple[str, ...],
        context: StageContext,
    ) -> tuple[list[Finding], list[float]]:
        codes, values = coded.codes.astype(np.int64), coded.axis.value_count
        tally = Tally.of_values(published, codes, values)
        certainty = inference.certainty(tally, published)
        mean = float(certainty @ published.sizes) / published.total
        chance = np.mean(
            [
                inference.certainty_by_chance(published, codes, values, context.rng)
                for _ in range(DEALS)
            ]
        )
        distance = distance_for(coded.axis)
        sure = ("the attacker finds the person's class", *counting)
        ordinary = ("a missing value is no value", *counting)
        compared = ("compared with all published records", *ordinary)
        say = _Column(name)
        findings = [
            say("certainty", float(certainty.max()), "lower", sure,
                "Share of the most frequent value of '{}' in the class that gives most away."),
            say("certainty_mean", mean, "lower", sure,
                "Chance to guess the value of '{}' of an average person right."),
            # Twelve digits: what is equal must not differ by how it was added up.
            say("certainty_excess", round(mean - float(chance), 12) + 0.0, "lower",
                (*sure, "in a class of one, chance is as sure as the release: see prosecutor_max"),
                "How much surer a guess of '{}' is on average than if the column had nothing to "
                "do with the quasi-identifiers."),
            say("l", int(inference.distinct_values(tally).min()), "higher", ordinary,
                "Every class holds at least this many different values of '{}'."),
            say("entropy_l", float(inference.entropy(tally).min()), "higher", ordinary,
                "The values of '{}' in every class are at least as mixed as this many equally "
                "frequent ones."),
            self._recursive(say, tally, ordinary),
            say("t", float(closeness(tally, coded.axis).max()), "lower",
                (f"{distance} distance", *compared),
                "Largest distance between the values of '{}' in a class and in the whole release."),
            say("beta", inference.beta(tally), "lower", compared,
                "Largest gain in confidence about a value of '{}', relative to its share in the "
                "whole release."),
            say("delta", inference.delta(tally), "lower",
                (*compared, "values that do not occur in a class are left out"),
                "Largest change, as a logarithm, of the share of a value of '{}' in a class."),
        ]  # fmt: skip
        edges = np.linspace(0, 1, 11)
        shares = np.histogram(certainty, edges, weights=published.sizes)[0] / published.total
        return findings, shares.tolist()

    def _recursive(self, say: "_Column", tally: Tally, assumptions: tuple[str, ...]) -> Finding:
        l = self.l or int(inference.distinct_values(tally).min())  # noqa: E741  # as the papers
        meaning = (
            "The most frequent value of '{}' in a class is at most this many times as frequent as "
            "the values from the l-th on together."
        )
        value = float(inference.recursive_c(tally, l).max()) if l > 1 else np.inf
        if not np.isfinite(value):
            reason = f"some class has fewer than {max(l, 2)} values"
            return say("recursive_c", None, "lower", (reason, *assumptions), meaning)
        return say("recursive_c", value, "lower", (f"l = {l}", *assumptions), meaning)


@attrs.frozen
class _Column:
    """Makes the findings of one sensitive column."""

    name: str

    def __call__(
        self,
        figure: str,
        value: float | int | None,
        better: Better,
        assumptions: tuple[str, ...],
        meaning: str,
    ) -> Finding:
        finding = FindingBuilder(assumptions)
        return finding(f"{figure}.{self.name}", value, meaning.format(self.name), better)


def _none_left(name: str, better: Better) -> Finding:
    return Finding(
        name=name,
        value=None if better == "higher" else 0.0,
        better=better,
        status="none detected",
        meaning="Every record is suppressed: there is nobody to be found.",
        assumptions=("suppressed records are in no class",),
        key=name in ("prosecutor_max", "records_at_risk"),
    )


def _certainty_chart(certainties: dict[str, list[float]], published: PublishedClasses) -> Chart:
    labels = [f"{tenth * 10}-{tenth * 10 + 10} %" for tenth in range(10)]
    return Chart(
        name="certainty",
        kind="bars",
        title="How sure a guess can be",
        x="share of the most frequent sensitive value in the class",
        y=f"share of the {published.unit}",
        meaning="Further to the right, the class gives more away about its members.",
        data={**certainties, "labels": labels},
    )
