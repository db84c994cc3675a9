"""What a server says in bad faith costs the others no memory, no exception and no false name."""

import random
import re

import pytest
from rounds_plain import STEPS, deposit_round, make_driver, message, post_round, secrets, uploaded

from anonloom.errors import TransportError
from anonloom_testing.transport import adversaries
from anonloom_transport.codec import pack, unpack
from anonloom_transport.engines import Envelope
from anonloom_transport.rounds import Party
from anonloom_transport.sealing import Lock
from anonloom_transport.signing import Signer

ALL = [message(index) for index in range(4)]


def said_by_server_1(net, step, said, bound=None):
    bound = net.servers[0].state.binding if bound is None else bound
    return Envelope(
        sender=Party("server", 1),
        receiver=Party("server", 0),
        step=step,
        round=net.round.digest,
        body=Signer(net.identities[1]).sign(f"word {step}", bound, said) + said,
    )


@pytest.mark.parametrize(
    "step",
    [
        "coin 1",
        "held 7",
        "rows 100",
        "rows  1",
        "rows1",
        "rows 01",
        "rows commit commit",
        "rows -1",
    ],
)
def test_steps_that_no_round_has_are_not_kept(step):
    net = uploaded(post_round())
    net.inject(said_by_server_1(net, step, b"x"))
    assert {"unknown step": 1} == dict(net.servers[0].refusals)
    assert None is net.servers[0].channel.of(step, 1)


@pytest.mark.parametrize(
    ("step", "most"),
    [
        ("held", 20 * 48),
        ("sign accepted", 64 + 2 * 96 + 32),
        ("objections", 20 * (8 + 3 * 8 + 16 + 2 * (8 + 64) + 2 * (8 + 72))),
        ("coin commit", 64 + 2 * 96 + 32),
        ("coin", 64 + 2 * 96 + 32),
        ("erased", 64 + 2 * 96 + 32),
        ("sign result", 64 + 2 * 96 + 32),
    ],
)
def test_words_longer_than_any_honest_one_are_neither_kept_nor_read(step, most):
    """Of a round for 20 senders: 48 bytes of each are held, and an objection has 344 bytes."""
    net = make_driver(post_round())
    net.inject(said_by_server_1(net, step, bytes(most + 1)))
    assert {"too long": 1} == dict(net.servers[0].refusals)
    assert None is net.servers[0].channel.of(step, 1)
    net.inject(said_by_server_1(net, step, bytes(most)))
    assert {"too long": 1} == dict(net.servers[0].refusals)
    assert bytes(most) == net.servers[0].channel.of(step, 1)


def test_what_a_server_gives_as_its_reason_is_one_short_line():
    net = make_driver(post_round())
    text = b"a\nb\x1b[31m\xff" + b"x" * 10_000
    net.inject(said_by_server_1(net, "stop", text, net.round.digest))
    stopped = net.servers[0].stop_reason
    assert stopped.isprintable()
    assert stopped.startswith("server 1 stopped the round: a?b?[31m")
    assert len(stopped) < 350


@pytest.mark.parametrize("suite", ["x25519", "mlkem768-x25519"])
def test_a_key_that_nothing_can_be_sealed_with_is_refused_by_servers(suite):
    """Of low order: every sender would fail while sealing, and nobody would know why."""

    def low(said):
        software, public = unpack(said)
        return pack(software, public[:-32] + bytes(32))

    net = make_driver(post_round(suite=suite), corrupted={1: adversaries.substitutes("key", low)})
    assert (
        "server 1 announced keys that cannot be used: uploads cannot be sealed with a key of the "
        f"suite '{suite}'" == net.servers[0].stop_reason
    )
    with pytest.raises(ValueError, match="shared key"):
        Lock.read("x25519", bytes(32))


def mangled(chance, said):
    """Return something that resembles what would have been said."""
    index = chance.randrange(len(said) + 1)
    return chance.choice(
        (
            b"",
            said[:index],
            said[index:],
            said + said,
            bytes(len(said)),
            chance.randbytes(len(said)),
            said[:index] + chance.randbytes(3) + said[index + 3 :],
            pack(said, b"", said[:index]),
        )
    )


def named(net):
    """Return whom servers other than 1 blame."""
    reasons = [server.stop_reason for index, server in enumerate(net.servers) if index != 1]
    own = [reason for reason in reasons if not reason.startswith("server 1 stopped the round")]
    results = [re.search(r"(?:^|: )server (\d) (?!stopped)", reason) for reason in own]
    return [int(item[1]) for item in results if item]


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("operation", [post_round, deposit_round])
@pytest.mark.parametrize("step", STEPS)
def test_whatever_a_server_says_nobody_fails_and_nobody_else_is_named(step, operation, servers):
    chance = random.Random(f"{step} {servers}")
    for _ in range(4):
        lie = adversaries.lies(step, lambda said: mangled(chance, said))
        plan = operation(servers)
        net = make_driver(plan, corrupted={1: lie})
        try:
            if plan.slots:
                net.deposit(zip(secrets(), ALL, strict=True))
            else:
                net.post(ALL)
            assert set(ALL) == set(net.finish())
        except TransportError:
            assert [] == [name for name in named(net) if name != 1]
