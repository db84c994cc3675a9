"""Transport: how messages of many senders reach the servers, and what that hides."""

from abc import ABC, abstractmethod

import attrs


@attrs.frozen(kw_only=True)
class Guarantees:
    """What a transport promises, field by field, so that a swap can be told honestly."""

    honest_senders_min: int
    colluding_servers: int
    server_behaviour: str
    donors: str
    eligibility: str
    presence_visible_to: str
    presence_of_erased_visible: bool
    exclusion: str
    erasure_condition: str
    post_quantum: bool
    delivery: str
    lost_server: str
    measured_or_argued: str
    not_covered: tuple[str, ...] = attrs.field(default=(), converter=tuple)


class Transport(ABC):
    """Makes the engines of one round."""

    @abstractmethod
    def guarantees(self, senders: int) -> Guarantees:
        """Return what a round with so many honest senders promises."""
