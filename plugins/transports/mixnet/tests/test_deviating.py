"""Servers and senders that deviate: found out before anything is opened, and named where proven."""

import math

import attrs
import pytest

from anonloom.errors import TransportError
from anonloom.kinds.rounds import Party
from anonloom.protocol import faults
from anonloom.protocol.driver import Driver
from anonloom.testing.carrying import Restarting
from anonloom.testing.entropy import SeededEntropy
from anonloom_mixnet.client import MixnetClient
from anonloom_mixnet.layers import Layer
from anonloom_mixnet.mixing import NUMBER
from anonloom_mixnet.packets import Packet
from anonloom_mixnet.traps import unseen
from anonloom_mixnet.ways import Kept, listed
from anonloom_mixnet.wordings import read_failed
from anonloom_rounds import adversaries
from anonloom_rounds.packing import cut, pack, unpack

SUITES = ["x25519", "mlkem768-x25519"]
both = pytest.mark.parametrize("suite", SUITES)

#: Words by which anything could be opened.
OPENING = ("named", "peel", "shares", "shares commit")


def packets(server, word):
    return cut(word[NUMBER:], server.route.packet_size(server.index + 1))


def forged(server, number=0):
    """Return a packet that looks at the next hop like any other."""
    entropy, route = SeededEntropy(f"forged {number}"), server.route
    inside = entropy.bytes(route.core_size())
    for hop in range(route.hops - 1, server.index, -1):
        inside = route.sealer("mix", hop).seal(inside, entropy).sealed
    return inside


def substitute(server, word):
    return word[:NUMBER] + b"".join([forged(server), *packets(server, word)[1:]])


def drop(server, word):
    return word[:NUMBER] + b"".join(packets(server, word)[1:])


def duplicate(server, word):
    passed = packets(server, word)
    return word[:NUMBER] + b"".join([passed[1], *passed[1:]])


def rubbish(server, word):
    passed = packets(server, word)
    return word[:NUMBER] + b"".join([bytes(len(passed[0])), *passed[1:]])


LOST = "server {} did not pass on a packet that it was given"
FEWER = "server {} did not pass on {} packets of the right size"
OTHER_KEY = "server {} deviates: the packet holds something else than the output"


def carry(round, senders=4, operation="post"):
    """Play a round to its end; return why every server stopped."""
    sent = round.texts(senders)
    round.driver.post(sent) if operation == "post" else round.deposit(dict(enumerate(sent)))
    return finish(round)


def finish(round):
    for act in (round.driver.close, round.driver.settle, round.driver.open):
        if not any(round.stopped):
            act()
    return {said.split("stopped the round: ")[-1] for said in round.stopped}


@both
@pytest.mark.parametrize("operation", ["post", "deposit"])
@pytest.mark.parametrize(
    ("change", "hop", "said"),
    [
        (substitute, 0, LOST),
        (substitute, 1, LOST),
        (substitute, 2, LOST),
        (drop, 0, FEWER),
        (drop, 1, FEWER),
        (drop, 2, FEWER),
        (duplicate, 0, OTHER_KEY),
        (duplicate, 1, OTHER_KEY),
        (duplicate, 2, LOST),
        (rubbish, 0, OTHER_KEY),
        (rubbish, 1, OTHER_KEY),
        (rubbish, 2, LOST),
    ],
)
def test_a_hop_that_cheats_is_named_before_anything_is_opened(
    begin, bent, operation, suite, change, hop, said
):
    round = begin(
        operation, 4, servers=3, suite=suite, traps=1, corrupted={hop: bent("mix", change)}
    )
    assert {said.format(hop, 4 + 3)} == carry(round, operation=operation)
    assert [None] * 3 == round.results
    assert set() == round.said(*OPENING)


def test_a_hop_is_named_over_restarts_too(begin, bent):
    round = begin(
        "post", 4, servers=3, traps=1, driver=Restarting, corrupted={1: bent("mix", substitute)}
    )
    sent = round.texts(4)
    round.driver.post(sent)
    # A server that starts again with the driver's corruption says what it has said before.
    assert {LOST.format(1)} == finish(round)


