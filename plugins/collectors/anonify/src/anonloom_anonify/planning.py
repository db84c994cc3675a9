"""Planning: what a study will be, before anybody has registered."""

import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

import attrs

from anonloom import Schema
from anonloom.data import PUBLISHED
from anonloom.kinds import PLAYED, Guarantees
from anonloom_anonify.study import Study
from anonloom_transport import Estimate, RecordLayout, Round, both, pack, slot_of

if TYPE_CHECKING:
    from anonloom_anonify.collector import Anonify

#: Donors that are planned with where nobody knows how many there will be.
_DONORS = 10_000

#: Bytes of the public key of whoever signs invitations.
_AUTHORITY = 32

#: What decides, beside the stages, whether servers compute the same.
_SOFTWARE = ("anonloom-core", "anonloom-transport", "anonloom-anonify", "numpy", "pandas")

_FALSE_CLAIM = (
    "a false claim of class: only an excess over those who registered is seen; that class is then "
    "withheld, and nobody is named"
)
_ROWS = "that every record of a class is somebody else's: k counts records"
_FEW = (
    "servers that see fewer than the demanded number of records of a class: with this transport "
    "they cannot count before they open; such a class is not published"
)
_INSTEAD = (
    "a donor who is kept away while somebody who was not there before comes in her place: from one "
    "phase to the next donors without invitations are counted, not recognised"
)
_LEAVING = (
    "a donor who is missing from an iteration, or kept away from it by a server or on the way: "
    "what is absent shows which records are hers, of all iterations"
)


@attrs.frozen
class Layouts:
    """How donors write what they know of themselves, and what they answer."""

    registration: RecordLayout
    answer: RecordLayout

    @classmethod
    def of(cls, schema: Schema, *, text_bytes: int, answer_bytes: int) -> "Layouts":
        """Lay out quasi-identifiers, and everything else that is published."""
        quasi = schema.quasi
        rest = [column.name for column in schema if column.role in PUBLISHED - {"quasi"}]
        return cls(
            RecordLayout.of(schema, quasi, text_bytes=text_bytes),
            RecordLayout.of(schema, rest, text_bytes=text_bytes, at_least=answer_bytes),
        )

    @property
    def digest(self) -> bytes:
        """Hash of how everything is written."""
        return hashlib.sha256(pack(self.registration.digest, self.answer.digest)).digest()


def cannot_send(asked: "Anonify", schema: Schema) -> str | None:
    """Say which columns donors cannot send, or None."""
    if not any(column.role in PUBLISHED - {"quasi"} for column in schema):
        return "donors would have nothing to donate: every published column is a quasi-identifier"
    for column in schema:
        if column.pseudonymize and (asked.iterations == 1 or not schema.names_with_role("person")):
            return (
                f"column '{column.name}' is published as a pseudonym, and identifiers are never "
                "sent: leave the column out; with several iterations and a column of the role "
                "'person' it joins the records of one donor"
            )
    return None


def study_of(
    asked: "Anonify",
    *,
    id: str,
    donors: int,
    k: int,
    layouts: Layouts,
    rules: str = "",
    authority: bytes = b"",
) -> Study:
    """Describe the study.

    Parameters
    ----------
    authority
        Public key of whoever signs invitations. Before there is one, a study that asks for them is
        planned with a key of zeros: what rounds promise and cost follows from asking.
    """
    if asked.credentials == "invitations":
        authority = authority or bytes(_AUTHORITY)
    study = Study(
        id=id,
        servers=asked.servers,
        donors=donors,
        k=k,
        min_batch=asked.min_batch,
        min_leave=asked.min_leave,
        iterations=asked.iterations,
        missing=asked.missing,
        withdrawals=asked.withdrawals,
        repeats=asked.repeats,
        restarts=asked.restarts,
        suite=asked.suite,
        registration_size=layouts.registration.size,
        answer_size=layouts.answer.size,
        authority=authority,
        rules=hashlib.sha256(pack(layouts.digest, rules.encode())).digest(),
        versions=tuple(f"{name} {version(name)}" for name in _SOFTWARE),
    )
    counted = attrs.evolve(study, counted=True)
    able = asked.transport.problem(rounds_of(counted, _few(asked.min_batch))[-1]) is None
    return counted if able else study


