"""Erased stays erased over a whole donation, and records are joined by nobody afterwards.

The attacker has all disks of all servers at every step, everything that travelled, all that was
published, and all long-term keys. With round keys that a server had kept the same attack finds what
was erased, and with the study's key the join key: so it is one that can succeed.
"""

import donation_adversaries as adversaries
import pytest
from donation_storage_attack import StudyStorageAttack
from donations import DONORS, INSTALLED, answer, play, transports

from anonloom_anonify.release import join_key
from anonloom_anonify.server_agreement import ServerAgreement
from anonloom_anonify.simulation import Behaviour
from anonloom_testing.transport import adversaries as in_rounds
from anonloom_transport import (
    SIGNATURE_BYTES,
    Body,
    MemoryVault,
    RecordedEntropy,
    SealingKey,
    context_of,
)

PUBLISHING = ("donation publishing 1.1", "donation publishing 1.2")
WITHDRAWS = 5


def backed_up(name, **more):
    """Play two iterations with a backup of everything at every step."""
    disks = StudyStorageAttack()
    behaviour = Behaviour.honest(DONORS, 2)
    behaviour.withdrawing[1, WITHDRAWS] = True
    played = play(
        name, iterations=2, withdrawals=True, behaviour=behaviour, traced=True,
        after=disks.back_up, **more,
    )  # fmt: skip
    return played, disks


def erased(played):
    """Return all answers that were never to be known."""
    whose = set(range(DONORS)) - played.kept
    results = {answer(donor, now) for donor in whose for now in (1, 2)}
    return results | {answer(WITHDRAWS, 2)}


def copies(servers=2):
    return [MemoryVault() for _ in range(servers)]


def keeping(vaults, servers):
    return {index: in_rounds.keeps_key(vaults[index]) for index in servers}


def travelled(played):
    """Return all that went over any line, and what was published."""
    running = played.campaign
    bodies = [sight.envelope.body for trace in running.traces for sight in trace.seen]
    bodies += [word.body for word in running.envelopes]
    return bodies + [release for server in running.servers for release in server.releases.values()]


# --- answers --------------------------------------------------------------------------------


@transports
def test_nothing_that_is_left_of_a_donation_recovers_an_erased_answer(name):
    played, disks = backed_up(name)
    assert ("", True) == (played.refused, len(erased(played)) >= 8)
    assert {} == disks.reopen_rounds()
    assert [] == disks.read()
    assert set() == disks.secrets()
    hidden = {result for result in erased(played) if result in b"\0".join(disks.saved_bytes)}
    # Whoever sees the lines of a transport that hides nothing sees envelopes all the same.
    hidden |= {result for result in erased(played) if result in b"\0".join(travelled(played))}
    assert set() == hidden


@transports
def test_with_the_rounds_keys_kept_the_same_attack_recovers_all(name):
    """The planted fault: otherwise the test above could be one that nothing fails."""
    kept = copies()
    played, disks = backed_up(name, corrupted_in=lambda round: keeping(kept, (0, 1)))
    assert "" == played.refused
    result = disks.reopen_rounds(kept)
    everything = {record for name in PUBLISHING for record in result[name] if record is not None}
    assert {answer(donor, now) for donor in range(DONORS) for now in (1, 2)} == everything


@pytest.mark.parametrize("name", [name for name in INSTALLED if name != "direct"])
@pytest.mark.parametrize("forgetful", [0, 1])
def test_one_server_that_forgets_is_enough(name, forgetful):
    kept = copies()
    played, disks = backed_up(name, corrupted_in=lambda round: keeping(kept, (1 - forgetful,)))
    assert {} == disks.reopen_rounds(kept)
    contents = disks.read(kept)
    assert contents
    assert set() == {
        item for item in erased(played) if any(item in content for content in contents)
    }


@transports
def test_the_studys_key_alone_recovers_no_answer(name):
    """It tells positions, classes and what is erased, and nothing of what was deposited."""
    kept = copies()
    corrupted = {index: adversaries.keeps_key(kept[index]) for index in (0, 1)}
    played, disks = backed_up(name, corrupted=corrupted)
    assert {} == disks.reopen_rounds(kept)
    assert [] == disks.read(kept)
    assert 1 == len(disks.secrets(kept))
    assert "" == played.refused


