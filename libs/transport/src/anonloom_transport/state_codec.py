"""How the state of a server is saved: the facts that it follows from, written and read."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonloom.errors import TransportError
from anonloom_transport.codec import cut, pack, unpack
from anonloom_transport.engines import ID_BYTES
from anonloom_transport.messages import SignedMessage
from anonloom_transport.notice import read_notice
from anonloom_transport.rounds import Party
from anonloom_transport.signing import verify_signature
from anonloom_transport.state import RoundState
from anonloom_transport.uploads import Body

if TYPE_CHECKING:
    from anonloom_transport.server import RoundServer

_SAVED = "saved"


def save(state: RoundState) -> bytes:
    """Write all facts; only those that are public when the round's key is destroyed."""
    words = pack(
        *(
            pack(step.encode(), _number(index), word.signature, word.body)
            for step, index, word in state.channel.messages.entries()
        )
    )
    asked = pack(*(action.encode() for action in state.requests))
    counted = pack(*(_write_counter(counter) for counter in (state.refused, state.remarks)))
    # Withdrawn positions are saved to the end: without them the parts that all have shown could not
    # be put together. What was planned comes with the config and is not told to a disk in clear.
    planned = state.config.erasure.positions if state.config.erasure else frozenset()
    erased = b"".join(_number(position) for position in sorted(state.erased - planned))
    if state.over:
        subject = b"".join(state.admitted or ())
        stood = pack(*sorted(state.senders))
        public = (state.notice or b"", subject, _number(state.left_out), stood)
        return _publish(state, words, asked, counted, erased, *public)
    if state.key is None:
        # Nothing was drawn yet, so nothing is secret and nothing is lost.
        return _publish(state, words, asked, counted, erased, b"", b"", _number(0), b"")
    uploads = pack(
        *(
            pack(upload, _sender(state.clients.get(upload)), bytes(state.uploads[upload]))
            for upload in state.uploads
        )
    )
    return state.vault.seal(
        words,
        asked,
        counted,
        pack(*state.entropy.draws),
        uploads,
        erased,
        pack(*(pack(*item) for item in state.objections.items())),
        pack(*(pack(name.encode(), fact) for name, fact in state.remembered.items())),
    )


# Signed by the server itself: no key is left to seal it with, and on a disk that somebody changed
# there must be nothing that makes it accuse the others or contradict itself.


def _publish(state: RoundState, *parts: bytes) -> bytes:
    own = state.channel.signer.sign(_SAVED, state.round.digest, _with_index(state, parts))
    return state.vault.publish(*parts, own)


def _check(state: RoundState, parts: list[bytes]) -> list[bytes]:
    *message, own = parts
    pin, digest = state.config.pins[state.config.index], state.round.digest
    if not verify_signature(pin, own, _SAVED, digest, _with_index(state, message)):
        raise ValueError("this server did not save that")
    return message


def _with_index(state: RoundState, parts: Sequence[bytes]) -> bytes:
    return pack(_number(state.config.index), *parts)


def load(server: "RoundServer", saved: bytes) -> None:
    """Give a new engine the facts of one that was saved.

    Raises
    ------
    TransportError
        When they cannot be read any more.
    """
    secret, parts = server.state.vault.open(saved)
    try:
        if secret:
            _load_secret(server, parts)
        else:
            _load_public(server.state, parts)
    except (ValueError, IndexError):
        raise TransportError("what was saved cannot be read") from None


def _load_secret(server: "RoundServer", parts: list[bytes]) -> None:
    messages, asked, counted, drawn, uploads, erased, objections, remembered = parts
    state = server.state
    for item in unpack(remembered):
        name, fact = unpack(item)
        state.remembered[name.decode()] = fact
    state.entropy.replay(unpack(drawn))
    state.channel.restore(_messages(messages))
    server.beginning.run()
    for entry in unpack(uploads):
        upload, sender, body = unpack(entry)
        server.collection.keep(upload, Body.read(body, state.round.servers))
        if sender:
            state.clients[upload] = Party("client", int.from_bytes(sender, "big"))
    _erase(state, erased)
    for item in unpack(objections):
        upload, objection = unpack(item)
        state.objections[upload] = objection
    # What was refused before is counted once: going on from the facts counts some of it again.
    state.requests = [action.decode() for action in unpack(asked)]
    server.advance()
    _count(state, counted)


def _load_public(state: RoundState, parts: list[bytes]) -> None:
    words, asked, counted, erased, notice, admitted, left_out, stood = _check(state, parts)
    if state.vault.begun:
        raise TransportError(
            "what was saved is from before this server began the round: it goes on from what it "
            "saved last"
        )
    state.requests = [action.decode() for action in unpack(asked)]
    _erase(state, erased)
    if notice:
        state.notice = notice
        state.description = read_notice(notice, state.config.pins, state.software, state.judge_keys)
        state.channel.binding = state.description.binding
        state.admitted = tuple(cut(admitted, ID_BYTES))
        state.accepted_count = len(state.admitted)
        state.left_out = int.from_bytes(left_out, "big")
        state.final_senders = frozenset(unpack(stood))
        state.over = True
    message = _messages(words)
    if not all(state.channel.genuine(*entry) for entry in message):
        raise ValueError("a word that its server did not say")
    state.channel.restore(message)
    _count(state, counted)


def _erase(state: RoundState, positions: bytes) -> None:
    state.erased |= {int.from_bytes(position, "big") for position in cut(positions, 8)}


def _messages(data: bytes) -> list[tuple[str, int, SignedMessage]]:
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


def _write_counter(counter: Counter[str]) -> bytes:
    return pack(*(pack(reason.encode(), _number(times)) for reason, times in counter.items()))


def _count(state: RoundState, counted: bytes) -> None:
    for counter, data in zip((state.refused, state.remarks), unpack(counted), strict=True):
        counter.clear()
        for entry in unpack(data):
            reason, times = unpack(entry)
            counter[reason.decode()] = int.from_bytes(times, "big")
