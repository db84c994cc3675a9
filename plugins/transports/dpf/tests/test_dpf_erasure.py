"""What was erased can be computed from nothing that is left; and it can if a key was kept.

The attacker comes after `open`. She has what every server ever saved, after every single envelope,
everything that travelled, the long-term keys of all servers, the keys of all slots, and whatever the
vaults still hold.
"""

import attrs
import numpy as np
import pytest

from anonloom.errors import TransportError
from anonloom_dpf.layout import deposit_layout
from anonloom_transport import (
    Body,
    Driver,
    MemoryVault,
    Party,
    SealingKey,
    SteppedClock,
    SystemEntropy,
    context_of,
    read_row,
    unpack,
)
from anonloom_transport import driver as driving

SERVERS = [2, 3, 4]
ERASED = (1, 4, 7)


class KeepingVault(MemoryVault):
    """The planted fault: a backup of the round's keys."""

    def destroy(self, name, /):
        """Destroy nothing."""


@attrs.define(eq=False)
class Saving(Driver):
    """A driver that keeps what every server saves at every step."""

    states: list[tuple[int, bytes]] = attrs.field(factory=list, init=False)

    def deliver_one(self):
        """Carry one envelope, and let its receiver save."""
        receiver = self.network.next_delivery.envelope.receiver
        Driver.deliver_one(self)
        if receiver.role == "server":
            self.save(receiver.index)

    def save(self, index):
        """Keep what a server saves."""
        self.states.append((index, self.servers[index].save()))

    def save_all(self):
        """Let every server save."""
        for index in range(self.round.servers):
            self.save(index)


def played(begin, servers, **more):
    """Play a round in which two positions are planned to be erased and one is withdrawn."""
    begun = begin("deposit", 9, servers=servers, driver=Saving, planned=ERASED[:2], **more)
    sent = begun.records(range(9))
    begun.deposit(sent)
    begun.driver.save_all()
    begun.driver.close()
    begun.driver.save_all()
    begun.driver.settle()
    begun.driver.save_all()
    begun.driver.erase(ERASED[2:])
    begun.driver.save_all()
    begun.driver.open()
    begun.driver.save_all()
    kept = {index: record for index, record in sent.items() if index not in ERASED}
    assert [kept.get(index) for index in range(9)] == list(begun.driver.result())
    return begun, sent


# --- the attacks ----------------------------------------------------------------------------------


def shares_from_disks(begun):
    """Start servers from everything that they ever saved; return the shares that come out."""
    results = {}
    for index, state in begun.driver.states:
        try:
            server = begun.transport.server(
                begun.driver.round,
                begun.driver.configs[index],
                entropy=SystemEntropy(),
                clock=SteppedClock(),
                saved=state,
            )
        except TransportError:
            continue
        if server.strategy.work._share is not None:
            results[index] = server.strategy.work._share
    return results


def shares_from_traffic(begun):
    """Look for round keys in what was saved, and open the recorded uploads with them."""
    results = {}
    plan, layout = begun.driver.round, deposit_layout(begun.driver.round)
    bound = begun.driver.servers[0].state.binding
    for index in range(plan.servers):
        identity = begun.driver.identities[index].secret
        keys = list(keys_from([*drawn_by(begun, index), [identity] * 3], plan.suite))
        total, opened = np.zeros((layout.rows, layout.width), np.uint8), set()
        for sight in begun.driver.trace.network:
            envelope = sight.envelope
            if envelope.step != "upload" or envelope.receiver != Party("server", index):
                continue
            sealed = Body.read(envelope.body, plan.servers).sealed
            context = context_of(plan, bound, index, envelope.upload)
            inside = next(filter(None, (key.open(sealed, context) for key in keys)), None)
            if inside is not None and envelope.upload not in opened:
                opened.add(envelope.upload)
                content = np.frombuffer(inside[-layout.content_size :], np.uint8)
                key = content[None, : layout.function.key_size].copy()
                layout.function.accumulate(index, key, total)
        if opened:
            results[index] = total
    return results


def keys_from(leaked, suite):
    """Yield every key that uploads could be sealed to, made of what leaked."""
    for drawn in leaked:
        for start in range(len(drawn)):
            try:
                yield SealingKey.draw(suite, Replay(drawn, start))
            except (ValueError, IndexError):  # these bytes are no key
                continue


def drawn_by(begun, index):
    """Return all that a server ever drew, as far as its saved states can be read."""
    server, result = begun.driver.servers[index], []
    for owner, state in begun.driver.states:
        if owner != index:
            continue
        try:
            secret, parts = server.state.vault.open(state)
        except TransportError:
            continue
        if secret:
            result.append(unpack(parts[3]))
    return result[-1:]


class Replay:
    """Gives bytes that were drawn before."""

    def __init__(self, drawn, start):
        self.drawn = list(drawn[start:])

    def bytes(self, n, /):
        """Return the next."""
        return self.drawn.pop(0)


