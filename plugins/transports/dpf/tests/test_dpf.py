"""Whole rounds over point functions: all that honest senders send arrives, and what is said of it."""

from collections import Counter

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom.errors import TransportError
from anonloom.kinds import Guarantees
from anonloom_dpf import native
from anonloom_dpf.layout import deposit_layout, post_layout
from anonloom_dpf.transport import Dpf
from anonloom_dpf.tree import Tree
from anonloom_testing.transport import RestartingDriver, SeededEntropy
from anonloom_transport import Driver, Round, SlotSecret, faults

pytestmark = pytest.mark.long

SERVERS = [2, 3, 4]
SUITES = ["x25519", "mlkem768-x25519"]


def texts(number, size, seed="texts"):
    entropy = SeededEntropy(seed)
    return [entropy.bytes(size) for _ in range(number)]


# --- delivery -------------------------------------------------------------------------------------


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize(("senders", "size"), [(1, 1), (2, 64), (7, 1024), (13, 5), (100, 333)])
def test_a_post_delivers_every_message_once(begin, servers, senders, size):
    begun, sent = begin("post", senders, servers=servers, size=size), texts(senders, size)
    assert all(client.is_acknowledged for client in begun.driver.post(sent))
    assert sorted(sent) == sorted(begun.driver.finish())
    assert [{}] * servers == begun.remarks()
    assert Counter() == begun.driver.count_refusals()


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize(("positions", "size"), [(1, 1), (3, 64), (7, 1024), (37, 5), (100, 333)])
def test_a_deposit_delivers_every_record_to_its_position(begin, servers, positions, size):
    begun = begin("deposit", positions, servers=servers, size=size)
    sent = begun.records(range(positions))
    assert all(client.is_acknowledged for client in begun.deposit(sent))
    assert list(sent.values()) == list(begun.driver.finish())
    assert [{}] * servers == begun.remarks()
    assert Counter() == begun.driver.count_refusals()


@settings(max_examples=25)
@given(
    servers=st.sampled_from(SERVERS),
    senders=st.integers(1, 40),
    size=st.integers(1, 80),
    slots_per_leaf=st.integers(1, 9),
    tolerated=st.sampled_from([0.0, 0.01, 0.1]),
    spare=st.integers(0, 30),
)
def test_posts_of_any_size(servers, senders, size, slots_per_leaf, tolerated, spare):
    """Whatever the tables are cut into, every message comes out; also when senders stay away."""
    plan = Round(
        id="r",
        operation="post",
        servers=servers,
        message_size=size,
        min_batch=senders,
        capacity=senders + spare,
    )
    transport = Dpf(slots_per_leaf=slots_per_leaf, tolerated=tolerated)
    # A few of these rounds in ten thousand would lose two messages that meet in all tables.
    driver = Driver(transport, plan, entropy=SeededEntropy("any"))
    sent = texts(senders, size)
    driver.post(sent)
    assert sorted(sent) == sorted(driver.finish())


@pytest.mark.parametrize("servers", SERVERS)
def test_positions_without_a_record_are_empty(begin, servers):
    begun = begin("deposit", 11, servers=servers)
    sent = begun.records([1, 2, 9])
    begun.deposit(sent)
    assert [sent.get(index) for index in range(11)] == list(begun.driver.finish())
    assert [{}] * servers == begun.remarks()


@pytest.mark.parametrize("operation", ["post", "deposit"])
@pytest.mark.parametrize("suite", SUITES)
def test_both_suites_deliver(begin, operation, suite):
    begun = begin(operation, 9, round={"suite": suite})
    sent = begun.records(range(9))
    if operation == "post":
        begun.driver.post(sent.values())
    else:
        begun.deposit(sent)
    assert sorted(sent.values()) == sorted(begun.driver.finish())


