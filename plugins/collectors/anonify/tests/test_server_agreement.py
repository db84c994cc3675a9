"""Servers agree, or the study stops and says which of them says something else."""

import hashlib
from typing import NamedTuple

import attrs
import pytest
from anonify_play import ByFirstByte, met, refusal, servers, study, talk
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import PrivacyError, TransportError
from anonloom_anonify.server_agreement import ServerAgreement, binding_of, read_study
from anonloom_anonify.study import PID_BYTES
from anonloom_transport import SIGNATURE_BYTES, Party, RecordedEntropy, Signer, pack, unpack


def said_anew(party, step, body):
    """Return what changes a word of one server, signed again by itself."""

    def change(envelope):
        if envelope.step != step or envelope.sender != party.study.everyone[party.config.index]:
            return envelope
        talk_ = party.agreement.channel
        bound = party.study.digest if step in ("key", "sign notice", "stop") else talk_.binding
        message = body(envelope.body[SIGNATURE_BYTES:]) if callable(body) else body
        signature = Signer(party.config.identity).sign(f"word {step}", bound, message)
        return attrs.evolve(envelope, body=signature + message)

    return change


def begun(parties, change=None):
    talk(parties, *[party.begin() for party in parties], change=change)
    return [party.stop_reason for party in parties]


@pytest.mark.parametrize("number", [1, 2, 3, 11])
def test_servers_meet_and_share_a_secret(number):
    parties = met(servers(number=number))
    assert [""] * number == [party.stop_reason for party in parties]
    assert 1 == len({party.agreement.secret for party in parties})
    assert 1 == len({party.notice for party in parties})
    pins = parties[0].config.pins
    assert study(servers=number) == read_study(parties[0].notice, pins)
    assert 1 == len({party.round for party in parties})
    assert [0] * number == [party.refused.total() for party in parties]


def test_nobody_on_the_lines_learns_the_secret():
    parties, heard = servers(), []

    def hear(envelope):
        heard.append(envelope.body)
        return envelope

    begun(parties, hear)
    secret = parties[0].agreement.secret
    assert not any(secret in body for body in heard)
    drawn = [
        piece for party in parties for piece in party.agreement.entropy_log if len(piece) == 32
    ]
    assert not any(piece in body for piece in drawn for body in heard)


def test_a_server_that_runs_something_else_is_named():
    one, other = (
        study(versions=("anonloom 1", "numpy 2")),
        study(versions=("anonloom 1", "numpy 3")),
    )
    parties = servers([one, other])
    assert [
        "server 1 runs anonloom 1; numpy 3, and server 0 anonloom 1; numpy 2: all must run the "
        "same",
        "server 0 runs anonloom 1; numpy 2, and server 1 anonloom 1; numpy 3: all must run the "
        "same",
    ] == begun(parties)
    assert [None, None] == [party.round for party in parties]


def test_servers_of_different_studies_do_not_understand_each_other():
    parties = servers([study(), study(k=3)])
    assert ["", ""] == begun(parties)
    assert [{"not of this study": 1}] * 2 == [party.refused for party in parties]


def test_a_key_that_cannot_be_read_is_named():
    parties = servers()
    stopped = begun(parties, said_anew(parties[1], "key", b"nonsense"))
    assert "server 1 announced a key that cannot be read" == stopped[0]


def test_a_key_without_the_hash_of_a_share_is_named():
    """Without it a server could choose its share after it saw those of the others."""
    parties = servers()

    def shorter(body):
        versions, public, share = unpack(body, 3)
        return pack(versions, public, share[:-1])

    stopped = begun(parties, said_anew(parties[1], "key", shorter))
    assert "server 1 announced a key that cannot be read" == stopped[0]


def test_a_share_that_cannot_be_opened_is_named():
    parties = servers(number=3)
    stopped = begun(parties, said_anew(parties[2], "share 0", b"nonsense"))
    assert [
        "server 2 sealed a share that cannot be opened",
        "server 0 stopped the round: server 2 sealed a share that cannot be opened",
        "server 0 stopped the round: server 2 sealed a share that cannot be opened",
    ] == stopped


