"""Every fault of a whole donation: a valid release, or a refusal that says why, and no lie believed.

Covered, over the transports that are installed (12 donors, two classes, of which some are erased;
server 1 is the one that deviates):

- restarts: any server at any step of registration, reservation, publishing and withdrawal, in two
  iterations; all servers at every step; around every word that servers say between rounds; from
  backups that are too old, of a study that is over, and of one that has stopped;
- the lines between servers: every word lost, doubled, late, out of order;
- donors who vanish for good at any step, with `missing: stop` and `missing: blank`, and where too
  few may leave;
- servers that lie between rounds: other classes, another erased set, another release, other
  software, a wrong coin, two different things to all or to one, forged words, silence;
- servers that lie in a round: reservations are made anew once, and then the study stops; it stops
  at once when records were being opened, because what is opened twice with another erased set is
  not erased.

Erasure itself is in test_donation_erasure.py.
"""

import functools
import re
from collections import Counter

import attrs
import donation_adversaries as adversaries
import numpy as np
import pytest
from donations import DONORS, INSTALLED, Parity, campaign, once, play, transports

from anonloom.errors import TransportError
from anonloom_anonify.aggregator import Aggregator
from anonloom_anonify.campaign import Campaign
from anonloom_anonify.simulation import Behaviour
from anonloom_testing.transport import adversaries as in_rounds
from anonloom_transport import faults, pack, unpack

LIAR, HER, WITHDRAWS = 1, 3, 5
STOPPED = "the study has stopped: "
TWO_THINGS = "server 1 said two different things"
WAITING = (
    "the servers have not agreed on what comes next: server 0 waits for the word '{}' of server 1"
)


def withdrawing(iterations=2):
    """Everybody is honest, and one takes the consent back in the second iteration."""
    behaviour = Behaviour.honest(DONORS, iterations)
    behaviour.withdrawing[1, WITHDRAWS] = True
    return behaviour


def two_iterations(name, **more):
    return play(name, iterations=2, withdrawals=True, behaviour=withdrawing(), **more)


def complete(played):
    return played.expected((1, 2), without={(WITHDRAWS, 2)})


@functools.cache
def steps(name):
    """Return the steps of an honest study."""
    played = two_iterations(name)
    assert complete(played) == played.opened
    return tuple(dict.fromkeys(played.steps))


# --- restarts -------------------------------------------------------------------------------


def restarts():
    """Every step and every server; each step with one of them at once, the rest takes long."""
    for name in INSTALLED:
        for index, step in enumerate(steps(name)):
            for server in (0, 1):
                often = "1.2" not in step and index % 2 == server
                yield pytest.param(name, step, server, marks=[] if often else pytest.mark.long)


@pytest.mark.parametrize(("name", "step", "server"), list(restarts()))
def test_a_server_that_starts_again_goes_on(name, step, server):
    def again(running, now):
        if now == step:
            running.restart(server)

    played = two_iterations(name, after=once(again))
    assert ("", 0) == (played.refused, played.campaign.servers[0].restarts)
    assert complete(played) == played.opened


@transports
def test_all_servers_may_start_again_at_every_step(name):
    def again(running, _):
        for server in (0, 1):
            running.restart(server)

    played = two_iterations(name, after=once(again))
    assert "" == played.refused
    assert complete(played) == played.opened


@transports
def test_what_was_given_up_is_remembered_by_servers_that_start_again(name):
    """Reservations made anew, an iteration withheld, and all servers restarted all the time."""

    def again(running, _):
        for server in (0, 1):
            running.restart(server)

    lie = in_rounds.contradicts("held")
    played = two_iterations(
        name,
        after=once(again),
        corrupted_in=lying_in(lie, "donation reservation 1", "donation publishing 2.2"),
    )
    reason = f"the round has stopped: {TWO_THINGS}"
    for server in played.campaign.servers:
        assert (1, {2: reason}) == (server.restarts, server.withheld)
    assert "" == played.refused
    assert played.expected((1,)) == played.opened


@attrs.define(eq=False, kw_only=True)
class RestartingAtWords(Campaign):
    """Starts servers again before and after every word; nothing on its way gets lost."""

    restarted: int = attrs.field(default=0, init=False)

    def deliver_one(self):
        word = self.network.next_delivery.envelope
        self._again(word.receiver.index)
        super().deliver_one()
        self._again(word.receiver.index)
        self._again(word.sender.index)

    def _again(self, index):
        saved = self.servers[index].save()
        self.servers[index] = self._server(index)
        self.servers[index].resume(saved)
        self.restarted += 1


