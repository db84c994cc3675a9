"""Any n-1 keys of the square-root point function say nothing about index and payload.

Output of AES looks random whatever leaks, so it is not tested. Where the argument says 'the
expansion of a seed that nobody holds is random', these tests put a random table in place of the
generator: then the keys of any n-1 servers must have *exactly* the same distribution for every
index and payload, and a key for one point can be turned into a key for another one without changing
a byte of what n-1 servers hold.
"""

from itertools import combinations, permutations, product
from math import factorial

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_dpf import sqrt_dpf as module
from anonloom_dpf.sqrt_dpf import Coins, FixedKey, Square, arrangements
from anonloom_transport import SystemEntropy

pytestmark = pytest.mark.long

# --- Enumeration: every table, every arrangement ------------------------------------------------


@attrs.frozen
class WrittenTable:
    """A random table in place of G: an entry is written behind its label, in the seed itself.

    An entry has one bit per leaf of a row, in the lowest bit of the leaf's first byte; payloads of
    the enumeration use no other bit either. Servers see label and entry of the seeds they hold.
    """

    width: int

    def add(self, seeds, out):
        for column in range(out.shape[1] // self.width):
            out[:, column * self.width] ^= np.bitwise_xor.reduce(seeds[:, :, 1 + column], axis=0)


@attrs.frozen
class EveryCoin:
    """Entropy of a batch of keys that holds every possible choice exactly once."""

    square: Square
    choices: int = attrs.field(init=False)
    seeds: bytes = attrs.field(init=False, repr=False)
    orders: bytes = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self):
        rows, labels = self.square.rows, self.square.rows * 2 ** (self.square.servers - 1)
        orders = factorial(2 ** (self.square.servers - 1)) ** rows
        tables = 2 ** (labels * self.square.columns)
        number = np.arange(orders * tables)
        bits = number[:, None] // orders >> np.arange(labels * self.square.columns) & 1
        seeds = np.zeros((len(number), labels, 16), np.uint8)
        seeds[:, :, 0] = np.arange(labels)
        seeds[:, :, 1 : 1 + self.square.columns] = bits.reshape(len(number), labels, -1)
        base = factorial(2 ** (self.square.servers - 1))
        digits = number[:, None] % orders // base ** np.arange(rows) % base
        object.__setattr__(self, "choices", len(number))
        object.__setattr__(self, "seeds", seeds.tobytes())
        object.__setattr__(self, "orders", digits.astype("<u4").tobytes())

    def bytes(self, n):
        (drawn,) = (text for text in (self.seeds, self.orders) if len(text) == n)
        return drawn


def distribution(keys):
    """Distinct views and how often each occurs; bytes that are the same in all are kept apart."""
    view = np.hstack(keys)
    varies = (view != view[0]).any(axis=0)
    varying = np.ascontiguousarray(view[:, varies])
    values, counts = np.unique(varying.view(f"V{varying.shape[1]}"), return_counts=True)
    return varies.tobytes(), view[0, ~varies].tobytes(), values.tobytes(), counts.tobytes()


def points_told_apart(square):
    """Yield coalitions and points whose keys are distributed unlike those of index and payload 0."""
    coins = EveryCoin(square)
    coalitions = list(combinations(range(square.servers), square.servers - 1))
    expected = {}
    for index, bit in product(range(square.leaves), (0, 1)):
        payloads = np.zeros((coins.choices, square.width), np.uint8)
        payloads[:, 0] = bit
        keys = square.keys(np.full(coins.choices, index), payloads, coins)
        for coalition in coalitions:
            seen = distribution([keys[party] for party in coalition])
            if expected.setdefault(coalition, seen) != seen:
                yield coalition, index, bit


def toy(servers, leaves, width, kind=Square):
    return kind(servers, leaves, width, expansion=WrittenTable(width))


#: Shape by number of rows and columns; widths are chosen so that this is the shortest fold.
TOYS = [
    pytest.param(2, 4, 20, (2, 2), id="2 servers, 2 x 2"),
    pytest.param(2, 3, 40, (3, 1), id="2 servers, 3 x 1"),
    pytest.param(2, 3, 1, (1, 3), id="2 servers, 1 x 3"),
    pytest.param(3, 2, 40, (2, 1), id="3 servers, 2 x 1"),
    pytest.param(3, 2, 1, (1, 2), id="3 servers, 1 x 2"),
]


@pytest.mark.parametrize(("servers", "leaves", "width", "fold"), TOYS)
def test_keys_of_all_servers_but_one_are_equally_distributed_for_all_points(
    servers, leaves, width, fold
):
    square = toy(servers, leaves, width)
    assert fold == (square.rows, square.columns)
    assert [] == list(points_told_apart(square))


