"""Senders whose packets do not open: removed where that is proven, otherwise nothing is opened."""

import attrs
import pytest

from anonloom.errors import TransportError
from anonloom_mixnet.blame_messages import read_failed, write_failed
from anonloom_mixnet.client import MixnetClient
from anonloom_mixnet.layers import Layer
from anonloom_mixnet.packets import Packet
from anonloom_mixnet.route_claims import KeptPacket
from anonloom_testing.transport import RestartingDriver, SeededEntropy, adversaries
from anonloom_transport import Driver, Party, faults, pack, unpack

both = pytest.mark.parametrize("suite", ["x25519", "mlkem768-x25519"])


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
        self._kept, self._listed = KeptPacket.of(packet), bytes(16)
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
        self._kept = KeptPacket.of(Packet(first.sealed, b"core", (first, *nothing)))
        return [first.sealed] + [b""] * (self.round.servers - 1)


@pytest.mark.parametrize("driver", [Driver, RestartingDriver])
@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize(
    ("guilty", "suite"),
    [(Confessing, "x25519"), (LowOrder, "x25519"), (LowOrder, "mlkem768-x25519")],
)
def test_a_guilty_sender_is_removed_and_the_round_goes_on(begin, guilty, servers, suite, driver):
    round = begin("post", 9, servers=servers, suite=suite, driver=driver)
    sent = round.texts(4)
    round.driver.post(sent)
    round.join(guilty, b"x" * 24)
    assert {""} == round.finish()
    assert sorted(sent) == list(round.driver.result())
    # It misses its packet, of course, and says so in vain.
    expected = {"packet that a later hop cannot open": 1, "unfounded objection": 1}
    assert [expected] * servers == [server.refusals for server in round.driver.servers]


@both
def test_a_silent_sender_stops_the_round_and_nothing_is_opened(begin, suite):
    round = begin("post", 9, servers=3, suite=suite)
    round.driver.post(round.texts(4))
    round.join(Silent, b"x" * 24)
    round.driver.close()
    round.driver.settle()
    assert [""] * 3 == round.stopped  # the sender is asked, and there is time to answer
    round.driver.open()
    message = "a packet does not open at server 1: its sender or that server deviates"
    assert {message} == {item.split("round: ")[-1] for item in round.stopped}
    assert set() == round.opened_by
    with pytest.raises(TransportError, match="the round has stopped"):
        round.driver.result()


def test_with_ml_kem_a_confession_proves_nothing_and_nothing_is_opened(begin):
    """A server could have made it of an honest sender's answer."""
    round = begin("post", 9, servers=3, suite="mlkem768-x25519")
    round.driver.post(round.texts(4))
    round.join(Confessing, b"x" * 24)
    message = "a packet does not open at server 1: its sender or that server deviates"
    assert {message} == round.finish()
    assert set() == round.opened_by


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
@pytest.mark.parametrize("forged", [False, True])
def test_a_hop_that_says_of_a_good_packet_that_it_does_not_open(begin, bent, suite, said, forged):
    """Its sender refutes it; with ML-KEM she can't, and the round ends unopened all the same.

    Forged: it passes her answer on with another secret of ML-KEM, under which nothing opens.
    """

    def with_another_secret(server, word):
        ((name, answer),) = map(unpack, unpack(word))
        ephemeral, kem = unpack(answer)
        return pack(pack(name, pack(ephemeral, bytes(len(kem)))))

    def corrupt(server, config):
        def opened(self):
            batch = super(type(self), self)._open_batch()
            number = batch.origins[0]
            return attrs.evolve(
                batch,
                outputs=batch.outputs[1:],
                origins=batch.origins[1:],
                failures={number: "unopened"},
            )

        mix = server.strategy.mix
        mix.__class__ = type("Lying", (type(mix),), {"__slots__": (), "_open_batch": opened})
        return bent("answers 1", with_another_secret)(server, config) if forged else server

    round = begin("post", 4, servers=3, suite=suite, traps=0, corrupted={1: corrupt})
    round.driver.post(round.texts(4))
    assert {said} == round.finish()
    assert [None] * 3 == round.results
    assert set() == round.opened_by


def _saying(**changes):
    """Return what changes the packet that a hop names."""

    def change(word):
        (failed,) = read_failed(word)
        return write_failed([attrs.evolve(failed, **{k: f(failed) for k, f in changes.items()})])

    return change


