"""What is saved is nothing without its key, and a server that starts again is where it was."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rounds_plain import (
    Plain,
    deposit_round,
    make_driver,
    message,
    post_round,
    refusal,
    secrets,
    uploaded,
)

from anonloom_testing.transport import RestartingDriver, SeededEntropy, adversaries
from anonloom_transport.codec import pack, unpack
from anonloom_transport.driver import Driver
from anonloom_transport.recorded_entropy import RecordedEntropy
from anonloom_transport.rounds import Party
from anonloom_transport.state_vault import StateVault
from anonloom_transport.vault import MemoryVault

ALL = tuple(message(index) for index in range(4))
ERASED = (
    "the round's key is destroyed: what was saved before that is erased, and the round can go on "
    "from public data only"
)
UNREADABLE = "what was saved cannot be read"


# --- the box --------------------------------------------------------------------------------


def box(vault=None, **more):
    box = StateVault(post_round(**more), 0, vault if vault is not None else MemoryVault())
    box.prepare(SeededEntropy())
    return box


@given(st.lists(st.binary(max_size=40), max_size=4))
def test_what_is_sealed_is_read_again(parts):
    one = box()
    assert (True, parts) == one.open(one.seal(*parts))
    assert (False, parts) == one.open(one.publish(*parts))


def test_what_is_sealed_hides_what_it_holds_and_never_looks_the_same():
    one = box()
    first, second = one.seal(b"SECRET"), one.seal(b"SECRET")
    assert first != second
    assert b"SECRET" not in first + second
    assert "_vault" not in repr(one)


@pytest.mark.parametrize("at", range(0, 80, 3))
def test_a_changed_byte_is_noticed(at):
    one = box()
    sealed = one.seal(b"some secret state of a server")
    changed = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
    assert UNREADABLE == refusal(lambda: one.open(changed))


@pytest.mark.parametrize("saved", [b"", b"x", pack(b"secret"), pack(b"secret", b"n", b"s", b"t")])
def test_bytes_that_nobody_saved(saved):
    assert UNREADABLE == refusal(lambda: box().open(saved))


def test_a_state_is_of_one_server_in_one_round():
    vault = MemoryVault()
    one, other = box(vault), box(vault, id="other")
    server = StateVault(post_round(), 1, vault)
    server.prepare(SeededEntropy())
    sealed = one.seal(b"x")
    assert UNREADABLE == refusal(lambda: other.open(sealed))
    assert UNREADABLE == refusal(lambda: server.open(sealed))


def test_with_the_key_everything_is_gone():
    one = box()
    sealed = one.seal(b"x")
    one.destroy()
    assert ERASED == refusal(lambda: one.open(sealed))
    assert "the round's key is destroyed: nothing secret can be saved" == refusal(
        lambda: one.seal(b"x")
    )
    assert (False, [b"public"]) == one.open(one.publish(b"public"))


def test_entropy_that_was_recorded_comes_again():
    one = RecordedEntropy(SeededEntropy())
    given = [one.bytes(3), one.bytes(5)]
    other = RecordedEntropy(SeededEntropy("other"))
    other.replay(one.draws)
    assert given == [other.bytes(3), other.bytes(5)]
    fresh = other.bytes(4)
    assert (*given, fresh) == other.draws
    other.forget()
    assert () == other.draws
    assert repr(given[0])[2:-1] not in repr(one)


# --- engines --------------------------------------------------------------------------------


def facts(server):
    """What an engine is, as far as anybody can tell."""
    return {
        "accepted": server.accepted_count,
        "admitted": server.state.admitted,
        "asked": server.state.requests,
        "bound": server.state.binding,
        "erased": server.state.erased,
        "notice": server.notice,
        "refused": server.refusals,
        "remarks": server.remarks,
        "result": server.result,
        "settled": server.state.settled or server.state.over,
        "signed": server.state.signed_result,
        "stopped": server.stop_reason,
        "words": sorted(
            (step, index, word.body) for step, index, word in server.channel.messages.entries()
        ),
    }


@attrs.define(eq=False)
class Comparing(Driver):
    """A driver that compares each server with a copy that starts again, after every envelope."""

    compared: int = attrs.field(default=0, init=False)

    def deliver_one(self):
        receiver = self.network.next_delivery.envelope.receiver
        super().deliver_one()
        if receiver.role == "server":
            server = self.servers[receiver.index]
            assert facts(server) == facts(self._server(receiver.index, server.save()))
            self.compared += 1


@pytest.mark.parametrize("operation", [post_round, deposit_round])
def test_a_copy_that_starts_again_is_the_same_after_every_envelope(operation):
    net = uploaded(operation(), cls=Comparing)
    words = ["upload", "held"]
    for envelope in adversaries.garbage(net.round, SeededEntropy(), words, Party("client", 7)):
        net.inject(envelope)
    net.finish()
    assert net.compared > 30


@pytest.mark.parametrize("servers", [1, 2, 3])
@pytest.mark.parametrize("suite", ["x25519", "mlkem768-x25519"])
def test_a_post_survives_restarts_at_every_step(servers, suite):
    net = uploaded(post_round(servers, suite=suite), cls=RestartingDriver)
    assert ALL == net.finish()


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_a_deposit_survives_restarts_at_every_step(servers):
    net = uploaded(deposit_round(servers, erase=(1,)), erase=(1,), cls=RestartingDriver)
    net.close()
    net.settle()
    net.erase([2])
    net.open()
    assert (ALL[0], None, None, ALL[3]) == net.result()


def test_lost_uploads_are_handed_over_across_restarts_too():
    lost = adversaries.loses(lambda envelope: envelope.sender.index == 0)
    net = uploaded(post_round(), cls=RestartingDriver, corrupted={1: lost})
    assert ALL == net.finish()
    remark = "server 1 did not hold an upload that it had confirmed"
    assert {remark: 1} == dict(net.servers[0].remarks)


def test_a_stopped_round_stays_stopped():
    net = uploaded(post_round(), corrupted={1: adversaries.substitutes("coin")})
    net.close()
    net.settle()
    stopped = "server 1 shows something else than it committed to: coin"
    assert stopped == net.servers[0].stop_reason
    net.restart(0)
    net.restart(1)
    assert stopped == net.servers[0].stop_reason
    assert f"server 0 stopped the round: {stopped}" == net.servers[1].stop_reason


def test_before_the_beginning_nothing_is_secret():
    net = make_driver(post_round())
    new = net._server(0)
    saved = new.save()
    vault = MemoryVault()
    config = attrs.evolve(net.configs[0], vault=vault)
    again = Plain().server(
        net.round, config, entropy=SeededEntropy(), clock=net.network.clock, saved=saved
    )
    assert None is again.notice
    assert [] != again.begin()


def resumed(net, saved, index=0, vault=None):
    config = net.configs[index]
    config = config if vault is None else attrs.evolve(config, vault=vault)
    return net.transport.server(
        net.round, config, entropy=SeededEntropy("new"), clock=net.network.clock, saved=saved
    )


def test_a_saved_state_needs_its_key():
    net = uploaded(deposit_round())
    saved = net.servers[0].save()
    resumed(net, saved)
    assert ERASED == refusal(lambda: resumed(net, saved, vault=MemoryVault()))
    for secret in (*ALL, *(part for item in secrets() for part in (item.alpha, item.seed))):
        assert secret not in saved


def test_after_the_opening_only_public_data_are_left():
    net = uploaded(deposit_round(erase=(1,)), erase=(1,))
    before = net.servers[0].save()
    result = net.finish()
    assert ERASED == refusal(lambda: resumed(net, before))
    after = net.servers[0].save()
    again = resumed(net, after, vault=MemoryVault())
    assert (result, 4) == (again.result, again.accepted_count)
    assert message(1) not in after
    # Somebody who changes a word that is saved is noticed.
    index = after.index(message(0))
    changed = after[:index] + b"MSG" + after[index + 3 :]
    assert UNREADABLE == refusal(lambda: resumed(net, changed))
    # Nothing can be asked of it that would need what it forgot.
    assert [] != again.resend()
    assert again.open() is not None
    assert again.settle() is not None


def test_public_data_that_somebody_changed_on_a_disk_are_refused():
    """Words are signed; which uploads they are about, and what was asked, must not change either.

    With other ids the server would find that nobody shows what was committed to, and say so.
    """
    net = uploaded(post_round(3), corrupted={2: adversaries.stalls("sign result")})
    net.close()
    net.settle()
    net.open()
    saved = net.servers[0].save()
    again = resumed(net, saved)
    assert ("", None) == (again.stop_reason, again.result)
    kind, *parts = unpack(saved)
    for index, part in enumerate(parts):
        changed = [*parts[:index], b"x" * 16 + part[16:], *parts[index + 1 :]]
        assert UNREADABLE == refusal(lambda parts=changed: resumed(net, pack(kind, *parts)))
    assert UNREADABLE == refusal(lambda: resumed(net, saved, index=1))
    other = net.servers[1].save()
    assert UNREADABLE == refusal(lambda: resumed(net, other))


def test_a_server_that_began_cannot_be_made_to_begin_again():
    """With other keys under the same round it would have said two different things."""
    net = make_driver(post_round())
    new = Plain().server(
        net.round,
        attrs.evolve(net.configs[0], vault=MemoryVault()),
        entropy=SeededEntropy(),
        clock=net.network.clock,
    )
    assert (
        "what was saved is from before this server began the round: it goes on from what it "
        "saved last" == refusal(lambda: resumed(net, new.save()))
    )
    assert "this server has begun the round before: it goes on from what it saved last" == refusal(
        lambda: resumed(net, None).begin()
    )


def test_coins_are_tossed_for_one_list():
    """A server of the past that is brought back tosses others when the list is another."""
    net = uploaded(post_round())
    old = [server.save() for server in net.servers]
    net.close()
    net.settle()
    first = net.servers[0].channel.of("coin", 0)
    for index, saved in enumerate(old):
        net.servers[index] = net._server(index, saved)
    net.post([message(4)])
    net.close()
    net.settle()
    second = net.servers[0].channel.of("coin", 0)
    assert first[-32:] != second[-32:]
    assert first[:32] != second[:32]


def test_what_was_saved_and_is_no_state():
    net = uploaded(post_round())
    vault_box = StateVault(net.round, 0, net.configs[0].vault)
    for parts in ([], [b""] * 9, [b"x"] * 6, [b"x"] * 8):
        assert UNREADABLE == refusal(lambda parts=parts: resumed(net, vault_box.seal(*parts)))
        assert UNREADABLE == refusal(lambda parts=parts: resumed(net, vault_box.publish(*parts)))
