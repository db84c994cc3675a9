"""What two rounds promise together: of each guarantee the weaker."""

from typing import Any

import attrs

from anonloom.kinds import Guarantees

#: From the weakest.
_BEHAVIOUR = ("follows", "detected after open", "detected before open", "attributed")
_EXCLUSION = ("possible", "attributable")


def both(post: Guarantees, deposit: Guarantees) -> Guarantees:
    """Return what holds in a round of each operation.

    A row hides behind its position, which the `post` hides, and in the `deposit`, which hides who
    filled it: what only one of them promises holds for nobody.
    """
    together: dict[str, Any] = {
        field.name: _either(getattr(post, field.name), getattr(deposit, field.name))
        for field in attrs.fields(Guarantees)
    }
    together |= {
        "honest_senders_min": min(post.honest_senders_min, deposit.honest_senders_min),
        "colluding_servers": min(post.colluding_servers, deposit.colluding_servers),
        "server_behaviour": min(
            post.server_behaviour, deposit.server_behaviour, key=_BEHAVIOUR.index
        ),
        "presence_of_erased_visible": (
            post.presence_of_erased_visible or deposit.presence_of_erased_visible
        ),
        "exclusion": min(post.exclusion, deposit.exclusion, key=_EXCLUSION.index),
        # Only a deposit erases.
        "erasure_condition": deposit.erasure_condition,
        "post_quantum": post.post_quantum and deposit.post_quantum,
        "not_covered": tuple(dict.fromkeys((*post.not_covered, *deposit.not_covered))),
    }
    return Guarantees(**together)


def _either(post: Any, deposit: Any) -> Any:
    return post if post == deposit else f"in the post, {post}; in the deposit, {deposit}"