@pytest.mark.parametrize("servers", [2, 3])
def test_a_server_may_start_again_between_any_two_words(servers):
    played = play("direct", cls=RestartingAtWords, servers=servers, iterations=2)
    assert played.campaign.restarted > 80
    assert "" == played.refused
    assert played.expected((1, 2)) == played.opened


def backups(**more):
    """Play a study; return it and what server 0 saved at every step."""
    saved = []
    played = play(
        "direct", after=lambda running, _: saved.append(running.servers[0].save()), **more
    )
    return played, saved


def resumed(played, saved):
    running = played.campaign
    server = Aggregator(running.study, running._configs[0], running.works[0], running.entropy)
    server.resume(saved)
    return server


def test_a_study_that_is_over_goes_on_from_public_data_only():
    """The key dies with the study: what was saved before is not there any more."""
    played, saved = backups()
    for old in saved[:-1]:
        with pytest.raises(TransportError) as caught:
            resumed(played, old)
        assert str(caught.value) == (
            "the round's key is destroyed: what was saved before that is erased, and the round "
            "can go on from public data only"
        )
    server = resumed(played, saved[-1])
    assert (True, None) == (server.over, server.round)
    assert played.campaign.servers[0].releases == server.releases
    assert played.campaign.servers[0].classes.encode() == server.classes.encode()


def test_a_server_that_has_begun_does_not_begin_again():
    running = campaign("direct")
    saved = running.servers[0].save()
    running.servers[0].begin()
    with pytest.raises(TransportError) as caught:
        running.servers[0].resume(saved)
    assert str(caught.value) == (
        "what was saved is from before this server began the study: it goes on from what it "
        "saved last"
    )


@pytest.mark.parametrize("at", [20, 60, 100, -1])
def test_what_somebody_changed_on_a_disk_is_not_read(at):
    played, saved = backups()
    changed = bytearray(saved[-1])
    changed[at] ^= 1
    with pytest.raises(TransportError) as caught:
        resumed(played, bytes(changed))
    assert "what was saved cannot be read" == str(caught.value)


def test_a_study_that_has_stopped_stays_stopped_and_keeps_no_secret():
    lie = adversaries.lies("release 2")
    played = play("direct", iterations=2, corrupted={LIAR: lie})
    server = played.campaign.servers[0]
    again = resumed(played, server.save())
    assert STOPPED + again.stop_reason == played.refused
    assert (False, None) == (again.over, again.round)
    assert list(server.releases) == list(again.releases) == [1]
    for item in (server, again):
        assert (None, ()) == (item.agreement.secret, item.agreement.entropy_log)
        assert not item.agreement.state_vault.begun


def test_a_server_that_is_over_still_repeats_its_words():
    """One has ended, is started again, and the other has missed its last word."""
    lost = []

    def last_word(word):
        missed = word.step == "sign release 1" and word.sender.index == 0 and not lost
        if missed:
            lost.append(word)
        return missed

    def again(running, step):
        if step == "publishing 1.1: heard":
            assert [True, False] == [server.over for server in running.servers]
            running.restart(0)

    played = play("direct", faults=[faults.drop(last_word)], after=once(again))
    assert ("", 1) == (played.refused, len(lost))
    assert played.expected((1,)) == played.opened


# --- the lines between servers --------------------------------------------------------------


@functools.cache
def words():
    """Return the steps of what servers say to each other in a study of one iteration."""
    return tuple(
        dict.fromkeys(word.step for word in play("direct", traced=True).campaign.envelopes)
    )


def first_time(concerned):
    """Concern every word of one step, or of all, when it is sent for the first time."""
    seen = set()

    def when(word):
        key = (word.step, word.sender, word.receiver)
        if concerned not in (None, word.step) or key in seen:
            return False
        seen.add(key)
        return True

    return when


#: What bad lines do to the words that they concern.
BAD_LINES = {
    "lost": faults.drop,
    "doubled": lambda when: faults.duplicate(when, times=3),
    "late": lambda when: faults.delay(5.0, when),
}


