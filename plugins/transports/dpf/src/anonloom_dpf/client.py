"""The sender's side of transport dpf: a message becomes one key per server, none of which tells."""

from collections.abc import Iterable, Iterator, Sequence

import attrs

from anonloom import short_repr
from anonloom_dpf.layout import Settings, deposit_layout, post_layout
from anonloom_transport import Entropy, Envelope, RoundClient, SlotSecret

#: Senders in one process for whom keys are made together.
_TOGETHER = 2048


@short_repr
@attrs.define(eq=False)
class DpfClient(RoundClient):
    """Writes a message into tables that no server sees the whole of."""

    settings: Settings = attrs.field(kw_only=True)

    def for_post(self, message: bytes) -> list[bytes]:
        """Return keys of point functions that are the message at slots of its tag."""
        layout = post_layout(self.round, self.settings)
        return [own.tobytes() for own in layout.contents([message], self._entropy)]

    def for_deposit(self, position: int, secret: SlotSecret, record: bytes) -> list[bytes]:
        """Return keys of a point function that is the row at its position, and tag shares."""
        layout = deposit_layout(self.round)
        places = [(position, secret, record)]
        return [own.tobytes() for own in layout.contents(places, self._entropy)]

    def for_decoy(self) -> list[bytes]:
        """Return keys of a point function that is zero everywhere."""
        return [own.tobytes() for own in deposit_layout(self.round).nothing(self._entropy)]


def post_together(
    clients: Sequence[DpfClient], messages: Sequence[bytes]
) -> Iterator[list[Envelope]]:
    """Let many senders in one process post; keys are made for many of them at once."""
    for start in range(0, len(clients), _TOGETHER):
        some, theirs = clients[start : start + _TOGETHER], messages[start : start + _TOGETHER]
        for client, message in zip(some, theirs, strict=True):
            client.check_post(message)
        layout = post_layout(some[0].round, some[0].settings)
        contents = layout.contents(theirs, some[0]._entropy)
        for index, (client, message) in enumerate(zip(some, theirs, strict=True)):
            yield client.send(message, [own[index].tobytes() for own in contents])


def spoil_together(clients: Sequence[DpfClient], entropy: Entropy) -> Iterator[list[Envelope]]:
    """Let each client write noise into a leaf of every table of a post."""
    if clients:
        layout = post_layout(clients[0].round, clients[0].settings)
        contents = layout.garbage(len(clients), entropy)
        for index, client in enumerate(clients):
            yield client.send(b"", [own[index].tobytes() for own in contents])


def deposit_together(
    clients: Sequence[DpfClient], records: Iterable[tuple[SlotSecret, bytes]]
) -> Iterator[list[Envelope]]:
    """Let many senders in one process deposit; keys are made for many of them at once."""
    listed = list(records)
    for start in range(0, len(clients), _TOGETHER):
        some, given = clients[start : start + _TOGETHER], listed[start : start + _TOGETHER]
        places = [
            (client.check_deposit(secret, record), secret, record)
            for client, (secret, record) in zip(some, given, strict=True)
        ]
        contents = deposit_layout(some[0].round).contents(places, some[0]._entropy)
        for index, (client, (_, secret, record)) in enumerate(zip(some, places, strict=True)):
            yield client.send(secret.alpha + record, [own[index].tobytes() for own in contents])
