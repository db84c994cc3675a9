"""Senders and servers that deviate: what they can spoil, what is noticed, and what never happens.

Never: that something is published which nobody sent, or a record that its sender did not write.
"""

from collections import Counter

import numpy as np
import pytest

from anonloom.errors import TransportError
from anonloom_dpf import slotauth
from anonloom_dpf.deposit_table import DepositTable
from anonloom_dpf.layout import TAG_BYTES, deposit_layout, post_layout
from anonloom_dpf.post_table import PostTable
from anonloom_testing.transport import SeededEntropy
from anonloom_transport import Channel, SlotSecret, write_row

pytestmark = pytest.mark.long

SERVERS = [2, 3, 4]


def texts(number, size=24, seed="texts"):
    entropy = SeededEntropy(seed)
    return [entropy.bytes(size) for _ in range(number)]


def stopped(begun):
    """Return why the round could not end."""
    with pytest.raises(TransportError) as error:
        begun.driver.finish()
    return str(error.value).removeprefix("the round has stopped: ")


# --- senders in a post: keys that are no point functions ------------------------------------------


class Crafted:
    """The keys of one upload of a two-server post, to be bent."""

    def __init__(self, begun, seed="crafted"):
        layout = post_layout(begun.driver.round, begun.transport.settings)
        self.function = layout.functions[0]
        self.entropy = SeededEntropy(seed)
        whole = layout.contents([bytes(layout.placement.message_size)], self.entropy)
        self.contents = [np.array(own) for own in whole]

    def key(self, server):
        """The key for the first table."""
        return self.contents[server][0, : self.function.key_size]

    def public(self, server):
        """Correction words, control bits and the last word of that key, as views."""
        levels = self.function.depth
        ends = np.cumsum([16, 16 * levels, (levels + 7) // 8, self.function.width])
        _, words, bits, last, _ = np.split(self.key(server), ends)
        return words.reshape(levels, 16), bits, last

    def changed(self):
        """Return how many leaves of the first table the two keys change."""
        one, other = (self.function.evaluate(server, self.key(server)) for server in (0, 1))
        return int((one ^ other).any(axis=1).sum())

    def sent(self):
        return [own.tobytes() for own in self.contents]


def writes_everywhere(crafted):
    """Equal roots, no seed corrections, both control bits corrected: seeds agree, bits differ."""
    crafted.key(1)[:16] = crafted.key(0)[:16]
    for server in (0, 1):
        words, bits, last = crafted.public(server)
        words[:] = 0
        words[:, 0] = 1
        bits[:] = np.packbits(np.ones(crafted.function.depth, np.uint8), bitorder="little")
        last[:] = 7


def two_points(crafted):
    """A sibling of the leaf: on the last level one more control bit differs."""
    for server in (0, 1):
        words, _, _ = crafted.public(server)
        words[-1, 0] ^= 1


def two_points_right(crafted):
    """The same by the bit of the right child."""
    for server in (0, 1):
        _, bits, _ = crafted.public(server)
        level = crafted.function.depth - 1
        bits[level // 8] ^= 1 << level % 8


def a_whole_subtree(crafted):
    """A control bit of the first level: everything below it is garbage."""
    for server in (0, 1):
        words, _, _ = crafted.public(server)
        words[0, 0] ^= 1


def unequal_last_words(crafted):
    crafted.public(1)[2][0] ^= 1


def unequal_correction_words(crafted):
    crafted.public(1)[0][0, 5] ^= 1


def unequal_check_words(crafted):
    crafted.key(1)[-1] ^= 1


def wrong_check_word(crafted):
    for server in (0, 1):
        crafted.key(server)[-1] ^= 1


def unrelated_seeds(crafted):
    crafted.key(1)[:16] = np.frombuffer(crafted.entropy.bytes(16), np.uint8)


def a_control_bit_in_the_seed(crafted):
    crafted.key(1)[0] ^= 1


def only_the_last_table(crafted):
    crafted.contents[1][0, -1] ^= 1


def garbage(crafted):
    for own in crafted.contents:
        own[:] = np.frombuffer(crafted.entropy.bytes(own.size), np.uint8)


def zeros(crafted):
    crafted.contents[0][:] = 0


MALFORMED = [
    writes_everywhere,
    two_points,
    two_points_right,
    a_whole_subtree,
    unequal_last_words,
    unequal_correction_words,
    unequal_check_words,
    wrong_check_word,
    unrelated_seeds,
    only_the_last_table,
    garbage,
    zeros,
]


#: How many leaves a bent key has to change: not every leaf of the last level has a sibling.
POINTS = {two_points: 2, two_points_right: 2}


def crafted_by(bend, begun):
    """Bend the keys of senders until it does what it shall."""
    for seed in range(500):  # few leaves have one
        crafted = Crafted(begun, seed)
        bend(crafted)
        if POINTS.get(bend) in (None, crafted.changed()):
            return crafted
    raise AssertionError("no leaf has a sibling")


@pytest.mark.parametrize("bend", MALFORMED, ids=lambda bend: bend.__name__)
@pytest.mark.parametrize("placement", ["peeling", "paper"])
def test_malformed_keys_are_excluded_and_everybody_else_is_delivered(begin, bend, placement):
    begun = begin("post", 60, placement=placement, success_rate=0.999)
    sent = texts(59)
    begun.driver.post(sent)
    crafted = crafted_by(bend, begun)
    assert begun.craft(crafted.sent()).is_acknowledged
    assert sorted(sent) == sorted(begun.driver.finish())
    assert Counter({"malformed key": 2}) == begun.driver.count_refusals()
    assert [{}] * 2 == begun.remarks()


def test_the_crafted_keys_would_do_harm(begin):
    """What the check stands against: without it, each of the bent keys writes in many places."""
    begun = begin("post", 60)
    crafted = crafted_by(writes_everywhere, begun)
    leaves = crafted.function.leaves
    assert leaves == crafted.changed()
    assert leaves // 4 <= crafted_by(a_whole_subtree, begun).changed()
    assert 2 == crafted_by(two_points, begun).changed()
    assert 2 == crafted_by(two_points_right, begun).changed()


def test_the_bit_of_a_seed_that_means_nothing_means_nothing(begin):
    """The lowest bit is the control bit, which a server sets by itself: such a key is whole."""
    begun = begin("post", 60)
    sent = texts(59)
    begun.driver.post(sent)
    crafted = crafted_by(a_control_bit_in_the_seed, begun)
    assert 1 == crafted.changed()
    begun.craft(crafted.sent())
    assert sorted([*sent, bytes(24)]) == sorted(begun.driver.finish())


def test_a_leaf_of_garbage_is_contained(begin):
    """An accepted key may hold anything in one leaf of each table; peeling goes around it."""
    begun = begin("post", 60, tolerated=0.05)
    sent = texts(57)
    begun.driver.post(sent)
    for number in range(3):
        begun.craft(leaf_of_garbage(begun, SeededEntropy(("garbage", number))))
    assert sorted(sent) == sorted(begun.driver.finish())
    assert Counter() == begun.driver.count_refusals()
    assert [{"messages that cannot be read": 3}] * 2 == begun.remarks()


def leaf_of_garbage(begun, entropy):
    layout = post_layout(begun.driver.round, begun.transport.settings)
    keys = []
    for function in layout.functions:
        leaf = int.from_bytes(entropy.bytes(8), "big") % function.leaves
        payload = np.frombuffer(entropy.bytes(function.width), np.uint8)
        keys.append(function.keys(np.array([leaf]), payload[None], entropy))
    return [b"".join(own[server].tobytes() for own in keys) for server in (0, 1)]


def test_more_messages_than_uploads_are_remarked(begin):
    """A leaf has room for several messages: nobody is named, but the excess is told."""
    begun = begin("post", 8, slots_per_leaf=4)
    begun.driver.post(texts(6))
    layout = post_layout(begun.driver.round, begun.transport.settings)
    entropy = SeededEntropy("two")
    pool = texts(400, seed="pool")
    records, slots = layout.placement.place(pool, entropy)
    leaves = slots // layout.slots_per_leaf
    one, other = next(
        (indice, other)
        for indice in range(400)
        for other in range(indice)
        if (leaves[indice] == leaves[other]).all() and (slots[indice] != slots[other]).all()
    )
    keys = []
    for table, function in enumerate(layout.functions):
        payload = np.zeros((layout.slots_per_leaf, records.shape[1]), np.uint8)
        for row in (one, other):
            payload[slots[row, table] % layout.slots_per_leaf] = records[row]
        keys.append(function.keys(leaves[[one], table], payload.reshape(1, -1), entropy))
    begun.craft([b"".join(own[server].tobytes() for own in keys) for server in (0, 1)])
    assert sorted([*texts(6), pool[one], pool[other]]) == sorted(begun.driver.finish())
    assert [{"messages beyond the number of uploads": 1}] * 2 == begun.remarks()


def test_too_many_malformed_keys_stop_the_round(begin):
    begun = begin("post", 60)
    begun.driver.post(texts(57))
    for number in range(3):
        crafted = Crafted(begun, number)
        garbage(crafted)
        begun.craft(crafted.sent())
    assert (
        "3 of 60 uploads fail the check, more than the tolerated share of 0.02: one of the servers "
        "deviates, or that many senders do"
    ) == stopped(begun)
    assert [None] * 2 == [server.result for server in begun.driver.servers]
    assert [] == [step for step, _, _ in begun.words() if step.startswith("share")]


@pytest.mark.parametrize("servers", [3, 4])
def test_with_more_servers_garbage_loses_messages_and_changes_none(begin, servers):
    """Nothing checks keys there, and the guarantees say that senders must be honest."""
    begun = begin("post", 12, servers=servers)
    sent = texts(11)
    begun.driver.post(sent)
    layout = post_layout(begun.driver.round, begun.transport.settings)
    begun.craft(texts(servers, layout.content_size, "garbage"))
    message = stopped(begun)
    assert (
        "0 of 12 messages can be read, fewer than 1: one of the servers deviates, or many senders do"
    ) == message
    assert begun.driver.guarantees.donors.startswith("honest: ")


# --- senders in a deposit: writes to somebody else's position -------------------------------------


def foreign(begun, position, difference, tag=None, own=None):
    """Return an upload that adds a difference to a position, under a tag that somebody guessed.

    Parameters
    ----------
    own
        The secret that the tag is made with; without it the tag is zero.
    """
    layout, entropy = deposit_layout(begun.driver.round), SeededEntropy(("foreign", position))
    payload = np.frombuffer(difference.ljust(layout.width, b"\0"), np.uint8)[None]
    keys = layout.function.keys(np.array([position]), payload, entropy)
    tags = np.zeros((1, TAG_BYTES), np.uint8)
    if own is not None:
        tags = slotauth.tags(payload, layout.weights([own.alpha]))
    shares = slotauth.shares(tags, layout.servers, entropy)
    return [a.tobytes() + b.tobytes() for a, b in zip(keys, shares, strict=True)]


def with_own_row(begun, own, record, difference):
    """Return an upload with a genuine write to one's own position and a difference at another.

    The tag is right for the genuine write.
    """
    layout, entropy = deposit_layout(begun.driver.round), SeededEntropy("both")
    row = write_row(begun.secrets[own], layout.iteration, layout.iterations, record)
    rows = np.frombuffer(row, np.uint8)[None]
    keys = [np.array(key) for key in layout.function.keys(np.array([own]), rows, entropy)]
    if layout.servers == 2:
        # The sibling of the leaf: its seeds agree, so that a control bit alone writes there.
        levels = layout.function.depth
        index = 16 + 16 * (levels - 1)
        alternatives = []
        for place, bit in (
            (index, 1),
            (16 + 16 * levels + (levels - 1) // 8, 1 << (levels - 1) % 8),
        ):
            bent = [key.copy() for key in keys]
            for key in bent:
                key[0, place] ^= bit
            alternatives.append(bent)
        sums = [
            layout.function.evaluate(0, item[0]) ^ layout.function.evaluate(1, other[0])
            for item, other in alternatives
        ]
        keys = next(
            bent
            for bent, total in zip(alternatives, sums, strict=True)
            if total[own].tobytes() == row
        )
    else:
        # Another column of the folded table's row, in the correction that all servers have.
        columns, width = layout.function.columns, layout.width
        other = (own % columns + 1) % columns
        for key in keys:
            index = key.shape[1] - (columns - other) * width
            key[0, index : index + len(difference)] ^= np.frombuffer(difference, np.uint8)
    tags = slotauth.tags(rows, layout.weights([begun.secrets[own].alpha]))
    shares = slotauth.shares(tags, layout.servers, entropy)
    return [a.tobytes() + b.tobytes() for a, b in zip(keys, shares, strict=True)]


#: Flips a bit of the record, which comes after the link.
FLIP = bytes(16) + b"\1"


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("guess", ["no tag", "own tag"])
def test_a_foreign_write_is_found_and_changes_nothing(begin, servers, guess):
    begun = begin("deposit", 40, servers=servers)
    sent = begun.records(range(39))
    begun.deposit(sent)
    own = begun.secrets[39] if guess == "own tag" else None
    assert begun.craft(foreign(begun, 17, FLIP, own=own)).is_acknowledged
    assert [*sent.values(), None] == list(begun.driver.finish())
    assert Counter({"foreign write": servers}) == begun.driver.count_refusals()
    assert [{}] * servers == begun.remarks()


@pytest.mark.parametrize("servers", SERVERS)
def test_a_foreign_write_beside_ones_own_is_found_and_changes_nothing(begin, servers):
    begun = begin("deposit", 40, servers=servers)
    sent = begun.records(range(39))
    begun.deposit(sent)
    begun.craft(with_own_row(begun, 39, bytes(24), FLIP))
    assert [*sent.values(), None] == list(begun.driver.finish())
    assert Counter({"foreign write": servers}) == begun.driver.count_refusals()


@pytest.mark.parametrize("servers", SERVERS)
def test_garbage_in_a_deposit_is_found_and_changes_nothing(begin, servers):
    begun = begin("deposit", 40, servers=servers)
    sent = begun.records(range(39))
    begun.deposit(sent)
    begun.craft(texts(servers, deposit_layout(begun.driver.round).content_size, "garbage"))
    assert [*sent.values(), None] == list(begun.driver.finish())
    assert Counter({"foreign write": servers}) == begun.driver.count_refusals()


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("guilty", [1, 2, 7, 15])
def test_many_guilty_uploads_are_all_found(begin, servers, guilty):
    """They lie anywhere in the list, several in one group and several groups."""
    begun = begin("deposit", 61, servers=servers, tolerated=0.25)
    honest = 61 - guilty
    sent = begun.records(range(honest))
    begun.deposit(sent)
    for number in range(guilty):
        begun.craft(foreign(begun, number * 3, FLIP))
    assert [*sent.values(), *[None] * guilty] == list(begun.driver.finish())
    assert Counter({"foreign write": servers * guilty}) == begun.driver.count_refusals()
    assert [{}] * servers == begun.remarks()


@pytest.mark.parametrize("seed", range(6))
def test_two_who_undo_each_other_change_nothing(begin, seed):
    """A group is accepted by its sum; whether they lie in one group or two, no record changes."""
    begun = begin("deposit", 24, tolerated=0.25, seed=seed)
    sent = begun.records(range(21))
    begun.deposit(sent)
    for contents in (foreign(begun, 5, FLIP), foreign(begun, 5, FLIP), foreign(begun, 6, FLIP)):
        begun.craft(contents)
    assert [*sent.values(), None, None, None] == list(begun.driver.finish())
    assert begun.driver.count_refusals()["foreign write"] in (2, 6)
    assert [{}] * 2 == begun.remarks()


def test_too_many_foreign_writes_stop_the_round(begin):
    begun = begin("deposit", 40)
    begun.deposit(begun.records(range(38)))
    for position in (3, 30):
        begun.craft(foreign(begun, position, FLIP))
    assert (
        "2 of 40 uploads fail the check, more than the tolerated share of 0.02: one of the servers "
        "deviates, or that many senders do"
    ) == stopped(begun)
    assert [None] * 2 == [server.result for server in begun.driver.servers]


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("difference", [FLIP, b"\1", bytes(56 - 1) + b"\1"])
def test_a_donor_with_a_servers_help_destroys_and_never_alters(begin, servers, difference):
    """Who was told a position's alpha passes the check; the hash chain withholds the row."""
    begun = begin("deposit", 12, servers=servers)
    sent = begun.records(range(11))
    begun.deposit(sent)
    begun.craft(foreign(begun, 4, difference, own=begun.secrets[4]))
    assert [None if index == 4 else sent.get(index) for index in range(12)] == list(
        begun.driver.finish()
    )
    assert Counter() == begun.driver.count_refusals()
    assert [{"contested records": 1}] * servers == begun.remarks()


def test_a_row_of_ones_own_making_needs_the_owners_chain(begin):
    """With alpha alone nobody can fill a position that is still empty."""
    begun = begin("deposit", 12)
    sent = begun.records(range(11))
    begun.deposit(sent)
    stolen = SlotSecret(begun.secrets[11].alpha, bytes(16))
    begun.driver.deposit([(stolen, bytes(24))])
    assert [*sent.values(), None] == list(begun.driver.finish())
    assert [{"contested records": 1}] * 2 == begun.remarks()


# --- servers: what they say about uploads ---------------------------------------------------------


def lying(work):
    """Corrupt a server so that it does its work otherwise."""

    def corrupt(engine, config):
        engine.strategy.work = work(engine.state, engine.strategy.work.layout)
        return engine

    return corrupt


def bent(value, at=0):
    """Flip one bit."""
    changed = bytearray(value)
    changed[at] ^= 1
    return bytes(changed)


def against(at):
    """A server that lies about one upload, consistently."""

    class Against(DepositTable):
        def _claim(self, group):
            message = super()._claim(group)
            return bent(message) if group[0] <= at < group[1] else message

    return Against


class Inconsistent(DepositTable):
    """Lies about a group, and not about its halves."""

    def _claim(self, group):
        message = super()._claim(group)
        return bent(message) if group == (0, 4) else message


class AgainstAll(DepositTable):
    """Lies about everybody: of a group of odd size it shows."""

    def _claim(self, group):
        message = super()._claim(group)
        return bent(message) if (group[1] - group[0]) % 2 else message


class TooShort(DepositTable):
    def _claim(self, group):
        return super()._claim(group)[:-1]


@pytest.mark.parametrize("servers", SERVERS)
def test_a_server_that_contradicts_its_own_claims_is_named(begin, servers):
    begun = begin("deposit", 64, servers=servers, corrupted={1: lying(Inconsistent)})
    begun.deposit(begun.records(range(64)))
    assert "server 1 contradicts its own check values" == stopped(begun)


@pytest.mark.parametrize("servers", SERVERS)
def test_a_server_can_refuse_an_honest_donor_only_within_the_tolerated_share(begin, servers):
    """She is counted as refused; no record of anybody else is lost or changed."""
    begun = begin("deposit", 64, servers=servers, corrupted={1: lying(against(9))})
    sent = begun.records(range(64))
    begun.deposit(sent)
    read = list(begun.driver.finish())
    assert 63 == sum(item == other for item, other in zip(read, sent.values(), strict=True))
    assert 1 == read.count(None)
    assert Counter({"foreign write": servers}) == begun.driver.count_refusals()


def test_claims_of_honest_uploads_tell_other_servers_nothing_new(begin):
    """Whatever is halved: the last server's claim is what all others together know before."""
    begun = begin("deposit", 64, servers=3, corrupted={1: lying(against(9))})
    begun.deposit(begun.records(range(64)))
    works = [server.strategy.work for server in begun.driver.servers]
    begun.driver.close()
    begun.driver.settle()
    groups = works[0]._claims
    assert (9, 10) in groups
    for group in groups:
        claims = [DepositTable._claim(work, group) for work in works]
        assert slotauth.verify_claims(claims)


def test_an_honest_donor_is_not_left_out_alone(begin):
    """The one position that stays empty would be hers: the round is held as if she had left."""
    begun = begin(
        "deposit", 64, corrupted={1: lying(against(9))}, tolerated=0.05, round={"min_leave": 3}
    )
    begun.deposit(begun.records(range(64)))
    assert (
        "1 senders are missing without the uploads that fail the check: with fewer than 3, what "
        "is absent would show whose it is"
    ) == stopped(begun)
    assert [] == [step for step, _, _ in begun.words() if step.startswith("share")]


def test_as_many_as_may_leave_are_left_out_together(begin):
    begun = begin("deposit", 64, tolerated=0.05, round={"min_leave": 3})
    sent = begun.records(range(61))
    begun.deposit(sent)
    for position in (3, 30, 40):
        begun.craft(foreign(begun, position, FLIP))
    assert [*sent.values(), None, None, None] == list(begun.driver.finish())


def test_in_a_post_only_a_phase_before_it_holds_the_round(begin):
    """A message that is missing shows nothing, unless its sender was counted before."""
    for cohort, held in ((0, False), (60, True)):
        begun = begin("post", 60, round={"min_leave": 3, "cohort": cohort})
        sent = texts(59)
        begun.driver.post(sent)
        crafted = Crafted(begun, 0)
        garbage(crafted)
        begun.craft(crafted.sent())
        if held:
            assert stopped(begun).startswith("1 senders are missing without the uploads that fail")
        else:
            assert sorted(sent) == sorted(begun.driver.finish())


def test_a_server_that_accuses_everybody_stops_the_round(begin):
    begun = begin("deposit", 15, corrupted={1: lying(AgainstAll)})
    begun.deposit(begun.records(range(15)))
    assert (
        "15 of 15 uploads fail the check, more than the tolerated share of 0.02: one of the "
        "servers deviates, or that many senders do"
    ) == stopped(begun)


@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_fewer_than_the_least_batch_are_never_opened(begin, operation):
    """What is left after taking out wrong uploads must be enough to hide in."""
    begun = begin(operation, 50, round={"min_batch": 50})
    if operation == "post":
        begun.driver.post(texts(49))
        crafted = Crafted(begun, 0)
        garbage(crafted)
        begun.craft(crafted.sent())
    else:
        begun.deposit(begun.records(range(49)))
        begun.craft(foreign(begun, 3, FLIP))
    assert "49 uploads pass the check, it takes 50: nothing is opened" == stopped(begun)
    assert [] == [step for step, _, _ in begun.words() if step.startswith("share")]


def test_claims_of_another_size_stop_the_round(begin):
    begun = begin("deposit", 15, corrupted={1: lying(TooShort)})
    begun.deposit(begun.records(range(15)))
    assert "a server sent check values of the wrong size" == stopped(begun)


def accusing(number):
    """A server that sends wrong check values of some uploads of a post."""

    class Accusing(PostTable):
        def _add_up(self, check_key):
            super()._add_up(check_key)
            for upload in range(number):
                self._tags = bent(self._tags, 16 * upload)

    return Accusing


def test_false_check_values_exclude_within_the_tolerated_share(begin):
    begun = begin("post", 60, corrupted={0: lying(accusing(1))})
    sent = texts(60)
    begun.driver.post(sent)
    read = list(begun.driver.finish())
    assert 59 == len(read) == len(set(read) & set(sent))
    assert Counter({"malformed key": 2}) == begun.driver.count_refusals()


def test_false_check_values_beyond_it_stop_the_round(begin):
    begun = begin("post", 60, corrupted={0: lying(accusing(60))})
    begun.driver.post(texts(60))
    assert (
        "60 of 60 uploads fail the check, more than the tolerated share of 0.02: one of the "
        "servers deviates, or that many senders do"
    ) == stopped(begun)


def test_check_values_of_another_size_stop_the_round(begin):
    class Short(PostTable):
        def _add_up(self, check_key):
            super()._add_up(check_key)
            self._tags = self._tags[:-1]

    begun = begin("post", 10, corrupted={0: lying(Short)})
    begun.driver.post(texts(10))
    assert "a server sent check values of the wrong size" == stopped(begun)


# --- servers: what they show ----------------------------------------------------------------------


def showing(kind, change):
    """A server that shows another share than it has, and commits to it."""

    class Showing(kind):
        def own_share(self):
            return change(super().own_share())

    return lying(Showing)


@pytest.mark.parametrize("servers", SERVERS)
def test_a_changed_share_destroys_a_record_and_never_alters_one(begin, servers):
    """It can't be told which of the servers it was; the record is contested and withheld."""
    width = 24 + 32
    for place in (0, 20, width - 1):
        corrupted = {1: showing(DepositTable, lambda share, at=3 * width + place: bent(share, at))}
        begun = begin("deposit", 9, servers=servers, corrupted=corrupted)
        sent = begun.records(range(9))
        begun.deposit(sent)
        assert [None if index == 3 else sent[index] for index in range(9)] == list(
            begun.driver.finish()
        )
        assert [{"contested records": 1}] * servers == begun.remarks()


def test_a_share_of_noise_destroys_all_and_alters_none(begin):
    noise = showing(DepositTable, lambda share: SeededEntropy("noise").bytes(len(share)))
    begun = begin("deposit", 9, corrupted={1: noise})
    begun.deposit(begun.records(range(8)))
    assert [None] * 9 == list(begun.driver.finish())
    assert [{"contested records": 9}] * 2 == begun.remarks()


@pytest.mark.parametrize("servers", SERVERS)
def test_a_slightly_changed_share_of_a_post_changes_no_message(begin, servers):
    """The copies in the other tables stand; nothing is published that nobody sent."""
    corrupted = {1: showing(PostTable, lambda share: bent(bent(share, 100), len(share) // 2))}
    begun = begin("post", 30, servers=servers, corrupted=corrupted)
    sent = texts(30)
    begun.driver.post(sent)
    assert sorted(sent) == sorted(begun.driver.finish())


def test_a_share_of_noise_of_a_post_is_not_published(begin):
    noise = showing(PostTable, lambda share: SeededEntropy("noise").bytes(len(share)))
    begun = begin("post", 30, corrupted={1: noise})
    begun.driver.post(texts(30))
    assert (
        "0 of 30 messages can be read, fewer than 1: one of the servers deviates, or many senders do"
    ) == stopped(begun)


@pytest.mark.parametrize(("operation", "kind"), [("post", PostTable), ("deposit", DepositTable)])
def test_a_share_of_another_size_stops_the_round(begin, operation, kind):
    begun = begin(operation, 9, corrupted={1: showing(kind, lambda share: share[:-1])})
    if operation == "post":
        begun.driver.post(texts(9))
    else:
        begun.deposit(begun.records(range(9)))
    assert "a server sent a share of the wrong size" == stopped(begun)


def two_faced(step):
    """A server that commits to a value and shows another."""

    class TwoFaced(Channel):
        def send(self, sent, body):
            Channel.send(self, sent, bent(body, -1) if sent == step else body)

    def corrupt(engine, config):
        engine.state.channel = TwoFaced(engine.round, engine.config)
        return engine

    return corrupt


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("step", ["share", "claims 0"])
def test_who_shows_something_else_than_committed_to_is_named(begin, servers, step):
    begun = begin("deposit", 9, servers=servers, corrupted={1: two_faced(step)})
    begun.deposit(begun.records(range(9)))
    assert f"server 1 shows something else than it committed to: {step}" == stopped(begun)
    assert None is begun.driver.servers[0].result


@pytest.mark.parametrize("step", ["coin", "check", "share"])
def test_who_shows_something_else_in_a_post_is_named(begin, step):
    begun = begin("post", 9, corrupted={1: two_faced(step)})
    begun.driver.post(texts(9))
    assert f"server 1 shows something else than it committed to: {step}" == stopped(begun)
    assert None is begun.driver.servers[0].result


# --- loss against the share of dishonest senders --------------------------------------------------


@pytest.mark.parametrize(("slots_per_leaf", "malicious"), [(1, 15), (4, 30), (8, 45)])
def test_losses_are_those_of_the_placement_alone(begin, slots_per_leaf, malicious):
    """Sealing, point functions and checks add nothing to what garbage costs an open table."""
    begun = begin("post", 300, size=8, slots_per_leaf=slots_per_leaf, tolerated=0.0)
    layout = post_layout(begun.driver.round, begun.transport.settings)
    sent = [index.to_bytes(8, "big") for index in range(300 - malicious)]
    begun.driver.post(sent)
    for number in range(malicious):
        begun.craft(leaf_of_garbage(begun, SeededEntropy(("garbage", number))))
    read = list(begun.driver.finish())
    assert set(read) <= set(sent)
    lost = (len(sent) - len(read)) / len(sent)
    simulated = [placed_alone(layout, sent, malicious, trial) for trial in range(30)]
    assert min(simulated) <= lost <= max(simulated)


def placed_alone(layout, sent, malicious, trial):
    """Return the share of messages lost when garbage is written into open tables."""
    rng, placement, leaf = np.random.default_rng(trial), layout.placement, layout.slots_per_leaf
    records, slots = placement.place(sent, SeededEntropy(("honest", trial)))
    tables = [np.zeros((size, placement.record_size), np.uint8) for size in placement.tables]
    for index, table in enumerate(tables):
        np.bitwise_xor.at(table, slots[:, index], records)
        for first in rng.integers(0, len(table) // leaf, malicious) * leaf:
            table[first : first + leaf] ^= rng.integers(0, 256, (leaf, table.shape[1]), np.uint8)
    return 1 - len(placement.decode(tables).messages) / len(sent)
