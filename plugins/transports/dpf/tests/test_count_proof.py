"""An upload counts once at a position whose key it knows, or nowhere; whatever else it says is refused.

SECRECY.md has the argument that these tests execute.
"""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom.errors import TransportError
from anonloom_dpf import count_proof, prime_field, slotauth
from anonloom_dpf.layout import deposit_layout
from anonloom_dpf.prime_field import MODULUS
from anonloom_dpf.transport import Dpf
from anonloom_testing.transport import SeededEntropy, adversaries
from anonloom_transport import SystemEntropy, write_row

# --- the check by itself: shares of any numbers at all, no key can do more ------------------------

LEAVES = 12
HALF = pow(2, -1, MODULUS)


def sketches_of(numbers, weights):
    """Shares of the sketch of two columns, by whole numbers: party 0 and party 1."""
    first = [int(number) for number in prime_field.draw(SystemEntropy(), 2 * LEAVES)]
    columns = [first[:LEAVES], first[LEAVES:]]
    held = [
        columns,
        [
            [(a - v) % MODULUS for a, v in zip(column, own, strict=True)]
            for column, own in zip(columns, numbers, strict=True)
        ],
    ]
    return [
        np.array(
            [[
                sum(q * v for q, v in zip(weights, own[0], strict=True)) % MODULUS,
                sum(q * v for q, v in zip(weights, own[1], strict=True)) % MODULUS,
                sum(q * q * v for q, v in zip(weights, own[0], strict=True)) % MODULUS,
            ]],
            np.uint64,
        )
        for own in held
    ]  # fmt: skip


def passes(first, second=None, change=None):
    """Whether numbers pass the check, the second ones k times the first if they are not given."""
    entropy = SystemEntropy()
    _, witnesses = count_proof.make_claims(np.ones(1, bool), np.ones(1, np.uint64), entropy)
    held = [count_proof.read_witnesses(own) for own in witnesses]
    factor = int(held[0][0, 2] + held[1][0, 2]) % MODULUS
    if change is not None:
        held[0] = prime_field.add(held[0], np.array([change], np.uint64))
    second = [factor * v % MODULUS for v in first] if second is None else second(factor)
    weights = count_proof.sketch_weights(entropy.bytes(32), LEAVES)
    sketches = sketches_of((first, second), [int(weight) for weight in weights])
    opened = prime_field.add(*(count_proof.blind_sketches(b, sketches[b], held[b]) for b in (0, 1)))
    proofs = [count_proof.proofs(b, sketches[b], held[b], opened) for b in (0, 1)]
    return 0 == int(prime_field.add(*proofs)[0])


def at(*places):
    return [dict(places).get(leaf, 0) % MODULUS for leaf in range(LEAVES)]


@pytest.mark.parametrize("leaf", range(LEAVES))
def test_one_position_once_passes(leaf):
    assert passes(at((leaf, 1)))


def test_nothing_passes():
    assert passes(at())


@pytest.mark.parametrize(
    "first",
    [
        at((3, 5)),
        at((3, -1)),
        at((3, 2)),
        at((3, HALF)),
        at((3, MODULUS - 2)),
        at((3, 1), (4, 1)),
        at((3, 5), (4, -4)),
        at((3, 1), (4, -1)),
        at((3, HALF), (9, HALF)),
        at((0, 1), (1, -1), (4, -1), (5, 1)),
        at((0, -1), (1, 1), (4, 1)),
        at(*((leaf, 1) for leaf in range(LEAVES))),
    ],
    ids=str,
)
def test_anything_else_is_refused(first):
    """With probability 2^-21 it is not: a hundred times that would be noticed by nobody."""
    assert not passes(first)


@given(st.lists(st.integers(0, MODULUS - 1), min_size=LEAVES, max_size=LEAVES))
def test_any_numbers_are_refused(numbers):
    assert passes(numbers) == (sorted(numbers) in (sorted(at()), sorted(at((0, 1)))))


@pytest.mark.parametrize("place", range(4))
def test_a_wrong_witness_is_refused(place):
    """Shares of a, a^2, k and k a that do not belong together."""
    assert not passes(at((3, 1)), change=[5 * (which == place) for which in range(5)])


def test_second_numbers_that_are_not_k_times_the_first_are_refused():
    assert not passes(at((3, 1)), second=lambda factor: at((3, factor + 1)))
    assert not passes(at(), second=lambda factor: at((3, factor)))


