"""One signed word per server and step: whoever says two things, or adapts, is named."""

import attrs
import pytest
from rounds_plain import STEPS, deposit_round, make_driver, message, post_round, uploaded

from anonloom.errors import TransportError
from anonloom_testing.transport import adversaries
from anonloom_transport import faults
from anonloom_transport.channel import Channel
from anonloom_transport.codec import pack, unpack
from anonloom_transport.engines import Envelope
from anonloom_transport.messages import MessageLog, SignedMessage
from anonloom_transport.rounds import Party
from anonloom_transport.signing import SIGNATURE_BYTES, Signer

TWO = "server 1 said two different things"


def ended(net):
    """Run a round to its end, or to where it stops; return what each server says."""
    try:
        net.finish()
    except TransportError:
        net.retry()
    return [server.stop_reason for server in net.servers]


def told(stopped):
    """Return the reason, whoever found it and whoever was told."""
    return {text.split("stopped the round: ")[-1] for text in stopped if text}


# --- words ----------------------------------------------------------------------------------


def test_a_server_has_one_word_per_step():
    words = MessageLog(2)
    assert words.add("a", 0, SignedMessage(b"x", b"s"))
    assert words.add("a", 0, SignedMessage(b"x", b"t"))
    assert not words.add("a", 0, SignedMessage(b"y", b"s"))
    assert (None, b"x") == (words.all("a"), words.of("a", 0).body)
    words.add("a", 1, SignedMessage(b"z", b"u"))
    assert (b"x", b"z") == words.all("a")
    assert [("a", SignedMessage(b"x", b"s"))] == words.steps(0)
    assert 2 == len(words.entries())
    assert words.of("b", 0) is None
    assert "SignedMessage()" == repr(SignedMessage(b"SECRET", b""))


def test_every_word_is_signed_and_every_step_is_known():
    net = uploaded(deposit_round())
    net.finish()
    between = [
        sight.envelope for sight in net.trace.network if sight.envelope.receiver.role == "server"
    ]
    messages = [item for item in between if item.sender.role == "server"]
    assert list(STEPS) == list(dict.fromkeys(envelope.step for envelope in messages))


def word(net, step, body, sender=1, receiver=0, signer=None):
    """Let a server hear a word; return why it was refused."""
    identity = net.identities[sender if signer is None else signer]
    bound = net.servers[receiver].state.binding
    signature = Signer(identity).sign(f"word {step}", bound, body)
    before = net.servers[receiver].refusals.copy()
    net.servers[receiver].receive(
        Envelope(
            sender=Party("server", sender),
            receiver=Party("server", receiver),
            step=step,
            round=net.round.digest,
            body=signature + body,
        )
    )
    (reason,) = (net.servers[receiver].refusals - before) or [""]
    return reason


def test_words_of_servers_are_judged_too():
    net = uploaded(post_round())
    assert "not from another server" == word(net, "held", b"", sender=0)
    assert "not signed by its sender" == word(net, "held", b"", signer=0)
    assert "" == word(net, "held", b"")
    assert "" == word(net, "held", b"")
    assert "another word of the same server" == word(net, "held", b"x")
    assert TWO == net.servers[0].stop_reason
    # Both words are kept with their signatures: whoever asks can check.
    (proof,) = net.servers[0].channel.evidence
    assert ("held", 1, b"", b"x") == (proof.step, proof.server, proof.one.body, proof.other.body)
    channel = net.servers[0].channel
    assert all(channel.genuine("held", 1, text) for text in (proof.one, proof.other))
    # Who goes on lying does not fill the memory of those who listen.
    assert "another word of the same server" == word(net, "held", b"y")
    assert [proof] == net.servers[0].channel.evidence


