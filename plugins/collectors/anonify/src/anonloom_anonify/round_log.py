"""What became public in the rounds of a study, and which of them were given up."""

import attrs

from anonloom_anonify.study import Study
from anonloom_transport import OPENING, Channel

_REASON = 300

#: How a word begins that gives a round up, before and after records were shown.
_SHOWN = (b"\0", b"\1")

_OTHERS = "the other servers gave up"


def steps_of(study: Study) -> frozenset[str]:
    """Return all steps in which servers of a study speak outside its rounds.

    No others: every word is kept, and a server must not fill the memory of the others.
    """
    attempts = range(1, (study.restarts + 1) * (study.repeats + 1) + 1)
    iterations = range(1, study.iterations + 1)
    tossed = ["seed", *(f"coins {attempt}" for attempt in attempts)]
    plans = [f"plan {attempt}" for attempt in attempts]
    signed = ["classes", *plans, *(f"release {iteration}" for iteration in iterations)]
    rounds = [f"reservation {attempt}" for attempt in attempts]
    rounds += [f"publishing {attempt}.{index}" for attempt in attempts for index in iterations]
    return frozenset(
        (
            *OPENING,
            *(f"share {server}" for server in range(study.servers)),
            *tossed,
            *(f"{name} commit" for name in tossed),
            *signed,
            *(f"sign {kind}" for kind in signed),
            *(f"give up {name}" for name in rounds),
        )
    )


@attrs.frozen(eq=False)
class RoundResult:
    """What became public in a round, how many uploads stood, how many failed a check, and whose.

    Attributes
    ----------
    senders
        Whose uploads stood, by the public halves of invitations, where donors have some.
    """

    name: str
    messages: tuple[bytes | None, ...] = attrs.field(repr=False)
    accepted: int
    left_out: int = 0
    senders: frozenset[bytes] = attrs.field(default=frozenset(), repr=False)

    @property
    def whole(self) -> list[bytes]:
        """The messages that can be read."""
        return [message for message in self.messages if message is not None]


@attrs.define(eq=False)
class RoundLog:
    """What one server knows of the rounds of a study.

    Attributes
    ----------
    talk
        A round is given up when every server has said so.
    facts
        What became public, by the name of the round.
    given_up
        Why this server gave rounds up, by their names.
    """

    study: Study
    channel: Channel = attrs.field(repr=False)
    facts: dict[str, RoundResult] = attrs.field(factory=dict, init=False, repr=False)
    given_up: dict[str, str] = attrs.field(factory=dict, init=False)

    def remember(self, heard: RoundResult) -> None:
        """Keep what became public in a round."""
        self.facts[heard.name] = heard

    def give_up(self, name: str, reason: str, shown: bool) -> None:
        """Say that a round cannot end, and whether records may have been seen in it."""
        self.given_up.setdefault(name, reason)
        self.channel.send(f"give up {name}", _SHOWN[shown] + reason.encode()[:_REASON])

    def gave_up(self, name: str) -> bool:
        """Whether every server said that a round cannot end."""
        return self.channel.all(f"give up {name}") is not None

    def reason(self, name: str) -> str:
        """Return why a round was given up."""
        return self.given_up.get(name, _OTHERS)

    @property
    def last_reason(self) -> str:
        """Why a round was given up last."""
        return next(reversed(self.given_up.values()), _OTHERS)

    @property
    def seen_by_others(self) -> bool:
        """Whether any server says that records may have been seen when a round was given up."""
        words = (self.channel.all(f"give up {name}") or () for name in self.given_up)
        return any(word[:1] == _SHOWN[True] for from_all in words for word in from_all)

    # Whoever is not heard in a post does not post again alone: everybody does, a few times.

    def registration_attempt(self) -> int:
        """Return which attempt of the registration is now."""
        attempt = 1
        while attempt <= self.study.repeats and self._incomplete(f"registration {attempt}"):
            attempt += 1
        return attempt

    def reservation_attempt(self) -> tuple[int, int]:
        """Return which attempt of the reservation is now, and how often the servers gave up."""
        attempt, restarts, repeats = 1, 0, 0
        while True:
            if self.gave_up(f"reservation {attempt}") or self.gave_up(f"publishing {attempt}.1"):
                restarts, repeats = restarts + 1, 0
            elif repeats < self.study.repeats and self._incomplete(f"reservation {attempt}"):
                repeats += 1
            else:
                return attempt, restarts
            attempt += 1

    def cohort(self, phase: str, attempt: int) -> int:
        """Return how many uploads stood in the last post before an attempt of a phase; 0 if none.

        What an attempt gave is known, also when everybody posts again: whoever is missing from the
        next one alone would show which message was hers.
        """
        before = self._before(phase, attempt)
        return 0 if before is None else before.accepted

    def allowed_senders(self, name: str) -> frozenset[bytes] | None:
        """Return who may send in a round: who was there before; None for all, the first time.

        Equal numbers are not enough. If somebody could come in the place of a donor whom a server
        keeps away, what is missing then would be hers.
        """
        if not self.study.authority:
            return None
        phase, numbers = name.split(" ")
        attempt = int(numbers.split(".")[0])
        # All iterations, and all questions about consent, are for those who have reserved.
        later = phase in ("publishing", "withdrawal")
        before = self._before("reservation", attempt + 1) if later else self._before(phase, attempt)
        return None if before is None else before.senders

    def _before(self, phase: str, attempt: int) -> RoundResult | None:
        """Return the last post that was heard before an attempt of a phase."""
        names = [f"{phase} {index}" for index in range(1, attempt)]
        if phase == "reservation":
            names.insert(0, f"registration {self.registration_attempt()}")
        heard = [self.facts[name] for name in names if name in self.facts]
        return heard[-1] if heard else None

    def withdrawals(self, attempt: int) -> dict[int, list[bytes]]:
        """Return what was posted about consents in each iteration over the same positions."""
        prefix = f"withdrawal {attempt}."
        return {
            int(name.removeprefix(prefix)): heard.whole
            for name, heard in self.facts.items()
            if name.startswith(prefix)
        }

    def _incomplete(self, name: str) -> bool:
        """Whether a post is over, and not all that was sent has arrived.

        One in which uploads failed a check is never repeated. A server can make the check of one
        donor fail: what comes new with the second list would be hers.
        """
        heard = self.facts.get(name)
        if heard is None or heard.left_out:
            return False
        return len(heard.messages) < heard.accepted