def test_a_wrong_square_cannot_make_up_for_a_wrong_number():
    """What would be right for one weight is not for another: weights come afterwards."""
    assert not any(
        passes(at((3, 5)), change=[0, -20 * q * q % MODULUS, 0, 0, 0]) for q in (1, 2, 1 << 21)
    )


# --- what one server learns: every random choice over a field of five elements --------------------


def small_field(monkeypatch):
    p = np.uint64(5)
    monkeypatch.setattr(count_proof, "add", lambda one, other: (one + other) % p)
    monkeypatch.setattr(count_proof, "minus", lambda one: (p - one) % p)
    monkeypatch.setattr(count_proof, "multiply", lambda one, other: one * other % p)


def views(liar, weight, present, lie, with_factor=True):
    """What the honest server says over all that is random, given what the liar holds.

    The liar's shares are zero: by symmetry they could be anything. It adds `lie` to its share of d.
    """
    honest, five = 1 - liar, np.arange(5, dtype=np.uint64)
    blind, factor = (grid.reshape(-1) for grid in np.meshgrid(five, five, indexing="ij"))
    if not with_factor:
        factor = np.zeros_like(factor)
    z = np.full_like(blind, weight * present)
    columns = [z, factor * z % 5, np.full_like(blind, weight * weight * present % 5)]
    theirs = np.stack(columns, axis=1)
    theirs = count_proof.apply_sign(honest, theirs)  # so that it adds up with nothing
    witness = [blind, blind * blind % 5, factor, factor * blind % 5, np.zeros_like(blind)]
    held = np.stack(witness, axis=1)
    message = count_proof.blind_sketches(honest, theirs, held)
    opened = (message + np.uint64(lie)) % np.uint64(5)
    proof = count_proof.proofs(honest, theirs, held, opened)
    return Counter(zip(message.tolist(), proof.tolist(), strict=True))


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("lie", range(5))
def test_what_a_server_hears_is_the_same_for_every_position_and_for_decoys(liar, lie, monkeypatch):
    """Positions differ by their weights; the liar may add to d what it likes."""
    small_field(monkeypatch)
    nowhere = views(liar, 0, 0, lie)
    assert 25 == nowhere.total()
    for weight in range(5):
        assert nowhere == views(liar, weight, 1, lie)


@pytest.mark.parametrize("lie", range(1, 5))
def test_planted_without_the_second_number_a_lie_shows_the_weight(lie, monkeypatch):
    small_field(monkeypatch)
    assert views(0, 1, 1, lie, with_factor=False) != views(0, 2, 1, lie, with_factor=False)
    assert views(0, 1, 1, 0, with_factor=False) == views(0, 2, 1, 0, with_factor=False)


def test_shares_of_a_witness_are_uniform_and_apart():
    """Either server's is drawn: no two are the same, whatever is shared."""
    present = np.zeros(200, bool)
    _, (one, other) = count_proof.make_claims(present, np.zeros(200, np.uint64), SystemEntropy())
    assert 1000 == len({word.tobytes() for word in one.reshape(-1, 8)})
    assert 1000 == len({word.tobytes() for word in other.reshape(-1, 8)})
    total = prime_field.add(count_proof.read_witnesses(one), count_proof.read_witnesses(other))
    assert [0] * 200 == total[:, 4].tolist()
    assert 200 == len(set(total[:, 0].tolist()))


# --- rounds ---------------------------------------------------------------------------------------

COUNTED = {"counted": True}


def counting(begin, positions, **more):
    round = {**COUNTED, **more.pop("round", {})}
    return begin("deposit", positions, round=round, **more)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_counts_are_the_numbers_of_filled_positions(begin, data):
    positions = data.draw(st.integers(1, 40))
    filled = data.draw(st.sets(st.integers(0, positions - 1)))
    decoys = data.draw(st.integers(0 if filled else 1, 5))
    label = data.draw(st.lists(st.integers(0, 4), min_size=positions, max_size=positions))
    groups = [[index for index, own in enumerate(label) if own == name] for name in range(4)]
    begun = begin(
        "deposit", positions, round={**COUNTED, "capacity": positions + 5}, planned=data.draw(st.sets(st.integers(0, positions - 1)))
    )  # fmt: skip
    begun.deposit(begun.records(filled))
    begun.driver.decoy(decoys)
    begun.driver.close()
    begun.driver.settle()
    assert tuple(len(filled & {*group}) for group in groups) == begun.driver.count(groups)
    begun.driver.open()
    erased = begun.driver.erasure.positions if begun.driver.erasure else set()
    shown = {index for index, record in enumerate(begun.driver.result()) if record is not None}
    assert filled - erased == shown


