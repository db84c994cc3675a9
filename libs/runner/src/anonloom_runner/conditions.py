"""`fail_if`: conditions on findings that keep a release from being published."""

from collections.abc import Iterable

import attrs

from anonloom import Findings
from anonloom.errors import PrivacyError, did_you_mean
from anonloom.spec import Condition

__all__ = [
    "Failure",
    "failures",
]


@attrs.frozen
class Failure:
    """A condition that is met, or cannot be judged."""

    audit: str
    condition: Condition
    found: str

    def __str__(self) -> str:
        return f"{self.audit}.{self.condition} ({self.found})"


def failures(audit: str, conditions: Iterable[Condition], findings: Findings) -> list[Failure]:
    """Judge the conditions on what an audit found; one that cannot be judged counts as met."""
    met = []
    for condition in conditions:
        # A name should stand once; where it does not, no finding may hide another.
        named = [finding for finding in findings if finding.name == condition.finding]
        if not named:
            met.append(Failure(audit, condition, _misspelt(condition, findings)))
        for finding in named:
            value = finding.value if finding.assessable else None
            number = float(value) if isinstance(value, int | float) else None
            if condition.fails(number):
                result = f"it is {finding.status if number is None else f'{number:.6g}'}"
                met.append(Failure(audit, condition, result))
    return met


def _misspelt(condition: Condition, findings: Findings) -> str:
    guess = did_you_mean(condition.finding, [finding.name for finding in findings])
    return f"there is no such finding{guess and f'; {guess}'}"


def refuse(met: list[Failure]) -> None:
    """Refuse to publish when a condition is met.

    Raises
    ------
    PrivacyError
        Naming every condition and what was found.
    """
    if met:
        raise PrivacyError(
            "the release is not published: fail_if holds for "
            + "; ".join(str(failure) for failure in met),
            hint="Nothing was written.",
        )
