"""Who does not know a slot's key can't write into the slot, alone, in company or in a crowd."""

import hashlib

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_dpf import slotauth
from anonloom_dpf.sqrt_dpf import Square
from anonloom_testing.transport import SeededEntropy
from anonloom_transport import SystemEntropy

SERVERS = (2, 3, 4)


@attrs.frozen
class Upload:
    """What the servers hold of one upload: shares of a table and of a tag."""

    tables: tuple
    tags: tuple


@attrs.frozen
class Round:
    """A table of slots whose keys the servers know, and the writes that are made to it."""

    servers: int
    slots: int
    width: int
    alphas: np.ndarray = attrs.field(init=False)
    weights: np.ndarray = attrs.field(init=False)

    def __attrs_post_init__(self):
        drawn = np.frombuffer(SystemEntropy().bytes(16 * self.slots), np.uint8)
        object.__setattr__(self, "alphas", drawn.reshape(self.slots, 16))
        object.__setattr__(self, "weights", self.weights_of(self.alphas))

    def weights_of(self, alphas):
        return slotauth.weights(alphas, self.width, context=b"round", iteration=3)

    def honest(self, slot, row):
        """A deposit as a client makes it: keys of a point function, and a tag."""
        square = Square(self.servers, self.slots, self.width)
        keys = square.keys(np.array([slot]), row[None], SystemEntropy())
        tables = np.zeros((self.servers, self.slots, self.width), np.uint8)
        for party, table in enumerate(tables):
            square.accumulate(party, keys[party], table)
        return Upload(tuple(tables), self.tag_shares(self.tag(slot, row)))

    def forged(self, writes, tag):
        """Shares of any table at all: no key of a point function can do more."""
        total = np.zeros((self.slots, self.width), np.uint8)
        for slot, row in writes:
            total[slot] ^= row
        drawn = np.frombuffer(SystemEntropy().bytes((self.servers - 1) * total.size), np.uint8)
        random = drawn.reshape(self.servers - 1, *total.shape)
        last = np.bitwise_xor.reduce(random, axis=0) ^ total
        return Upload((*random, last), self.tag_shares(tag))

    def tag(self, slot, row):
        """Needs the key of the slot."""
        return slotauth.tags(row[None], self.weights[slot : slot + 1])[0]

    def tag_shares(self, tag):
        return slotauth.shares(tag[None], self.servers, SystemEntropy())

    def claims(self, uploads):
        """What each server says of the sum of a block of uploads."""
        tables = np.bitwise_xor.reduce([upload.tables for upload in uploads], axis=0)
        tags = np.bitwise_xor.reduce([upload.tags for upload in uploads], axis=0)
        return [
            slotauth.claim(table, self.weights, tag.tobytes())
            for table, tag in zip(tables, tags, strict=True)
        ]

    def accepts(self, uploads):
        return slotauth.verify_claims(self.claims(uploads))

    def guilty(self, uploads, first=0):
        """Positions that bisection finds."""
        if self.accepts(uploads):
            return []
        if len(uploads) == 1:
            return [first]
        half = len(uploads) // 2
        return self.guilty(uploads[:half], first) + self.guilty(uploads[half:], first + half)


rounds = st.builds(Round, st.sampled_from(SERVERS), st.integers(3, 12), st.integers(1, 70))


def some_row(data, width):
    """A row that is not zero; often a single bit of it."""
    single = st.tuples(st.integers(0, width - 1), st.integers(0, 7))
    choice = data.draw(st.one_of(single, st.integers(0, 2**32)))
    if isinstance(choice, tuple):
        row = np.zeros(width, np.uint8)
        row[choice[0]] = 1 << choice[1]
        return row
    row = np.random.default_rng(choice).integers(0, 256, width, dtype=np.uint8)
    row[0] |= 1
    return row


NOTHING = np.zeros(16, np.uint8)


@settings(max_examples=40, deadline=None)
@given(round_=rounds, data=st.data())
def test_honest_blocks_are_accepted(round_, data):
    writers = data.draw(st.lists(st.integers(0, round_.slots - 1), min_size=1, unique=True))
    assert round_.accepts([round_.honest(slot, some_row(data, round_.width)) for slot in writers])


