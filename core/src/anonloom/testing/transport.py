"""Conformance of transports: what was acknowledged arrives once, on a bad network too."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import attrs

from anonloom.errors import TransportError
from anonloom.kinds.context import Run
from anonloom.kinds.engines import SECRET_BYTES, Envelope, Party, Round, slot_of
from anonloom.kinds.transport import Guarantees
from anonloom.protocol import faults
from anonloom.protocol.driver import Driver
from anonloom.protocol.entropy import SteppedClock
from anonloom.protocol.faults import Fault
from anonloom.testing.conduct import CONDUCT, Acting, Played, Scene
from anonloom.testing.conformance import Check, held
from anonloom.testing.declaring import DECLARED
from anonloom.testing.entropy import SeededEntropy

#: Bytes of every message.
_SIZE = 24
#: Senders of a round.
_SENDERS = 40
#: How often senders try again; each time about a third of the envelopes is lost.
_TRIES = 30

Faults = Callable[[SeededEntropy], list[Fault]]


@attrs.frozen
class Carried:
    """What one round did, in plain data.

    Attributes
    ----------
    sent
        Messages in the order of their senders; of a deposit by position.
    acknowledged
        Whether each sender was told that all servers have its message.
    result
        What became public.
    """

    sent: dict[int, bytes]
    acknowledged: dict[int, bool]
    result: list[bytes | None]
    refused: dict[str, int]


class TransportConformance(Acting):
    """Checks of a transport; a driver inside one process carries the envelopes.

    Attributes
    ----------
    servers
        Number of servers of the rounds that are tried.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestRelay(TransportConformance):
            method = Relay
            servers = 3
    """

    kind = "transport"
    servers: ClassVar[int] = 2

    def round(self, operation: str, slots: tuple[bytes, ...] = (), min_batch: int = 5) -> Round:
        """Return the description of a round."""
        return Round(
            id=f"kit-{operation}",
            operation=operation,  # type: ignore[arg-type]  # one of two words
            servers=self.servers,
            message_size=_SIZE,
            min_batch=min_batch,
            slots=slots,
        )

    def act(self, method: Any, inputs: Mapping[str, Any], run: Run) -> Any:
        """Drive a whole round."""
        entropy = SeededEntropy(run.seed)
        carry = _deposit if inputs["operation"] == "deposit" else _post
        return carry(self, method, inputs, entropy)

    def scenes(self) -> Iterator[Scene]:
        """Yield posts and deposits over networks that lose, repeat, reorder and corrupt."""
        for name, make in _NETWORKS.items():
            for operation in ("post", "deposit"):
                yield _scene(f"{operation}, {name}", operation, make)
        yield _scene("deposit, some erased", "deposit", _NETWORKS["a good network"], erase=(1, 5))
        yield _scene("post, foreign envelopes", "post", _NETWORKS["a good network"], noise=True)
        yield _scene("too few senders", "post", _NETWORKS["a good network"], "few", min_batch=41)


def _with_clients(envelope: Envelope) -> bool:
    return "client" in (envelope.sender.role, envelope.receiver.role)


_NETWORKS: dict[str, Faults] = {
    "a good network": lambda _: [],
    "a network that loses": lambda entropy: [
        faults.drop(faults.chance(0.3, entropy, _with_clients))
    ],
    "a network that repeats": lambda _: [faults.duplicate(_with_clients, times=3)],
    "a network that reorders": lambda entropy: [
        faults.reorder(entropy, within=50.0, when=_with_clients)
    ],
    "a network that corrupts": lambda entropy: [
        faults.corrupt(entropy, faults.chance(0.3, entropy, _with_clients))
    ],
}


def _scene(
    name: str,
    operation: str,
    network: Faults,
    special: str = "",
    min_batch: int = 5,
    erase: tuple[int, ...] = (),
    noise: bool = False,
) -> Scene:
    def given() -> Mapping[str, Any]:
        return {
            "operation": operation,
            "network": network,
            "min_batch": min_batch,
            "erase": erase,
            "noise": noise,
        }

    return Scene(name, given, given(), special, refused=special == "few")


def _messages() -> list[bytes]:
    entropy = SeededEntropy("messages")
    return [entropy.bytes(_SIZE) for _ in range(_SENDERS)]


def _until_acknowledged(driver: Driver) -> None:
    for _ in range(_TRIES):
        if not driver.retry():
            return


def _post(
    subject: TransportConformance, method: Any, inputs: Mapping[str, Any], entropy: SeededEntropy
) -> Carried:
    described = subject.round("post", min_batch=inputs["min_batch"])
    network = inputs["network"](SeededEntropy("network"))
    driver = Driver(method, described, entropy=entropy, faults=network)
    sent = _messages()
    clients = driver.post(sent)
    if inputs["noise"]:
        for envelope in _noise(described):
            driver.inject(envelope)
    _until_acknowledged(driver)
    driver.close()
    return Carried(
        dict(enumerate(sent)),
        {at: client.acknowledged for at, client in enumerate(clients)},
        list(driver.result()),
        dict(driver.refused()),
    )


def _deposit(
    subject: TransportConformance, method: Any, inputs: Mapping[str, Any], entropy: SeededEntropy
) -> Carried:
    own = SeededEntropy("secrets")
    secrets = [own.bytes(SECRET_BYTES) for _ in range(_SENDERS)]
    described = subject.round("deposit", tuple(slot_of(secret) for secret in secrets))
    network = inputs["network"](SeededEntropy("network"))
    driver = Driver(method, described, entropy=entropy, faults=network)
    # Every seventh position stays empty.
    sent = {at: message for at, message in enumerate(_messages()) if at % 7}
    clients = driver.deposit({at: (secrets[at], message) for at, message in sent.items()})
    _until_acknowledged(driver)
    driver.close()
    driver.erase(inputs["erase"])
    driver.open()
    return Carried(
        sent,
        dict(zip(sent, (client.acknowledged for client in clients), strict=True)),
        list(driver.result()),
        dict(driver.refused()),
    )


def _noise(described: Round) -> Iterator[Envelope]:
    """Yield envelopes that no honest client sends."""
    entropy, stranger = SeededEntropy("noise"), Party("client", 10_000)
    for at in range(30):
        yield Envelope(
            sender=stranger,
            receiver=Party("server", 0),
            step=("upload", "receipt", "nonsense")[at % 3],
            round=described.digest if at % 2 else entropy.bytes(32),
            upload=entropy.bytes((0, 3, 16)[at % 3]),
            body=entropy.bytes(at * 7),
        )


def _erased(one: Played) -> set[int]:
    return set(one.scene.facts["erase"])


def _posts(subject: TransportConformance) -> Iterator[Played]:
    return (one for one in subject.returned() if one.scene.facts["operation"] == "post")


def check_everybody_is_acknowledged(subject: TransportConformance) -> None:
    """A sender that tries again often enough is told that all servers have its message."""
    held(
        (
            f"{one.scene.name}: {missing} of {len(one.seen.result.sent)} senders are not"
            for one in subject.returned()
            if (missing := sum(not told for told in one.seen.result.acknowledged.values()))
        ),
        "senders are never acknowledged",
    )


def check_acknowledged_messages_arrive(subject: TransportConformance) -> None:
    """Every acknowledged message is among what became public, unless it was erased."""
    problems = []
    for one in subject.returned():
        carried: Carried = one.seen.result
        lost = [
            at
            for at, message in carried.sent.items()
            if carried.acknowledged[at] and at not in _erased(one) and message not in carried.result
        ]
        problems += [f"{one.scene.name}: {len(lost)} messages"] if lost else []
    held(problems, "acknowledged messages are lost")


def check_messages_arrive_once(subject: TransportConformance) -> None:
    """No message becomes public twice."""
    problems = []
    for one in subject.returned():
        times = Counter(message for message in one.seen.result.result if message is not None)
        doubled = sum(count > 1 for count in times.values())
        problems += [f"{one.scene.name}: {doubled} messages"] if doubled else []
    held(problems, "messages arrive more than once")


def check_nothing_is_invented(subject: TransportConformance) -> None:
    """Nothing becomes public that no sender sent."""
    problems = []
    for one in subject.returned():
        sent = set(one.seen.result.sent.values())
        strange = sum(m is not None and m not in sent for m in one.seen.result.result)
        problems += [f"{one.scene.name}: {strange} messages"] if strange else []
    held(problems, "messages appear that nobody sent")


def check_records_are_at_their_positions(subject: TransportConformance) -> None:
    """A deposit becomes public at its own position; empty positions are None."""
    problems = []
    for one in subject.returned():
        carried: Carried = one.seen.result
        if one.scene.facts["operation"] != "deposit":
            continue
        moved = [
            at
            for at, record in enumerate(carried.result)
            if record is not None
            and record in carried.sent.values()
            and record != carried.sent.get(at)
        ]
        if moved or len(carried.result) != _SENDERS:
            problems.append(f"{one.scene.name}: positions {moved[:5]}")
    held(problems, "records are not at their positions")


def check_erased_records_stay_unknown(subject: TransportConformance) -> None:
    """An erased record is nowhere in what became public."""
    problems = []
    for one in subject.returned():
        carried: Carried = one.seen.result
        shown = [at for at in sorted(_erased(one)) if carried.sent[at] in carried.result]
        problems += [f"{one.scene.name}: the records of positions {shown}"] if shown else []
    held(problems, "erased records became public")


def check_order_says_nothing_about_senders(subject: TransportConformance) -> None:
    """The messages of a post do not come in the order in which they were sent."""
    problems = []
    for one in _posts(subject):
        rank = {message: at for at, message in one.seen.result.sent.items()}
        order = [rank[message] for message in one.seen.result.result if message in rank]
        # The share of neighbours in rising order is about a half when the order says nothing.
        rising = sum(a < b for a, b in pairwise(order))
        if not 0.15 * len(order) <= rising <= 0.85 * len(order):
            problems.append(f"{one.scene.name}: {rising} of {len(order) - 1} neighbours rise")
    held(problems, "the order of the messages follows the order of the senders")


def check_foreign_envelopes_are_counted(subject: TransportConformance) -> None:
    """What does not belong into the round is refused and counted."""
    for one in _posts(subject):
        if one.scene.facts["noise"]:
            assert sum(one.seen.result.refused.values()) > 0, "nothing was counted as refused"


def check_small_rounds_do_not_close(subject: TransportConformance) -> None:
    """A round with fewer senders than `min_batch` raises `TransportError` instead of closing."""
    subject.returned()  # a transport that carries nothing is blamed for that alone
    for one in subject.played("few"):
        error = one.seen.error
        assert isinstance(error, TransportError), f"closing gave {error!r}"


def _refusal(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return error


def check_client_refuses_what_it_cannot_send(subject: TransportConformance) -> None:
    """A message of another size, and a second message, raise `TransportError` at the sender."""
    subject.returned()  # a transport that carries nothing is blamed for that alone
    described, message = subject.round("post"), _messages()[0]

    def client() -> Any:
        return subject.made().client(described, entropy=SeededEntropy(), clock=SteppedClock())

    short = _refusal(lambda: client().post(message[:-1]))
    assert isinstance(short, TransportError), "a short message was sent"
    twice = client()
    twice.post(message)
    second = _refusal(lambda: twice.post(_messages()[1]))
    assert isinstance(second, TransportError), "a second message was sent"


def check_says_what_it_guarantees(subject: TransportConformance) -> None:
    """`guarantees` states every field for both operations, in words that are not empty."""
    slots = tuple(slot_of(bytes([at]) * SECRET_BYTES) for at in range(9))
    for described in (subject.round("post"), subject.round("deposit", slots)):
        stated = subject.made().guarantees(described)
        assert isinstance(stated, Guarantees), f"a {type(stated).__name__}"
        assert stated.honest_senders_min >= 1, "a message hides at least in itself"
        assert 0 <= stated.colluding_servers < subject.servers or stated.honest_senders_min == 1, (
            "all servers together know everything"
        )
        empty = [
            field.name
            for field in attrs.fields(Guarantees)
            if isinstance(value := getattr(stated, field.name), str) and not value.strip()
        ]
        assert not empty, f"not stated: {empty}"


_CHECKS: tuple[Check, ...] = (
    check_everybody_is_acknowledged,
    check_acknowledged_messages_arrive,
    check_messages_arrive_once,
    check_nothing_is_invented,
    check_records_are_at_their_positions,
    check_erased_records_stay_unknown,
    check_order_says_nothing_about_senders,
    check_foreign_envelopes_are_counted,
    check_small_rounds_do_not_close,
    check_client_refuses_what_it_cannot_send,
    check_says_what_it_guarantees,
)
TransportConformance.checks = (*DECLARED, *CONDUCT, *_CHECKS)
