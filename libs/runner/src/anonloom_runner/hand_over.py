"""Whether a release can be handed over as far as attacks tell: one rule, stated where it is used.

The limit is the .09 below which the European Medicines Agency (Policy 0070) and Health Canada
(Public Release of Clinical Information) accept the risk of a public release. There it is asked of
the probability that a record is identified; here, of the share of the people whom the worst attack
finds because of the release, which is what such an attack achieves rather than what a model of it
supposes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs

from anonloom.findings import percent

__all__ = [
    "LIMIT",
    "Decision",
    "decide",
    "rule_texts",
]

LIMIT = 0.09

Answer = Literal["no", "not yet", "nothing against it"]

_TONES = {"no": "refused", "not yet": "amber", "nothing against it": "green"}
_FOUND = {
    "singling out": "{share} of the people attacked can be singled out because of it",
    "linkability": "{share} of the people attacked can be found again because of it",
    "inference": "attackers can tell something sensitive about {share} of the people attacked",
    "membership": "attackers can tell that {share} of the people attacked are in it",
}


@attrs.frozen
class Decision:
    """The answer, in one sentence, and all that speaks for it."""

    answer: Answer
    sentence: str
    reasons: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """Return the decision as a report has it."""
        return {
            "answer": self.answer,
            "tone": _TONES[self.answer],
            "sentence": self.sentence,
            "reasons": list(self.reasons),
        }


def decide(
    headline: Mapping[str, Any],
    questions: Sequence[Mapping[str, Any]],
    attacks: Sequence[Mapping[str, Any]],
    *,
    objections: Sequence[str] = (),
    doubts: Sequence[str] = (),
    limit: float = LIMIT,
) -> Decision:
    """Apply the rule of `rule_texts`.

    Parameters
    ----------
    objections
        Facts that speak against handing the release over whatever attacks find.
    doubts
        What keeps an audit from saying that nothing speaks against it.
    """
    measured = headline["status"] == "measured"
    above = _worst_above(attacks, limit)
    if above is not None or objections:
        words = _lower_first(objections[0]) if above is None else _found_text(above)
        rest = tuple(objections[1 if above is None else 0 :])
        return Decision("no", f"Do not hand this over: {words}.", rest)
    if not measured:
        return Decision(
            "not yet",
            "Do not hand this over yet: no attack says anything, and that is no evidence of "
            "safety.",
            (*headline["reasons"], *doubts),
        )
    reasons = (*_reasons(headline, questions, attacks, limit), *doubts)
    if reasons:
        first = f"Do not hand this over yet: {_lower_first(reasons[0])}."
        return Decision("not yet", first, reasons[1:])
    return Decision(
        "nothing against it",
        "Nothing found speaks against handing this over: no attack tried finds more people than "
        "it finds among strangers, beyond chance.",
        ("Other attackers may know more: this is no proof.",),
    )


def rule_texts(limit: float = LIMIT) -> list[str]:
    """Say by which rule it is decided."""
    source = (
        ", the threshold of the European Medicines Agency (Policy 0070) and of Health Canada for "
        "public releases"
        if limit == LIMIT
        else ", chosen with --limit"
    )
    return [
        "Do not hand over: an attack finds people beyond chance, with a risk above "
        f"{percent(limit)}{source}; or the release is a copy of the original, or holds its "
        "identifiers.",
        "Not yet: an attack finds people beyond chance; the interval of one reaches above "
        f"{percent(limit)}; one of the four questions has no attack that says anything; or a "
        "control, readable cells or the roles of columns are missing.",
        "Nothing against it: none of this.",
    ]


def _worst_above(attacks: Sequence[Mapping[str, Any]], limit: float) -> Mapping[str, Any] | None:
    """Return the worst attack above the limit that does find people beyond chance."""
    sure = [
        attack
        for attack in attacks
        if attack["status"] == "measured" and attack["risk"] > limit and attack["interval"][0] > 0
    ]
    return max(sure, key=lambda attack: attack["risk"], default=None)


def _found_text(headline: Mapping[str, Any]) -> str:
    return _FOUND[headline["question"]].format(share=percent(headline["risk"])) + ", beyond chance"


def _reasons(
    headline: Mapping[str, Any],
    questions: Sequence[Mapping[str, Any]],
    attacks: Sequence[Mapping[str, Any]],
    limit: float,
) -> list[str]:
    """Say what keeps attacks that are all below the limit from being no objection."""
    results = []
    measured = [attack for attack in attacks if attack["status"] == "measured"]
    finding = [attack for attack in measured if attack["interval"][0] > 0]
    if finding:
        worst = max(finding, key=lambda attack: attack["risk"])
        results.append(f"{_found_text(worst)} (the limit is {percent(limit)})")
    high = max(attack["interval"][1] for attack in measured)
    if high > limit:
        results.append(
            f"The risk may be as high as {percent(high)}, where {percent(limit)} is the limit: too "
            "few people were attacked to know"
        )
    for data in questions:
        if data["status"] != "measured" and not data["settled"]:
            results.append(f"Nothing is known of {data['question']} ({data['reasons'][0]})")
    if headline["baseline_kind"] == "leave-one-out":
        results.append(
            "There is no control: attacks were compared with people who were taken out of the "
            "release, which is weaker"
        )
    return results


def _lower_first(text: str) -> str:
    """Return a text as it stands in the middle of a sentence; names in quotes stay."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