def crafted(begun, position, numbers, *, own=None, tag=1, bend=False):
    """Return an upload with a genuine row at `own` and numbers of somebody's choice at `position`.

    Parameters
    ----------
    tag
        How often the position's weight is in t, if its key is known; else it is guessed.
    """
    layout, entropy = deposit_layout(begun.driver.round), SeededEntropy(("crafted", position))
    known = begun.secrets[position if own is None else own]
    row = write_row(known, layout.iteration, layout.iterations, bytes(24))
    rows = (
        np.frombuffer(row, np.uint8)[None]
        if position == own
        else np.zeros((1, layout.width), np.uint8)
    )
    tags = slotauth.tags(rows, layout.weights([known.alpha]))
    weights = layout.position_weights([known.alpha])
    _, witnesses = count_proof.make_claims(np.ones(1, bool), weights, entropy)
    shares = [count_proof.read_witnesses(witness) for witness in witnesses]
    factor = int(shares[0][0, 2] + shares[1][0, 2]) % MODULUS
    # In place of the sum that an honest upload has, its multiple.
    extra = int(weights[0]) * (tag - 1) % MODULUS
    shares[0][0, 4] = (int(shares[0][0, 4]) + extra) % MODULUS
    witnesses = [np.ascontiguousarray(share, "<u8").view(np.uint8) for share in shares]
    held = np.array([[numbers % MODULUS, numbers * factor % MODULUS]], np.uint64)
    keys = layout.function.keys(np.array([position]), rows, entropy, held)
    parts = zip(keys, slotauth.shares(tags, 2, entropy), witnesses, strict=True)
    return [b"".join(part.tobytes() for part in own) for own in parts]


GROUPS = [list(range(20)), list(range(20, 40))]


def outcome(begun, contents):
    """Let all but the last position be filled, and somebody send; return counts and refusals."""
    sent = begun.records(range(39))
    begun.deposit(sent)
    assert begun.craft(contents).is_acknowledged
    begun.driver.close()
    begun.driver.settle()
    counts = begun.driver.count(GROUPS)
    begun.driver.open()
    assert [*sent.values()] == list(begun.driver.result())[:39]
    return counts, dict(begun.driver.count_refusals())


def test_what_is_crafted_here_is_right_when_nothing_is_wrong(begin):
    begun = counting(begin, 40)
    assert ((20, 20), {}) == outcome(begun, crafted(begun, 39, 1, own=39))


@pytest.mark.parametrize("number", [5, -1, 2, HALF])
@pytest.mark.parametrize("tag", ["of the number", "of one"])
def test_another_number_than_one_is_refused(begin, number, tag):
    begun = counting(begin, 40)
    contents = crafted(begun, 39, number, own=39, tag=number if tag == "of the number" else 1)
    assert ((20, 19), {"wrong presence": 2}) == outcome(begun, contents)


@pytest.mark.parametrize("tag", [0, 1, 2])
def test_a_foreign_position_is_refused(begin, tag):
    """She counts once, as she may, but at a position whose key she does not know."""
    begun = counting(begin, 40)
    assert ((20, 19), {"foreign write": 2}) == outcome(begun, crafted(begun, 3, 1, own=39, tag=tag))


@pytest.mark.parametrize("tag", [0, 2, -1])
def test_a_wrong_tag_is_refused(begin, tag):
    begun = counting(begin, 40)
    assert ((20, 19), {"foreign write": 2}) == outcome(
        begun, crafted(begun, 39, 1, own=39, tag=tag)
    )