def test_who_shares_something_else_with_one_of_the_others_is_named():
    """Nobody else hears it: the others would find different classes, and suspect each other."""
    parties = servers(number=3)
    guilty = parties[2].agreement

    def another(said):
        return guilty._locks[0].seal(b"x" * 32, guilty._context(2, 0))

    stopped = begun(parties, said_anew(parties[2], "share 0", another))
    assert "server 2 sealed another share than it announced" == stopped[0]
    assert (
        "server 0 stopped the round: server 2 sealed another share than it announced" == stopped[1]
    )


def test_who_tells_different_servers_different_things_is_named():
    parties = servers(number=3)

    def turned(said):
        versions, public, share = unpack(said)
        return pack(versions, public[::-1], share)

    other = said_anew(parties[2], "key", turned)

    def to_one(envelope):
        return other(envelope) if envelope.receiver == Party("server", 0) else envelope

    stopped = begun(parties, to_one)
    assert "server 2 said two different things" in stopped[0]
    assert any("server 2 said two different things" == why for why in stopped)


def test_who_says_two_things_one_after_the_other_is_named():
    parties = met(servers())
    envelope = parties[1].resend()[0]
    change = said_anew(parties[1], envelope.step, b"something else")
    talk(parties, [change(envelope)])
    assert "server 1 said two different things" == parties[0].stop_reason
    assert [(envelope.step, 1)] == [
        (proof.step, proof.server) for proof in parties[0].agreement.channel.evidence
    ]
    assert (
        "server 0 stopped the round: server 1 said two different things" == parties[1].stop_reason
    )


def test_words_that_no_server_of_a_study_says_are_not_kept():
    """Every word is kept to the end: none may be as long as its sender likes."""
    parties = met(servers())
    kept = len(parties[0].agreement.channel.messages.entries())
    long = attrs.evolve(parties[1].resend()[0], step="coins 1", body=bytes(2**16 + 1))
    talk(parties, [long])
    assert ({"too long": 1}, "") == (parties[0].refused, parties[0].stop_reason)
    assert kept == len(parties[0].agreement.channel.messages.entries())


def test_a_signature_under_something_else_is_named():
    parties = servers()
    stopped = begun(
        parties, said_anew(parties[1], "sign notice", lambda said: bytes(64) + said[64:])
    )
    assert "server 1 signs something else than what all words give: notice" == stopped[0]


class Ended(NamedTuple):
    """What a study asks of an engine whose round is over."""

    result: list[bytes] | None
    accepted_count: int
    left_out: int = 0
    senders: frozenset[bytes] = frozenset()


def test_a_round_that_gave_nothing_is_not_heard():
    parties = met(servers())
    with pytest.raises(TransportError) as raised:
        parties[0].hear(parties[0].round, Ended(None, 4))
    assert "nothing became public in the round 'registration 1'" == str(raised.value)


def test_only_the_round_that_is_run_now_is_heard_or_given_up():
    (party, _) = met(servers())
    later = party.study.registration(2)
    for act in (
        lambda: party.hear(later, Ended([], 0)),
        lambda: party.give_up(later, "it takes too long"),
    ):
        assert "the study is not in the round 'registration 2'" == refusal(act)
    assert ({}, {}) == (party.round_log.facts, party.round_log.given_up)


def registered(parties, records=(1, 1, 2, 2), change=None):
    messages = [bytes([index]) * PID_BYTES + bytes([of, index]) for index, of in enumerate(records)]
    round = parties[0].round
    sent = [party.hear(round, Ended(messages, len(messages))) for party in parties]
    talk(parties, *sent, change=change)
    return [party.stop_reason for party in parties]


def test_all_servers_compute_with_the_same_coins():
    parties = met(servers(works=[ByFirstByte(), ByFirstByte()]))
    assert ["", ""] == registered(parties)
    assert parties[0].work.seeds == parties[1].work.seeds
    assert 1 == len(parties[0].work.seeds)
    assert 1 == len({party.broadcast for party in parties})


def test_other_registrations_give_other_coins():
    one, other = met(servers()), met(servers())
    registered(one)
    registered(other, (2, 2, 1, 1))
    # Keys and shares are the same, drawn from one seeded source; only the subject differs.
    assert one[0].agreement.secret == other[0].agreement.secret
    assert one[0].work.seeds != other[0].work.seeds


