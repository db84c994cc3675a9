"""Conformance of auditors: a planted risk is found, an independent table is not blamed."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, get_args

import attrs
import numpy as np

from anonloom import AuditInput, Chart, Classes, Findings, Release, StageContext, Table
from anonloom.data import Need
from anonloom_testing import attacks, tables
from anonloom_testing.canaries import CANARIES, CANARY_TABLES
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.chart_form import chart_problem
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.purity import PURITY_CHECKS, MethodConformance, Scenario, ScenarioResult
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import ORDINARY_TABLES, Sample


class AuditorConformance(MethodConformance):
    """Checks of an auditor.

    Attributes
    ----------
    risk_finding
        For an auditor that measures risk: the finding that is judged, a share between 0 and 1 of
        which less is better. Where chance alone gives a positive figure, name the excess over it.
    found_at_least
        What `risk_finding` must reach when every row is unique and published as it is.
    blamed_at_most
        What it may reach on an independent table: other people, drawn from the same population,
        each sharing its quasi-identifiers with about nineteen others. An auditor that has attacks
        (`anonloom_risk.RiskAuditor`) is held to its attacks besides, with a control.
    tables
        The tables to try; all of the kit's by default.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestLinkage(AuditorConformance):
            method = Linkage
            params = {"blocking": ["age"]}
            risk_finding = "linkage_excess"
    """

    kind = "auditor"
    risk_finding: ClassVar[str] = ""
    found_at_least: ClassVar[float] = 0.5
    blamed_at_most: ClassVar[float] = 0.2
    tables: ClassVar[tuple[Callable[[], Sample], ...]] = ORDINARY_TABLES

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Audit."""
        return method.audit(inputs["case"], context)

    def risky_sample(self) -> Sample:
        """Return the table that is published as it is and must be found risky.

        People who are unique; an auditor of another risk plants its own.
        """
        return tables.unique_people()

    def scenarios(self) -> Iterator[Scenario]:
        """Yield every table published raw, in classes, suppressed and partly so; two verdicts."""
        needs = self.method.needs  # type: ignore[attr-defined]  # every auditor has it
        for make in self.tables:
            sample, name = make(), make.__name__
            for how, publish in (
                ("as it is", Release.as_it_is),
                ("in classes of five", in_classes),
                ("suppressed", publish_suppressed),
                ("partly suppressed", publish_partly_suppressed),
            ):
                yield _scenario(f"{name}, {how}", sample, sample, publish, needs)
        planted, crowd = self.risky_sample(), tables.crowd()
        yield _scenario("planted", planted, planted, Release.as_it_is, needs, "planted")
        others = tables.crowd(seed=31)
        yield _scenario("independent", crowd, others, _of_strangers, needs, "independent")
        if hasattr(self.method, "attack"):
            yield from self.attack_scenarios()
        for make in CANARY_TABLES:
            sample, name = make(), make.__name__
            yield _scenario(name, sample, sample, _some_in_classes, needs, CANARIES)
        yield _scenario("cells that nobody can read", sample, sample, _unreadable, needs, CANARIES)

    def attack_scenarios(self) -> Iterator[Scenario]:
        """Yield a copy and strangers, both with a control: people who are mostly unique."""
        needs = self.method.needs | {"original", "control"}  # type: ignore[attr-defined]  # every auditor has it
        original, others, held = (tables.townspeople(seed=seed) for seed in (1, 2, 3))
        for name, published in ((attacks.COPY, original), (attacks.STRANGERS, others)):
            yield _scenario(name, original, published, _of_strangers, needs, name, held)

    def release_of(self, outcome: ScenarioResult) -> Release | None:
        """Return the release that it audits."""
        release: Release = outcome.scenario.make_inputs()["case"].release
        return release


def in_classes(table: Table, size: int = 5) -> Release:
    """Publish a table in classes of consecutive rows."""
    whole = table.whole()
    classes = Classes.from_labels(
        np.arange(len(whole.rows)) // size, rows=whole.rows, suppressed=whole.suppressed
    )
    return publish_classes(table, classes)


def publish_suppressed(table: Table) -> Release:
    """Publish nothing but `*` and missing cells."""
    nobody = Classes.whole(np.empty(0, np.int64), np.arange(len(table)))
    return publish_classes(table, nobody).strip_starred_rows()