def test_a_server_that_shows_two_lists_is_named(begin):
    lying = adversaries.equivocates("mix", to=[2])
    round = begin("post", 4, servers=3, corrupted={0: lying})
    stopped = carry(round)
    assert any("server 0 " in said for said in stopped)
    assert [None] * 3 == round.results
    assert set() == round.said(*OPENING)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("named", "server 1 names other traps than it committed to"),
        ("peel", "server 1 shows another key than it announced"),
        ("shares", "server 1 shows something else than it committed to: shares"),
    ],
)
def test_wrong_words_at_the_opening_are_named(begin, step, said):
    round = begin("deposit", 4, corrupted={1: adversaries.lies(step)})
    carry(round, operation="deposit")
    assert said == round.driver.servers[0].stopped
    assert round.driver.servers[0].result is None


def test_a_server_that_shows_a_wrong_key_of_a_share_destroys_a_row_and_alters_none(begin):
    def keys(self):
        honest = super(type(self), self)._share_keys()
        return honest[32:64] + honest[32:]

    def corrupt(server, seat):
        server.__class__ = type("Wrong", (type(server),), {"__slots__": (), "_share_keys": keys})
        return server

    round = begin("deposit", 4, corrupted={1: corrupt})
    sent = round.texts(4)
    round.deposit(dict(enumerate(sent)))
    result = list(round.driver.finish())
    assert 3 == len(set(result) & set(sent))
    assert 1 == result.count(None)
    remark = "a share does not open: its sender or server 1 deviates"
    assert [{remark: 1}] * 2 == [server.remarks for server in round.driver.servers]
    assert [{"contested": 1}] * 2 == [server.refused for server in round.driver.servers]


# --- senders who do not look, and traps -----------------------------------------------------------


def blind(round):
    """Let no client see the list of sealed cores."""
    round.driver.faults = [faults.drop(faults.step("mixed"))]


def test_traps_notice_drops_as_often_as_the_formula_says(begin, bent):
    """The last hop replaces d of N packets blindly; senders do not look; T traps are the others'."""
    senders, traps, dropped, trials, coins = 6, 2, 2, 120, SeededEntropy("coins")

    def replace(server, word):
        passed = packets(server, word)
        own = {listed(packet.core) for packet in server.own_traps.packets}
        foreign = [at for at, core in enumerate(passed) if listed(core) not in own]
        for number in range(dropped):
            at = foreign.pop(int.from_bytes(coins.bytes(8), "big") % len(foreign))
            passed[at] = forged(server, number)
        return word[:NUMBER] + b"".join(passed)

    missed = 0
    for trial in range(trials):
        round = begin(
            "post",
            senders,
            traps=traps,
            entropy=SeededEntropy(trial),
            corrupted={1: bent("mix", replace)},
            traced=False,
        )
        blind(round)
        carry(round, senders)
        stopped = {said.split("round: ")[-1] for said in round.stopped}
        assert stopped in ({""}, {LOST.format(1)})
        missed += stopped == {""}
    chance = unseen(senders + traps, traps, dropped)
    assert abs(missed / trials - chance) < 3.3 * math.sqrt(chance * (1 - chance) / trials)


def test_without_traps_and_with_senders_who_do_not_look_a_drop_goes_unseen(begin, bent):
    """What the guarantees say is not covered."""
    round = begin("post", 4, traps=0, corrupted={1: bent("mix", substitute)})
    blind(round)
    carry(round)
    assert [3, 3] == [len(result) for result in round.results]


# --- claims ---------------------------------------------------------------------------------------


def claim(round, client, body, step="missing"):
    round.send(client, [client.to(0, step, body)])
    return round.driver.servers[0].refused


def test_nobody_can_have_a_packet_followed_that_arrived(begin):
    round = begin("post", 3)
    clients = round.driver.post(round.texts(3))
    early = bytes(clients[0]._kept)
    assert 1 == claim(round, clients[0], early)["not the time for objections"]
    round.driver.close()
    round.driver.settle()
    assert 1 == claim(round, clients[0], early)["unfounded objection"]
    assert 2 == claim(round, clients[0], b"x")["unfounded objection"]
    strange = Kept.of(clients[0]._route.pack(bytes(24), SeededEntropy("strange")))
    assert 3 == claim(round, clients[0], bytes(strange))["unfounded objection"]
    other = attrs.evolve(clients[0]._kept, secrets=clients[1]._kept.secrets)
    assert 4 == claim(round, clients[0], bytes(other))["unfounded objection"]
    assert 1 == claim(round, clients[0], b"x", "layer")["unfounded answer"]
    unasked = pack(bytes(4), *clients[0]._kept.secrets[0])
    assert 1 == claim(round, clients[0], unasked, "layer")["an answer that nobody asked for"]
    round.driver.open()
    assert sorted(round.texts(3)) == list(round.driver.result())
    assert 2 == claim(round, clients[0], early)["not the time for objections"]


