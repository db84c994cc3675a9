"""What a round over transport dpf costs: evaluating every key at every leaf, above all."""

from collections.abc import Callable, Sequence
from functools import partial

import attrs
import numpy as np

from anonloom_dpf import native, slotauth
from anonloom_dpf.aes import BLOCK, blocks_of
from anonloom_dpf.count_proof import TOSS_BYTES, toss_commitment
from anonloom_dpf.deposit_table import GROUPS
from anonloom_dpf.key_check import CHECK_KEY_BYTES
from anonloom_dpf.layout import (
    TAG_BYTES,
    DepositLayout,
    PostLayout,
    Settings,
    deposit_layout,
    post_layout,
)
from anonloom_dpf.placement import Placement
from anonloom_dpf.post_table import SAID_BYTES
from anonloom_dpf.prime_field import SIZE
from anonloom_dpf.sqrt_dpf import Square
from anonloom_dpf.tree import Tree
from anonloom_transport import (
    HASH_BYTES,
    SECRET_BYTES,
    Costs,
    Operation,
    Round,
    SlotSecret,
    SystemEntropy,
    Work,
    microbenchmark,
    read_row,
    write_row,
)

#: Of a trial: keys, leaves at most, messages that are read, field elements that are multiplied.
_KEYS = 64
_LEAVES = 2048
_MESSAGES = 512
_ELEMENTS = 1 << 12


def costs(round: Round, settings: Settings, software: bytes) -> Costs:
    """Return what a full round costs; with positions that are erased less is shown."""
    if round.operation == "post":
        return _post(round, post_layout(round, settings), software)
    return _deposit(round, deposit_layout(round), software)


def _post(round: Round, layout: PostLayout, software: bytes) -> Costs:
    servers, senders = round.servers, round.capacity
    tables = sum(function.leaves * function.width for function in layout.functions)
    # With a check there are coins for its key, and a word about every upload.
    checked = (HASH_BYTES, SAID_BYTES * senders) if layout.can_check_keys else ()
    message = bytes(round.message_size)
    return Costs(
        round=round,
        software=software,
        contents=(layout.content_size,) * servers,
        exchanges=tuple(servers * size for size in (*checked, tables)),
        server_work=post_work(round, layout),
        sender_work=_key_generation_work(
            layout.functions, lambda: layout.contents([message], SystemEntropy())
        ),
        # All contents joined, cut and joined again for the check; at the end all shares.
        memory=max(3 * senders * layout.content_size + tables, (servers + 3) * tables),
    )