def publish_partly_suppressed(table: Table) -> Release:
    """Publish a table in classes of five, of which every third is suppressed."""
    release = in_classes(table)
    assert release.classes is not None
    labels = np.where(release.classes % 3 == 0, -1, release.classes)
    return publish_classes(table, Classes.from_labels(labels)).strip_starred_rows()


def _some_in_classes(table: Table, size: int = 5) -> Release:
    """Publish three rows of four, in classes of rows that are alike; the others are withheld."""
    rows = np.arange(len(table) * 3 // 4)
    order = np.lexsort(table.codes[:, rows])
    classes = Classes.from_labels(np.arange(len(rows)) // size, rows=rows[order])
    return attrs.evolve(publish_classes(table, classes), dropped=len(table) - len(rows))


def _unreadable(table: Table) -> Release:
    """Publish quasi-identifiers of which nothing can be read, as a foreign file may have them."""
    release = _some_in_classes(table)
    unread = dict.fromkeys(table.schema.quasi, "##")
    return attrs.evolve(release, frame=release.frame.assign(**unread))


def publish_classes(table: Table, classes: Classes) -> Release:
    """Publish the extents of classes, in each column's own form."""
    lo, hi = classes.extents(table.codes)
    cells = [axis.publish(lo[:, index], hi[:, index]) for index, axis in enumerate(table.axes)]
    return Release.from_cells(table, classes, cells, truthful=True)


def _of_strangers(table: Table) -> Release:
    """Publish people who are not in the original: their rows correspond to nobody of it."""
    return attrs.evolve(Release.as_it_is(table), origin=None)


def _scenario(
    name: str,
    original: Sample,
    published: Sample,
    publish: Callable[[Table], Release],
    needs: frozenset[Need],
    special: str = "",
    held: Sample | None = None,
) -> Scenario:
    def make_inputs() -> Mapping[str, Any]:
        release = publish(published.table())
        n = len(release)
        stranger = release.origin is None
        evidence: dict[Need, Any] = {
            "original": original.table(),
            "before_sampling": release,
            "truth": np.full(n, -1) if stranger else np.asarray(release.origin),
            "control": _control(original, special, held),
            "other_releases": (publish(published.table()),),
            "groups": (np.arange(len(original)) % 3).astype(np.int32),
            "trace": {},
        }
        # Exactly what the auditor says it needs, so that a hidden need shows.
        return {"case": AuditInput(release, **{need: evidence[need] for need in needs})}

    return Scenario(
        name,
        make_inputs,
        special=special,
        may_raise=publish is _unreadable,
        leak_sample=original if special == CANARIES else None,
    )


def _control(original: Sample, special: str, held: Sample | None) -> Table:
    if held is not None:
        return held.table()
    ordinary = special in ("", CANARIES)
    return original.table() if ordinary else tables.crowd(60, seed=77).table()


def _findings(subject: AuditorConformance) -> Iterator[tuple[str, Findings]]:
    for special in ("", "planted", "independent", attacks.COPY, attacks.STRANGERS):
        for item in subject.scenario_results(special):
            if isinstance(item.seen.result, Findings):
                yield item.scenario.name, item.seen.result


def check_says_what_it_measures(subject: AuditorConformance) -> None:
    """`measures` is risk, utility or cost, and `needs` names evidence that exists."""
    measures = getattr(subject.method, "measures", None)
    assert measures in ("risk", "utility", "cost"), f"measures = {measures!r}"
    unknown = set(subject.method.needs) - set(get_args(Need))  # type: ignore[attr-defined]  # every auditor has it
    assert not unknown, f"needs names {sorted(unknown)}, which a case does not have"


def check_returns_findings(subject: AuditorConformance) -> None:
    """The result is `Findings`, and no name occurs twice."""
    refuse_problems(
        (
            f"{item.scenario.name}: a {type(item.seen.result).__name__}"
            for item in subject.successes()
            if not isinstance(item.seen.result, Findings)
        ),
        "the method returned something else",
    )
    problems = []
    for name, findings in _findings(subject):
        names = [finding.name for finding in findings]
        repeated = sorted({item for item in names if names.count(item) > 1})
        problems += [f"{name}: {repeated}"] if repeated else []
    refuse_problems(problems, "names of findings repeat")


def check_findings_have_a_meaning(subject: AuditorConformance) -> None:
    """Every finding, chart and list of rows says in a sentence what it means."""
    refuse_problems(
        (
            f"{name}: {item.name}"
            for name, findings in _findings(subject)
            for item in (*findings, *findings.charts, *findings.private)
            if not item.meaning.strip()
        ),
        "without a meaning",
    )


def check_findings_are_plain_data(subject: AuditorConformance) -> None:
    """Values are numbers, texts or None, and charts are JSON: reporters compute nothing."""
    problems = []
    for name, findings in _findings(subject):
        for finding in findings:
            if finding.value is not None and not isinstance(finding.value, int | float | str):
                problems.append(f"{name}: {finding.name} is a {type(finding.value).__name__}")
        for chart in findings.charts:
            wrong = _unwritable(chart)
            problems += [f"{name}: chart {chart.name}: {wrong}"] if wrong else []
    refuse_problems(problems, "not plain data")


def _unwritable(chart: Chart) -> str:
    """Why a chart is no JSON; nothing when it is."""
    try:
        json.dumps(dict(chart.data), allow_nan=False)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def check_charts_have_the_form_of_their_kind(subject: AuditorConformance) -> None:
    """The data of a chart are what its kind asks for, so that every reporter can draw it."""
    refuse_problems(
        (
            f"{name}: {chart.kind} {chart.name}: {wrong}"
            for name, findings in _findings(subject)
            for chart in findings.charts
            # What is no plain data has been said to be so.
            if not _unwritable(chart) and (wrong := chart_problem(chart))
        ),
        "charts that no reporter can draw",
    )


def check_figures_without_a_value_say_why(subject: AuditorConformance) -> None:
    """A finding without a value, or NaN, has the status `not assessable` or `none detected`."""
    refuse_problems(
        (
            f"{name}: {finding.name}"
            for name, findings in _findings(subject)
            for finding in findings
            if (
                finding.value is None
                or (isinstance(finding.value, float) and math.isnan(finding.value))
            )
            and finding.status not in ("not assessable", "none detected")
        ),
        "no value, and no status that says why",
    )


def _risk(subject: AuditorConformance, special: str) -> Any:
    if getattr(subject.method, "measures", None) != "risk":
        raise NotApplicable("the auditor does not measure risk")
    if not subject.risk_finding:
        raise NotApplicable("no risk_finding: the subclass in the plugin's tests names one")
    findings = subject.successes(special)[0].seen.result
    names = [finding.name for finding in findings]
    assert subject.risk_finding in names, f"no finding is named {subject.risk_finding!r}: {names}"
    return findings[subject.risk_finding]


def check_planted_risk_is_found(subject: AuditorConformance) -> None:
    """A table that is risky, published as it is, is found out."""
    value = _risk(subject, "planted").value
    assert value is not None, "nothing was found"
    assert value >= subject.found_at_least, f"{value} is below {subject.found_at_least}"


def check_independent_table_is_not_blamed(subject: AuditorConformance) -> None:
    """A release that says nothing about anybody of the original is not called risky."""
    value = _risk(subject, "independent").value
    if value is not None:  # nothing detected is the best answer of all
        assert value <= subject.blamed_at_most, f"{value} is above {subject.blamed_at_most}"


def check_risk_says_its_assumptions(subject: AuditorConformance) -> None:
    """The risk that is judged says that less is better, and what it assumes."""
    finding = _risk(subject, "planted")
    assert finding.better == "lower", f"better = {finding.better!r}"
    assert finding.assumptions, "no assumptions"


_CHECKS: tuple[Check, ...] = (
    check_says_what_it_measures,
    check_returns_findings,
    check_findings_have_a_meaning,
    check_findings_are_plain_data,
    check_charts_have_the_form_of_their_kind,
    check_figures_without_a_value_say_why,
    check_planted_risk_is_found,
    check_independent_table_is_not_blamed,
    check_risk_says_its_assumptions,
)
AuditorConformance.checks = (
    *DECLARATION_CHECKS,
    *PURITY_CHECKS,
    *LEAK_CHECKS,
    *_CHECKS,
    *attacks.ATTACK_CHECKS,
)