ATTACKS = [shares_from_disks, shares_from_traffic]


def recovered(begun, shares):
    """Return the records that come out of the shares of all servers, by position."""
    if len(shares) < begun.driver.round.servers:
        return {}
    rows = np.bitwise_xor.reduce(list(shares.values()), axis=0)
    heads = [key.head for key in begun.driver.slot_keys]
    read = {index: read_row(head, 1, rows[index].tobytes()) for index, head in enumerate(heads)}
    return {index: record for index, record in read.items() if record is not None}


# --- what comes of them ---------------------------------------------------------------------------


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_erased_records_cannot_be_computed_from_what_is_left(begin, servers, attack):
    """Not even one server's share is left."""
    begun, _ = played(begin, servers)
    assert {} == attack(begun)


@pytest.mark.parametrize("servers", SERVERS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_the_same_attacks_recover_everything_with_kept_round_keys(
    begin, servers, attack, monkeypatch
):
    monkeypatch.setattr(driving, "MemoryVault", KeepingVault)
    begun, sent = played(begin, servers)
    assert sent == recovered(begun, attack(begun))


@pytest.mark.parametrize("suite", ["x25519", "mlkem768-x25519"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_one_server_that_destroys_its_key_is_enough(begin, attack, suite, monkeypatch):
    """With the keys of all other servers nothing comes out."""
    vaults = iter([KeepingVault(), MemoryVault(), KeepingVault()])
    monkeypatch.setattr(driving, "MemoryVault", lambda: next(vaults))
    begun, _ = played(begin, 3, round={"suite": suite})
    shares = attack(begun)
    assert {0, 2} == set(shares)
    assert {} == recovered(begun, shares)


@pytest.mark.parametrize("servers", SERVERS)
def test_no_erased_record_travelled_or_was_saved_in_clear(begin, servers):
    """Neither records nor rows nor what marks them is in any byte that is left."""
    begun, sent = played(begin, servers)
    left = [sight.envelope.body for sight in begun.driver.trace.seen]
    left += [state for _, state in begun.driver.states]
    for index in ERASED:
        secret = begun.secrets[index]
        for hidden in (sent[index], secret.seed, secret.link(1, 1)):
            assert [] == [data for data in left if hidden in data]


def test_what_was_saved_before_opening_cannot_be_read_afterwards(begin):
    begun, _ = played(begin, 2)
    index, state = begun.driver.states[0]
    with pytest.raises(TransportError) as error:
        begun.transport.server(
            begun.driver.round,
            begun.driver.configs[index],
            entropy=SystemEntropy(),
            clock=SteppedClock(),
            saved=state,
        )
    assert (
        "the round's key is destroyed: what was saved before that is erased, and the round can go "
        "on from public data only"
    ) == str(error.value)


def test_a_round_is_not_opened_twice_with_another_erased_set(begin):
    """Who withdraws after opening is refused, also after a restart from what is left."""
    begun, _ = played(begin, 2)
    result = begun.driver.result()
    for index in (0, 1):
        begun.driver.restart(index)
        with pytest.raises(TransportError) as error:
            begun.driver.servers[index].erase([0])
        assert "the round is open: nothing can be erased any more" == str(error.value)
    begun.driver.open()
    assert result == begun.driver.result()


def test_servers_hold_nothing_of_uploads_after_opening(begin):
    begun, _ = played(begin, 2)
    for server in begun.driver.servers:
        assert (None, None, {}) == (
            server.strategy.work._share,
            server.strategy.work._weights,
            server.strategy.work._claims,
        )
        assert ({}, (), None) == (
            server.state.contents,
            server.state.entropy.draws,
            server.state.key,
        )
        assert 0 == len(server.state.uploads)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_round_that_stops_discards_everything(begin, attack):
    """Nobody gets what was deposited in it, not with all that servers have saved before."""
    begun = begin("deposit", 9, driver=Saving)
    begun.deposit(begun.records(range(9)))
    begun.driver.close()
    begun.driver.settle()
    begun.driver.save_all()
    begun.driver.servers[1].erase([2])
    begun.driver.open()
    assert all(server.stop_reason for server in begun.driver.servers)
    begun.driver.save_all()
    assert {} == attack(begun)
    for index in (0, 1):
        message = begun.driver.servers[index].stop_reason
        begun.driver.restart(index)
        assert message == begun.driver.servers[index].stop_reason


def test_nothing_is_uploaded_to_a_round_that_has_stopped(begin):
    begun = begin("deposit", 9, driver=Saving)
    for server in begun.driver.servers:
        server.channel.stop("enough")
        server.receive(attrs.evolve(begun.driver.trace.seen[0].envelope, step="nonsense"))
    begun.deposit(begun.records(range(1)))
    assert [False] == [client.is_acknowledged for client in begun.driver.clients]
    assert 2 == begun.driver.count_refusals()["the round has stopped"]
