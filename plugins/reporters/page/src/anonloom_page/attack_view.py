"""What attacks say of one release: a sentence, the worst of them, who is exposed, what would help.

The same blocks lead the page of an audit and that of a run. Nothing is judged here: report.json has
the answer, and the rule by which it was given.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from anonloom_page.limits import Limits
from anonloom_page.wording import figure, number, rounded, short

#: Every answer with its class and its words; the colour never stands alone.
_ANSWERS = {
    "no": ("bad", "Do not hand over"),
    "not yet": ("warn", "Not yet"),
    "nothing against it": ("good", "Nothing found against it"),
}
_UNKNOWN = ("warn", "No answer")
#: Questions as people ask them.
_ASKED = {
    "singling out": "Can a person be picked out by what is published?",
    "linkability": "Can a person's row be found again by who knows the person?",
    "inference": "Can something sensitive be learned about a person?",
    "membership": "Can it be told that a person is in the table at all?",
}
#: So many reasons, and so much advice, stand open.
_OPEN = 3


def attack_view(data: Mapping[str, Any], limits: Limits) -> dict[str, Any] | None:
    """Return what the blocks show; None where a report knows of no attacks."""
    headline, decision = data.get("headline") or {}, data.get("decision") or {}
    if not headline or not decision:
        return None
    name, word = _ANSWERS.get(str(decision.get("answer")), _UNKNOWN)
    limit = number((data.get("rule") or {}).get("limit"))
    attacks = data.get("attacks") or []
    reasons = [_text(text) for text in decision.get("reasons") or []]
    advice = [_text(text) for text in data.get("advice") or []]
    return {
        "tone": {"name": name, "word": word},
        "sentence": _text(decision.get("sentence") or ""),
        "reasons": reasons[:_OPEN],
        "more_reasons": reasons[_OPEN : limits.figures],
        "worst": _figure(headline, limit),
        "why_none": [short(text) for text in headline.get("reasons") or []][:_OPEN],
        "tried": headline.get("tried") or 0,
        "exposed": _exposed(data, limits),
        "advice": advice[:_OPEN],
        "more_advice": advice[_OPEN : limits.figures],
        "questions": [_question(item, attacks, limit) for item in data.get("questions") or []],
        "changes": [_change(item) for item in (data.get("changes") or [])[: limits.columns]],
        "rule": [_text(text) for text in (data.get("rule") or {}).get("texts") or []],
        "limit": rounded(limit),
    }


def _text(value: Any) -> str:
    """Return a sentence in which no figure is torn from its sign."""
    return short(value).replace(" %", "\N{NO-BREAK SPACE}%")


def _figure(data: Mapping[str, Any], limit: float | None) -> dict[str, Any] | None:
    """Return one attack as a figure with its place on a scale from 0 to 1."""
    risk = number(data.get("risk"))
    if data.get("status") != "measured" or risk is None:
        return None
    low, high = (number(end) or 0.0 for end in data.get("interval") or (risk, risk))
    above = limit is not None and risk > limit
    tone = "bad" if above else ("warn" if low > 0 else "good")
    return {
        "attack": short(data.get("attack"), 120),
        "question": data.get("question"),
        "meaning": short(data.get("meaning") or ""),
        "risk": rounded(risk),
        "interval": f"{rounded(low)} to {rounded(high)}",
        "tone": tone,
        "word": "above the limit" if above else ("no more than chance", "beyond chance")[low > 0],
        "places": {
            "risk": _place(risk),
            "low": _place(low),
            "width": _place(high - low),
            "limit": None if limit is None else _place(limit),
        },
        "found": f"{rounded(data.get('success'))} of the {figure(data.get('people'))} people "
        "attacked",
        "chance": f"{rounded(data.get('chance'))} of {figure(data.get('outside'))} "
        f"{short(data.get('baseline') or 'others')}",
        "weak": data.get("baseline_kind") == "leave-one-out",
    }


def _place(share: float) -> str:
    return f"{min(max(share, 0.0), 1.0) * 100:.2f}"


def _exposed(data: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    headline, exposed = data.get("headline") or {}, data.get("exposed") or {}
    count, people = number(headline.get("exposed")), number(headline.get("people"))
    listed = exposed.get("groups") or []
    return {
        "count": None if count is None else figure(int(count)),
        "none": count == 0,
        # People are found, but each of them only with some chance.
        "guessed": count == 0 and bool(number((headline.get("interval") or [0])[0])),
        "people": figure(headline.get("people")),
        "share": rounded(count / people) if count is not None and people else "",
        "stand_out": [_group(item, item.get("column")) for item in exposed.get("stand_out") or []],
        "columns": [
            {
                "name": short(column.get("column"), 80),
                "groups": [_group(group) for group in column.get("groups") or []],
            }
            for column in listed[: limits.columns]
        ],
    }


def _group(group: Mapping[str, Any], column: Any = "") -> dict[str, Any]:
    count, people = number(group.get("exposed")), number(group.get("people"))
    share = count / people if count is not None and people else None
    return {
        "column": short(column or "", 60),
        "name": short(group.get("group"), 80),
        "people": figure(group.get("people")),
        "exposed": None if count is None else figure(int(count)),
        "share": rounded(share) if share is not None else "",
        "width": _place(share or 0.0),
    }


def _question(
    item: Mapping[str, Any], attacks: Sequence[Mapping[str, Any]], limit: float | None
) -> dict[str, Any]:
    asking = [attack for attack in attacks if attack.get("question") == item.get("question")]
    return {
        "name": str(item.get("question") or "").capitalize(),
        "asked": _ASKED.get(str(item.get("question")), ""),
        "status": short(item.get("status"), 40),
        "worst": _figure(item, limit),
        "reasons": [short(text) for text in item.get("reasons") or []],
        "settled": bool(item.get("settled")),
        "attacks": [_attack(attack, limit) for attack in asking],
    }


def _attack(attack: Mapping[str, Any], limit: float | None) -> dict[str, Any]:
    return {
        "name": short(attack.get("attack"), 120),
        "meaning": short(attack.get("meaning") or ""),
        "figure": _figure(attack, limit),
        "success": rounded(attack.get("success")),
        "chance": rounded(attack.get("chance")),
        "of_copy": rounded(attack.get("copy")),
        "strangers": " to ".join(rounded(end) for end in attack.get("strangers") or ()),
        "reason": short(attack.get("reason") or ""),
    }


def _change(item: Mapping[str, Any]) -> dict[str, Any]:
    shift = number(item.get("shift"))
    return {
        "column": short(item.get("column"), 80),
        "changed": f"{'at least ' if item.get('at_least') else ''}{rounded(item.get('changed'))}",
        "width": _place(number(item.get("changed")) or 0.0),
        "shift": "" if shift is None else f"{figure(shift)} sd",
    }
