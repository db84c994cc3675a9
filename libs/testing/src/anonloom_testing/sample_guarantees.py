"""Sample guarantees: complete, so that a test names only those that it is about."""

from typing import Any

from anonloom.kinds import Guarantees


def guarantees(**changes: Any) -> Guarantees:
    """Return what a made-up transport promises.

    Parameters
    ----------
    changes
        Fields of `Guarantees` that shall say something else.
    """
    sample: dict[str, Any] = {
        "honest_senders_min": 1000,
        "colluding_servers": 1,
        "server_behaviour": "detected after open",
        "donors": "contained up to 1 %",
        "eligibility": "one upload per credential",
        "presence_visible_to": "every server",
        "presence_visible_when": "with the opening",
        "presence_of_erased_visible": False,
        "exclusion": "attributable",
        "erasure_condition": "one server forgets its key",
        "post_quantum": True,
        "delivery": "every confirmed message, exactly once",
        "lost_server": "the round is repeated",
        "measured_or_argued": "argued",
        "not_covered": ("coercion",),
    }
    return Guarantees(**sample | changes)