def test_the_order_of_a_post_follows_from_the_drawn_tags_only(begin):
    """The same messages in another order of senders come out in another order."""
    orders = []
    for seed in range(5):
        begun, sent = begin("post", 12, seed=seed), texts(12, 24)
        begun.driver.post(sent)
        orders.append(tuple(sent.index(message) for message in begun.driver.finish()))
    assert 5 == len(set(orders))


def test_a_full_round_takes_nobody_else(begin):
    begun, sent = begin("post", 5), texts(6, 24)
    clients = begun.driver.post(sent)
    assert [True] * 5 + [False] == [client.is_acknowledged for client in clients]
    assert sorted(sent[:5]) == sorted(begun.driver.finish())
    assert Counter({"the round is full": 2}) == begun.driver.count_refusals()


def test_refusals_are_counted_by_reason(begin):
    begun, sent = begin("post", 5), texts(3, 24)
    begun.driver.post(sent)
    upload = next(s.envelope for s in begun.driver.trace.network if s.envelope.step == "upload")
    begun.driver.inject(attrs.evolve(upload, body=upload.body[:-1]))
    begun.driver.inject(attrs.evolve(upload, body=upload.body[:-1] + bytes([upload.body[-1] ^ 1])))
    begun.driver.inject(attrs.evolve(upload, upload=bytes(16)))
    begun.driver.close()
    begun.driver.post(texts(1, 24, "late"))
    expected = {
        "wrong size": 1,
        "other bytes under a known id": 1,
        "cannot be opened": 1,
        "after the close": 2,
    }
    assert Counter(expected) == begun.driver.count_refusals()


# --- restarts -------------------------------------------------------------------------------------


def played(begin, operation, servers, driver, **more):
    """Play a round in which one upload is malformed and one position withdrawn; return its words."""
    begun = begin(operation, 9, servers=servers, driver=driver, **more)
    if operation == "post":
        begun.driver.post(texts(8, 24))
        size = post_layout(begun.driver.round, begun.transport.settings).content_size
    else:
        begun.deposit(begun.records(range(8)))
        size = deposit_layout(begun.driver.round).content_size
    if operation == "deposit" or servers == 2:  # elsewhere nobody would recognise it
        begun.craft(texts(servers, size, "garbage"))
    begun.driver.close()
    begun.driver.settle()
    if operation == "deposit":
        begun.driver.erase([5])
    begun.driver.open()
    return begun, list(begun.driver.result())


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_servers_that_start_again_after_every_envelope_say_the_same(begin, operation, servers):
    """Every word, the shares among them, has the same bytes as without restarts."""
    planned = [3] if operation == "deposit" else []
    plain, result = played(begin, operation, servers, Driver, planned=planned)
    again, result_again = played(begin, operation, servers, RestartingDriver, planned=planned)
    assert result == result_again
    shares = [step for step, _, _ in plain.words() if step == "share"]
    assert servers * (servers - 1) == len(shares)
    assert plain.words() == again.words()
    assert plain.driver.count_refusals() == again.driver.count_refusals()
    assert plain.remarks() == again.remarks()


@pytest.mark.parametrize("operation", ["post", "deposit"])
@pytest.mark.parametrize("index", [0, 1])
def test_one_server_may_start_again_at_any_moment(begin, operation, index):
    """One restart after the k-th envelope, for every k, ends with the same words and result."""

    class Once(Driver):
        left = -1

        def deliver_one(self):
            Driver.deliver_one(self)
            Once.left -= 1
            if Once.left == 0:
                self.restart(index)

    plain, result = played(begin, operation, 2, Once)
    delivered = -1 - Once.left
    for moment in range(1, delivered + 1, 3):
        Once.left = moment
        again, result_again = played(begin, operation, 2, Once)
        assert result == result_again
        assert plain.words() == again.words()


def test_a_network_that_fails_between_servers_changes_no_result(begin):
    begun = begin("deposit", 9)
    sent = begun.records(range(9))
    begun.deposit(sent)
    unreliable = faults.chance(0.3, SeededEntropy("network"))
    begun.driver.network.faults = [faults.drop(unreliable), faults.duplicate(unreliable)]
    for act in (begun.driver.close, begun.driver.settle, begun.driver.open):
        act()
        for _ in range(12):
            begun.driver.retry()
    assert list(sent.values()) == list(begun.driver.result())


