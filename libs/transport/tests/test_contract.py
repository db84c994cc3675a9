"""The contract of transports: rounds, slots, entropy, clock, vault, meter."""

import re

import attrs
import pytest

from anonloom.errors import TransportError
from anonloom_testing.transport import SeededEntropy
from anonloom_transport import (
    Erasure,
    Identity,
    Link,
    MemoryVault,
    Meter,
    Party,
    Round,
    ServerConfig,
    SlotKey,
    SlotSecret,
    SteppedClock,
    SystemClock,
    SystemEntropy,
    chain,
    is_simulated,
    read_row,
    require_operation,
    require_positions,
    require_size,
    row_size,
    slot_of,
    write_row,
)

ROUND = Round(id="r", operation="post", servers=2, message_size=1, min_batch=1, capacity=50)
SLOTS = tuple(sorted(slot_of(bytes([index])) for index in range(3)))
DEPOSIT = Round(
    id="r", operation="deposit", servers=2, message_size=1, min_batch=1, slots=SLOTS, iterations=2
)


def message_of(act):
    with pytest.raises(TransportError) as caught:
        act()
    return str(caught.value)


# --- rounds ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("round", "change"),
    [
        (ROUND, {"id": "s"}),
        (ROUND, {"servers": 3}),
        (ROUND, {"message_size": 2}),
        (ROUND, {"min_batch": 2}),
        (ROUND, {"capacity": 51}),
        (ROUND, {"iterations": 2}),
        (ROUND, {"suite": "mlkem768-x25519"}),
        (ROUND, {"authority": b"a"}),
        (ROUND, {"study": b"s"}),
        (ROUND, {"cohort": 1}),
        (ROUND, {"min_leave": 2}),
        (ROUND, {"deadline": 5}),
        (ROUND, {"context": b"c"}),
        (DEPOSIT, {"iteration": 2}),
        (DEPOSIT, {"erasure": b"e"}),
        (DEPOSIT, {"counted": True}),
        (DEPOSIT, {"slots": SLOTS[:2], "capacity": 2}),
        (DEPOSIT, {"slots": [bytes(32), *SLOTS[1:]]}),
    ],
)
def test_the_digest_binds_every_part_of_a_round(round, change):
    changed = attrs.evolve(round, **change)
    assert round.digest == attrs.evolve(round).digest
    assert round.digest != changed.digest
    assert changed == Round.decode(changed.encode())


def test_every_part_of_a_round_is_among_those_that_were_changed():
    fields = {field.name for field in attrs.fields(Round) if field.init}
    tried = test_the_digest_binds_every_part_of_a_round.pytestmark[0].args[1]
    # A post and a deposit have different slots anyway.
    assert fields - {"operation"} == {name for _, change in tried for name in change}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": ""}, "a round needs an id"),
        ({"slots": SLOTS}, "a deposit has slots, and a post has none"),
        ({"operation": "deposit"}, "a deposit has slots, and a post has none"),
        (
            {"operation": "deposit", "slots": SLOTS[::-1]},
            "slots come in rising order, and no two are the same",
        ),
        (
            {"operation": "deposit", "slots": SLOTS[:1] * 2},
            "slots come in rising order, and no two are the same",
        ),
        ({"operation": "deposit", "slots": [b"a"]}, "a slot has 32 bytes"),
        (
            {"operation": "deposit", "slots": SLOTS, "capacity": len(SLOTS) - 1},
            "a deposit takes at least as many uploads as it has slots: capacity",
        ),
        ({"capacity": 0}, "a post says how many senders it takes at most: capacity"),
        ({"min_batch": 51}, "a round for at most 50 senders never closes with 51"),
        ({"iteration": 2}, "iteration 2 of 1"),
        ({"erasure": b"e"}, "only a deposit erases"),
        ({"counted": True}, "only a deposit is counted"),
        ({"servers": 0}, "'servers' must be >= 1: 0"),
        ({"message_size": 0}, "'message_size' must be >= 1: 0"),
        ({"min_batch": 0}, "'min_batch' must be >= 1: 0"),
        ({"min_leave": 0}, "'min_leave' must be >= 1: 0"),
        ({"cohort": -1}, "'cohort' must be >= 0: -1"),
    ],
)
def test_rounds_that_make_no_sense(change, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        attrs.evolve(ROUND, **change)


def test_the_capacity_of_a_deposit_follows_from_its_slots_unless_more_may_send():
    assert 3 == DEPOSIT.capacity
    assert 9 == attrs.evolve(DEPOSIT, capacity=9).capacity
    assert (Party("server", 0), Party("server", 1)) == DEPOSIT.everyone


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nonsense",
        ROUND.encode()[:-1],
        ROUND.encode() + b"x",
        ROUND.encode().replace(b"r", b"\xff"),
        ROUND.encode().replace(b'"min_batch": 1', b'"min_batch": 0'),
        ROUND.encode().replace(b'"min_batch": 1', b'"min_batch":  1'),
        DEPOSIT.encode()[:-32],
    ],
)
def test_bytes_that_describe_no_round(data):
    assert "the round description cannot be read" == message_of(lambda: Round.decode(data))