@pytest.mark.parametrize(
    "said",
    [
        lambda word: bytes(24),
        lambda word: word[:-1],
        lambda word: word + word,  # the same packet twice
        _saying(number=lambda failed: 999),
        _saying(earlier=lambda failed: 999),
        _saying(earlier=lambda failed: failed.number),
        _saying(earlier=lambda failed: (failed.number + 1) % 4),  # which it does not repeat
    ],
)
def test_a_hop_that_names_packets_it_was_not_given(begin, bent, said):
    round = begin("post", 9, servers=3, corrupted={1: bent("failed", lambda _, word: said(word))})
    round.driver.post(round.texts(4))
    round.join(Confessing, b"x" * 24)
    assert {"server 1 names packets that it was not given"} == round.finish()


@pytest.mark.parametrize(
    "said",
    [
        lambda word: b"",
        lambda word: b"x" * 36,
        lambda word: b"x",
        lambda word: word + word,  # the same packet twice
        lambda word: bytes(8000),
    ],
)
def test_a_hop_that_does_not_show_where_a_packet_came_from(begin, bent, said):
    for hop, servers in ((0, 2), (1, 3)):
        corrupted = {hop: bent(f"trace {servers - 1}", lambda _, word: said(word))}
        round = begin("post", 9, servers=servers, corrupted=corrupted)
        round.driver.post(round.texts(4))

        class LastLayer(Silent):
            __slots__ = ()

            def for_post(self, message):
                route, entropy = self._route, self._entropy
                inside = entropy.bytes(route.packet_size(route.hops - 1))
                layers = []
                for index in range(route.hops - 2, -1, -1):
                    layers.insert(0, route.sealer("mix", index).seal(inside, entropy))
                    inside = layers[0].sealed
                last = Layer(b"", bytes(32), b"")
                self._kept = KeptPacket.of(Packet(inside, b"core", (*layers, last)))
                return [inside] + [b""] * (self.round.servers - 1)

        round.join(LastLayer, b"x" * 24)
        assert {f"server {hop} does not show where its packets came from"} == round.finish()


@pytest.mark.parametrize("servers", [2, 3])
def test_a_copy_of_a_layer_stops_the_round_and_removes_nobody(begin, servers):
    """The first hop knows the second layers of honest senders while uploads are still taken.

    It could have each of them uploaded once more: whoever has the same inside as another must not
    be removed, or a server and its senders could leave out whom they like.
    """
    round = begin("post", 9, servers=servers)
    victim, *_ = round.driver.post(round.texts(4))
    route = victim._route
    second = victim._kept.layers(route)[0][1].sealed
    packet = route.sealer("mix", 0).seal(second, SeededEntropy("outside")).sealed
    client = round.driver.client()
    round.send(client, client.send(b"copy", [packet] + [b""] * (servers - 1)))
    message = "two packets are the same at server 1: one of their senders or server 0 deviates"
    assert {message} == round.finish()
    assert set() == round.opened_by
    assert all(not server.refusals for server in round.driver.servers)


def test_a_round_that_becomes_too_small_by_it_is_not_opened(begin):
    round = begin("post", 9, more={"min_batch": 3})
    round.driver.post(round.texts(2))
    round.join(Confessing, b"x" * 24)
    assert {"2 packets can be opened, it takes 3"} == round.finish()
    assert set() == round.opened_by


def test_nonsense_and_garbage_are_refused(begin):
    round = begin("post", 9)
    sent = round.texts(3)
    round.driver.post(sent)
    steps = ["missing", "layer", "mix", "failed", "trace 1", "answers 1", "peel"]
    client = round.driver.client()
    size = round.driver.servers[0].strategy.content_size
    round.send(client, adversaries.nonsense(client, size, SeededEntropy("nonsense")))
    assert 1 == round.driver.servers[0].refusals["packet cannot be opened"]
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
    round.driver.network.faults = [faults.drop(faults.step("blamed"))]
    round.driver.settle()
    round.driver.network.faults = []
    round.driver.settle()
    round.driver.open()
    assert sorted(sent) == list(round.driver.result())


@pytest.mark.parametrize("number", [b"", b"\1", b"\xff" * 3000, bytes(5)])
def test_an_answer_that_names_no_hop_is_refused_and_makes_no_server_fail(begin, number):
    """A number of thousands of digits cannot even be written down."""
    round = begin("post", 9, servers=2)
    client = round.driver.post(round.texts(4))[0]
    round.driver.close()
    round.driver.settle()
    round.driver.inject(client.to(0, "layer", pack(number, bytes(32), b"")))
    assert {"unfounded answer": 1} == dict(round.driver.servers[0].refusals)
