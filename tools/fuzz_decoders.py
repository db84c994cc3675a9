"""Feed changed bytes to every decoder that a stranger can reach, and report what gives way.

    python tools/fuzz_decoders.py                       # all, 1,000 mutations each
    python tools/fuzz_decoders.py --mutations 50000 --only proofs

What is tried: words of strangers and of servers that deviate, dishonest uploads, what clients are
shown, saved states, descriptions, releases, proofs, and answers of workers. Everything starts from
what honest parties wrote. A decoder may refuse with its declared errors, or count a refusal; any
other exception is a finding, and so is an attempt that takes more time than its size explains.
"""

import argparse
import contextlib
import copy
import hashlib
import json
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from anonloom import AnonloomError, Column, Schema
from anonloom.errors import DataError, IntegrityError, TransportError, UsageError
from anonloom_anonify.aggregator import Aggregator
from anonloom_anonify.campaign import Campaign
from anonloom_anonify.donor import Donor
from anonloom_anonify.registration import Classes, Registrations
from anonloom_anonify.release import IterationRelease
from anonloom_anonify.reservation import Reservations
from anonloom_anonify.server_agreement import binding_of, read_study
from anonloom_anonify.simulation import Behaviour
from anonloom_anonify.study import RESERVATION_BYTES, Study
from anonloom_anonify.work import ClassAssignment
from anonloom_digest.listing import Listing
from anonloom_direct.transport import Direct
from anonloom_dpf.transport import Dpf
from anonloom_merkle.scheme import Merkle
from anonloom_mixnet.client import MixnetClient
from anonloom_mixnet.items import write_item
from anonloom_mixnet.transport import Mixnet
from anonloom_seals import keys
from anonloom_seals.condition import Condition
from anonloom_seals.head import Head
from anonloom_seals.proof import Proof
from anonloom_sentinels_twins.dask_executor import _read as read_worker
from anonloom_sentinels_twins.files import read_answers, worker_file
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.work_check import JOB, RESULT, OmittedWork
from anonloom_sentinels_twins.work_check import Campaign as Outsourced
from anonloom_skip_list.scheme import SkipListSeal
from anonloom_testing.transport import Carrier, SeededEntropy, adversaries
from anonloom_transport import (
    Authority,
    Driver,
    Envelope,
    Erasure,
    MemoryVault,
    Objection,
    Party,
    RecordLayout,
    Round,
    ServerConfig,
    Signer,
    SlotSecret,
    faults,
    pack,
    read_held,
    read_notice,
    read_signed,
    unpack,
    write_row,
    write_signed,
)

SENDERS = 5
SIZE = 8

#: What an attempt may cost: seconds, and seconds per byte of what was sent.
SECONDS, PER_BYTE = 0.5, 2e-6

#: Sizes of what is sent instead of a few bytes, once in a while.
LARGE = (2**12, 2**16, 2**20)


# --- changes ---------------------------------------------------------------------------------


