"""Checks of auditors that attack: a copy is found, strangers are not, and nothing is refused."""

from collections.abc import Iterator

from anonloom.findings import AttackResult, Findings
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.purity import MethodConformance
from anonloom_testing.results import NotApplicable

#: Names of the scenarios in which the answer is known; both have a control.
COPY, STRANGERS = "a copy, with a control", "strangers, with a control"
#: What the worst attack must reach on a copy.
LEAST_OF_A_COPY = 0.9
#: Strangers are blamed when an interval of this level lies above chance.
LEVEL = 0.999


def _findings(subject: MethodConformance, special: str) -> Findings:
    if not hasattr(subject.method, "attack"):
        raise NotApplicable("the auditor has no attack: its figures are not self-tested")
    for item in subject.scenario_results(special):
        if isinstance(item.seen.result, Findings):
            return item.seen.result
    raise NotApplicable("the method returned nothing in the scenario")


def _attacks(subject: MethodConformance, special: str) -> tuple[AttackResult, ...]:
    return _findings(subject, special).attacks


def check_attacks_find_a_copy(subject: MethodConformance) -> None:
    """A copy of the original is found by some attack as a whole, and no attack is refused."""
    attacks = _attacks(subject, COPY)
    assert attacks, "no attack was tried"
    refuse_problems(
        (f"{attack.name}: {attack.reason}" for attack in attacks if not attack.assessable),
        "an attack that says nothing even of a copy",
    )
    worst = max(attack.risk for attack in attacks)
    assert worst >= LEAST_OF_A_COPY, f"the worst attack finds {worst:.3g} of a copy"


def check_attacks_blame_no_strangers(subject: MethodConformance) -> None:
    """Other people of the population are not found more often than people outside."""
    refuse_problems(
        (
            f"{attack.name}: {attack.risk:.3g}, at least {attack.interval(LEVEL)[0]:.3g}"
            for attack in _attacks(subject, STRANGERS)
            if attack.assessable and attack.interval(LEVEL)[0] > 0
        ),
        "strangers are called found",
    )


def check_attacks_are_the_same_whatever_the_tables_are(subject: MethodConformance) -> None:
    """The same attacks are tried on every release, each with a name of its own."""
    names = [attack.name for attack in _attacks(subject, COPY)]
    assert len(names) == len(set(names)), f"names of attacks repeat: {names}"
    others = [attack.name for attack in _attacks(subject, STRANGERS)]
    assert names == others, f"on a copy {names}, on strangers {others}"


def check_attacks_are_shares_of_everybody(subject: MethodConformance) -> None:
    """Success and baseline are shares of all people attacked."""
    problems: list[str] = []
    for attack in (*_attacks(subject, COPY), *_attacks(subject, STRANGERS)):
        problems += [
            f"{attack.name}: {name} is {value}"
            for name, value in (("success", attack.success), ("baseline", attack.baseline))
            if not 0 <= value <= 1
        ]
    refuse_problems(problems, "no shares")


def _exposed(subject: MethodConformance) -> Iterator[str]:
    findings = _findings(subject, COPY)
    listed = {rows.name: len(rows.rows) for rows in findings.private}
    for attack in findings.attacks:
        number = listed.get(f"{attack.name}_exposed", 0)
        if number != attack.exposed:
            yield f"{attack.name}: {attack.exposed} people are exposed, {number} rows are listed"


def check_attacks_list_who_is_exposed(subject: MethodConformance) -> None:
    """Whoever is counted as exposed stands in the steward's list."""
    refuse_problems(_exposed(subject), "lists that do not agree with their figures")


ATTACK_CHECKS: tuple[Check, ...] = (
    check_attacks_find_a_copy,
    check_attacks_blame_no_strangers,
    check_attacks_are_the_same_whatever_the_tables_are,
    check_attacks_are_shares_of_everybody,
    check_attacks_list_who_is_exposed,
)