# --- erasure --------------------------------------------------------------------------------------


@pytest.mark.parametrize("servers", SERVERS)
def test_planned_and_withdrawn_positions_are_not_opened(begin, servers):
    begun = begin("deposit", 10, servers=servers, planned=[2, 7])
    sent = begun.records(range(10))
    begun.deposit(sent)
    begun.driver.close()
    begun.driver.settle()
    begun.driver.erase([4])
    begun.driver.open()
    assert [sent[index] if index not in (2, 4, 7) else None for index in range(10)] == list(
        begun.driver.result()
    )
    assert [{}] * servers == begun.remarks()


def test_no_server_shows_its_share_of_an_erased_row(begin):
    """The shares on the line have the rows that are kept, and no others."""
    sizes = []
    for planned in ((), (2, 7)):
        begun = begin("deposit", 10, planned=planned)
        begun.deposit(begun.records(range(10)))
        begun.driver.finish()
        sizes.append([len(body) for (step, _, _), body in begun.words().items() if step == "share"])
    width = deposit_layout(begun.driver.round).width
    assert [2 * width] * 2 == [whole - kept for whole, kept in zip(*sizes, strict=True)]


def test_everything_can_be_erased(begin):
    begun = begin("deposit", 4, planned=range(4))
    begun.deposit(begun.records(range(4)))
    assert [None] * 4 == list(begun.driver.finish())


def test_servers_that_erase_different_positions_stop(begin):
    begun = begin("deposit", 4)
    begun.deposit(begun.records(range(4)))
    begun.driver.close()
    begun.driver.settle()
    begun.driver.servers[0].erase([1])
    begun.driver.servers[1].erase([2])
    begun.driver.open()
    with pytest.raises(TransportError) as error:
        begun.driver.result()
    assert (
        "the round has stopped: the servers do not agree on what is erased: server 1 says "
        "something else than server 0"
    ) == str(error.value)
    assert {} == {step: 1 for step, _, _ in begun.words() if step == "share"}


def test_nothing_is_erased_after_opening(begin):
    begun = begin("deposit", 4)
    begun.deposit(begun.records(range(4)))
    begun.driver.finish()
    with pytest.raises(TransportError) as error:
        begun.driver.erase([1])
    assert "the round is open: nothing can be erased any more" == str(error.value)


# --- iterations -----------------------------------------------------------------------------------


class OtherLink(SlotSecret):
    """Shows the link of another iteration."""

    off = 0

    def link(self, iteration, iterations):
        return super().link(iteration + self.off, iterations)


@pytest.mark.parametrize("iteration", [1, 2, 3])
@pytest.mark.parametrize("servers", SERVERS)
def test_each_iteration_shows_its_own_link(begin, iteration, servers):
    middle = {"iteration": iteration, "iterations": 3}
    begun = begin("deposit", 6, servers=servers, round=middle)
    sent = begun.records(range(6))
    begun.deposit(sent)
    assert list(sent.values()) == list(begun.driver.finish())


@pytest.mark.parametrize("off", [-1, 1])
def test_a_link_of_another_iteration_is_contested(begin, monkeypatch, off):
    """What was shown in another iteration does not open this one: the record is withheld."""
    monkeypatch.setattr(OtherLink, "off", off)
    begun = begin("deposit", 6, round={"iteration": 2, "iterations": 3})
    sent = begun.records(range(6))
    own = begun.secrets[3]
    begun.secrets[3] = OtherLink(own.alpha, own.seed)
    begun.deposit(sent)
    assert [sent[index] if index != 3 else None for index in range(6)] == list(
        begun.driver.finish()
    )
    assert [{"contested records": 1}] * 2 == begun.remarks()