def test_servers_that_make_other_classes_are_named():
    parties = met(servers(works=[ByFirstByte(), ByFirstByte(shift=1)]))
    assert [
        "the servers do not agree on the classes: server 1 says something else than server 0",
        "the servers do not agree on the classes: server 0 says something else than server 1",
    ] == registered(parties)
    assert [None, None] == [party.broadcast for party in parties]


def test_of_three_servers_the_one_that_is_alone_is_named_by_both():
    parties = met(servers(number=3, works=[ByFirstByte(), ByFirstByte(), ByFirstByte(shift=1)]))
    what = "the servers do not agree on the classes: server {} says something else than server {}"
    stopped = registered(parties)
    assert [what.format(2, 0), what.format(2, 1)] == stopped[:2]
    assert stopped[2].startswith("the servers do not agree on the classes")


def test_a_coin_that_was_not_committed_to_is_named():
    parties = met(servers())
    stopped = registered(
        parties,
        change=said_anew(parties[1], "seed", lambda said: said[:-1] + bytes([said[-1] ^ 1])),
    )
    assert "server 1 shows something else than it committed to: seed" == stopped[0]


def test_a_server_that_heard_other_registrations_does_not_agree():
    parties = met(servers())
    round = parties[0].round
    sent = [
        party.hear(round, Ended([bytes([index, which]) * 9 for index in range(4)], 4))
        for which, party in enumerate(parties)
    ]
    talk(parties, *sent)
    assert "server 1 shows something else than it committed to: seed" == parties[0].stop_reason


def test_classes_that_cannot_be_made_stop_the_study_with_the_reason():
    class Hopeless(ByFirstByte):
        def classify(self, records, seed):
            from anonloom.errors import TransportError

            raise TransportError("nobody registered with anything that can be read")

    parties = met(servers(works=[Hopeless(), Hopeless()]))
    assert ["nobody registered with anything that can be read"] * 2 == registered(parties)


@pytest.fixture(scope="module")
def meeting():
    """Servers that have met, for tests that change nothing of what they have agreed on."""
    return met(servers())


@given(st.binary(max_size=100), st.text(max_size=10), st.booleans())
def test_nothing_that_arrives_makes_a_server_fail(meeting, body, step, known):
    server, other = meeting
    refused = server.refused.total()
    word = attrs.evolve(other.resend()[0], step="classes" if known else step, body=body)
    server.receive(word)
    assert "" == server.stop_reason
    assert refused + 1 == server.refused.total()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"step": "rumour"}, "unknown step"),
        ({"step": "share 1000"}, "unknown step"),
        ({"step": "classes", "body": b""}, "not signed by its sender"),
        ({"round": b"another"}, "not of this study"),
        ({"receiver": Party("server", 1)}, "not for this server"),
        ({"sender": Party("client", 1)}, "not from another server"),
        ({"sender": Party("server", 0)}, "not from another server"),
        ({"sender": Party("server", 7)}, "not from another server"),
    ],
)
def test_what_is_refused_is_counted_by_reason(change, reason):
    parties = met(servers())
    word = next(envelope for envelope in parties[1].resend() if envelope.step == "key")
    parties[0].receive(attrs.evolve(word, **change))
    assert {reason: 1} == parties[0].refused


@pytest.fixture(scope="module")
def long_study():
    """Thirteen servers who have met: it takes a while."""
    return met(servers(study(servers=13, iterations=1500, repeats=5), number=13))


@pytest.mark.parametrize(
    "step",
    [
        "key",
        "sign notice",
        "stop",
        "share 12",
        "seed commit",
        "seed",
        "classes",
        "sign classes",
        "coins 1 commit",
        "plan 12",
        "sign plan 3",
        "give up reservation 2",
        "give up publishing 2.1500",
        "release 1500",
        "sign release 1500",
    ],
)
def test_every_word_of_a_long_study_is_understood(step, long_study):
    # No word is the sender's own under another step: each is refused, and changes nothing.
    parties = long_study
    word = next(envelope for envelope in parties[1].resend() if envelope.step == "key")
    parties[0].receive(attrs.evolve(word, step=step))
    assert "unknown step" not in parties[0].refused


def test_a_study_needs_the_key_of_each_server():
    one = servers()[0]
    config = attrs.evolve(one.config, pins=one.config.pins[:1])
    assert "a study of 2 servers needs the public key of each. Got 1 instead." == refusal(
        lambda: ServerAgreement(one.study, config, RecordedEntropy(None))
    )


