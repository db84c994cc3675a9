"""Checks of purity: what a method must not do besides its work, on every table of the kit.

A kind lists its `Scenario`s. Each is run once and observed; the checks of purity, and those of
the kind's own promise, look at what was seen. A method that fails on one table is blamed for that
by one check, and the promises are judged on the tables on which it returned something.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from anonloom import Release, StageContext
from anonloom_testing.canaries import CANARIES
from anonloom_testing.canaries import SEED as CANARY_SEED
from anonloom_testing.conformance import Check, Conformance, refuse_problems
from anonloom_testing.observation import Observation, fingerprint, watch
from anonloom_testing.results import NotApplicable
from anonloom_testing.tables import Sample
from anonloom_testing.time_limit import place_of

SEED = 7


@attrs.frozen(eq=False)
class Scenario:
    """One situation that a method is put into.

    Attributes
    ----------
    name
        Says the situation in messages.
    make_inputs
        Makes the inputs anew, by name; the method gets them in this order, then a `StageContext`.
    facts
        What the oracle knows of it; never shown to the method.
    special
        Names the scenarios that only a special check, not the general ones, judges.
    may_raise
        Whether the method may raise in this scenario.
    leak_sample
        The table whose cells must not be told, where that is what the scenario is for.
    """

    name: str
    make_inputs: Callable[[], Mapping[str, Any]]
    facts: Any = None
    special: str = ""
    may_raise: bool = False
    leak_sample: Sample | None = None


@attrs.frozen(eq=False)
class ScenarioResult:
    """A scenario and what was seen in it."""

    scenario: Scenario
    seen: Observation


class MethodConformance(Conformance):
    """A conformance class whose method is called in scenarios."""

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the situations of this kind."""
        raise NotImplementedError

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Call the method's verb."""
        raise NotImplementedError

    def run_scenario(self, scenario: Scenario, seed: int = SEED) -> Observation:
        """Run one scenario and return what was observed."""
        self.report_progress(scenario.name)
        inputs, method = scenario.make_inputs(), self.build_method()
        notes: list[str] = []
        context = StageContext(
            seed=CANARY_SEED if scenario.special == CANARIES else seed, say=notes.append
        )
        seen = watch(lambda: self.call_method(method, inputs, context), inputs)
        return attrs.evolve(seen, run=context, notes=tuple(notes))

    def release_of(self, outcome: ScenarioResult) -> Release | None:
        """Return what would be published of a result; None where that is not known."""
        return None

    def extra_outputs(self, outcome: ScenarioResult) -> Iterator[tuple[str, str | bytes]]:
        """Yield what this kind says beside findings, notes and errors: what it is, and the text."""
        yield from ()

    def scenario_results(self, special: str = "") -> list[ScenarioResult]:
        """Return the results of all scenarios so marked; each is run once."""
        results: list[ScenarioResult] = self.keep(
            "scenario_results",
            lambda: [
                ScenarioResult(scenario, self.run_scenario(scenario))
                for scenario in self.scenarios()
            ],
        )
        return [item for item in results if item.scenario.special == special]

    def all_results(self) -> list[ScenarioResult]:
        """Return the results of all scenarios, the special ones included."""
        self.scenario_results()
        result: list[ScenarioResult] = self._kept["scenario_results"]
        return result

    def successes(self, special: str = "") -> list[ScenarioResult]:
        """Return the results of the scenarios in which the method returned something."""
        results = [item for item in self.scenario_results(special) if item.seen.error is None]
        if not results:
            raise NotApplicable("the method returned nothing in any scenario")
        return results


def check_copes_with_every_table(subject: MethodConformance) -> None:
    """No table of the kit makes the method raise."""
    refuse_problems(
        (
            f"{item.scenario.name}: {type(item.seen.error).__name__}: {item.seen.error}"
            + (f"\n  at {place}" if (place := place_of(item.seen.error)) else "")
            for item in subject.all_results()
            # Who was refused a connection is blamed for wanting one.
            if item.seen.error is not None
            and not (item.seen.connections or item.scenario.may_raise)
        ),
        "the method raised",
    )


def check_prints_nothing(subject: MethodConformance) -> None:
    """The method writes nothing to the terminal, warnings included."""
    refuse_problems(
        (
            f"{item.scenario.name}: {item.seen.printed.strip()[:200]!r}"
            for item in subject.all_results()
            if item.seen.printed
        ),
        "the method printed",
    )


def check_uses_only_its_own_randomness(subject: MethodConformance) -> None:
    """The global generators of `random` and `numpy.random` are not touched: only `run.rng` is."""
    refuse_problems(
        (item.scenario.name for item in subject.all_results() if item.seen.drew_globally),
        "the method used global random numbers; take them from run.rng",
    )


def check_opens_no_connection(subject: MethodConformance) -> None:
    """The method does not try to reach another machine."""
    refuse_problems(
        (
            f"{item.scenario.name}: {', '.join(item.seen.connections)}"
            for item in subject.all_results()
            if item.seen.connections
        ),
        "the method tried to connect",
    )


def check_leaves_its_input_alone(subject: MethodConformance) -> None:
    """What the method is given is the same afterwards, to the last cell."""
    refuse_problems(
        (
            f"{item.scenario.name}: {', '.join(item.seen.changed)}"
            for item in subject.all_results()
            if item.seen.changed
        ),
        "the method changed what it was given",
    )


def check_same_seed_same_result(subject: MethodConformance) -> None:
    """The same seed and the same input give the same result."""
    refuse_problems(
        (
            item.scenario.name
            for item in subject.successes()
            if fingerprint(item.seen.result)
            != fingerprint(subject.run_scenario(item.scenario).result)
        ),
        "two calls with one seed differ; is there any randomness but run.rng?",
    )


PURITY_CHECKS: tuple[Check, ...] = (
    check_copes_with_every_table,
    check_prints_nothing,
    check_uses_only_its_own_randomness,
    check_opens_no_connection,
    check_leaves_its_input_alone,
    check_same_seed_same_result,
)