def test_size_and_operation_are_required():
    require_size(ROUND, b"x")
    require_operation(ROUND, "post")
    with pytest.raises(TransportError) as caught:
        require_size(ROUND, b"xy")
    assert "a message of this round must have 1 bytes. Got 2 instead." == str(caught.value)
    with pytest.raises(TransportError) as caught:
        require_operation(ROUND, "deposit")
    assert "this round is for 'post', not for 'deposit'" == str(caught.value)
    require_positions(DEPOSIT, [0, 2])
    assert "the round has the positions 0 to 2. Got 3 instead." == message_of(
        lambda: require_positions(DEPOSIT, [4, 3])
    )


def test_an_erasure_is_hidden_by_its_salt_and_bound_to_its_positions():
    planned = Erasure([2, 0], b"s" * 32)
    assert planned.commitment == Erasure({0, 2}, b"s" * 32).commitment
    others = [Erasure([0], b"s" * 32), Erasure([], b"s" * 32), Erasure([0, 2], b"t" * 32)]
    assert 4 == len({planned.commitment, *(other.commitment for other in others)})
    assert "Erasure()" == repr(planned)


# --- slots ----------------------------------------------------------------------------------

SECRET = SlotSecret(b"a" * 16, b"s" * 16)


def test_a_chain_ends_in_what_was_posted():
    for iterations in (1, 2, 5):
        key = SECRET.key(iterations)
        for iteration in range(1, iterations + 1):
            link = SECRET.link(iteration, iterations)
            assert key.head == chain(link, iteration)
            row = write_row(SECRET, iteration, iterations, b"record")
            assert row_size(6) == len(row)
            assert b"record" == read_row(key.head, iteration, row)
    assert SECRET.slot == SECRET.key().slot == slot_of(SECRET.alpha)


@pytest.mark.parametrize("at", range(row_size(6)))
def test_a_row_that_was_changed_anywhere_is_nobodys(at):
    head, row = SECRET.key(3).head, write_row(SECRET, 2, 3, b"record")
    changed = bytes([*row[:at], row[at] ^ 1, *row[at + 1 :]])
    assert read_row(head, 2, row) is not None
    assert read_row(head, 2, changed) is None


def test_a_row_counts_in_its_own_iteration_and_position():
    head, row = SECRET.key(3).head, write_row(SECRET, 2, 3, b"record")
    other = attrs.evolve(SECRET, seed=b"t" * 16)
    assert [None, b"record", None] == [read_row(head, index, row) for index in (1, 2, 3)]
    assert read_row(other.key(3).head, 2, row) is None
    # Whoever has seen link 1 cannot write in iteration 2.
    seen = SECRET.link(1, 3)
    assert read_row(head, 2, write_row(SlotSecret(b"", seen), 2, 2, b"record")) is None


def test_keys_of_slots_are_read_as_they_were_written():
    key = SECRET.key(2)
    assert key == SlotKey.read(bytes(key))
    assert "a slot's key must have 32 bytes. Got 31 instead." == message_of(
        lambda: SlotKey.read(bytes(key)[1:])
    )


def test_secrets_are_in_no_repr():
    config = ServerConfig(
        index=1, identity=Identity(b"i" * 32, b"p"), pins=[b"p"], vault=MemoryVault()
    )
    shown = f"{SECRET!r} {SECRET.key()!r} {config!r} {config.identity!r} {Link(b'one', b'other')!r}"
    assert "SlotSecret() SlotKey() ServerConfig(index=1) Identity(public=b'p') Link()" == shown


# --- entropy, clock, vault, meter -----------------------------------------------------------


def test_only_the_systems_randomness_is_not_simulated():
    class Mine(SystemEntropy):
        pass

    assert not is_simulated(SystemEntropy())
    assert is_simulated(Mine())
    assert is_simulated(SeededEntropy())
    assert 32 == len(SystemEntropy().bytes(32))
    assert SystemEntropy().bytes(32) != SystemEntropy().bytes(32)


def test_a_stepped_clock_never_goes_back():
    clock = SteppedClock()
    clock.move_to(5)
    clock.move_to(3)
    assert 5 == clock.now()
    assert SystemClock().now() > 0


def test_a_vault_keeps_a_key_until_it_is_destroyed():
    vault = MemoryVault()
    assert vault.fetch("a") is None
    vault.keep("a", b"KEY")
    assert b"KEY" == vault.fetch("a")
    assert "MemoryVault()" == repr(vault)
    vault.destroy("a")
    vault.destroy("a")
    assert vault.fetch("a") is None


def test_a_meter_counts_by_phase_and_role():
    meter = Meter()
    meter.phase = "upload"
    client, server = Party("client", 5), Party("server", 1)
    meter.count_bytes(client, server, 10)
    meter.count_bytes(client, server, 5)
    meter.phase = "close"
    meter.count_bytes(client, server, 1)
    meter.count_bytes(server, client, 7)
    with meter.work(client), meter.work(server):
        sum(range(1000))
    assert (16, 7, 0) == (
        meter.between("client", "server"),
        meter.between("server", "client"),
        meter.between("server", "server"),
    )
    assert {("close", "clients"), ("close", "server 1")} == set(meter.cpu)
    assert all(spent > 0 for spent in meter.cpu.values())