def test_a_word_counts_in_one_step_only():
    """Whoever carries a word over into another step finds it refused."""
    net = uploaded(post_round())
    net.servers[1].close()
    held = next(w for step, w in net.servers[1].channel.messages.steps(1) if step == "held")
    moved = Envelope(
        sender=Party("server", 1),
        receiver=Party("server", 0),
        step="objections",
        round=net.round.digest,
        body=held.signature + held.body,
    )
    net.servers[0].receive(moved)
    assert {"not signed by its sender": 1} == dict(net.servers[0].refusals)


def test_the_reason_of_a_stop_reaches_everybody():
    net = uploaded(post_round(3))
    net.servers[1].channel.stop("a reason")
    net.servers[1].channel.stop("another one")
    net.retry()
    stopped = "server 1 stopped the round: a reason"
    assert [stopped, "a reason", stopped] == [server.stop_reason for server in net.servers]


# --- whoever says two things ----------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("servers", [2, 3])
def test_whoever_contradicts_itself_is_named(step, servers):
    corrupted = {1: adversaries.contradicts(step)}
    net = make_driver(deposit_round(servers), corrupted=corrupted)
    if net.servers[0].notice is not None and not net.servers[0].stop_reason:
        net = uploaded(deposit_round(servers), corrupted=corrupted)
        stopped = ended(net)
    else:
        stopped = [server.stop_reason for server in net.servers]
    assert all(item.endswith(TWO) for index, item in enumerate(stopped) if index != 1)


#: Where different servers may be told different things so that each of them goes on at first.
HEARD = {
    "key": lambda said: pack(unpack(said)[0], unpack(said)[1][::-1]),
    "held": lambda said: b"",
    "objections": lambda said: pack(b"nothing that could be read"),
    "coin commit": adversaries.flip,
    "rows commit": adversaries.flip,
}


@pytest.mark.parametrize("step", HEARD)
@pytest.mark.parametrize("liar", [0, 1, 2])
def test_whoever_tells_different_servers_different_things_is_named(step, liar):
    """With its signature, or with what it shows, every server proves what it was told."""
    first = (liar + 1) % 3
    lie = adversaries.equivocates(step, HEARD[step], to=[first])
    net = make_driver(deposit_round(3), corrupted={liar: lie})
    if step != "key":
        net = uploaded(deposit_round(3), corrupted={liar: lie})
        stopped = ended(net)
    else:
        net.retry()
        stopped = [server.stop_reason for server in net.servers]
    honest = [text for index, text in enumerate(stopped) if index != liar]
    accepted = {
        f"server {liar} said two different things",
        f"server {liar} shows something else than it committed to: {step.removesuffix(' commit')}",
    }
    assert told(honest) <= accepted
    assert all(honest)


def test_an_objection_that_is_not_passed_on_to_all_names_who_kept_it():
    """Admitted sets would differ, and with them everything that is bound to them."""
    lost = adversaries.loses(lambda envelope: envelope.sender.index == 0)

    def corrupt(server, config):
        return adversaries.equivocates("objections", lambda said: pack(), to=[0])(
            lost(server, config), config
        )

    deaf = faults.drop(lambda e: e.step == "objection" and e.receiver.index != 1)
    net = uploaded(post_round(3), corrupted={1: corrupt}, faults=[deaf])
    stopped = ended(net)
    assert {TWO} == told([stopped[0], stopped[2]])


@pytest.mark.parametrize(
    ("step", "at"),
    [("sign notice", 64), ("sign accepted", 64), ("sign admitted", 64), ("coin", 32)],
)
def test_a_false_accusation_falls_back_on_whoever_makes_it(step, at):
    """Nobody can show a word of another server that it did not sign."""
    width = 32 + SIGNATURE_BYTES
    start = at + 2 * width

    def accuse(said):
        return said[:start] + bytes(width) + said[start + width :]

    corrupted = {1: adversaries.lies(step, accuse)}
    net = make_driver(post_round(3), corrupted=corrupted)
    if step != "sign notice":
        net = uploaded(post_round(3), corrupted=corrupted)
        ended(net)
    net.retry()
    expected = "server 1 accuses server 2 of what it did not say"
    assert {expected} == told([net.servers[0].stop_reason, net.servers[2].stop_reason])