def test_a_client_answers_only_a_hop_that_signed_that_it_failed(begin):
    round = begin("post", 3)
    clients = round.driver.post(round.texts(3))
    server = round.driver.servers[1]
    body = pack((1).to_bytes(4, "big"), bytes(64), b"x" * 24)
    for said in (b"", b"x", body):
        shown = server._to_client(Party("client", 0), "blamed", clients[0]._upload, said)
        assert [] == clients[0].take(shown)


# --- senders whose packets do not open ------------------------------------------------------------


class Silent(MixnetClient):
    """Sends a packet whose second layer is rubbish, and says nothing."""

    __slots__ = ()

    def for_post(self, message):
        route, entropy = self._route, self._entropy
        layer = route.sealer("mix", 1).seal(bytes(route.packet_size(2)), entropy)
        broken = layer.sealed[:-1] + bytes([layer.sealed[-1] ^ 1])
        first = route.sealer("mix", 0).seal(broken, entropy)
        last = [Layer(b"", bytes(32), b"")] * (route.hops - 2)
        packet = Packet(first.sealed, b"core", (first, Layer(broken, *_shown(layer)), *last))
        self._kept, self._listed = Kept.of(packet), bytes(16)
        return [first.sealed] + [b""] * (self.round.servers - 1)


def _shown(layer):
    return layer.ephemeral, layer.kem


class Confessing(Silent):
    """The same, but it shows the key that it used."""

    __slots__ = ()

    def take_blame(self, data):
        number, _, word = unpack(data)
        assert 1 == len(read_failed(word))
        return pack(number, *self._kept.secrets[1])


class LowOrder(Silent):
    """Its second layer has an ephemeral key that shares no secret with anybody."""

    __slots__ = ()

    def for_post(self, message):
        route = self._route
        head = route.place("mix", 1).kem.head_size
        broken = bytes(head) + bytes(route.packet_size(1) - head)
        first = route.sealer("mix", 0).seal(broken, self._entropy)
        nothing = [Layer(b"", bytes(32), b"")] * (route.hops - 1)
        self._kept = Kept.of(Packet(first.sealed, b"core", (first, *nothing)))
        return [first.sealed] + [b""] * (self.round.servers - 1)


@both
@pytest.mark.parametrize("driver", [Driver, Restarting])
@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("guilty", [Confessing, LowOrder])
def test_a_guilty_sender_is_removed_and_the_round_goes_on(begin, guilty, servers, suite, driver):
    round = begin("post", 9, servers=servers, suite=suite, driver=driver)
    sent = round.texts(4)
    round.driver.post(sent)
    round.join(guilty, b"x" * 24)
    assert {""} == finish(round)
    assert sorted(sent) == list(round.driver.result())
    # It misses its packet, of course, and says so in vain.
    expected = {"packet that a later hop cannot open": 1, "unfounded objection": 1}
    assert [expected] * servers == [server.refused for server in round.driver.servers]


@both
def test_a_silent_sender_stops_the_round_and_nothing_is_opened(begin, suite):
    round = begin("post", 9, servers=3, suite=suite)
    round.driver.post(round.texts(4))
    round.join(Silent, b"x" * 24)
    round.driver.close()
    round.driver.settle()
    assert [""] * 3 == round.stopped  # the sender is asked, and there is time to answer
    round.driver.open()
    said = "a packet does not open at server 1: its sender or that server deviates"
    assert {said} == {one.split("round: ")[-1] for one in round.stopped}
    assert set() == round.said(*OPENING)
    with pytest.raises(TransportError, match="the round has stopped"):
        round.driver.result()


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        ("x25519", "server 1 deviates: a packet opens of which it says that it does not"),
        (
            "mlkem768-x25519",
            "a packet does not open at server 1: its sender or that server deviates",
        ),
    ],
)
def test_a_hop_that_says_of_a_good_packet_that_it_does_not_open(begin, suite, said):
    """Its sender refutes it; with ML-KEM she can't, and the round ends unopened all the same."""

    def corrupt(server, seat):
        def opened(self):
            batch = super(type(self), self)._opened()
            number = batch.origins[0]
            return attrs.evolve(
                batch,
                outputs=batch.outputs[1:],
                origins=batch.origins[1:],
                failures={number: "unopened"},
            )

        server.__class__ = type("Lying", (type(server),), {"__slots__": (), "_opened": opened})
        return server

    round = begin("post", 4, servers=3, suite=suite, traps=0, corrupted={1: corrupt})
    assert {said} == carry(round)
    assert [None] * 3 == round.results
    assert set() == round.said(*OPENING)