def test_what_all_know_is_forgotten_in_the_end():
    party = met(servers())[0]
    bound = binding_of(party.notice)
    party.agreement.forget()
    assert (None, (), False) == (
        party.agreement.secret,
        party.agreement.entropy_log,
        party.agreement.state_vault.begun,
    )
    assert bound == party.agreement.channel.binding


def test_names_give_different_secrets_and_coins_stay_below_a_signed_number():
    party = met(servers())[0]
    assert party.agreement.derive("join") != party.agreement.derive("erasure 1")
    assert "secret" not in repr(party.agreement)
    assert party.agreement.secret.hex() not in repr(party)


@pytest.mark.parametrize(("arrived", "cohort"), [(3, 0), (2, 5)])
def test_everybody_who_registered_has_to_register_again(arrived, cohort):
    """The first list is known: who alone is missing from the second shows what was hers."""
    parties = met(servers(study(min_leave=3)))
    assert 0 == parties[0].round.cohort
    messages = [bytes([index]) * PID_BYTES + b"\1x" for index in range(arrived)]
    accepted = max(arrived, cohort)
    talk(parties, *[party.hear(party.round, Ended(messages, accepted)) for party in parties])
    again = parties[0].round
    assert (("s registration 2", cohort) if cohort else ("s reservation 1", arrived)) == (
        again.id,
        again.cohort,
    )


def test_a_post_in_which_uploads_failed_a_check_is_not_repeated():
    """A server can fail one donor's check: what is new in a second list would be hers."""
    parties = met(servers())
    messages = [bytes([index]) * PID_BYTES + b"\1x" for index in range(4)]
    talk(parties, *[party.hear(party.round, Ended(messages, 5, 1)) for party in parties])
    assert {"s reservation 1"} == {party.round.id for party in parties}
    again = attrs.evolve(parties[0])
    again.resume(parties[0].save())
    assert parties[0].round == again.round


@attrs.define(eq=False)
class Refusing(ByFirstByte):
    """Finds no classes."""

    def classify(self, records, seed):
        raise PrivacyError("too few rows")


def test_a_server_that_finds_no_classes_stops_once_and_says_why():
    """Whatever donors posted: its operator gets the error, the others the reason, and it ends."""
    parties = met(servers(works=[Refusing(), ByFirstByte()]))
    assert "too few rows" == refusal(lambda: registered(parties), PrivacyError)
    assert ("too few rows", None) == (parties[0].stop_reason, parties[0].agreement.secret)
    talk(parties, parties[0].resend())
    assert "server 0 stopped the round: too few rows" == parties[1].stop_reason


# --- what is kept, and who may begin --------------------------------------------------------------


@pytest.mark.parametrize(
    "step",
    [
        "coins 0",
        "coins 5",
        "plan 1.1",
        "release 2",
        "share 2",
        "give up publishing 1.2",
        "coins \N{FULLWIDTH DIGIT ONE}",
    ],
)
def test_steps_that_the_study_does_not_have_are_unknown(step):
    """Two attempts, each repeated once, and one iteration; every word is kept to the end."""
    parties = met(servers())
    envelope = attrs.evolve(parties[1].resend()[0], step=step)
    message = said_anew(parties[1], step, b"anything")
    talk(parties, [message(envelope)])
    assert ({"unknown step": 1}, "") == (parties[0].refused, parties[0].stop_reason)


def test_a_server_begins_a_study_once():
    """With another key it would contradict itself, and could not read what it has saved."""
    (party, *_) = servers()
    party.begin()
    saved = party.save()
    again = attrs.evolve(party)
    assert "this server has begun the study before: it goes on from what it saved last" == refusal(
        again.begin
    )
    again.resume(saved)
    assert party.agreement.entropy_log == again.agreement.entropy_log
    again.begin()
    assert party.agreement.entropy_log == again.agreement.entropy_log


def test_what_donors_are_bound_to_does_not_depend_on_signatures():
    """Else one server could sign twice, and the others would not know the same round."""
    parties = met(servers())
    registered(parties)
    document = unpack(parties[0].broadcast)[0]
    assert hashlib.sha256(document).digest() == parties[0].round.context