@settings(max_examples=40, deadline=None)
@given(round_=rounds, data=st.data())
def test_a_difference_in_a_foreign_slot_is_refused_whatever_the_tag(round_, data):
    """The donor of slot 1 knows its key and no other; slot 0 belongs to somebody else."""
    difference = some_row(data, round_.width)
    tag = data.draw(
        st.sampled_from([NOTHING, round_.tag(1, difference), np.full(16, 255, np.uint8)])
    )
    forged = round_.forged([(0, difference)], tag)
    victim = round_.honest(0, some_row(data, round_.width))
    assert not round_.accepts([forged])
    assert not round_.accepts([victim, forged])


@settings(max_examples=40, deadline=None)
@given(round_=rounds, data=st.data())
def test_a_foreign_write_beside_a_valid_own_write_is_refused(round_, data):
    own, difference = some_row(data, round_.width), some_row(data, round_.width)
    forged = round_.forged([(1, own), (0, difference)], round_.tag(1, own))
    assert round_.accepts([round_.forged([(1, own)], round_.tag(1, own))])
    assert not round_.accepts([forged])
    assert not round_.accepts([round_.honest(2, own), forged])


@settings(max_examples=40, deadline=None)
@given(round_=rounds, data=st.data())
def test_two_donors_together_cannot_write_into_a_third_slot(round_, data):
    """Whatever they leave in slot 0 between them is refused, with tags from both their keys."""
    first, second = some_row(data, round_.width), some_row(data, round_.width)
    uploads = [
        round_.forged([(0, first), (1, second)], round_.tag(1, first ^ second)),
        round_.forged([(0, second), (2, first)], round_.tag(2, first)),
    ]
    assert not round_.accepts(uploads)
    # Half of the tag in one upload, half in the other: only the sum counts.
    tag = round_.tag(1, first)
    half = np.frombuffer(SystemEntropy().bytes(16), np.uint8)
    split = [round_.forged([(1, first)], half), round_.forged([(0, second)], tag ^ half)]
    assert not round_.accepts(split)


@pytest.mark.parametrize("servers", SERVERS)
def test_what_two_donors_undo_between_them_is_not_there_until_one_is_taken_out(servers):
    """A block is accepted as a sum, so what is left of it has to be claimed again."""
    round_ = Round(servers, 4, 20)
    row = np.arange(20, dtype=np.uint8)
    uploads = [
        round_.honest(0, row),
        round_.forged([(0, row)], NOTHING),
        round_.forged([(0, row)], NOTHING),
    ]
    assert round_.accepts(uploads)
    assert not round_.accepts(uploads[:2])


@pytest.mark.parametrize("servers", SERVERS)
def test_a_donor_may_write_twice_into_her_own_slot(servers):
    """The check asks who writes, not how often; her row is then the sum, and contested."""
    round_ = Round(servers, 4, 20)
    row = np.arange(20, dtype=np.uint8)
    assert round_.accepts([round_.honest(1, row), round_.honest(1, row[::-1].copy())])


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("width", [16, 37, 112])
def test_every_byte_of_a_row_is_guarded(servers, width):
    round_ = Round(servers, 3, width)
    for index in range(width):
        difference = np.zeros(width, np.uint8)
        difference[index] = 1
        assert not round_.accepts([round_.forged([(0, difference)], NOTHING)])


@pytest.mark.parametrize("servers", SERVERS)
def test_a_wrong_tag_or_a_wrong_share_of_it_is_refused(servers):
    round_ = Round(servers, 4, 20)
    upload = round_.honest(1, np.arange(20, dtype=np.uint8))
    for party in range(servers):
        tags = [tag.copy() for tag in upload.tags]
        tags[party][0, 15] ^= 128
        assert not round_.accepts([attrs.evolve(upload, tags=tuple(tags))])


@pytest.mark.parametrize("servers", SERVERS)
def test_halves_of_a_block_find_the_guilty_uploads(servers):
    round_ = Round(servers, 12, 33)
    row = np.arange(33, dtype=np.uint8)
    uploads = [round_.honest(slot, row) for slot in range(12)]
    for guilty in (3, 4, 11):
        difference = np.full(33, guilty, np.uint8)
        writes = [(guilty, row), (0, difference)]
        uploads[guilty] = round_.forged(writes, round_.tag(guilty, row))
    assert [3, 4, 11] == round_.guilty(uploads)
    del uploads[11], uploads[4], uploads[3]
    assert round_.accepts(uploads)


