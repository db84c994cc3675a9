"""Servers and senders that deviate: found out before anything is opened, and named where proven."""

import math

import attrs
import pytest

from anonloom_mixnet.blame_messages import FailedPacket, write_failed
from anonloom_mixnet.mix_phase import NUMBER
from anonloom_mixnet.route_claims import KeptPacket, list_entry, name_of
from anonloom_mixnet.traps import Traps, fingerprint, unseen
from anonloom_testing.transport import RestartingDriver, SeededEntropy, adversaries
from anonloom_transport import Party, cut, faults, pack

pytestmark = pytest.mark.long

SUITES = ["x25519", "mlkem768-x25519"]
both = pytest.mark.parametrize("suite", SUITES)


def change_class(part, name, members):
    """Let one part of a server, such as its mix phase, behave otherwise."""
    part.__class__ = type(name, (type(part),), {"__slots__": (), **members})


def packets(server, word):
    mix = server.strategy.mix
    return cut(word[NUMBER:], mix.route.packet_size(mix.index + 1))


def forged(server, number=0):
    """Return a packet that looks at the next hop like any other."""
    mix = server.strategy.mix
    entropy, route = SeededEntropy(f"forged {number}"), mix.route
    inside = entropy.bytes(route.core_size())
    for hop in range(route.hops - 1, mix.index, -1):
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
    return round.finish()


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
    assert set() == round.opened_by


def test_a_hop_is_named_over_restarts_too(begin, bent):
    round = begin(
        "post",
        4,
        servers=3,
        traps=1,
        driver=RestartingDriver,
        corrupted={1: bent("mix", substitute)},
    )
    sent = round.texts(4)
    round.driver.post(sent)
    # A server that starts again with the driver's corruption says what it has said before.
    assert {LOST.format(1)} == round.finish()


@pytest.mark.parametrize("said", [lambda word: word[:-1], lambda word: word[:4]])
@pytest.mark.parametrize("hop", [0, 1])
def test_a_hop_that_passes_on_no_packets_of_the_right_size_is_named(begin, bent, hop, said):
    corrupted = {hop: bent("mix", lambda _, word: said(word))}
    round = begin("post", 4, traps=1, corrupted=corrupted)
    round.driver.post(round.texts(4))
    # Four senders', and one trap of each server.
    assert {f"server {hop} did not pass on 6 packets of the right size"} == round.finish()
    assert set() == round.opened_by


def test_a_server_that_shows_two_lists_is_named(begin):
    lying = adversaries.equivocates("mix", to=[2])
    round = begin("post", 4, servers=3, corrupted={0: lying})
    stopped = carry(round)
    assert any("server 0 " in message for message in stopped)
    assert [None] * 3 == round.results
    assert set() == round.opened_by


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
    assert said == round.driver.servers[0].stop_reason
    assert round.driver.servers[0].result is None


def test_a_server_that_shows_a_wrong_key_of_a_share_destroys_a_row_and_alters_none(begin):
    def keys(self):
        honest = super(type(self), self)._share_keys()
        return honest[32:64] + honest[32:]

    def corrupt(server, config):
        change_class(server.strategy.opening, "Wrong", {"_share_keys": keys})
        return server

    round = begin("deposit", 4, corrupted={1: corrupt})
    sent = round.texts(4)
    round.deposit(dict(enumerate(sent)))
    result = list(round.driver.finish())
    assert 3 == len(set(result) & set(sent))
    assert 1 == result.count(None)
    remark = "a share does not open: its sender or server 1 deviates"
    assert [{remark: 1}] * 2 == [server.remarks for server in round.driver.servers]
    assert [{"contested": 1}] * 2 == [server.refusals for server in round.driver.servers]


@pytest.mark.parametrize("change", [lambda keys: keys[:-32], lambda keys: keys + keys[:1]])
def test_a_server_that_does_not_show_a_share_of_every_row_is_named(begin, change):
    def keys(self):
        return change(super(type(self), self)._share_keys())

    def corrupt(server, config):
        change_class(server.strategy.opening, "Short", {"_share_keys": keys})
        return server

    round = begin("deposit", 4, corrupted={1: corrupt})
    round.deposit(dict(enumerate(round.texts(4))))
    assert {"server 1 does not show its shares of all rows"} == round.finish()
    assert [None] * 2 == round.results


# --- senders who do not look, and traps -----------------------------------------------------------


def blind(round):
    """Let no client see the list of sealed cores."""
    round.driver.network.faults = [faults.drop(faults.step("mixed"))]


def test_traps_notice_drops_as_often_as_the_formula_says(begin, bent):
    """The last hop replaces d of N packets blindly; senders do not look; T traps are the others'."""
    senders, traps, dropped, trials, coins = 6, 2, 2, 120, SeededEntropy("coins")

    def replace(server, word):
        passed = packets(server, word)
        own = {list_entry(packet.core) for packet in server.strategy.mix.own_traps.packets}
        foreign = [index for index, core in enumerate(passed) if list_entry(core) not in own]
        for number in range(dropped):
            index = foreign.pop(int.from_bytes(coins.bytes(8), "big") % len(foreign))
            passed[index] = forged(server, number)
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
        stopped = {message.split("round: ")[-1] for message in round.stopped}
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
    return round.driver.servers[0].refusals