@pytest.mark.parametrize("servers", [2, 3])
def test_keys_of_all_servers_together_do_tell_points_apart(servers):
    """The enumeration is not blind: what it finds equal for n-1 it finds different for n."""
    square = toy(servers, 2, 40)
    coins = EveryCoin(square)
    seen = set()
    for index in range(2):
        payloads = np.zeros((coins.choices, 40), np.uint8)
        keys = square.keys(np.full(coins.choices, index), payloads, coins)
        seen.add(distribution(keys))
    assert 2 == len(seen)


def test_seeds_are_the_bytes_of_the_entropy():
    """What is enumerated above is what `keys` draws: nothing else is random in a key."""
    square = toy(3, 2, 40)
    coins, drawn = EveryCoin(square), square.coins(EveryCoin(square).choices, EveryCoin(square))
    assert coins.seeds == drawn.seeds.tobytes()
    assert coins.orders == drawn.orders.astype("<u4").tobytes()


# --- Planted faults -----------------------------------------------------------------------------


class ReusedSeeds(Square):
    """The second row gets the seeds of the first one."""

    def coins(self, count, entropy):
        drawn = super().coins(count, entropy)
        seeds = drawn.seeds.copy()
        seeds[:, 1] = seeds[:, 0]
        return Coins(drawn.orders, seeds)


class ReusedSeedInRow(Square):
    """Two columns of every arrangement get the same seed."""

    def coins(self, count, entropy):
        drawn = super().coins(count, entropy)
        seeds = drawn.seeds.copy()
        seeds[:, :, 1] = seeds[:, :, 0]
        return Coins(drawn.orders, seeds)


class Unshuffled(Square):
    """The columns of all arrangements keep their order."""

    def coins(self, count, entropy):
        drawn = super().coins(count, entropy)
        return Coins(np.zeros_like(drawn.orders), drawn.seeds)


class Uncorrected(Square):
    """The correction leaves out the expansion of the first seed."""

    def deal(self, coins, indices, payloads):
        kept = self.expansion

        class LeavingOut:
            def add(self, seeds, out):
                kept.add(seeds[1:], out)

        return Square.deal(
            Square(self.servers, self.leaves, self.width, expansion=LeavingOut()),
            coins,
            indices,
            payloads,
        )


class Bare(Square):
    """The correction is the payload, without any expansion."""

    def deal(self, coins, indices, payloads):
        class Nothing:
            def add(self, seeds, out):
                pass

        return Square.deal(
            Square(self.servers, self.leaves, self.width, expansion=Nothing()),
            coins,
            indices,
            payloads,
        )


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("kind", [ReusedSeeds, ReusedSeedInRow, Unshuffled, Uncorrected, Bare])
def test_a_planted_leak_is_found(kind, servers):
    assert any(points_told_apart(toy(servers, 2, 40, kind)))


def wrong(servers, change):
    right = arrangements(servers)
    held, last = right.held.copy(), right.last.copy()
    change(held, last)
    return lambda _: module._Arrangements(held, last)


def odd_in_one_order(held, last):
    """The odd arrangement is always the same one."""
    held[1], last[1] = held[1, :1], last[1, :1]


def same_lines(held, last):
    """In the odd row the second server gets the seeds of the first."""
    held[1, :, 1], last[1, :, 1] = held[1, :, 0], last[1, :, 0]


def all_even(held, last):
    """No row is odd."""
    held[1], last[1] = held[0], last[0]


def all_odd(held, last):
    """Every row is odd."""
    held[0], last[0] = held[1], last[1]


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("change", [odd_in_one_order])
def test_wrong_arrangements_that_leak_are_found(servers, change, monkeypatch):
    monkeypatch.setattr(module, "arrangements", wrong(servers, change))
    assert any(points_told_apart(toy(servers, 2, 40)))


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("change", [same_lines, all_even, all_odd])
def test_wrong_arrangements_that_hide_too_much_are_found_by_the_sum(servers, change, monkeypatch):
    monkeypatch.setattr(module, "arrangements", wrong(servers, change))
    assert not point_function(Square(servers, 2, 40))


def point_function(square, index=0):
    """Whether the shares of a payload of ones sum to it, and to zero elsewhere."""
    payload = np.ones((1, square.width), np.uint8)
    keys = square.keys(np.array([index]), payload, SystemEntropy())
    total = np.zeros((square.leaves, square.width), np.uint8)
    for party, key in enumerate(keys):
        square.accumulate(party, key, total)
    expected = np.zeros_like(total)
    expected[index] = payload
    return np.array_equal(expected, total)


def test_right_arrangements_pass_the_same_check():
    assert point_function(Square(2, 2, 40))
    assert point_function(Square(3, 2, 40))


# --- Hybrid: the same bytes for another point ---------------------------------------------------