def _deposit(round: Round, layout: DepositLayout, software: bytes) -> Costs:
    servers, senders = round.servers, round.capacity
    table = layout.rows * layout.width
    place = (0, SlotSecret(bytes(SECRET_BYTES), bytes(SECRET_BYTES)), bytes(round.message_size))
    words = BLOCK * blocks_of(layout.width)
    group = -(-senders // min(GROUPS, senders))
    # With counting something is tossed for weights, and two words are said about every upload.
    checked = (SIZE * senders, SIZE * senders) if layout.counted else ()
    claim = TAG_BYTES + SIZE * layout.counted
    return Costs(
        round=round,
        software=software,
        contents=(layout.content_size,) * servers,
        keys=(toss_commitment(b""),) if layout.counted else (),
        words=(servers * TOSS_BYTES,) if layout.counted else (),
        exchanges=tuple(servers * size for size in (*checked, claim * min(GROUPS, senders), table)),
        server_work=deposit_work(round, layout),
        sender_work=_key_generation_work(
            (layout.function,), lambda: layout.contents([place], SystemEntropy())
        ),
        memory=max(
            2 * group * layout.content_size + 2 * table + layout.rows * words, (servers + 3) * table
        ),
    )


# --- what servers do ----------------------------------------------------------------------------


def post_work(round: Round, layout: PostLayout) -> Work:
    """Return what a server does in a full post beyond uploads and words."""
    work = Work({_decode_operation(layout.placement): round.capacity})
    return work + evaluation_work(layout.functions, round.capacity, layout.can_check_keys)


def deposit_work(round: Round, layout: DepositLayout) -> Work:
    """Return what a server does in a full deposit beyond uploads and words."""
    rows, words = layout.rows, blocks_of(layout.width)
    claimed = min(GROUPS, round.capacity) * rows * words
    work = Work({_weights_operation(layout): rows, PRODUCT: claimed, _reading(round): rows})
    return work + evaluation_work((layout.function,), round.capacity, False)


def evaluation_work(functions: Sequence[Tree | Square], keys: int, checked: bool) -> Work:
    """Return the work of evaluating so many keys of each function, in bytes of AES."""
    work = Work()
    for function in functions:
        work[_evaluation(function, checked)] += keys * aes_bytes(function)
    return work


def aes_bytes(function: Tree | Square) -> int:
    """Return the bytes of AES that one key stands for."""
    if isinstance(function, Tree):
        return function.aes_bytes
    expanded = BLOCK * blocks_of(function.row_size)
    return function.rows * function.seeds_held * expanded


def _evaluation(function: Tree | Square, checked: bool) -> Operation:
    """Evaluation, per byte of AES, on a table of the same width and at most a few tiles."""
    tried_on = attrs.evolve(function, leaves=min(function.leaves, _LEAVES))
    kernel = native.kernel_name() if isinstance(function, Tree) else "numpy"
    name = f"dpf: AES of {tried_on}, checked {checked}, with {kernel}"
    number = _KEYS * aes_bytes(tried_on)
    return Operation(name, microbenchmark(partial(_evaluate, tried_on, checked), number))


def _evaluate(function: Tree | Square, checked: bool) -> Callable[[], object]:
    payloads = np.zeros((_KEYS, function.width), np.uint8)
    share = np.zeros((function.leaves, function.width), np.uint8)
    places = np.zeros(_KEYS, np.int64)
    if isinstance(function, Tree) and function.counted:
        counted = function.keys(places, payloads, SystemEntropy(), np.zeros((_KEYS, 2), np.uint64))
        sums, weights = np.zeros(len(share), np.uint64), np.ones(len(share), np.uint32)
        return lambda: function.count(0, counted[0], share, sums, weights)
    keys = function.keys(places, payloads, SystemEntropy())[0]
    if isinstance(function, Tree):
        check_key = bytes(CHECK_KEY_BYTES) if checked else None
        return lambda: function.accumulate(0, keys, share, check_key=check_key)
    return lambda: function.accumulate(0, keys, share)


def _decode_operation(placement: Placement) -> Operation:
    """Reading one message out of the sum of all shares."""
    number = min(placement.capacity, _MESSAGES)
    small = attrs.evolve(placement, capacity=number, salt=b"a trial")
    return Operation(
        f"dpf: a message read from {small}", microbenchmark(partial(_decode, small), number)
    )


def _decode(placement: Placement) -> Callable[[], object]:
    most = 256**placement.message_size  # where messages are short, equal ones are no worse
    numbers = (index % most for index in range(placement.capacity))
    messages = [number.to_bytes(placement.message_size, "big") for number in numbers]
    records, slots = placement.place(messages, SystemEntropy())
    tables = [np.zeros((size, placement.record_size), np.uint8) for size in placement.tables]
    for index, table in enumerate(tables):
        np.bitwise_xor.at(table, slots[:, index], records)
    return lambda: placement.decode(tables)


def _weights_operation(layout: DepositLayout) -> Operation:
    """Making the weights of one slot."""
    alphas = [bytes(SECRET_BYTES)] * _KEYS
    name = f"dpf: weights of a row of {layout.width} bytes"
    return Operation(name, microbenchmark(lambda: lambda: layout.weights(alphas), _KEYS))


def _multiply() -> Callable[[], object]:
    elements = np.ones((_ELEMENTS, 1, TAG_BYTES), np.uint8)
    share = elements[:, 0]
    return lambda: slotauth.claim(share, elements, bytes(TAG_BYTES))


#: A product of two elements of the field, as one of many that are summed up.
PRODUCT = Operation("dpf: a product of field elements", microbenchmark(_multiply, _ELEMENTS))


def _reading(round: Round) -> Operation:
    """Reading one row."""
    secret = SlotSecret(bytes(SECRET_BYTES), bytes(SECRET_BYTES))
    row = write_row(secret, 1, 1, bytes(round.message_size))
    head = secret.key().head
    name = f"dpf: a row of {len(row)} bytes read"
    return Operation(name, microbenchmark(lambda: lambda: read_row(head, 1, row)))


def _key_generation_work(functions: Sequence[Tree | Square], make: Callable[[], object]) -> Work:
    """Return the work of a sender, who makes her keys alone."""
    return Work({Operation(f"dpf: the keys of {functions}", microbenchmark(lambda: make)): 1})