def test_who_writes_twice_spoils_nothing_but_her_own_row(begin):
    begun = begin("deposit", 6)
    sent = begun.records(range(5))
    begun.deposit(sent)
    begun.driver.deposit([(begun.secrets[2], bytes(24))])
    expected = [sent[index] if index in (0, 1, 3, 4) else None for index in range(6)]
    assert expected == list(begun.driver.finish())
    assert [{"contested records": 1}] * 2 == begun.remarks()


# --- placement ------------------------------------------------------------------------------------


@pytest.mark.parametrize("servers", SERVERS)
def test_what_the_papers_placement_loses_is_remarked(begin, servers):
    begun = begin("post", 60, servers=servers, placement="paper", success_rate=0.8)
    sent = texts(60, 24)
    begun.driver.post(sent)
    read = list(begun.driver.finish())
    assert set(read) <= set(sent)
    assert len(read) == len(set(read))
    # Two of 60 collide in all but one of ten thousand rounds, and no round is so bad.
    assert 30 <= len(read) < 60
    assert [{"messages that cannot be read": 60 - len(read)}] * servers == begun.remarks()


def test_a_post_of_which_too_little_can_be_read_is_not_published(begin):
    more = {"min_batch": 60}
    begun = begin("post", 60, placement="paper", success_rate=0.5, round=more)
    begun.driver.post(texts(60, 24))
    with pytest.raises(TransportError) as error:
        begun.driver.finish()
    read = int(str(error.value).removeprefix("the round has stopped: ").split()[0])
    assert (
        f"the round has stopped: {read} of 60 messages can be read, fewer than 60: one of the "
        "servers deviates, or many senders do"
    ) == str(error.value)
    assert [None, None] == [server.result for server in begun.driver.servers]


def test_peeling_needs_less_room_than_the_papers_table():
    plan = Round(
        id="r", operation="post", servers=2, message_size=64, min_batch=1, capacity=100_000
    )
    slots = {
        placement: sum(
            post_layout(plan, attrs.evolve(Dpf().settings, placement=placement)).placement.tables
        )
        for placement in ("peeling", "paper")
    }
    assert 1_000_000 == slots["paper"]
    assert slots["peeling"] < 0.2 * slots["paper"]


# --- sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_uploads_of_all_senders_have_one_size(begin, operation, servers):
    begun = begin(operation, 23, servers=servers, size=40)
    sent = {**begun.records(range(21)), 21: bytes(40), 22: b"\xff" * 40}
    if operation == "post":
        begun.driver.post(sent.values())
    else:
        begun.deposit(sent)
    uploads = [s.envelope for s in begun.driver.trace.network if s.envelope.step == "upload"]
    receipts = [s.envelope for s in begun.driver.trace.network if s.envelope.step == "receipt"]
    assert 23 * servers == len(uploads) == len(receipts)
    assert 1 == len({envelope.size for envelope in uploads})
    assert 1 == len({envelope.size for envelope in receipts})


def test_the_size_of_a_key_grows_with_the_logarithm_of_the_table():
    """Seed, a correction word and a bit per level, a row: the paper's 10.096 KB are 10.34 KB."""

    def key(positions, size):
        slots = [index.to_bytes(32, "big") for index in range(positions)]
        plan = Round(
            id="r", operation="deposit", servers=2, message_size=size, min_batch=1, slots=slots
        )
        return deposit_layout(plan).function.key_size

    assert 16 + 10 * 16 + 2 + 96 == key(1000, 64)
    assert 16 + 11 * 16 + 2 + 96 == key(2000, 64)
    assert 10_339 == Tree(10**6, 10_000).key_size


# --- kernels --------------------------------------------------------------------------------------


@pytest.mark.skipif(native.available() == ("numpy",), reason="the C kernel was not built")
@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_all_kernels_give_the_same_words(begin, operation, monkeypatch):
    """Check values, claims and shares have the same bytes, of malformed keys too."""
    heard = {}
    for name in native.available():
        monkeypatch.setenv(native.VARIABLE, name)
        assert name == native.kernel_name()
        begun, result = played(begin, operation, 2, Driver)
        heard[name] = begun.words(), result
    assert all(heard["numpy"] == words for words in heard.values())