@pytest.mark.parametrize("kind", ["accepted", "admitted", "result"])
def test_whoever_signs_something_else_is_named(kind):
    lie = adversaries.lies(f"sign {kind}", lambda said: bytes(64) + said[64:])
    net = uploaded(post_round(3), corrupted={1: lie})
    stopped = ended(net)
    expected = f"server 1 signs something else than what all words give: {kind}"
    assert {expected} == told([stopped[0], stopped[2]])


def test_a_list_that_cannot_be_read_names_its_writer():
    net = uploaded(post_round(3), corrupted={1: adversaries.substitutes("held", lambda _: b"x")})
    stopped = ended(net)
    assert {"server 1 sent a list that cannot be read"} == told([stopped[0], stopped[2]])


# --- all show at once -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["coin", "rows"])
@pytest.mark.parametrize("servers", [2, 3])
def test_whoever_shows_something_else_than_it_committed_to_is_named(name, servers):
    net = uploaded(post_round(servers), corrupted={1: adversaries.substitutes(name)})
    stopped = ended(net)
    expected = f"server 1 shows something else than it committed to: {name}"
    assert {expected} == told(stopped[:1] + stopped[2:])


def test_nobody_shows_anything_before_all_have_committed():
    net = uploaded(post_round(), corrupted={1: adversaries.stalls("coin commit")})
    net.close()
    net.settle()
    net.retry()
    steps = {sight.envelope.step for sight in net.trace.of(Party("server", 1))}
    heard = {step for step, _ in net.servers[0].channel.messages.steps(0)}
    assert ("coin commit" in heard, "coin" in heard, "coin" in steps) == (True, False, True)


def test_coins_are_the_same_everywhere_and_differ_between_rounds():
    tossed = set()
    for seed in (1, 2):
        net = uploaded(
            post_round(3), entropy=attrs.evolve(make_driver(post_round()).entropy, seed=seed)
        )
        net.close()
        net.settle()
        assert 1 == len({server.strategy.tossed for server in net.servers})
        tossed.add(net.servers[0].strategy.tossed)
    assert 2 == len(tossed)
    assert {32} == {len(coins) for coins in tossed}


def test_commitments_are_bound_to_name_subject_server_and_round():
    channel = make_driver(post_round()).servers[0].channel
    assert isinstance(channel, Channel)
    given = ("coin", b"subject", 0, b"nonce", b"value")
    others = [
        ("rows", b"subject", 0, b"nonce", b"value"),
        ("coin", b"Subject", 0, b"nonce", b"value"),
        ("coin", b"subject", 1, b"nonce", b"value"),
        ("coin", b"subject", 0, b"Nonce", b"value"),
        ("coin", b"subject", 0, b"nonce", b"Value"),
    ]
    results = {channel._commitment(*given), *(channel._commitment(*other) for other in others)}
    channel.binding = b"another round"
    assert 7 == len({*results, channel._commitment(*given)})


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("operation", [post_round, deposit_round])
def test_a_server_that_never_says_its_word_ends_nothing(step, operation):
    """Nothing becomes public, and nobody is blamed: it may only be slow."""
    corrupted = {1: adversaries.stalls(step)}
    net = make_driver(operation(), corrupted=corrupted)
    if net.servers[0].notice is not None:
        net = uploaded(operation(), corrupted=corrupted)
        try:
            net.finish()
        except TransportError:
            net.retry()
    if (step, net.round.operation) == ("erased", "post"):
        assert net.servers[0].result is not None
        return
    assert net.servers[0].result is None
    assert "" == net.servers[0].stop_reason


def test_messages_are_delivered_when_nobody_deviates():
    net = uploaded(post_round(3))
    assert tuple(message(index) for index in range(4)) == net.finish()
    assert "" == "".join(ended(net))
