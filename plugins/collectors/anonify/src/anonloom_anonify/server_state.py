"""State of a server: the facts that a server of a study follows from, written and read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonloom.errors import TransportError
from anonloom_anonify.registration import Classes
from anonloom_anonify.round_log import RoundResult
from anonloom_anonify.server_agreement import binding_of
from anonloom_transport import SignedMessage, pack, read_signed, unpack, verify_signature

if TYPE_CHECKING:
    from anonloom_anonify.aggregator import Aggregator

_NOTHING = b""
_SAVED = "saved"


def save(server: "Aggregator") -> bytes:
    """Write all facts; what all servers may know, when the study's key is destroyed."""
    agreement = server.agreement
    words = pack(
        *(
            pack(step.encode(), _number(index), word.signature, word.body)
            for step, index, word in agreement.channel.messages.entries()
        )
    )
    if not agreement.state_vault.begun:
        # Nothing was drawn yet, so nothing is secret and nothing is lost; or the study has ended.
        releases = (pack(_number(index), data) for index, data in server.releases.items())
        withheld = (pack(_number(index), why.encode()) for index, why in server.withheld.items())
        return _publish(
            server,
            words,
            agreement.notice or b"",
            server.broadcast or b"",
            pack(*releases),
            pack(*withheld),
            _number(server.restarts),
        )
    heard = (
        pack(
            name.encode(),
            _number(fact.accepted),
            _number(fact.left_out),
            pack(*sorted(fact.senders)),
            *map(_write_message, fact.messages),
        )
        for name, fact in server.round_log.facts.items()
    )
    given_up = (
        pack(name.encode(), why.encode()) for name, why in server.round_log.given_up.items()
    )
    return agreement.state_vault.seal(
        words, pack(*agreement.entropy_log), pack(*heard), pack(*given_up)
    )


# Signed by the server itself: no key is left to seal it with, and on a disk that somebody changed
# there must be nothing that makes it contradict itself.


def _publish(server: "Aggregator", *parts: bytes) -> bytes:
    signer, digest = server.agreement.channel.signer, server.study.digest
    return server.agreement.state_vault.publish(
        *parts, signer.sign(_SAVED, digest, _with_server_index(server, parts))
    )


def _with_server_index(server: "Aggregator", parts: Sequence[bytes]) -> bytes:
    return pack(_number(server.config.index), *parts)


def load(server: "Aggregator", saved: bytes) -> None:
    """Give a new engine the facts of one that was saved, and let it go on.

    Raises
    ------
    TransportError
        When they cannot be read any more.
    """
    secret, parts = server.agreement.state_vault.open(saved)
    try:
        if secret:
            _load_secret(server, parts)
        else:
            _load_public(server, parts)
    except (ValueError, IndexError):
        raise TransportError("what was saved cannot be read") from None


def _load_secret(server: "Aggregator", parts: list[bytes]) -> None:
    words, drawn, heard, given_up = parts
    server.agreement.replay(unpack(drawn), [_word(entry) for entry in unpack(words)])
    for entry in unpack(heard):
        name, accepted, left_out, senders, *messages = unpack(entry)
        read = tuple(_read_message(message) for message in messages)
        numbers = _int(accepted), _int(left_out)
        server.round_log.remember(
            RoundResult(name.decode(), read, *numbers, frozenset(unpack(senders)))
        )
    for entry in unpack(given_up):
        name, why = unpack(entry)
        server.round_log.given_up[name.decode()] = why.decode()


def _load_public(server: "Aggregator", parts: list[bytes]) -> None:
    agreement, pins = server.agreement, server.config.pins
    *message, own = parts
    if not verify_signature(
        pins[server.config.index],
        own,
        _SAVED,
        server.study.digest,
        _with_server_index(server, message),
    ):
        raise ValueError("this server did not save that")
    if agreement.state_vault.begun:
        raise TransportError(
            "what was saved is from before this server began the study: it goes on from what it "
            "saved last"
        )
    words, notice, broadcast, releases, withheld, restarts = message
    if notice:
        agreement.notice, agreement.channel.binding = notice, binding_of(notice)
    agreement.replay((), [_word(entry) for entry in unpack(words)])
    if broadcast:
        document = read_signed(broadcast, "classes", agreement.channel.binding, pins)
        if document is None:
            raise ValueError("not signed by all")
        server.broadcast, server.classes = broadcast, Classes.decode(document)
    server.releases = {_int(index): data for index, data in map(unpack, unpack(releases))}
    server.withheld = {_int(index): why.decode() for index, why in map(unpack, unpack(withheld))}
    server.restarts = _int(restarts)
    server.over = bool(notice) and not server.stop_reason


def _word(entry: bytes) -> tuple[str, int, SignedMessage]:
    step, server, signature, body = unpack(entry)
    return step.decode(), _int(server), SignedMessage(body, signature)


def _number(number: int) -> bytes:
    return number.to_bytes(8, "big")


def _int(number: bytes) -> int:
    return int.from_bytes(number, "big")


def _write_message(message: bytes | None) -> bytes:
    return _NOTHING if message is None else b"\1" + message


def _read_message(message: bytes) -> bytes | None:
    return None if message == _NOTHING else message[1:]