@pytest.mark.parametrize(
    ("servers", "step"), [(2, step) for step in words()] + [(2, None), (3, None)]
)
@pytest.mark.parametrize("fault", ["lost", "doubled", "late"])
def test_bad_lines_change_nothing(step, fault, servers):
    """What was lost is said again when somebody asks."""
    tried = Counter()

    def insist(running, now):
        # A word that was lost may be the condition of the next: it takes a few attempts.
        if fault == "lost" and tried[now] < 12:
            tried[now] += 1
            running.network.resend()

    lines = BAD_LINES[fault](first_time(step))
    played = play("direct", faults=[lines], after=insist, servers=servers)
    assert "" == played.refused
    assert played.expected((1,)) == played.opened


# --- donors who vanish ----------------------------------------------------------------------


def vanishing(step):
    """Let a donor do nothing any more after a step; who has deposited has left a decoy."""

    def hook(running, now):
        if now == step:
            if any(donor._answered for donor in running.donors):
                running.behaviour.absent[:, HER] = True
            else:
                running.behaviour.leaving[HER] = True

    return once(hook)


def vanished(name, missing, step):
    """Return what must be left: restarts, iterations that are withheld, and what is missing."""
    order = {known: index for index, known in enumerate(steps(name))}
    away = order[step]
    never, first, second = {(WITHDRAWS, 2)}, (HER, 1), (HER, 2)
    if away < order["reservation 1: upload"]:
        return 0, {}, never
    if away < order["publishing 1.1: upload"]:
        return (1, {}, never) if missing == "stop" else (0, {}, never | {first, second})
    if away < order["publishing 1.2: upload"]:
        withheld = {2: "1 of 12 senders are missing, and the round needs all of them"}
        return (0, withheld, never) if missing == "stop" else (0, {}, never | {second})
    return 0, {}, never


def vanishings():
    often = ("reservation 1: heard", "publishing 1.1: upload", "withdrawal 1.1: begin")
    for name in INSTALLED:
        for step in steps(name):
            for missing in ("stop", "blank"):
                quick = step in often or (name == "direct" and "1.2" not in step)
                yield pytest.param(name, missing, step, marks=[] if quick else pytest.mark.long)


@pytest.mark.parametrize(("name", "missing", "step"), list(vanishings()))
def test_a_donor_who_vanishes_leaves_a_valid_release(name, missing, step):
    played = two_iterations(name, missing=missing, after=vanishing(step))
    restarts, withheld, without = vanished(name, missing, step)
    server = played.campaign.servers[0]
    assert ("", restarts, withheld) == (played.refused, server.restarts, server.withheld)
    assert played.expected({1, 2} - set(withheld), without) == played.opened


FEW = (
    "1 of 12 senders are missing: with fewer than 3 missing, what is absent would show whose it is"
)


@transports
@pytest.mark.parametrize("step", ["registration 1: heard", "reservation 1: heard"])
def test_a_donor_who_would_leave_alone_stops_the_study(name, step):
    played = two_iterations(name, missing="blank", min_leave=3, after=vanishing(step))
    assert f"{STOPPED}given up 2 times: {FEW}" == played.refused
    assert {} == played.opened


@transports
def test_an_iteration_from_which_one_would_be_missing_alone_is_withheld(name):
    """A decoy stands in once; whoever misses two iterations in a row has left none."""
    behaviour = Behaviour.honest(DONORS, 3)
    behaviour.absent[1:, HER] = True
    played = play(name, missing="blank", min_leave=3, iterations=3, behaviour=behaviour)
    assert {3: FEW} == played.campaign.servers[0].withheld
    assert played.expected((1, 2), without={(HER, 2)}) == played.opened


def test_too_few_donors_publish_nothing():
    behaviour = Behaviour.honest(DONORS)
    behaviour.leaving[2:] = True
    played = play("direct", behaviour=behaviour, min_batch=1)
    text = "no class is left that can be published: 2 too few reservations"
    assert STOPPED + text == played.refused


# --- servers that lie between rounds --------------------------------------------------------

WRONG = {
    "classes": (Parity(cells=(("*",), ("even",), ("strange",))), "the classes"),
    "erased": (Parity(shift=1), "what will be erased"),
    "release": (Parity(refuses=True), "the release"),
}


@transports
@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_server_that_computes_something_else_is_named(name, servers, wrong):
    lying, what = WRONG[wrong]
    works = [lying if index == LIAR else Parity() for index in range(servers)]
    played = play(name, servers=servers, works=works)
    for honest in (index for index in range(servers) if index != LIAR):
        assert played.campaign.servers[honest].stop_reason == (
            f"the servers do not agree on {what}: server 1 says something else than server {honest}"
        )
    assert {} == played.opened