class Programmed(FixedKey):
    """G, but for some seeds that nobody in the coalition holds: their expansion is given."""

    def __init__(self):
        self.given = {}

    def add(self, seeds, out):
        for row, line in enumerate(seeds.swapaxes(0, 1)):
            for seed in line:
                if seed.tobytes() in self.given:
                    out[row] ^= self.given[seed.tobytes()]
                else:
                    super().add(seed[None, None], out[row : row + 1])


def words_of(servers, parity, order):
    """Columns of an arrangement as numbers whose bit p is line p."""
    of_parity = [word for word in range(2**servers) if word.bit_count() % 2 == parity]
    return [of_parity[index] for index in ORDERS[servers][order]]


ORDERS = {servers: list(permutations(range(2 ** (servers - 1)))) for servers in (2, 3, 4)}
NUMBERS = {n: {order: index for index, order in enumerate(orders)} for n, orders in ORDERS.items()}


def flipped(servers, parity, order, honest):
    """The arrangement of the other parity that differs in the honest server's line only."""
    words = [word ^ 1 << honest for word in words_of(servers, parity, order)]
    rank = {word: index for index, word in enumerate(sorted(words))}
    return NUMBERS[servers][tuple(rank[word] for word in words)]


def unheld(servers, parity, order, honest):
    """The column of which only the honest server, or nobody, holds the seed."""
    words = words_of(servers, parity, order)
    (column,) = [index for index, word in enumerate(words) if word & ~(1 << honest) == 0]
    return column


def coupled(square, coins, pad, honest, here, there):
    """Turn coins and pad of a key for point `here` into those of a key for `there`.

    `pad` is the expansion of the seed of row `here` that the coalition lacks; the one returned
    belongs to the row of `there`. Changing back gives the same coins and pad: the map is one-to-one,
    so that both keys are equally likely when pads are random.
    """
    (index, payload), (other, other_payload) = here, there
    row, other_row = index // square.columns, other // square.columns
    orders = coins.orders.copy()
    if row != other_row:
        for changed, parity in ((row, 1), (other_row, 0)):
            order = int(orders[0, changed])
            orders[0, changed] = flipped(square.servers, parity, order, honest)
    target = correction(square, coins, pad, honest, index, payload)
    changed = Coins(orders, coins.seeds)
    nothing = np.zeros(square.row_size, np.uint8)
    rest = correction(square, changed, nothing, honest, other, other_payload)
    return changed, target ^ rest


def correction(square, coins, pad, honest, index, payload):
    """The correction of a key, from the definition."""
    row, column = divmod(index, square.columns)
    lacking = unheld(square.servers, 1, int(coins.orders[0, row]), honest)
    total = pad.copy()
    seeds = np.delete(coins.seeds[0, row], lacking, axis=0)
    FixedKey().add(seeds[:, None], total[None])
    total[column * square.width :][: square.width] ^= payload
    return total


def dealt(square, coins, pad, honest, index, payload):
    """Keys from coins when the seed that the coalition lacks expands to the pad."""
    row = index // square.columns
    lacking = unheld(square.servers, 1, int(coins.orders[0, row]), honest)
    programmed = Programmed()
    programmed.given[coins.seeds[0, row, lacking].tobytes()] = pad
    world = attrs.evolve(square, expansion=programmed)
    return world, world.deal(coins, np.array([index]), payload[None])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_key_for_one_point_is_a_key_for_any_other_to_all_servers_but_one(data):
    servers = data.draw(st.sampled_from([2, 3, 4]))
    square = Square(servers, data.draw(st.integers(1, 12)), data.draw(st.integers(1, 200)))
    honest = data.draw(st.integers(0, servers - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    here, there = (
        (data.draw(st.integers(0, square.leaves - 1)), rng.bytes(square.width)) for _ in range(2)
    )
    here, there = ((index, np.frombuffer(text, np.uint8)) for index, text in (here, there))
    coins = square.coins(1, SystemEntropy())
    pad = np.frombuffer(rng.bytes(square.row_size), np.uint8)

    other_coins, other_pad = coupled(square, coins, pad, honest, here, there)
    _, keys = dealt(square, coins, pad, honest, *here)
    world, other_keys = dealt(square, other_coins, other_pad, honest, *there)

    for party in set(range(servers)) - {honest}:
        assert keys[party].tobytes() == other_keys[party].tobytes()
    # The other keys are really for the other point.
    total = np.zeros((square.leaves, square.width), np.uint8)
    for party, key in enumerate(other_keys):
        world.accumulate(party, key, total)
    expected = np.zeros_like(total)
    expected[there[0]] = there[1]
    assert expected.tobytes() == total.tobytes()
    # And the way back leads to where it began.
    back_coins, back_pad = coupled(square, other_coins, other_pad, honest, there, here)
    assert coins.orders.tolist() == back_coins.orders.tolist()
    assert pad.tobytes() == back_pad.tobytes()