def test_a_key_that_counts_at_two_positions_of_ones_own_is_refused(begin):
    """Two donors who know each other's keys move what they count from one class to another."""
    begun = counting(begin, 40)
    layout = deposit_layout(begun.driver.round)
    own = 7
    contents = [np.frombuffer(part, np.uint8).copy() for part in crafted(begun, own, 1, own=own)]
    levels, key_size = layout.function.depth, layout.function.key_size
    bent, two = None, None
    for place, bit in ((16 + 16 * (levels - 1), 1), (16 + 16 * levels + (levels - 1) // 8, 1 << (levels - 1) % 8)):  # fmt: skip
        tried = [part.copy() for part in contents]
        for part in tried:
            part[place] ^= bit
        numbers = numbers_of(layout, tried, key_size)
        if 2 == sum(number != 0 for number in numbers) and numbers[own] == 1:
            bent, two = tried, numbers
    assert two is not None
    # The tag is that of both numbers: both keys are known.
    weights = layout.position_weights([secret.alpha for secret in begun.secrets])
    wanted = sum(int(weight) * number for weight, number in zip(weights, two, strict=True))
    share = count_proof.read_witnesses(bent[1][-count_proof.WITNESS_BYTES :][None])[0, 4]
    bent[0][-8:] = np.frombuffer(((wanted - int(share)) % MODULUS).to_bytes(8, "little"), np.uint8)
    counts, refused = outcome(begun, [part.tobytes() for part in bent])
    assert (20, 19) == counts
    assert {"wrong presence": 2} == refused


def numbers_of(layout, contents, key_size):
    """What two keys stand for, at every position."""
    sums = np.zeros((2, layout.rows), np.uint64)
    for party in (0, 1):
        key = np.ascontiguousarray(contents[party][None, :key_size])
        ones = np.ones(layout.rows, np.uint32)
        layout.function.count(party, key, layout.empty(), sums[party], ones)
    return prime_field.add(sums[0], prime_field.minus(sums[1])).tolist()


def test_presence_without_a_record_counts_once_and_is_all_that_a_donor_can_do(begin):
    begun = counting(begin, 40)
    assert ((20, 20), {}) == outcome(begun, crafted(begun, 39, 1, own=None))
    assert None is begun.driver.result()[39]


def test_several_wrong_uploads_of_all_kinds_are_all_found(begin):
    begun = counting(begin, 61, tolerated=0.25)
    sent = begun.records(range(50))
    begun.deposit(sent)
    for position in range(50, 54):
        begun.craft(crafted(begun, position, 5, own=position))
    for position in range(4):
        begun.craft(crafted(begun, position, 1, own=60))
    begun.driver.close()
    begun.driver.settle()
    assert (50, 0) == begun.driver.count([range(50), range(50, 61)])
    assert {"wrong presence": 8, "foreign write": 8} == dict(begun.driver.count_refusals())
    begun.driver.open()
    assert [*sent.values(), *[None] * 11] == list(begun.driver.result())


def test_garbage_counts_nowhere(begin):
    begun = counting(begin, 40)
    layout, entropy = deposit_layout(begun.driver.round), SeededEntropy("garbage")
    contents = [entropy.bytes(layout.content_size) for _ in range(2)]
    assert ((20, 19), {"wrong presence": 2}) == outcome(begun, contents)


def test_one_wrong_upload_alone_is_held_as_one_that_is_missing(begin):
    """Who is taken out alone shows whose position it is, for whatever reason it was."""
    begun = counting(begin, 40, round={"min_leave": 3})
    begun.deposit(begun.records(range(39)))
    begun.craft(crafted(begun, 39, 5, own=39))
    with pytest.raises(TransportError) as caught:
        begun.driver.finish()
    assert (
        "the round has stopped: 1 senders are missing without the uploads that fail the check: with "
        "fewer than 3, what is absent would show whose it is"
    ) == str(caught.value)


# --- servers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["sketch", "proof"])
def test_a_server_that_lies_about_checks_stops_the_round(begin, step):
    lie = adversaries.miscomputes(step, lambda said: bytes([said[0] ^ 1]) + said[1:])
    begun = counting(begin, 9, corrupted={1: lie}, tolerated=0.0)
    begun.deposit(begun.records(range(8)))
    begun.driver.close()
    begun.driver.settle()
    assert (
        "1 of 8 uploads fail the check, more than the tolerated share of 0: one of the servers "
        "deviates, or that many senders do"
    ) == begun.driver.servers[0].stop_reason


@pytest.mark.parametrize("step", ["sketch", "proof"])
def test_checks_of_another_size_stop_the_round(begin, step):
    begun = counting(begin, 9, corrupted={1: adversaries.miscomputes(step, lambda said: said[:-1])})
    begun.deposit(begun.records(range(8)))
    begun.driver.close()
    begun.driver.settle()
    assert "a server sent check values of the wrong size" == begun.driver.servers[0].stop_reason


def test_a_part_that_makes_no_count_stops_the_round(begin):
    lie = adversaries.miscomputes("counted", lambda said: said[:-1] + bytes([said[-1] ^ 64]))
    begun = counting(begin, 9, corrupted={1: lie})
    begun.deposit(begun.records(range(8)))
    begun.driver.close()
    begun.driver.settle()
    with pytest.raises(TransportError) as caught:
        begun.driver.count([range(9)])
    assert (
        "the round has stopped: the parts of the servers are no count: one of them deviates"
    ) == str(caught.value)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda keys: keys[:1],
            "0 commitments to what is tossed for counting instead of 1",
        ),
        (
            lambda keys: (*keys, keys[1]),
            "2 commitments to what is tossed for counting instead of 1",
        ),
        (
            lambda keys: (keys[0], b"short"),
            "a commitment to what is tossed for counting has 32 bytes",
        ),
    ],
)
def test_a_server_that_announces_no_toss_is_named_before_anything_is_signed(begin, change, why):
    begun = counting(begin, 9, corrupted={1: adversaries.misannounces(change)})
    server = begun.driver.servers[0]
    expected = f"server 1 announced keys that cannot be used: {why}"
    assert (expected, None) == (server.stop_reason, server.notice)


