"""Saving: the facts that a server of a study follows from, written and read."""

from typing import TYPE_CHECKING

from anonloom.errors import TransportError
from anonloom_anonify.council import bound_of, read_study
from anonloom_rounds.packing import pack, unpack
from anonloom_rounds.signing import read_signed
from anonloom_rounds.words import Word

if TYPE_CHECKING:
    from anonloom_anonify.aggregator import Aggregator

_NOTHING = b""


def save(server: "Aggregator") -> bytes:
    """Write all facts; what all servers have signed, when the study's key is destroyed."""
    council = server.council
    if server.over:
        signed = (pack(_number(at), data) for at, data in server.releases.items())
        withheld = (pack(_number(at), why.encode()) for at, why in server.withheld.items())
        return council.box.publish(
            council.notice or b"", server.broadcast or b"", pack(*signed), pack(*withheld)
        )
    if not council.box.begun:
        # Nothing was drawn yet, so nothing is secret and nothing is lost.
        return council.box.publish(b"", b"", b"", b"")
    words = (
        pack(step.encode(), _number(at), word.signature, word.body)
        for step, at, word in council.talk.words.entries()
    )
    heard = (
        pack(name.encode(), _number(one.accepted), *map(_written, one.messages))
        for name, one in server.facts.items()
    )
    given_up = (pack(name.encode(), why.encode()) for name, why in server.given_up.items())
    return council.box.seal(pack(*words), pack(*council.drawn), pack(*heard), pack(*given_up))


def load(server: "Aggregator", saved: bytes) -> None:
    """Give a new engine the facts of one that was saved, and let it go on.

    Raises
    ------
    TransportError
        When they cannot be read any more.
    """
    secret, parts = server.council.box.open(saved)
    try:
        if secret:
            _load_secret(server, parts)
        else:
            _load_public(server, parts)
    except (ValueError, IndexError):
        raise TransportError("what was saved cannot be read") from None


def _load_secret(server: "Aggregator", parts: list[bytes]) -> None:
    words, drawn, heard, given_up = parts
    server.council.replay(unpack(drawn), [_word(entry) for entry in unpack(words)])
    for entry in unpack(heard):
        name, accepted, *messages = unpack(entry)
        read = tuple(_read(message) for message in messages)
        server.remember(name.decode(), read, int.from_bytes(accepted, "big"))
    for entry in unpack(given_up):
        name, why = unpack(entry)
        server.given_up[name.decode()] = why.decode()


def _load_public(server: "Aggregator", parts: list[bytes]) -> None:
    if server.council.box.begun:
        raise TransportError(
            "what was saved is from before this server began the study: it goes on from what it "
            "saved last"
        )
    notice, broadcast, signed, withheld = parts
    if not notice:
        return
    # No key is left to seal with: what all have signed shows by itself that it is true.
    pins = server.seat.pins
    if read_study(notice, pins) != server.study:
        raise ValueError("another study")
    bound = bound_of(notice)
    releases = {_int(at): data for at, data in map(unpack, unpack(signed))}
    documents = [("classes", broadcast)]
    documents += [(f"release {at}", data) for at, data in releases.items()]
    for kind, data in documents:
        if read_signed(data, kind, bound, pins) is None:
            raise ValueError("not signed by all")
    server.council.notice, server.broadcast, server.releases = notice, broadcast, releases
    server.withheld = {_int(at): why.decode() for at, why in map(unpack, unpack(withheld))}
    server.over = True


def _word(entry: bytes) -> tuple[str, int, Word]:
    step, server, signature, body = unpack(entry)
    return step.decode(), _int(server), Word(body, signature)


def _number(number: int) -> bytes:
    return number.to_bytes(8, "big")


def _int(number: bytes) -> int:
    return int.from_bytes(number, "big")


def _written(message: bytes | None) -> bytes:
    return _NOTHING if message is None else b"\1" + message


def _read(message: bytes) -> bytes | None:
    return None if message == _NOTHING else message[1:]