def test_a_hop_that_names_packets_it_was_not_given(begin, bent):
    round = begin("post", 9, servers=3, corrupted={1: bent("failed", lambda _, word: bytes(24))})
    round.driver.post(round.texts(4))
    round.join(Confessing, b"x" * 24)
    assert {"server 1 names packets that it was not given"} == finish(round)


@pytest.mark.parametrize("said", [b"", b"x" * 36, b"x"])
def test_a_hop_that_does_not_show_where_a_packet_came_from(begin, bent, said):
    for hop, servers in ((0, 2), (1, 3)):
        corrupted = {hop: bent(f"trace {servers - 1}", lambda _, word: said)}
        round = begin("post", 9, servers=servers, corrupted=corrupted)
        round.driver.post(round.texts(4))

        class LastLayer(Silent):
            __slots__ = ()

            def for_post(self, message):
                route, entropy = self._route, self._entropy
                inside = entropy.bytes(route.packet_size(route.hops - 1))
                layers = []
                for at in range(route.hops - 2, -1, -1):
                    layers.insert(0, route.sealer("mix", at).seal(inside, entropy))
                    inside = layers[0].sealed
                last = Layer(b"", bytes(32), b"")
                self._kept = Kept.of(Packet(inside, b"core", (*layers, last)))
                return [inside] + [b""] * (self.round.servers - 1)

        round.join(LastLayer, b"x" * 24)
        assert {f"server {hop} does not show where its packets came from"} == finish(round)


def test_two_packets_of_one_sender_with_the_same_inside_are_both_removed(begin):
    """A layer counts once; no server made the copy, as the traces of both show."""
    round = begin("post", 9, servers=3)
    sent = round.texts(4)
    round.driver.post(sent)
    route = round.driver.clients[0]._route
    inside = route.pack(b"x" * 24, SeededEntropy("inside"))
    second = inside.layers[1].sealed
    for number in range(2):
        packet = route.sealer("mix", 0).seal(second, SeededEntropy(f"outside {number}")).sealed
        client = round.driver.client()
        round.send(client, client.send(b"copy", [packet, b"", b""]))
    assert {""} == finish(round)
    assert sorted(sent) == list(round.driver.result())
    assert 2 == round.driver.servers[2].refused["packet that a later hop cannot open"]


def test_a_round_that_becomes_too_small_by_it_is_not_opened(begin):
    round = begin("post", 9, more={"min_batch": 3})
    round.driver.post(round.texts(2))
    round.join(Confessing, b"x" * 24)
    assert {"2 packets can be opened, it takes 3"} == finish(round)
    assert set() == round.said(*OPENING)


def test_nonsense_and_garbage_are_refused(begin):
    round = begin("post", 9)
    sent = round.texts(3)
    round.driver.post(sent)
    steps = ["missing", "layer", "mix", "failed", "trace 1", "answers 1", "peel"]
    client = round.driver.client()
    size = round.driver.servers[0].content_size
    round.send(client, adversaries.nonsense(client, size, SeededEntropy("nonsense")))
    assert 1 == round.driver.servers[0].refused["packet cannot be opened"]
    for act in (round.driver.close, round.driver.settle):
        act()
        stranger = Party("client", 99)
        for envelope in adversaries.garbage(
            round.driver.round, SeededEntropy("garbage"), steps, stranger
        ):
            round.driver.inject(envelope)
    round.driver.open()
    assert sorted(sent) == list(round.driver.result())


def test_a_sender_that_was_not_reached_is_asked_again(begin):
    round = begin("post", 9)
    sent = round.texts(3)
    round.driver.post(sent)
    round.join(Confessing, b"x" * 24)
    round.driver.close()
    round.driver.faults = [faults.drop(faults.step("blamed"))]
    round.driver.settle()
    round.driver.faults = []
    round.driver.settle()
    round.driver.open()
    assert sorted(sent) == list(round.driver.result())
