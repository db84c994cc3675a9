"""One upload per invitation of the study."""

import pytest
from rounds_plain import make_driver, message, post_round, refusal

from anonloom_testing.transport import SeededEntropy
from anonloom_transport.engines import Envelope
from anonloom_transport.invitations import (
    INVITATION_BYTES,
    PROOF_BYTES,
    Authority,
    prove,
    verify_invitation,
)
from anonloom_transport.rounds import Party
from anonloom_transport.sealing import context_of
from anonloom_transport.uploads import MARK_BYTES, Body

ENTROPY = SeededEntropy("study")
STUDY, OTHER = Authority.draw(ENTROPY), Authority.draw(ENTROPY)
CODES = [STUDY.invite(ENTROPY) for _ in range(3)]


def test_invitations_are_of_whoever_gave_them_out():
    assert {INVITATION_BYTES} == {len(code) for code in CODES}
    assert 3 == len(set(CODES))
    proofs = [prove(code, b"here") for code in CODES]
    assert {PROOF_BYTES} == {len(proof) for proof in proofs}
    assert 3 == len({verify_invitation(STUDY.public, proof, b"here") for proof in proofs} - {None})
    assert None is verify_invitation(OTHER.public, proofs[0], b"here")
    assert None is verify_invitation(STUDY.public, proofs[0][:32] + proofs[1][32:], b"here")
    assert None is verify_invitation(STUDY.public, b"", b"here")


def test_an_invitation_is_not_shown_and_what_is_shown_counts_in_one_place():
    proof = prove(CODES[0], b"here")
    assert CODES[0][:32] not in proof
    assert None is verify_invitation(STUDY.public, proof, b"there")
    one, two = (
        verify_invitation(STUDY.public, prove(CODES[0], index), index)
        for index in (b"here", b"there")
    )
    assert one == two


def test_a_server_cannot_send_in_the_name_of_somebody_whom_it_has_seen():
    """All that it was sent does not admit an upload of its own at another server."""
    net = make_driver(post_round(authority=STUDY.public))
    first, _ = net.post([message(1), message(2)], CODES[:2])
    thief = net.servers[1]
    seen = thief.state.key.open(
        first._bodies[1].sealed, context_of(net.round, thief.state.binding, 1, first._upload)
    )
    stolen = seen[MARK_BYTES : MARK_BYTES + PROOF_BYTES]
    later = make_driver(post_round(id="later", authority=STUDY.public))
    for driver in (net, later):
        notice, upload = driver.client(invitation=CODES[2]).notice, b"u" * 16
        sealed = [
            lock.seal(
                bytes(MARK_BYTES) + stolen + message(9),
                context_of(driver.round, notice.binding, server, upload),
            )
            for server, lock in enumerate(notice.locks)
        ]
        body = bytes(Body.of_all(sealed, [bytes(MARK_BYTES)] * 2)[0])
        driver.inject(
            Envelope(
                sender=Party("client", 0),
                receiver=Party("server", 0),
                step="upload",
                round=driver.round.digest,
                upload=upload,
                body=body,
            )
        )
        assert {"no invitation": 1} == dict(driver.servers[0].refusals)
    assert all(item.is_acknowledged for item in later.post([message(1), message(2)], CODES[:2]))


def test_an_authority_hides_its_key():
    assert repr(STUDY._identity.secret)[2:-1] not in repr(STUDY)


def test_each_invitation_admits_one_upload():
    net = make_driver(post_round(authority=STUDY.public))
    net.post([message(1), message(2), message(3)], [CODES[0], CODES[1], CODES[0]])
    net.post([message(4)], [OTHER.invite(SeededEntropy())])
    assert [True, True, False, False] == [client.is_acknowledged for client in net.clients]
    # Sending again what was confirmed is not a second upload.
    net.retry()
    assert 4 == net.count_refusals()["invitation already used"]
    assert 4 == net.count_refusals()["no invitation"]
    assert (message(1), message(2)) == net.finish()


@pytest.mark.parametrize(
    ("authority", "code", "expected"),
    [
        (STUDY.public, b"", "this round takes uploads with an invitation of its study only"),
        (STUDY.public, b"x", "this round takes uploads with an invitation of its study only"),
        (b"", CODES[0], "this round takes no invitations"),
    ],
)
def test_a_client_knows_whether_it_needs_one(authority, code, expected):
    net = make_driver(post_round(authority=authority))
    assert expected == refusal(lambda: net.client(invitation=code))


def test_invitations_are_used_up_across_a_restart():
    net = make_driver(post_round(authority=STUDY.public))
    net.post([message(1), message(2)], CODES[:2])
    net.restart(0)
    net.restart(1)
    net.post([message(3)], CODES[:1])
    assert {"invitation already used": 2} == dict(net.count_refusals())


def test_only_those_who_were_there_before_may_send_where_the_seat_says_so():
    """Equal numbers are not enough: nobody comes in the place of somebody who is kept away."""
    first = make_driver(post_round(authority=STUDY.public))
    first.post([message(1), message(2)], CODES[:2])
    first.finish()
    there = first.servers[0].senders
    assert {verify_invitation(STUDY.public, prove(code, b""), b"") for code in CODES[:2]} == there
    second = make_driver(post_round(id="second", authority=STUDY.public), invited=there)
    second.post([message(3), message(4)], CODES[1:])
    assert {"not in the phase before": 2} == dict(second.count_refusals())
    assert 1 == second.servers[0].accepted_count


@pytest.mark.parametrize("ended", [False, True])
def test_who_was_there_is_known_across_a_restart(ended):
    net = make_driver(post_round(authority=STUDY.public))
    net.post([message(1), message(2)], CODES[:2])
    if ended:
        net.finish()
    before = net.servers[0].senders
    net.restart(0)
    assert 2 == len(before)
    assert before == net.servers[0].senders


def test_an_invitation_admits_to_its_own_study_only():
    one, two = (STUDY.invite(SeededEntropy(index), index) for index in (b"one", b"two"))
    proofs = [prove(code, b"here") for code in (one, two)]
    assert None is verify_invitation(STUDY.public, proofs[0], b"here", b"two")
    assert None is verify_invitation(STUDY.public, proofs[0], b"here")
    assert None is not verify_invitation(STUDY.public, proofs[0], b"here", b"one")
    net = make_driver(post_round(authority=STUDY.public, study=b"two"))
    net.post([message(1), message(2)], [one, two])
    assert [False, True] == [client.is_acknowledged for client in net.clients]
    assert {"no invitation": 2} == dict(net.count_refusals())


def test_without_invitations_nobody_is_recognised():
    net = make_driver(post_round())
    net.post([message(1), message(2)])
    assert frozenset() == net.servers[0].senders
