"""Promises that all rounds of this library share, so that transports say the same alike."""

from typing import Any

from anonloom_transport.rounds import Round

#: What becomes of an erased record where no server alone ever had it.
ERASED = "one server destroys its round key, and none had its key or memory copied before that"

#: What no transport promises that hides who sent what.
COUNTED = "dishonest senders beyond those allowed for: they count towards the least number"
SILENT = (
    "a server that falls silent at open, after all others have shown their parts: it alone then "
    "knows what was sent, not by whom"
)
HOLLOW = (
    "positions that count as filled and hold no record that can be read: each dishonest donor can "
    "add one"
)
WRONG_PART = "which server showed a wrong part: it is one of them"


def shared_guarantees(round: Round) -> dict[str, Any]:
    """Return the guarantees that follow from the round alone, by name of the field."""
    return {
        "eligibility": (
            "one upload per invitation of the study"
            if round.authority
            else "none: Sybils not excluded"
        ),
        "presence_visible_to": "the network and every server",
        "presence_visible_when": "from the upload on",
        "post_quantum": round.suite == "mlkem768-x25519",
        "lost_server": "the round does not end, and nothing is opened",
    }


def delivery_guarantee(round: Round, *unless: str) -> str:
    """Say that all arrives that was confirmed, but for the cases named and a round that stops."""
    what = "message" if round.operation == "post" else "record"
    erased = () if round.operation == "post" else ("it is erased",)
    cases = [*erased, *unless, "the round stops"]
    text = cases[0] if len(cases) == 1 else f"{', '.join(cases[:-1])} or {cases[-1]}"
    return f"every {what} that all servers confirmed, once, unless {text}"


def uncovered_cases(round: Round, *own: str) -> tuple[str, ...]:
    """Return what is not covered: what the transport names, then what none of them covers."""
    alike = [
        "prevention: a server that deviates is found out, not kept from it",
        "a server that refuses an honest sender before confirming",
        "that a message is true, well formed or from one person",
        "coercion",
    ]
    if round.suite != "mlkem768-x25519":
        alike.append("traffic that is recorded now and opened with a quantum computer later")
    # One server alone is trusted with everything.
    return (*own, *(alike if round.servers > 1 else alike[1:]))