def rounds_of(study: Study, slots: tuple[bytes, ...]) -> tuple[Round, ...]:
    """Return the rounds of a study in which everybody takes part and nothing goes wrong."""
    donors = len(slots)
    rounds = [study.registration(1), study.reservation(1, donors, b"")]
    for iteration in range(1, study.iterations + 1):
        if study.withdrawals:
            rounds.append(study.withdrawal(1, iteration, b""))
        rounds.append(
            study.publication(1, iteration, cohort=donors, slots=slots, erasure=b"", plan=b"")
        )
    return tuple(rounds)


def named_rounds(study: Study) -> dict[str, Round]:
    """Return the rounds of a study of its full size, by what they are called in it."""
    rounds = rounds_of(study, _few(study.donors))
    return {round.id.removeprefix(f"{study.id} "): round for round in rounds}


def problem(asked: "Anonify") -> str | None:
    """Say why the transport cannot carry such a study, or None."""
    for round in _smallest(asked):
        wrong = asked.transport.problem(round)
        if wrong is not None:
            return wrong
    return None


def guarantees(asked: "Anonify") -> Guarantees:
    """Return what holds in every round, and what the protocol adds."""
    rounds = _smallest(asked)
    promised = both(asked.transport.guarantees(rounds[0]), asked.transport.guarantees(rounds[-1]))
    own = [_FALSE_CLAIM, _ROWS]
    if asked.credentials == "none":
        own.append(_INSTEAD)
    if not rounds[-1].counted:
        own.append(_FEW)
    if asked.missing == "blank":
        own.append(_LEAVING)
    return attrs.evolve(promised, not_covered=(*promised.not_covered, *own))


def sentences(asked: "Anonify", rows: int | None, schema: Schema) -> Iterator[str]:
    """Say which rounds there are, what they hide, and what they cost."""
    donors = max(rows or _DONORS, asked.min_batch)
    layouts = Layouts.of(schema, text_bytes=asked.text_bytes, answer_bytes=asked.answer_bytes)
    study = study_of(asked, id="planned", donors=donors, k=1, layouts=layouts)
    answers = "one answer" if asked.iterations == 1 else f"{asked.iterations} answers"
    yield (
        f"donors register with {layouts.registration.size} bytes, reserve a position and deposit "
        f"{answers} of {layouts.answer.size} bytes, with {asked.servers} servers and at least "
        f"{asked.min_batch:,} donors"
    )
    yield PLAYED
    yield from guarantees(asked).sentences()[:2]
    rounds = rounds_of(study, _few(donors))
    costs = [asked.transport.estimate(round) for round in rounds]
    total = _sum(costs)
    if total is None:
        yield "what that costs the transport cannot say before a run"
        return
    first, *others = total.sentences("donor")
    yield f"with {donors:,} donors in {len(rounds)} rounds, {first}"
    yield from others


def _sum(costs: list[Estimate | None]) -> Estimate | None:
    total: Estimate | None = None
    for cost in costs:
        if cost is None:
            return None
        total = cost if total is None else total + cost
    return total


def _smallest(asked: "Anonify") -> tuple[Round, ...]:
    """Rounds of a smallest study, to ask what they promise."""
    nothing = Layouts(RecordLayout((), 1), RecordLayout((), 1))
    study = study_of(asked, id="some", donors=asked.min_batch, k=1, layouts=nothing)
    return rounds_of(study, _few(asked.min_batch))


def _few(number: int) -> tuple[bytes, ...]:
    return tuple(sorted(slot_of(index.to_bytes(8, "big")) for index in range(number)))
