"""What a round over transport direct costs."""

from collections.abc import Callable
from functools import partial

from anonloom_direct.content import SALT_BYTES, Content, content_size, id_of
from anonloom_transport import (
    SECRET_BYTES,
    Costs,
    Operation,
    Round,
    SlotSecret,
    Work,
    microbenchmark,
    pack,
    read_row,
    row_size,
    unpack,
    write_row,
)


def costs(round: Round, software: bytes) -> Costs:
    """Return what a full round costs; with positions that are erased it is a little less."""
    servers = round.servers
    number, size = len(round.slots) or round.capacity, _row(round)
    shown = number * len(pack(bytes(size)))
    return Costs(
        round=round,
        software=software,
        contents=(content_size(round),) * servers,
        exchanges=(servers * shown,),
        server_work=server_work(round),
        memory=(servers + 2) * shown,
    )


def server_work(round: Round) -> Work:
    """Return what a server does beyond uploads: it reads and shows every row."""
    kind = (round.operation, round.message_size)
    name = f"direct: a row of a {round.operation} of {round.message_size} bytes"
    return Work({Operation(name, microbenchmark(partial(_reading, *kind))): round.capacity})


def _row(round: Round) -> int:
    return row_size(round.message_size) if round.slots else round.message_size


def _reading(operation: str, size: int) -> Callable[[], object]:
    secret = SlotSecret(bytes(SECRET_BYTES), bytes(SECRET_BYTES))
    described = Round(
        id="a trial",
        operation="post" if operation == "post" else "deposit",
        servers=1,
        message_size=size,
        min_batch=1,
        capacity=1,
        slots=() if operation == "post" else (secret.slot,),
    )
    salt, head = bytes(SALT_BYTES), secret.key().head
    if operation == "post":
        content = bytes(Content(salt, bytes(size)))
    else:
        row = write_row(secret, 1, 1, bytes(size))
        content = bytes(Content(salt, row, 0, secret.alpha))

    def read() -> None:
        id_of(content)
        contents = [Content.read(described, content) for _ in range(2)]
        (row,) = unpack(pack(contents[1].message))
        if operation == "deposit":
            read_row(head, 1, contents[0].message)
            read_row(head, 1, row)

    return read