def flip_first(said):
    return bytes([said[0] ^ 1]) + said[1:]


def refused(step):
    """Return how the study ends when server 1 says something else in a step."""
    what = {"classes": "the classes", "plan 1": "what will be erased", "release 1": "the release"}
    if step.startswith("sign "):
        return f"server 1 signs something else than what all words give: {step[5:]}"
    if step in what:
        return (
            f"the servers do not agree on {what[step]}: server 1 says something else than server 0"
        )
    return {
        "key": "server 1 announced a key that cannot be read",
        "share 0": "server 1 sealed a share that cannot be opened",
        "seed": "server 1 shows something else than it committed to: seed",
        "coins 1": "server 1 shows something else than it committed to: coins 1",
    }.get(step, TWO_THINGS)


SAID = [step for step in words() if step != "share 1"]
said = pytest.mark.parametrize("step", SAID)


@said
def test_a_server_that_says_something_wrong_is_named(step):
    played = play("direct", corrupted={LIAR: adversaries.lies(step, flip_first)})
    assert STOPPED + refused(step) == played.refused
    assert {} == played.opened


@said
def test_a_server_that_says_two_things_is_proven_to(step):
    played = play("direct", iterations=2, corrupted={LIAR: adversaries.contradicts(step)})
    assert STOPPED + TWO_THINGS == played.refused
    evidence = played.campaign.servers[0].agreement.channel.evidence
    assert [(step, LIAR)] == [(item.step, item.server) for item in evidence]
    assert evidence[0].one.body != evidence[0].other.body
    # What all had signed by then stands.
    assert ({1} if step == "sign release 1" else set()) == set(played.opened)


def blamed(text):
    """Return the servers that an honest one names for itself, or passes on."""
    while message := re.match(r"server (\d+) stopped the round: (.*)", text):
        if int(message[1]) == LIAR:
            return {LIAR}
        text = message[2]
    first = re.search(r"server (\d+)", text)
    return {int(first[1])} if first else set()


@pytest.mark.parametrize("step", [step.replace("share 0", "share 2") for step in SAID])
def test_a_server_that_tells_servers_different_things_is_named_by_all(step):
    lie = adversaries.lies(step, flip_first, to=[2])
    played = play("direct", servers=3, corrupted={LIAR: lie})
    stopped = [blamed(played.campaign.servers[index].stop_reason) for index in (0, 2)]
    if step == "sign release 1":
        # Server 0 holds what all have signed, and that stands.
        assert [set(), {LIAR}] == stopped
        assert played.expected((1,)) == played.opened
    else:
        assert [{LIAR}] * 2 == stopped
        assert {} == played.opened


@said
@pytest.mark.parametrize("silence", [adversaries.stalls, adversaries.forges])
def test_a_server_that_is_silent_is_waited_for(step, silence):
    """A word that its sender has not signed is none."""
    played = play("direct", corrupted={LIAR: silence(step)})
    assert WAITING.format(step) == played.refused.partition("; ")[0]
    assert {} == played.opened


def test_servers_with_other_software_do_not_begin():
    lie = adversaries.lies("key", lambda said: pack(b"toys 2", *unpack(said)[1:]))
    played = play("direct", corrupted={LIAR: lie})
    text = "server 1 runs toys 2, and server 0 toys 1: all must run the same"
    assert STOPPED + text == played.refused


# --- servers that lie in a round ------------------------------------------------------------


def lying_in(lie, *rounds):
    return lambda round: {LIAR: lie} if round.id.startswith(rounds) else {}


@transports
@pytest.mark.parametrize("phase", ["reservation 1", "publishing 1.1"])
def test_reservations_are_made_anew_once(name, phase):
    lie = in_rounds.contradicts("held")
    played = play(name, iterations=2, corrupted_in=lying_in(lie, f"donation {phase}"))
    server = played.campaign.servers[0]
    assert ("", 1) == (played.refused, server.restarts)
    assert {phase: f"the round has stopped: {TWO_THINGS}"} == server.round_log.given_up
    assert played.expected((1, 2)) == played.opened


@transports
@pytest.mark.parametrize("phase", ["reservation", "publishing"])
def test_who_lies_again_stops_the_study(name, phase):
    lie = in_rounds.contradicts("held")
    played = play(name, corrupted_in=lying_in(lie, f"donation {phase}"))
    assert f"{STOPPED}given up 2 times: the round has stopped: {TWO_THINGS}" == played.refused
    assert (1, {}) == (played.campaign.servers[0].restarts, played.opened)