def mutated(rng: random.Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """Return other bytes: one to three changes of what somebody honest wrote."""
    if rng.random() < 0.002:
        return bytes([rng.choice((0, 1, 255))]) * rng.choice(LARGE)
    for _ in range(rng.randint(1, 3)):
        data = rng.choice(_CHANGES)(rng, data, others)
    return data


def resized(rng: random.Random, data: bytes) -> bytes:
    """Return other bytes of the same size, nine times of ten."""
    result = mutated(rng, data)
    return result if rng.random() < 0.1 else (result + data)[: len(data)]


def _spot(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice((1, 1, 2, 4, 8, 32, 100)))


def _flip(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    if not data:
        return b"\0"
    index = rng.randrange(len(data))
    return data[:index] + bytes([data[index] ^ 1 << rng.randrange(8)]) + data[index + 1 :]


def _overwrite(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _spot(rng, data)
    filled = rng.choice((b"\0", b"\xff", b"\x7f", b"\x01", rng.randbytes(1)))
    return data[:start] + filled * (end - start) + data[end:]


def _cut(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _spot(rng, data)
    return data[:start] + data[end:]


def _double(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    start, end = _spot(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]


def _insert(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    index = rng.randint(0, len(data))
    return data[:index] + rng.randbytes(rng.choice((1, 8, 32))) + data[index:]


def _truncate(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    return data[: rng.randint(0, len(data))]


def _number(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Put a number where a length or a count may stand."""
    index = rng.randint(0, len(data))
    number = rng.choice((0, 1, 2**16, 2**31, 2**32 - 1, 2**63, 2**64 - 1, len(data)))
    width: int = rng.choice((4, 8))
    written = int(number % 2 ** (8 * width)).to_bytes(width, "big")
    return data[:index] + written + data[index + width :]


def _splice(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others) if others else data[::-1]
    return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


def _parts(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change what is packed and pack it again, so that lengths fit."""
    try:
        parts = unpack(data, 1000)
    except ValueError:
        return _flip(rng, data, others)
    if not parts:
        return pack(b"")
    index = rng.randrange(len(parts))
    match rng.randrange(5):
        case 0:
            del parts[index]
        case 1:
            parts.insert(index, parts[rng.randrange(len(parts))])
        case 2:
            rng.shuffle(parts)
        case 3:
            parts[index] = rng.choice((b"", bytes(5000), rng.randbytes(32), b"\xff" * 3000))
        case _:
            parts[index] = rng.choice(_CHANGES)(rng, parts[index], others)
    return pack(*parts)


_CHANGES = (_flip, _overwrite, _cut, _double, _insert, _truncate, _number, _splice, _parts, _parts)

#: What may stand in JSON where something else is expected.
_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, 2**64, 10**30, -(2**63), 0.5, 1e308),
    *("", "x", "\0", "\ud800", "é", "..", "/", "0" * 64, "f" * 64, "9" * 5000, "A" * 20_000),
    *([], {}, [[]], [0], [None], {"": 0}, {"a": {"a": {}}}, float("inf"), float("nan")),
)


def mutated_json(rng: random.Random, content: Any) -> Any:
    """Return another document: one to three of its nodes are something else."""
    content = json.loads(json.dumps(content))
    for _ in range(rng.randint(1, 3)):
        content = _mutated_node(rng, content)
    if rng.random() < 0.01:
        for _ in range(rng.choice((50, 3000))):
            content = [content]
    return content


def _mutated_node(rng: random.Random, node: Any) -> Any:
    if not isinstance(node, list | dict) or not node or rng.random() < 0.1:
        if isinstance(node, str) and rng.random() < 0.5:
            return mutated(rng, node.encode(errors="replace")[:5000]).decode(errors="replace")
        if isinstance(node, int) and rng.random() < 0.5:
            return node + rng.choice((-1, 1, 2**31, 2**40, 2**62))
        return copy.deepcopy(rng.choice(_ODD))
    places: list[Any] = list(range(len(node))) if isinstance(node, list) else list(node)
    index, what = rng.choice(places), rng.random()
    if what < 0.1:
        del node[index]
    elif what < 0.2 and isinstance(node, list):
        node.insert(index, copy.deepcopy(node[rng.choice(places)]))
    elif what < 0.2:
        node[rng.choice(("more", "", *node))] = copy.deepcopy(node[index])
    else:
        node[index] = _mutated_node(rng, node[index])
    return node


def spelled(content: Any) -> bytes:
    """Write JSON, also what is no text."""
    try:
        return json.dumps(content, ensure_ascii=False).encode(errors="surrogatepass")
    except RecursionError:
        return b"[" * 3000


# --- what is tried ---------------------------------------------------------------------------


@attrs.frozen
class Target:
    """A decoder.

    Attributes
    ----------
    attempt
        Changes something and feeds it to the decoder; returns how many bytes that were.
    allowed
        Its declared errors.
    each
        How many changes are made in one attempt.
    """

    attempt: Callable[[random.Random], int] = attrs.field(repr=False)
    allowed: tuple[type[Exception], ...] = ()
    each: int = 1


def decoding(
    decode: Callable[[bytes], Any], *samples: bytes, allowed: tuple[type[Exception], ...] = ()
) -> Target:
    """Return the target of a function that takes bytes."""

    def attempt(rng: random.Random) -> int:
        data = mutated(rng, rng.choice(samples), samples)
        decode(data)
        return len(data)

    return Target(attempt, allowed)


def described(
    operation: str, senders: int = SENDERS, **more: Any
) -> tuple[Round, list[SlotSecret]]:
    """Return a small round, and the secrets of its positions."""
    entropy = SeededEntropy("slots")
    drawn = [SlotSecret(entropy.bytes(16), entropy.bytes(16)) for _ in range(senders)]
    secrets = sorted(drawn, key=lambda secret: secret.slot) if operation == "deposit" else []
    more = {"capacity": 2 * senders, "min_batch": 2, "servers": 2, **more}
    if secrets:
        more["erasure"] = Erasure(frozenset([0]), bytes(32)).commitment
    return (
        Round(
            id="fuzz",
            operation=operation,  # type: ignore[arg-type]
            message_size=SIZE,
            slots=tuple(secret.slot for secret in secrets),
            **more,
        ),
        secrets,
    )


def driven(
    transport: Any, operation: str, senders: int = SENDERS, **more: Any
) -> tuple[Driver, list[SlotSecret]]:
    """Return a round that has begun."""
    given = {name: more.pop(name) for name in ("corrupted", "faults") if name in more}
    round, secrets = described(operation, senders, **more)
    driver = Driver(
        transport,
        round,
        entropy=SeededEntropy("fuzz"),
        slot_keys=tuple(secret.key(1) for secret in secrets),
        erasure=Erasure(frozenset([0]), bytes(32)) if secrets else None,
        **given,
    )
    return driver, secrets


def texts(number: int = SENDERS) -> list[bytes]:
    """Return messages."""
    return [f"msg {index:04}".encode() for index in range(number)]


def send(driver: Driver, secrets: Sequence[SlotSecret]) -> None:
    """Let everybody send."""
    if secrets:
        driver.deposit(list(zip(secrets, texts(), strict=True)))
    else:
        driver.post(texts())


TRANSPORTS: dict[str, Any] = {
    "direct": Direct(),
    "dpf": Dpf(tolerated=0.25),
    "mixnet": Mixnet(traps=1),
}


def of_servers(transport: Any, operation: str) -> Target:
    """Whatever strangers send to a server, in every phase."""
    phases = ("upload", "close", "settle")
    drivers: list[Driver] = []
    for phase in phases:
        driver, secrets = driven(transport, operation)
        send(driver, secrets)
        for act in ("close", "settle")[: phases.index(phase)]:
            getattr(driver, act)()
        drivers.append(driver)
    samples: list[list[Envelope]] = []
    for driver in drivers:
        seen = [item.envelope for item in driver.trace.seen if item.by is None]
        client: Any = driver.clients[0]
        seen += client._object() if client.is_acknowledged else []
        kept = getattr(client, "_kept", None)
        if kept is not None:
            to = partial(client.to, 0)
            answer = pack((1).to_bytes(4, "big"), bytes(32), b"")
            seen += [to("missing", bytes(kept)), to("layer", answer)]
        samples.append([item for item in seen if item.receiver.role == "server"])
    # Every step alike, and what clients say more often: anybody may.
    steps = [
        [
            [item for item in of_phase if (item.step, item.sender.role) == message]
            for message in sorted({(item.step, item.sender.role) for item in of_phase})
            for _ in range(5 if message[1] == "client" else 1)
        ]
        for of_phase in samples
    ]

    def attempt(rng: random.Random) -> int:
        index = rng.randrange(len(drivers))
        envelope = rng.choice(rng.choice(steps[index]))
        others = [item.body for item in rng.sample(samples[index], 3)]
        change: dict[str, Any] = {"body": mutated(rng, envelope.body, others)}
        if rng.random() < 0.1:
            change["upload"] = mutated(rng, envelope.upload)
        if rng.random() < 0.1:
            change["step"] = rng.choice(samples[index]).step
        if rng.random() < 0.05:
            change["sender"] = Party(rng.choice(("client", "server")), rng.randrange(4))
        changed = attrs.evolve(envelope, **change)
        drivers[index].servers[changed.receiver.index].receive(changed)
        return changed.size

    return Target(attempt)


def of_clients(transport: Any, operation: str) -> Target:
    """Whatever a sender is shown who has not seen the genuine documents."""
    lost = faults.drop(lambda envelope: envelope.receiver == Party("client", 0))
    driver, secrets = driven(transport, operation, faults=[lost])
    send(driver, secrets)
    driver.close()
    driver.settle()
    client: Any = driver.clients[0]
    samples = [
        item.envelope
        for item in driver.trace.seen
        if item.by is None and item.envelope.receiver == Party("client", 0)
    ]
    word = pack((1).to_bytes(4, "big"), bytes(64), bytes(24))
    samples += [attrs.evolve(samples[0], step="blamed", body=word)]

    def attempt(rng: random.Random) -> int:
        envelope = rng.choice(samples)
        body = mutated(rng, envelope.body, [sample.body for sample in samples])
        if body != envelope.body:
            client.receive(attrs.evolve(envelope, body=body, step=rng.choice(samples).step))
        return len(body)

    return Target(attempt)


def of_uploads(transport: Any, operation: str) -> Target:
    """Dishonest senders: what they seal is changed, and the round goes to its end.

    Among many honest ones, so that a round gets to its end without them, or nearly alone.
    """
    dishonest = 10

    def attempt(rng: random.Random) -> int:
        senders = dishonest + rng.choice((2, 3 * dishonest))
        driver, secrets = driven(transport, operation, senders)
        carried: list[bytes] = []
        sent = 0
        for index, text in enumerate(texts(senders)):
            client: Any = driver.client()
            contents = list(
                client.for_deposit(index, secrets[index], text)
                if secrets
                else client.for_post(text)
            )
            carried.append(_item(client, index, secrets[index], text) if secrets else text)
            if index < dishonest:
                which = rng.choice([index for index, content in enumerate(contents) if content])
                layered = isinstance(client, MixnetClient) and rng.random() < 0.8
                contents[which] = (
                    _changed_inside(rng, client, carried[-1])
                    if layered
                    else resized(rng, contents[which])
                )
                sent += len(contents[which])
            driver.network.send(Party("client", index), client.send(text, contents))
        driver.deliver()
        driver.finish()
        return sent

    return Target(attempt, (TransportError,), dishonest)


def _item(client: Any, at: int, secret: SlotSecret, text: bytes) -> bytes:
    """Return what a packet of a deposit carries; of other transports nothing is asked."""
    if not isinstance(client, MixnetClient):
        return b""
    row = write_row(secret, 1, 1, text)
    bound = client.notice.binding
    return write_item(client._route, bound, at, secret.alpha, row, SeededEntropy("item"))


def _changed_inside(rng: random.Random, client: Any, carried: bytes) -> bytes:
    """Return a packet that opens up to a layer in which something else is."""
    route, entropy = client._route, SeededEntropy(rng.random())
    hops = range(route.hops - 1, -1, -1)
    sealers = [route.sealer(phase, hop) for phase in ("peel", "mix") for hop in hops]
    wrong = rng.randrange(len(sealers))
    for number, sealer in enumerate(sealers):
        if number == wrong:
            result = mutated(rng, carried)
            carried = (result + carried)[: len(carried)]
        carried = sealer.seal(carried, entropy).sealed
    return carried


def of_words(transport: Any, operation: str) -> Target:
    """A server that deviates: one of its words is changed and signed anew."""
    honest, secrets = driven(transport, operation)
    send(honest, secrets)
    honest.finish()
    steps = sorted(
        {
            item.envelope.step
            for item in honest.trace.seen
            if item.envelope.sender.role == item.envelope.receiver.role == "server"
        }
    )

    def attempt(rng: random.Random) -> int:
        sizes = [0]

        def change(said: bytes) -> bytes:
            changed = mutated(rng, said)
            sizes.append(len(changed))
            return changed

        corrupted = {rng.randrange(2): adversaries.lies(rng.choice(steps), change)}
        driver, secrets = driven(transport, operation, corrupted=corrupted)
        send(driver, secrets)
        driver.finish()
        return max(sizes)

    return Target(attempt, (TransportError,))


def of_saved(transport: Any, operation: str) -> Target:
    """A saved state that somebody changed on the disk."""
    driver, secrets = driven(transport, operation)
    saved = [driver.servers[0].save()]
    send(driver, secrets)
    saved.append(driver.servers[0].save())

    def resume(data: bytes) -> None:
        config = driver.configs[0]
        entropy = SeededEntropy("again")
        transport.server(
            driver.round, config, entropy=entropy, clock=driver.network.clock, saved=data
        )

    return decoding(resume, *saved, allowed=(TransportError,))


def rounds_targets() -> Iterator[tuple[str, Callable[[], Target]]]:
    """Yield what all transports share."""
    driver, secrets = driven(TRANSPORTS["direct"], "post")
    send(driver, secrets)
    notice, pins = driver.servers[0].notice, driver.pins
    assert notice is not None
    # What transports of rounds have beyond the kind.
    transport: Any = driver.transport
    software, judge, identities = transport.software, transport.judge_keys, driver.identities
    server: Any = driver.servers[0]
    held = server.state.uploads.write_held()
    client: Any = driver.clients[0]
    objection = client._object()[0].body
    sizes = server.collection.sealed_sizes
    driver.close()
    listed = server.state.accepted_list

    def all_sign(rng: random.Random) -> int:
        document = mutated(rng, unpack(notice)[0])
        bound = hashlib.sha256(_part(document, 1)).digest()
        signed = [Signer(identity).sign("notice", bound, document) for identity in identities]
        read_notice(write_signed(document, signed), pins, software, judge)
        return len(document)

    def reading(data: bytes) -> None:
        read_notice(data, pins, software, judge)

    yield "rounds: parts", lambda: decoding(partial(unpack, most=9), notice, allowed=(ValueError,))
    yield "rounds: description", lambda: decoding(reading, notice, allowed=(TransportError,))
    yield (
        "rounds: description that all servers signed",
        lambda: Target(all_sign, (TransportError,)),
    )
    yield (
        "rounds: plan of a round",
        lambda: decoding(
            Round.decode,
            driver.round.encode(),
            described("deposit")[0].encode(),
            allowed=(TransportError,),
        ),
    )
    yield "rounds: plan of a round as JSON", lambda: _plan_target(driver.round)
    yield "rounds: what a server holds", lambda: decoding(read_held, held)
    yield (
        "rounds: objection",
        lambda: decoding(lambda data: Objection.read(data, sizes), objection),
    )
    yield (
        "rounds: signed list",
        lambda: decoding(
            lambda data: read_signed(data, "accepted", server.state.binding, pins), listed
        ),
    )


def _part(data: bytes, at: int) -> bytes:
    try:
        return unpack(data)[at]
    except (ValueError, IndexError):
        return b""


def _plan_target(round: Round) -> Target:
    encoded = round.encode()
    head = json.loads(encoded[8 : 8 + int.from_bytes(encoded[:8], "big")])

    def attempt(rng: random.Random) -> int:
        data = spelled(mutated_json(rng, head))
        Round.decode(len(data).to_bytes(8, "big") + data)
        return len(data)

    return Target(attempt, (TransportError,))


def transport_targets() -> Iterator[tuple[str, Callable[[], Target]]]:
    """Yield what each transport reads."""
    kinds = {
        "strangers' envelopes": of_servers,
        "what a sender is shown": of_clients,
        "dishonest uploads": of_uploads,
        "a deviating server's words": of_words,
        "saved states": of_saved,
    }
    for name, transport in TRANSPORTS.items():
        for operation in ("post", "deposit"):
            for what, make in kinds.items():
                yield f"{name}: {what} ({operation})", partial(make, transport, operation)


# --- donation --------------------------------------------------------------------------------


class ByFirstByte:
    """Classes by the first byte of a record."""

    def classify(self, records: Any, seed: int) -> ClassAssignment:
        """Make three classes and leave the rest out."""
        first = records[:, 0].astype(np.int64)
        cells = (("*",), ("a",), ("b",), ("c",))
        return ClassAssignment(np.where(first < len(cells), first, -1), cells)

    def draw(self, numbers: Any, seed: int) -> Any:
        """Keep everything."""
        return np.ones(len(numbers), bool)

    def readable(self, answers: Any) -> Any:
        """Read everything."""
        return np.ones(len(answers), bool)


def anonify_targets() -> Iterator[tuple[str, Callable[[], Target]]]:
    """Yield what donors, servers and the recipient of a study read."""
    authority = Authority.draw(SeededEntropy())
    study = Study(
        id="fuzz",
        servers=2,
        donors=12,
        k=2,
        min_batch=2,
        registration_size=2,
        answer_size=3,
        authority=authority.public,
        versions=("fuzz 1",),
    )
    records = np.array([[1 + index % 3, index] for index in range(12)], np.uint8)
    answers = [(np.full((12, 3), 7, np.uint8), np.ones(12, bool))]
    saved: list[bytes] = []
    campaign = Campaign(
        transport=Carrier(),
        study=study,
        works=[ByFirstByte(), ByFirstByte()],
        records=records,
        answers=answers,
        behaviour=Behaviour.honest(12),
        entropy=SeededEntropy(),
        authority=authority,
        traced=True,
        after=lambda running, step: saved.append(running.servers[0].save()),
    )
    campaign.run()
    first = campaign.servers[0]
    notice, broadcast, pins = first.notice, first.broadcast, campaign.pins
    assert notice is not None
    assert broadcast is not None
    signers = [Signer(identity) for identity in campaign.identities]
    classes, release = unpack(broadcast)[0], unpack(first.releases[1])[0]

    def signed(kind: str, bound: bytes, document: bytes) -> bytes:
        return write_signed(document, [signer.sign(kind, bound, document) for signer in signers])

    def study_of(data: bytes) -> None:
        read_study(data, pins)

    def look_up(rng: random.Random) -> int:
        donor = Donor(notice, pins, SeededEntropy())
        document = mutated(rng, classes)
        donor.look_up(signed("classes", binding_of(notice), document))
        return len(document)

    def opened(data: bytes) -> None:
        IterationRelease.decode(data, study)

    def heard(rng: random.Random) -> int:
        """One word of server 1 is changed, and signed anew."""
        envelope = rng.choice([item for item in campaign.envelopes if item.receiver.index == 0])
        body = mutated(rng, envelope.body[64:])
        fresh = _server(study, campaign.identities, pins, SeededEntropy(rng.random()))
        fresh.begin()
        for word in campaign.envelopes:
            if word.receiver.index == 0 and word.step in ("key", "sign notice"):
                fresh.receive(word)
        bound = study.digest if envelope.step in ("key", "sign notice", "stop") else b""
        own = signers[1].sign(
            f"word {envelope.step}", bound or fresh.agreement.channel.binding, body
        )
        fresh.receive(attrs.evolve(envelope, body=own + body))
        fresh.receive(attrs.evolve(envelope, body=mutated(rng, envelope.body)))
        return len(body)

    def resumed(data: bytes) -> None:
        _server(study, campaign.identities, pins, SeededEntropy()).resume(data)

    schema = Schema(
        (
            Column(name="age", role="quasi", type="number"),
            Column(name="day", role="quasi", type="date"),
            Column(name="time", role="quasi", type="time"),
            Column(name="city", role="quasi", type="category"),
        )
    )
    layout = RecordLayout.of(schema, schema.names, text_bytes=8)

    def posted(rng: random.Random) -> int:
        rows = [rng.randbytes(layout.size) for _ in range(4)]
        rows.append(bytes([rng.choice((0, 1, 127, 255))]) * layout.size)
        layout.decode(np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), layout.size))
        return len(rows) * layout.size

    def registered(rng: random.Random) -> int:
        messages = [rng.randbytes(16) + rng.randbytes(2) for _ in range(4)]
        messages += messages[: rng.randrange(3)]
        result = Registrations.of(messages, 2)
        Classes.of(result, ByFirstByte().classify(result.records, 0)).encode()
        return sum(map(len, messages))

    def reserved(rng: random.Random) -> int:
        messages = [rng.randbytes(RESERVATION_BYTES - 4) + _class(rng) for _ in range(4)]
        messages += messages[: rng.randrange(3)]
        assert Reservations.of(messages, 4).digest
        return sum(map(len, messages))

    own = (TransportError,)
    yield "anonify: study", lambda: decoding(Study.decode, study.encode(), allowed=own)
    yield "anonify: study as JSON", lambda: _json_target(Study.decode, study.encode(), own)
    yield "anonify: description of a study", lambda: decoding(study_of, notice, allowed=own)
    yield "anonify: classes", lambda: decoding(Classes.decode, classes, allowed=own)
    yield "anonify: classes that all servers signed", lambda: Target(look_up, own)
    yield "anonify: release", lambda: decoding(opened, release, allowed=own)
    yield "anonify: a deviating server's words", lambda: Target(heard)
    yield "anonify: saved states", lambda: decoding(resumed, *saved[:4], saved[-1], allowed=own)
    yield "anonify: encoded records", lambda: Target(posted)
    yield "anonify: registrations", lambda: Target(registered)
    yield "anonify: reservations", lambda: Target(reserved)


def _class(rng: random.Random) -> bytes:
    return rng.choice((0, 1, 3, 4, 2**31, 2**32 - 1)).to_bytes(4, "big")


def _server(study: Study, identities: Any, pins: Any, entropy: SeededEntropy) -> Aggregator:
    config = ServerConfig(index=0, identity=identities[0], pins=pins, vault=MemoryVault())
    return Aggregator(study, config, ByFirstByte(), entropy)


def _json_target(
    decode: Callable[[bytes], Any], sample: bytes, allowed: tuple[type[Exception], ...]
) -> Target:
    content = json.loads(sample)

    def attempt(rng: random.Random) -> int:
        data = spelled(mutated_json(rng, content))
        decode(data)
        return len(data)

    return Target(attempt, allowed)


# --- seals and proofs ------------------------------------------------------------------------

_COLUMNS = {"age": "number", "city": "category", "seen": "date"}
_ROWS = (
    ('"[20, 29]"', "Rome", "2024-03-01"),
    ('"[20, 29]"', "Oslo", ""),
    ('"[30, 39]"', "Rome", "2024-05-01"),
    ("*", "Rome", "2023-12-31"),
    ("", "Rome", "2024-03-01"),
)


def _sealed(folder: Path, scheme: Any) -> Path:
    public, private = folder / "public", folder / "private"
    public.mkdir(parents=True)
    private.mkdir()
    lines = [",".join(_COLUMNS), *(",".join(row) for row in _ROWS), ""]
    (public / "release.csv").write_text("\n".join(lines))
    types = {name: {"role": "other", "type": kind} for name, kind in _COLUMNS.items()}
    (public / "manifest.json").write_text(json.dumps({"spec": {"columns": types}}))
    scheme.seal(public, private)
    return public


def proof_targets() -> Iterator[tuple[str, Callable[[], Target]]]:
    """Yield what whoever gets a sealed release or a proof reads."""
    from anonloom.kinds import Query

    own = (IntegrityError,)
    for scheme in (Merkle(index=("age", "seen")), SkipListSeal(index=("age", "seen"))):
        with tempfile.TemporaryDirectory() as folder:
            public = _sealed(Path(folder), scheme)
            head = (public / scheme.format.names.text).read_bytes()
            secret = keys.read_private(Path(folder) / "private" / scheme.format.private_key)
            asked = [Query(rows=(2, 4)), Query(where="seen >= 2024-03-01"), Query(rows=(1,))]
            proofs = [scheme.prove(public, query) for query in asked]
            if scheme.format.shows_growth:
                proofs.append(scheme.prove(public, Query(since=public / scheme.format.names.text)))
        name = scheme.format.name
        verify = scheme.verify_proof
        heads = partial(Head.read, name="head")
        yield f"proofs: proof file ({name})", partial(decoding, verify, *proofs, allowed=own)
        yield f"proofs: proof with a sum that fits ({name})", partial(_summed, verify, proofs)
        yield f"proofs: proof signed anew ({name})", partial(_resigned, scheme, proofs, secret)
        yield f"proofs: head ({name})", partial(decoding, heads, head, allowed=own)
        yield f"proofs: head as JSON ({name})", partial(_json_target, heads, head, own)
        yield f"proofs: path ({name})", partial(_path_target, scheme, proofs)
    public_key = keys.public_key_pem(secret.public_key())
    entry = {"sha256": "0" * 64, "size": 3}
    fields = {"context": "anonloom digest of a release", "format": 1, "hash": "sha256"}
    listing = json.dumps({**fields, "key": "f" * 64, "files": {"a/b.csv": entry}}).encode()
    listings = partial(Listing.read, name="digest")
    yield "proofs: digest as JSON", partial(_json_target, listings, listing, own)
    yield (
        "proofs: public key",
        partial(decoding, partial(keys.read_public, where="here"), public_key, allowed=own),
    )
    yield "proofs: condition", partial(_condition_target)


def _condition_target() -> Target:
    samples = [
        b"age >= 3 and age < 10",
        b"city = 'Rome'",
        b"seen between 2024-01-01 and 2024-02-01",
    ]
    return decoding(
        lambda data: Condition.read(data.decode(errors="replace")),
        *samples,
        allowed=(UsageError, IntegrityError, ValueError),
    )


def _spelled_proof(content: Any) -> bytes:
    proof = spelled(content)
    return b'{"proof": ' + proof + f',\n"sum": "{hashlib.sha256(proof).hexdigest()}"}}\n'.encode()


def _summed(verify: Callable[[bytes], Any], proofs: Sequence[bytes]) -> Target:
    contents = [json.loads(proof)["proof"] for proof in proofs]

    def attempt(rng: random.Random) -> int:
        data = _spelled_proof(mutated_json(rng, rng.choice(contents)))
        verify(data)
        return len(data)

    return Target(attempt, (IntegrityError,))


def _resigned(scheme: Any, proofs: Sequence[bytes], secret: Any) -> Target:
    """Return the target of a forger who signs with a key of his own."""
    contents = [json.loads(proof)["proof"] for proof in proofs]

    def attempt(rng: random.Random) -> int:
        content = mutated_json(rng, rng.choice(contents))
        head = mutated_json(rng, json.loads(contents[0]["head"]))
        if isinstance(content, dict):
            with contextlib.suppress(UnicodeEncodeError, RecursionError):
                text = json.dumps(head, indent=2, ensure_ascii=False) + "\n"
                content["head"] = text
                content["signature"] = keys.sign(
                    secret, text.encode(), scheme.format.domain
                ).decode()
        data = _spelled_proof(content)
        scheme.verify_proof(data)
        return len(data)

    return Target(attempt, (IntegrityError,))


def _path_target(scheme: Any, proofs: Sequence[bytes]) -> Target:
    parts = [part for proof in proofs for part in Proof.read(proof).parts]

    def attempt(rng: random.Random) -> int:
        part = rng.choice(parts)
        size = rng.choice((len(_ROWS), len(_ROWS), 1, 6, 2**20, 2**62))
        leaves = {index: hashlib.sha256(bytes([index])).digest() for index in part.positions}
        path = mutated(rng, part.path)
        scheme.format.structure.recompute(size, leaves, path)
        return len(path)

    return Target(attempt, (IntegrityError,))


# --- answers of workers ----------------------------------------------------------------------


def sentinels_targets() -> Iterator[tuple[str, Callable[[], Target]]]:
    """Yield what comes back from workers."""
    rng = np.random.default_rng(1)
    jobs = pd.DataFrame({"age": [str(n) for n in range(30)]})
    known = pd.DataFrame({"age": [str(n) for n in range(100, 120)], RESULT: ["x", "y"] * 10})
    campaign = Outsourced(jobs=30, workers=2, lazy=1, omission=0.3, classes=(0.5, 0.5), budget=15)
    scheme = SentinelsTwins(likeness=False)
    made = scheme.assign(jobs, known, campaign, scheme.size(campaign), rng)
    files = [
        pd.DataFrame({JOB: batch[JOB], RESULT: "x"}).to_csv(index=False).encode()
        for batch in made.batches
    ]
    message = json.dumps({JOB: made.batches[0][JOB].tolist(), RESULT: ["x"] * len(made.batches[0])})
    folder = tempfile.TemporaryDirectory()

    def attempt(rng: random.Random) -> int:
        data = mutated(rng, files[0], files)
        path = Path(folder.name)
        (path / worker_file(0, 2)).write_bytes(data)
        (path / worker_file(1, 2)).write_bytes(files[1])
        scheme.verify(made.key, read_answers(path, 2))
        return len(data)

    def judged(data: bytes) -> None:
        scheme.verify(made.key, [read_worker(data), None])

    own = (DataError, OmittedWork)
    yield "sentinels-twins: answer file", lambda: Target(attempt, own)
    yield (
        "sentinels-twins: answer of a process",
        lambda: decoding(judged, message.encode(), allowed=own),
    )
    yield (
        "sentinels-twins: answer of a process as JSON",
        lambda: _json_target(judged, message.encode(), own),
    )


def targets() -> dict[str, Callable[[], Target]]:
    """Return what is tried, by name; each is made when it is asked for."""
    return {
        **dict(rounds_targets()),
        **dict(transport_targets()),
        **dict(anonify_targets()),
        **dict(proof_targets()),
        **dict(sentinels_targets()),
    }


# --- trying ----------------------------------------------------------------------------------


@attrs.define
class Report:
    """What became of the mutations of one decoder.

    Attributes
    ----------
    findings
        Exceptions that are not declared, counted, with the number of the first attempt.
    slowest
        CPU seconds of the slowest attempt beyond what its size explains.
    """

    name: str
    mutations: int = 0
    refused: int = 0
    findings: Counter[str] = attrs.field(factory=Counter)
    slowest: float = 0.0
    slow: int = 0
    memory: int = 0

    @property
    def held(self) -> bool:
        """Whether nothing was found."""
        return not self.findings and not self.slow


def fuzz(name: str, target: Target, mutations: int, seed: int = 0) -> Report:
    """Try a decoder."""
    report, before = Report(name), _memory()
    for number in range(-(-mutations // target.each)):
        rng = random.Random(f"{name} {seed} {number}")
        start, size = time.process_time(), max(LARGE)
        try:
            size = target.attempt(rng)
        except target.allowed:
            report.refused += 1
        except AnonloomError as error:
            report.findings[f"{type(error).__name__}, not declared: {error}"[:200]] += 1
        except Exception as error:
            report.findings[f"{type(error).__name__} at mutation {number}: {error}"[:200]] += 1
        spent = time.process_time() - start
        report.slowest = max(report.slowest, spent)
        report.slow += spent > SECONDS + PER_BYTE * size
        report.mutations += target.each
    report.memory = _memory() - before
    return report


def _memory() -> int:
    """Return the most memory that this process has had, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> int:
    """Try everything that was asked for; return 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--mutations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", nargs="*", default=[""], help="names that hold one of these texts"
    )
    parser.add_argument("--skip", nargs="*", default=[], help="names that hold none of these texts")
    asked = parser.parse_args()
    result, total = 0, 0
    for name, make in targets().items():
        if not any(text in name for text in asked.only) or any(text in name for text in asked.skip):
            continue
        report = fuzz(name, make(), asked.mutations, asked.seed)
        total += report.mutations
        print(
            f"{name:60} {report.mutations:>7,} mutations {report.refused:>7,} refused "
            f"{sum(report.findings.values()):>4} findings, slowest {report.slowest:6.3f} s CPU, "
            f"{report.slow} too slow, +{report.memory / 1024:.0f} MiB",
            flush=True,
        )
        for what, times in report.findings.most_common(5):
            print(f"    {times} x {what}")
        result += not report.held
    print(f"{total:,} mutations; {result} decoders with findings")
    return int(result > 0)


if __name__ == "__main__":
    sys.exit(main())