def test_claims_are_linear():
    """The claim of a block is the sum of the claims of its uploads."""
    round_ = Round(3, 6, 40)
    row = np.arange(40, dtype=np.uint8)
    first, second = round_.honest(1, row), round_.forged([(2, row)], NOTHING)
    apart = [
        bytes(a ^ b for a, b in zip(left, right, strict=True))
        for left, right in zip(round_.claims([first]), round_.claims([second]), strict=True)
    ]
    assert apart == round_.claims([first, second])


def product_of(left, right):
    total = 0
    for bit in range(128):
        if right >> bit & 1:
            total ^= left
        left = left << 1 ^ (left >> 127) * (1 << 128 | 0x87)
    return total


@pytest.mark.parametrize("width", [1, 16, 23, 48])
def test_tags_and_claims_are_what_plain_python_makes_of_the_definition(width):
    rng = np.random.default_rng(width)
    alphas = rng.integers(0, 256, (5, 16), dtype=np.uint8)
    rows = rng.integers(0, 256, (5, width), dtype=np.uint8)
    prefix = hashlib.sha256(b"anonloom slot authenticator 1\0" + b"study 7").digest()
    tags = []
    for alpha, row in zip(alphas, rows, strict=True):
        stream = hashlib.shake_128(prefix + (2).to_bytes(8, "little") + alpha.tobytes())
        weights = stream.digest(-(-width // 16) * 16)
        total = 0
        for index in range(0, width, 16):
            word = int.from_bytes(row[index : index + 16].tobytes(), "little")
            total ^= product_of(int.from_bytes(weights[index : index + 16], "little"), word)
        tags.append(total.to_bytes(16, "little"))
    drawn = slotauth.weights(alphas, width, context=b"study 7", iteration=2)
    assert tags == [tag.tobytes() for tag in slotauth.tags(rows, drawn)]
    own = b"one server's tag"
    expected = own
    for tag in tags:
        expected = bytes(a ^ b for a, b in zip(expected, tag, strict=True))
    assert expected == slotauth.claim(rows, drawn, own)


def test_weights_differ_by_key_context_and_iteration():
    alphas = np.arange(32, dtype=np.uint8).reshape(2, 16)
    seen = [
        slotauth.weights(alphas, 40, context=context, iteration=iteration)[slot, word].tobytes()
        for context in (b"", b"a", b"a\0")
        for iteration in (0, 1, 256)
        for slot in range(2)
        for word in range(3)
    ]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("servers", SERVERS)
def test_shares_of_tags_are_random_but_for_their_sum(servers):
    tags = np.arange(48, dtype=np.uint8).reshape(3, 16)
    shares = slotauth.shares(tags, servers, SeededEntropy())
    drawn = SeededEntropy().bytes(48 * (servers - 1))
    assert drawn == b"".join(share.tobytes() for share in shares[:-1])
    assert tags.tobytes() == np.bitwise_xor.reduce(shares, axis=0).tobytes()


def test_refusals():
    weights = slotauth.weights(np.zeros((2, 16), np.uint8), 20, context=b"", iteration=0)
    table = np.zeros((2, 20), np.uint8)

    def refusal(call, *arguments, **options):
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole text is compared
            call(*arguments, **options)
        return str(refused.value)

    assert "alphas must be bytes of shape (2, 16). Got uint8 of shape (2, 15) instead." == refusal(
        slotauth.weights, np.zeros((2, 15), np.uint8), 20, context=b"", iteration=0
    )
    assert "share must be bytes of shape (2, 20). Got uint8 of shape (1, 20) instead." == refusal(
        slotauth.claim, table[:1], weights, bytes(16)
    )
    assert "weights are for 2 words of a row. Got 16 bytes." == refusal(
        slotauth.claim, table[:, :16], weights, bytes(16)
    )
    assert "tag_share must have 16 bytes. Got 15 instead." == refusal(
        slotauth.claim, table, weights, bytes(15)
    )
    assert "rows must be bytes of shape (2, 20). Got float64 of shape (2, 20) instead." == refusal(
        slotauth.tags, table.astype(float), weights
    )
    assert "tags must be bytes of shape (1, 16). Got uint8 of shape (1, 8) instead." == refusal(
        slotauth.shares, np.zeros((1, 8), np.uint8), 2, SystemEntropy()
    )