# --- what is said ---------------------------------------------------------------------------------


def plan(operation="post", servers=2, **more):
    slots = (
        {"slots": [bytes([index]) * 32 for index in range(100)]} if operation == "deposit" else {}
    )
    described = {"id": "r", "message_size": 8, "min_batch": 100, "capacity": 100, **slots, **more}
    return Round(operation=operation, servers=servers, **described)


def wording(share, slots):
    """What is said of senders in a post, word by word."""
    return (
        f"contained up to a share of {share}. For n = 2 an accepted key changes at most one leaf "
        f"(= {slots} slots) per sub-table, if the hash is collision and XOR-collision resistant "
        "and both servers follow the check. It does not show that the record is true, well "
        "formed, placed where its tag says, the same in all sub-tables, or from one person; a "
        "server may still refuse an honest donor"
    )


REFUSING = (
    "a server that makes honest uploads fail their check, up to a share of 0.02: they are left "
    "out, and nobody is named"
)
LEARNING = (
    "a donor who learns secrets of positions from the lines between servers: whoever has one can "
    "destroy the row"
)
SEVERAL = (
    "a sender whose one upload is read as several messages, at most 6: seen as an excess over the "
    "uploads, by nobody in particular"
)
PLAIN = Guarantees(
    honest_senders_min=97,
    colluding_servers=1,
    server_behaviour="detected after open",
    donors=wording("0.02", 2),
    eligibility="none: Sybils not excluded",
    presence_visible_to="the network and every server",
    presence_visible_when="from the upload on",
    presence_of_erased_visible=False,
    exclusion="possible",
    erasure_condition=(
        "one server destroys its round key, and none had its key or memory copied before that"
    ),
    post_quantum=False,
    delivery=(
        "if all senders are honest, every message that all servers confirmed, once, unless the "
        "round stops; with the tolerated share of dishonest ones, all but 0.1%"
    ),
    lost_server="the round does not end, and nothing is opened",
    measured_or_argued=(
        "secrecy argued, of keys also enumerated on small parameters; delivery measured"
    ),
    not_covered=(
        "dishonest senders beyond those allowed for: they count towards the least number",
        "a server that falls silent at open, after all others have shown their parts: it alone "
        "then knows what was sent, not by whom",
        "which server showed a wrong part: it is one of them",
        REFUSING,
        SEVERAL,
        "prevention: a server that deviates is found out, not kept from it",
        "a server that refuses an honest sender before confirming",
        "that a message is true, well formed or from one person",
        "coercion",
        "traffic that is recorded now and opened with a quantum computer later",
    ),
)
ALONE = tuple(item for item in PLAIN.not_covered if item != SEVERAL)
HONEST = "honest: with more than two servers malformed keys are not recognised"
OF_DEPOSITS = {
    "donors": (
        "detected: a record changed by anybody but its sender is never published; a donor "
        "without a server's help can't change another's row; with that help it can "
        "destroy the row, never alter it"
    ),
    "delivery": (
        "every record that all servers confirmed, once, unless it is erased, it is contested, it "
        "is refused as a foreign write or the round stops"
    ),
}


def told_of_deposits(least):
    """What is not covered of a deposit in which so many may leave."""
    emptied = f"positions that stay empty then: they are theirs, at least {least} at a time"
    return (*ALONE[:4], emptied, LEARNING, *ALONE[4:])


