"""Erased stays erased, whoever has all disks, all traffic and all long-term keys afterwards.

`Disks` is the attack; it works for every transport that derives from this library. The transport
here tells every server everything, so that it hides erased records from everybody but the servers
themselves: from the network and from whoever takes the disks.
"""

import attrs
import pytest
from rounds_plain import deposit_round, make_driver, message, secrets, uploaded

from anonloom_testing.transport import adversaries
from anonloom_transport.driver import Driver
from anonloom_transport.sealing import SealingKey, context_of
from anonloom_transport.storage_attack import StorageAttack
from anonloom_transport.uploads import Body
from anonloom_transport.vault import MemoryVault

ERASED = (1, 3)
OPENED = (message(0), None, message(2), None)


def backed_up(servers=2, **more):
    """Run a round to its end with a backup after every phase; return all backups."""
    net = uploaded(deposit_round(servers, erase=ERASED), erase=ERASED, **more)
    disks = StorageAttack(net)
    disks.back_up()
    for act in (net.close, net.settle, net.open):
        act()
        disks.back_up()
    assert OPENED == net.result()
    return disks


def kept_by(servers, copies):
    return {index: adversaries.keeps_key(copies[index]) for index in servers}


def vaults(disks):
    """What is left of the vaults when the round is over."""
    return [config.vault for config in disks.driver.configs]


@pytest.mark.parametrize("servers", [2, 3])
def test_what_is_left_of_a_round_recovers_no_erased_record(servers):
    disks = backed_up(servers)
    assert None is disks.reopen(vaults(disks))
    assert [] == disks.read(vaults(disks))


@pytest.mark.parametrize("servers", [2, 3])
def test_with_the_rounds_keys_kept_the_same_attack_recovers_them(servers):
    """The planted fault: otherwise the test above could be one that nothing fails."""
    copies = [MemoryVault() for _ in range(servers)]
    disks = backed_up(servers, corrupted=kept_by(range(servers), copies))
    assert tuple(message(index) for index in range(4)) == disks.reopen(copies)
    assert any(message(1) in content for content in disks.read(copies))


def test_one_server_that_forgets_is_enough_to_keep_the_round_closed():
    copies = [MemoryVault(), MemoryVault()]
    disks = backed_up(corrupted=kept_by([1], copies))
    assert None is disks.reopen(copies)
    # But every server of this transport has seen every record.
    assert any(message(1) in content for content in disks.read(copies))


def test_neither_disks_nor_traffic_nor_public_data_hold_an_erased_record():
    disks = backed_up()
    carried = [sight.envelope.body for sight in disks.driver.trace.network]
    hidden = [message(index) for index in ERASED] + [secrets()[index].seed for index in ERASED]
    assert [] == [
        item for item in hidden if any(item in data for data in [*disks.saved_bytes, *carried])
    ]


@attrs.frozen
class Leaked:
    """Entropy of an attacker who has nothing but a leaked key."""

    key: bytes

    def bytes(self, n, /):
        return self.key[:n]


def test_long_term_keys_open_no_upload():
    """Uploads are sealed with keys of the round; what they were drawn from is gone."""
    disks = backed_up()
    net = disks.driver
    uploads = [s.envelope for s in net.trace.network if s.envelope.step == "upload"]
    for identity in net.identities:
        key = SealingKey.draw("x25519", Leaked(identity.secret))
        for envelope in uploads:
            server = envelope.receiver.index
            sealed = Body.read(envelope.body, 2).sealed
            context = context_of(
                net.round, net.servers[server].state.binding, server, envelope.upload
            )
            assert key.open(sealed, context) is None


def test_after_the_end_an_engine_holds_nothing_either():
    disks = backed_up()
    for server in disks.driver.servers:
        held = (
            server.state.uploads,
            server.state.contents,
            server.state.entropy.draws,
            server.channel._values,
        )
        assert [0] * 4 == [len(item) for item in held]
        assert (None, b"") == (server.state.key, server.channel._secret)
        assert server.config.vault.fetch(server.state.vault.name) is None


def test_the_key_is_gone_before_anybody_has_heard_the_others_part():
    """A server that shows its part and is lost right afterwards has nothing left to give away."""
    net = uploaded(deposit_round(erase=ERASED), erase=ERASED)
    net.close()
    net.settle()
    lost = [lambda delivery: [] if delivery.envelope.step == "rows" else [delivery]]
    net.network.faults.extend(lost)
    net.open()
    assert [None, None] == [server.result for server in net.servers]
    assert [None, None] == [
        server.config.vault.fetch(server.state.vault.name) for server in net.servers
    ]
    net.restart(0)
    net.network.faults.clear()
    net.retry()
    assert OPENED == net.result()


def test_an_attacker_cannot_even_begin_without_a_settled_backup():
    net = make_driver(deposit_round(), cls=Driver)
    disks = StorageAttack(net)
    disks.back_up()
    assert None is disks.reopen(vaults(disks))
    assert 2 == len(disks.saved_bytes)
