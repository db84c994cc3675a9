"""Saving: the facts that a server engine follows from, written and read."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonloom.errors import TransportError
from anonloom_transport.codec import cut, pack, unpack
from anonloom_transport.engines import ID_BYTES
from anonloom_transport.messages import SignedMessage
from anonloom_transport.notice import read_notice
from anonloom_transport.rounds import Party
from anonloom_transport.signing import signed
from anonloom_transport.uploads import Body

if TYPE_CHECKING:
    from anonloom_transport.server import RoundServer

_SAVED = "saved"


def save(server: "RoundServer") -> bytes:
    """Write all facts; only those that are public when the round's key is destroyed."""
    words = pack(
        *(
            pack(step.encode(), _number(index), word.signature, word.body)
            for step, index, word in server.channel.messages.entries()
        )
    )
    asked = pack(*(action.encode() for action in server._asked))
    counted = pack(*(_counted(counter) for counter in (server.refused, server.remarks)))
    # Withdrawn positions are saved to the end: without them the parts that all have shown could not
    # be put together. What was planned comes with the config and is not told to a disk in clear.
    planned = server.config.erasure.positions if server.config.erasure else frozenset()
    erased = b"".join(_number(position) for position in sorted(server._erased - planned))
    if server._over:
        subject = b"".join(server.admitted or ())
        stood = pack(*sorted(server.senders))
        text = (server.notice or b"", subject, _number(server._left_out), stood)
        return _publish(server, words, asked, counted, erased, *text)
    if server._key is None:
        # Nothing was drawn yet, so nothing is secret and nothing is lost.
        return _publish(server, words, asked, counted, erased, b"", b"", _number(0), b"")
    uploads = pack(
        *(
            pack(upload, _sender(server._senders.get(upload)), bytes(server._uploads[upload]))
            for upload in server._uploads
        )
    )
    return server._vault.seal(
        words,
        asked,
        counted,
        pack(*server._entropy.draws),
        uploads,
        erased,
        pack(*(pack(*item) for item in server._objections.items())),
        pack(*(pack(name.encode(), fact) for name, fact in server.remembered.items())),
    )


# Signed by the server itself: no key is left to seal it with, and on a disk that somebody changed
# there must be nothing that makes it accuse the others or contradict itself.


def _publish(server: "RoundServer", *parts: bytes) -> bytes:
    own = server.channel.signer.sign(_SAVED, server.round.digest, _seated(server, parts))
    return server._vault.publish(*parts, own)


def _check(server: "RoundServer", parts: list[bytes]) -> list[bytes]:
    *message, own = parts
    pin, digest = server.config.pins[server.config.index], server.round.digest
    if not signed(pin, own, _SAVED, digest, _seated(server, message)):
        raise ValueError("this server did not save that")
    return message


def _seated(server: "RoundServer", parts: Sequence[bytes]) -> bytes:
    return pack(_number(server.config.index), *parts)


def load(server: "RoundServer", saved: bytes) -> None:
    """Give a new engine the facts of one that was saved.

    Raises
    ------
    TransportError
        When they cannot be read any more.
    """
    secret, parts = server._vault.open(saved)
    try:
        if secret:
            _load_secret(server, parts)
        else:
            _load_public(server, parts)
    except (ValueError, IndexError):
        raise TransportError("what was saved cannot be read") from None


def _load_secret(server: "RoundServer", parts: list[bytes]) -> None:
    words, asked, counted, drawn, uploads, erased, objections, remembered = parts
    for item in unpack(remembered):
        name, fact = unpack(item)
        server.remembered[name.decode()] = fact
    server._entropy.replay(unpack(drawn))
    server.channel.restore(_words(words))
    server._describe()
    for entry in unpack(uploads):
        upload, sender, body = unpack(entry)
        server._keep(upload, Body.read(body, server.round.servers))
        if sender:
            server._senders[upload] = Party("client", int.from_bytes(sender, "big"))
    _erase(server, erased)
    for item in unpack(objections):
        upload, objection = unpack(item)
        server._objections[upload] = objection
    # What was refused before is counted once: going on from the facts counts some of it again.
    server._asked = [action.decode() for action in unpack(asked)]
    server._go_on()
    _count(server, counted)


def _load_public(server: "RoundServer", parts: list[bytes]) -> None:
    words, asked, counted, erased, notice, admitted, left_out, stood = _check(server, parts)
    if server._vault.begun:
        raise TransportError(
            "what was saved is from before this server began the round: it goes on from what it "
            "saved last"
        )
    server._asked = [action.decode() for action in unpack(asked)]
    _erase(server, erased)
    if notice:
        server._notice = notice
        server._described = read_notice(
            notice, server.config.pins, server._software, server.judge_keys
        )
        server.channel.binding = server._described.binding
        server.admitted = tuple(cut(admitted, ID_BYTES))
        server._accepted = len(server.admitted)
        server._left_out = int.from_bytes(left_out, "big")
        server._stood = frozenset(unpack(stood))
        server._over = True
    message = _words(words)
    if not all(server.channel.genuine(*entry) for entry in message):
        raise ValueError("a word that its server did not say")
    server.channel.restore(message)
    _count(server, counted)


def _erase(server: "RoundServer", positions: bytes) -> None:
    server._erased |= {int.from_bytes(position, "big") for position in cut(positions, 8)}


def _words(data: bytes) -> list[tuple[str, int, SignedMessage]]:
    results = []
    for entry in unpack(data):
        step, server, signature, body = unpack(entry)
        results.append(
            (step.decode(), int.from_bytes(server, "big"), SignedMessage(body, signature))
        )
    return results


def _number(number: int) -> bytes:
    return number.to_bytes(8, "big")


def _sender(party: Party | None) -> bytes:
    return b"" if party is None else _number(party.index)


def _counted(counter: Counter[str]) -> bytes:
    return pack(*(pack(reason.encode(), _number(times)) for reason, times in counter.items()))


def _count(server: "RoundServer", counted: bytes) -> None:
    for counter, data in zip((server.refused, server.remarks), unpack(counted), strict=True):
        counter.clear()
        for entry in unpack(data):
            reason, times = unpack(entry)
            counter[reason.decode()] = int.from_bytes(times, "big")