GUARANTEES = {
    "plain": (plan(), {}, {}),
    "servers": (
        plan(servers=4),
        {},
        {
            "colluding_servers": 3,
            "donors": HONEST,
            "exclusion": "attributable",
            "not_covered": tuple(item for item in PLAIN.not_covered if item != REFUSING),
            "delivery": (
                "if all senders are honest, every message that all servers confirmed, once, "
                "unless the round stops"
            ),
        },
    ),
    "deposit": (
        plan("deposit"),
        {},
        {
            **OF_DEPOSITS,
            "not_covered": told_of_deposits(1),
        },
    ),
    "leaving": (
        plan("deposit", min_leave=5),
        {},
        {
            **OF_DEPOSITS,
            "not_covered": told_of_deposits(5),
        },
    ),
    "paper": (
        plan(),
        {"placement": "paper"},
        {
            "donors": wording("0.02", 1),
            "delivery": "about 90.5% of confirmed messages; the others collide",
            "not_covered": ALONE,
        },
    ),
    "authority": (
        plan(authority=bytes(32)),
        {},
        {"eligibility": "one upload per invitation of the study"},
    ),
    "suite": (
        plan(suite="mlkem768-x25519"),
        {},
        {"post_quantum": True, "not_covered": PLAIN.not_covered[:-1]},
    ),
    "tolerated": (
        plan(),
        {"tolerated": 0.05, "slots_per_leaf": 1},
        {
            "honest_senders_min": 94,
            "donors": wording("0.05", 1),
            "not_covered": tuple(
                item.replace("at most 6", "at most 3").replace("0.02", "0.05")
                for item in PLAIN.not_covered
            ),
        },
    ),
}


@pytest.mark.parametrize("case", GUARANTEES)
def test_guarantees_follow_the_round(case):
    described, params, differs = GUARANTEES[case]
    assert attrs.evolve(PLAIN, **differs) == Dpf(**params).guarantees(described)


@pytest.mark.parametrize("servers", [1, 5])
def test_other_numbers_of_servers_are_refused(servers):
    message = (
        f"transport 'dpf' works with 2, 3 or 4 servers. Got {servers} instead. "
        "Transport 'mixnet' takes two or more."
    )
    assert message == Dpf().problem(plan(servers=servers))
    with pytest.raises(TransportError) as error:
        Driver(Dpf(), plan(servers=servers))
    assert message == str(error.value)


@pytest.mark.parametrize("servers", SERVERS)
def test_there_is_no_problem_with_two_to_four_servers(servers):
    assert Dpf().problem(plan(servers=servers)) is None


@pytest.mark.parametrize("operation", ["post", "deposit"])
def test_nothing_secret_is_in_a_repr(begin, operation):
    """Neither a message nor a key of anybody is in the repr of what holds it, at any step."""
    begun = begin(operation, 4, planned=[1] if operation == "deposit" else [])
    sent = begun.records(range(4))
    if operation == "post":
        begun.driver.post(sent.values())
    else:
        begun.deposit(sent)
    drawn = [part for server in begun.driver.servers for part in server.state.entropy.draws]
    kept = [part for server in begun.driver.servers for part in server.state.contents.values()]
    slots = [part for secret in begun.secrets for part in (secret.alpha, secret.seed)]
    identities = [identity.secret for identity in begun.driver.identities]
    secrets = {*sent.values(), *drawn, *kept, *slots, *identities, bytes(range(32))}
    begun.driver.close()
    begun.driver.settle()
    shares = [server.strategy.work.own_share() for server in begun.driver.servers]
    shown = [
        repr(thing)
        for server, config in zip(begun.driver.servers, begun.driver.configs, strict=True)
        for thing in (
            server,
            server.strategy.work,
            server.strategy.work.layout,
            server.channel,
            config,
            config.vault,
        )
    ]
    shown += [repr(client) for client in begun.driver.clients]
    shown += [repr(begun.driver), repr(begun.transport), repr(begun.transport.settings)]
    for text in shown:
        for secret in (*secrets, *shares):
            assert repr(secret)[2:-1] not in text
            assert secret.hex() not in text
            assert str(list(secret)) not in text


def test_settings_show_the_parameters_alone():
    assert (
        "Settings(placement='peeling', slots_per_leaf=2, tolerated=0.02, success_rate=0.905)"
    ) == repr(Dpf().settings)