class Leaked:
    """Entropy of an attacker who has nothing but a leaked key."""

    def __init__(self, key):
        self.key = key

    def bytes(self, n, /):
        return self.key[:n]


@transports
def test_long_term_keys_open_no_upload_and_no_share(name):
    played, disks = backed_up(name)
    running = played.campaign
    keys = [SealingKey.draw("x25519", Leaked(identity.secret)) for identity in running.identities]
    opened = []
    for item in disks.rounds.values():
        net = item.driver
        for sight in net.trace.network:
            if sight.envelope.step == "upload":
                index, upload = sight.envelope.receiver.index, sight.envelope.upload
                context = context_of(net.round, net.servers[index].state.binding, index, upload)
                sealed = Body.read(sight.envelope.body, 2).sealed
                opened += [key.open(sealed, context) for key in keys]
    agreement = ServerAgreement(
        running.study, running.servers[0].config, RecordedEntropy(running.entropy)
    )
    agreement.channel.binding = running.servers[0].agreement.channel.binding
    for word in running.envelopes:
        if word.step.startswith("share "):
            context = agreement._context(word.sender.index, word.receiver.index)
            opened += [key.open(word.body[SIGNATURE_BYTES:], context) for key in keys]
    assert len(opened) > 2 * DONORS
    assert {None} == set(opened)


@transports
@pytest.mark.parametrize("step", ["held", "sign result"])
def test_what_was_given_up_is_destroyed_too(name, step):
    """A server that falls silent leaves nobody with uploads that could be opened later."""
    silent = in_rounds.stalls(step)
    played, disks = backed_up(
        name, corrupted_in=lambda round: {1: silent} if "publishing" in round.id else {}
    )
    assert played.refused.startswith("the study has stopped: given up ")
    assert {} == disks.reopen_rounds()
    assert [] == disks.read()
    assert set() == disks.secrets()


def test_decoys_for_a_round_that_never_comes_are_destroyed_too():
    """With `missing: blank` the next deposit has begun when this one is given up."""
    lie = in_rounds.contradicts("held")
    played, disks = backed_up(
        "direct",
        missing="blank",
        corrupted_in=lambda round: {1: lie} if "publishing 1.1" in round.id else {},
    )
    assert ("", 1) == (played.refused, played.campaign.servers[0].restarts)
    assert "donation publishing 1.2" in disks.rounds
    assert {} == disks.reopen_rounds()
    assert [] == disks.read()


# --- the join key ---------------------------------------------------------------------------


def joined(played, secrets):
    """Return which records can be joined with positions by whoever has a secret of the study."""
    running = played.campaign
    opened = running.recipient.opened
    published = {join for item in opened.values() for join in item.joins}
    results = set()
    agreement = ServerAgreement(
        running.study, running.servers[0].config, RecordedEntropy(running.entropy)
    )
    for secret in secrets:
        agreement.secret = secret
        key = agreement.derive("join")
        results |= published & {join_key(key, rank) for rank in range(DONORS)}
    return results, published


@transports
def test_records_are_joined_with_positions_by_nobody_after_the_end(name):
    played, disks = backed_up(name)
    result, published = joined(played, disks.secrets())
    assert (set(), True) == (result, len(published) > 0)
    # Not by anything that servers said to each other either.
    messages = [word.body[SIGNATURE_BYTES:] for word in played.campaign.envelopes]
    guesses = {body[index : index + 32] for body in messages for index in range(len(body) - 31)}
    assert set() == joined(played, guesses)[0]


@transports
@pytest.mark.parametrize("server", [0, 1])
def test_with_a_studys_key_kept_they_are(name, server):
    """The planted fault; every server knows the join key, so one that keeps it is enough."""
    kept = copies()
    played, disks = backed_up(name, corrupted={server: adversaries.keeps_key(kept[server])})
    result, published = joined(played, disks.secrets(kept))
    assert published == result


def test_a_study_that_stops_forgets_its_join_key_as_well():
    played, disks = backed_up("direct", corrupted={1: adversaries.lies("release 2")})
    assert {1} == set(played.opened)
    assert set() == disks.secrets()