def test_nobody_can_have_a_packet_followed_that_arrived(begin):
    round = begin("post", 3)
    clients = round.driver.post(round.texts(3))
    early = bytes(clients[0]._kept)
    assert 1 == claim(round, clients[0], early)["not the time for objections"]
    round.driver.close()
    round.driver.settle()
    assert 1 == claim(round, clients[0], early)["unfounded objection"]
    assert 2 == claim(round, clients[0], b"x")["unfounded objection"]
    strange = KeptPacket.of(clients[0]._route.pack(bytes(24), SeededEntropy("strange")))
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
    for message in (b"", b"x", body):
        server.state.send_to_client(Party("client", 0), "blamed", clients[0]._upload, message)
        (shown,) = server.channel.drain()
        assert [] == clients[0].receive(shown)


def test_a_client_shows_a_layer_of_her_own_packet_only_and_to_the_hop_that_failed(begin):
    round = begin("post", 3)
    own, other = (client._kept for client in round.driver.post(round.texts(2)))
    client, server = round.driver.clients[0], round.driver.servers[1]

    def asked(kept, number):
        name = name_of(kept.layers(client._route)[0][1].sealed)
        word = write_failed([FailedPacket(0, name)])
        bound = client.notice.binding
        signature = server.channel.signer.sign("word failed", bound, word)
        return client.take_blame(pack(number, signature, word))

    layer = own.layers(client._route)[0][1]
    one, two, short = (1).to_bytes(4, "big"), (2).to_bytes(4, "big"), b"\1"
    assert pack(one, layer.ephemeral, layer.kem) == asked(own, one)
    assert [b""] * 3 == [asked(other, one), asked(own, two), asked(own, short)]


# --- servers that misuse traps --------------------------------------------------------------------


def test_a_server_cannot_post_by_a_trap_that_it_does_not_name(begin):
    """All traps must be struck; otherwise a server could add messages of its own."""

    def corrupt(server, config):
        def own(self):
            traps = super(type(self), self).own_traps
            return Naming(traps.packets, traps.salt)

        class Naming(Traps):
            @property
            def fingerprints(self):
                return tuple(
                    sorted(fingerprint(bytes([index])) for index in range(len(self.packets)))
                )

        change_class(server.strategy.mix, "Adding", {"own_traps": property(own)})
        return server

    round = begin("post", 4, corrupted={1: corrupt})
    assert {"server 1 names other traps than it committed to"} == carry(round)
    assert "peel" not in round.opened_by


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _, word: word[:-1], "server 1 did not lay 2 traps"),
        (lambda _, word: b"", "server 1 did not lay 2 traps"),
        (
            lambda _, word: word[:32] + bytes(len(word) - 32),
            "a trap of server 1 does not open at server 0: one deviates",
        ),
        (
            lambda server, word: server.channel.of("traps", 0),
            "server 0 and server 1 laid the same trap",
        ),
    ],
)
def test_traps_that_are_none(begin, bent, change, said):
    def late(server, word):
        return change(server, word) or b""

    def corrupt(server, config):
        server = bent("traps", late)(server, config)
        honest = type(server.strategy.mix).lay_traps

        def lay_traps(self):
            return self.state.channel.of("traps", 0) is not None and honest(self)

        change_class(server.strategy.mix, "Waiting", {"lay_traps": lay_traps})
        return server

    round = begin("post", 4, corrupted={1: corrupt})
    assert {said} == carry(round)
    assert set() == round.opened_by


def test_a_trap_that_a_later_hop_cannot_open_names_its_maker(begin):
    """With `x25519` the maker's own answer convicts it."""

    def corrupt(server, config):
        def own(self):
            traps = super(type(self), self).own_traps
            remembered = self.state.remembered
            if "broken" not in remembered:
                entropy, route = SeededEntropy("broken"), self.route
                inner = route.sealer("mix", 1).seal(bytes(route.packet_size(2)), entropy)
                broken = inner.sealed[:-1] + bytes([inner.sealed[-1] ^ 1])
                outer = route.sealer("mix", 0).seal(broken, entropy)
                remembered["broken"] = outer.sealed + inner.ephemeral
            sealed = remembered["broken"][:-32]
            first = attrs.evolve(traps.packets[0], sealed=sealed)
            return attrs.evolve(traps, packets=(first, *traps.packets[1:]))

        def answer(self, hop, name):
            return pack(self.state.remembered["broken"][-32:], b"")

        change_class(server.strategy.mix, "Breaking", {"own_traps": property(own)})
        change_class(server.strategy.blame, "Answering", {"_own_answer": answer})
        return server

    round = begin("post", 4, corrupted={0: corrupt})
    assert {"server 0 laid a trap that cannot be opened"} == carry(round)
    assert set() == round.opened_by