@transports
def test_nobody_registers_twice_with_servers_that_lie(name):
    lie = in_rounds.contradicts("held")
    played = play(name, corrupted_in=lying_in(lie, "donation registration"))
    assert f"{STOPPED}the round has stopped: {TWO_THINGS}" == played.refused


@transports
def test_a_later_iteration_is_withheld_when_a_server_lies_in_it(name):
    lie = in_rounds.contradicts("held")
    played = play(name, iterations=3, corrupted_in=lying_in(lie, "donation publishing 1.2"))
    server = played.campaign.servers[0]
    assert {2: f"the round has stopped: {TWO_THINGS}"} == server.withheld
    assert ("", 0) == (played.refused, server.restarts)
    assert played.expected((1, 3)) == played.opened


OPENING = {
    "the round has stopped: server 1 signs something else than what all words give: result": (
        in_rounds.substitutes("sign result", flip_first)
    ),
    (
        "the round has not ended on every server; server 0 waits for the word 'sign result' of "
        "server 1"
    ): in_rounds.stalls("sign result"),
    (
        "the round has stopped: the servers do not agree on what is erased: server 1 says "
        "something else than server 0"
    ): in_rounds.substitutes("erased"),
}


@transports
@pytest.mark.parametrize("reason", OPENING)
def test_what_was_being_opened_is_not_opened_again(name, reason):
    """With new reservations another set is erased: whoever has seen both has seen more."""
    played = play(name, corrupted_in=lying_in(OPENING[reason], "donation publishing"))
    assert f"{STOPPED}given up while records were opened: {reason}" == played.refused
    assert (0, {}) == (played.campaign.servers[0].restarts, played.opened)


def test_who_does_not_give_up_with_the_others_is_waited_for():
    played = play(
        "direct",
        corrupted={LIAR: adversaries.stalls("give up reservation 1")},
        corrupted_in=lying_in(in_rounds.contradicts("held"), "donation reservation 1"),
    )
    assert WAITING.format("give up reservation 1") == played.refused.partition("; ")[0]


@pytest.mark.parametrize("opening", [True, False])
def test_one_server_that_says_that_records_were_seen_is_enough(opening):
    """A server that has seen them would deny it; one that has not can only stop the study."""
    step = "sign result" if opening else "held"
    played = play(
        "direct",
        corrupted={LIAR: adversaries.lies("give up publishing 1.1", flip_first)},
        corrupted_in=lying_in(in_rounds.contradicts(step), "donation publishing 1.1"),
    )
    text = f"given up while records were opened: the round has stopped: {TWO_THINGS}"
    assert STOPPED + text == played.refused
    assert {} == played.opened


@transports
def test_what_a_server_loses_after_confirming_it_is_not_missed(name):
    lost = in_rounds.loses(lambda envelope: envelope.sender.index < 3)
    played = play(name, corrupted_in=lying_in(lost, "donation "))
    assert "" == played.refused
    assert played.expected((1,)) == played.opened


@transports
def test_who_is_ignored_by_a_server_is_missed_when_publishing(name):
    """A server that keeps somebody out cannot open the rest: that would show whose is missing."""
    deaf = in_rounds.ignores(lambda envelope: envelope.sender.index == HER)
    played = play(name, corrupted_in=lying_in(deaf, "donation publishing"))
    text = "given up 2 times: 1 of 12 senders are missing, and the round needs all of them"
    assert STOPPED + text == played.refused


def test_a_withdrawal_in_which_a_server_lies_opens_nothing():
    lie = in_rounds.contradicts("held")
    played = two_iterations("direct", corrupted_in=lying_in(lie, "donation withdrawal 1.1"))
    server = played.campaign.servers[0]
    assert ("", 1) == (played.refused, server.restarts)
    assert {"publishing 1.1": f"the round has stopped: {TWO_THINGS}"} == server.round_log.given_up
    assert complete(played) == played.opened


def test_every_donor_is_published_at_most_once_and_only_as_drawn():
    """The erased are as many as the sampler was told, whatever had to be done anew."""
    lie = in_rounds.contradicts("held")
    played = play("direct", corrupted_in=lying_in(lie, "donation publishing 1.1"))
    shares = np.bincount([donor % 2 for donor, _ in played.opened[1]])
    assert [4, 4] == shares.tolist()