def test_a_server_that_tosses_something_else_is_named(begin):
    lie = adversaries.substitutes("toss", adversaries.flip)
    begun = counting(begin, 9, corrupted={1: lie})
    begun.deposit(begun.records(range(8)))
    begun.driver.close()
    begun.driver.settle()
    assert "server 1 tosses something else than it announced" == begun.driver.servers[0].stop_reason


def test_a_server_that_goes_on_from_an_older_state_says_the_same_again(begin):
    """Other weights for the same uploads would show whose position is whose."""
    begun = counting(begin, 9)
    begun.deposit(begun.records(range(8)))
    begun.driver.close()
    older = begun.driver.servers[0].save()
    begun.driver.settle()
    messages = {
        step: begun.driver.servers[0].channel.of(step, 0) for step in ("toss", "sketch", "proof")
    }
    begun.driver.servers[0] = begun.driver._server(0, older)
    begun.driver.settle()
    begun.driver.retry()
    again = begun.driver.servers[0]
    assert messages == {step: again.channel.of(step, 0) for step in messages}
    assert (8,) == begun.driver.count([range(9)])


def test_what_is_said_of_numbers_are_checks_and_sums_only(begin):
    """Nothing that servers say in a counted round is longer than what it is said to be."""
    begun = counting(begin, 9)
    begun.deposit(begun.records(range(4)))
    begun.driver.decoy(3)
    begun.driver.close()
    begun.driver.settle()
    begun.driver.count([[0, 1, 2], [3, 4, 5, 6, 7, 8]])
    frame = 64 + 32 + 2 * (32 + 64)  # signature, nonce, and what each server committed to
    sizes = {
        step: len(body) - frame
        for (step, sender, _), body in begun.words().items()
        if sender == "server 0" and step in ("sketch", "proof", "claims 0", "counted", "claims 1")
    }
    assert {"sketch": 7 * 8, "proof": 7 * 8, "claims 0": 7 * 24, "counted": 2 * 8} == sizes


def test_a_part_of_the_sums_by_itself_says_nothing(begin):
    """The same positions, filled or not: a server's part differs from round to round."""
    parts = set()
    for seed, filled in product(range(3), (range(9), range(3))):
        begun = counting(begin, 9, seed=seed)
        begun.deposit(begun.records(filled))
        begun.driver.decoy(9 - len(filled))
        begun.driver.close()
        begun.driver.settle()
        parts.add(tuple(begun.driver.servers[0].strategy.tally([[0, 1, 2], [3, 4]])))
    assert 6 == len(parts)


def test_what_was_counted_is_forgotten_at_the_end(begin):
    begun = counting(begin, 9)
    begun.deposit(begun.records(range(9)))
    begun.driver.close()
    begun.driver.settle()
    begun.driver.count([range(9)])
    begun.driver.open()
    work = begun.driver.servers[0].strategy.work
    assert [None] * 4 == [work._sums, work._sketches, work._drawn, work._share]


@pytest.mark.parametrize("servers", [3, 4])
def test_with_more_servers_it_says_that_it_cannot_count(begin, servers):
    message = (
        f"transport 'dpf' counts filled positions with 2 servers only. Got {servers} instead: the "
        "round must not be counted, or go over 'mixnet'."
    )
    with pytest.raises(TransportError) as caught:
        counting(begin, 9, servers=servers)
    assert message == str(caught.value)
    assert None is Dpf().problem(counting(begin, 9).driver.round)
