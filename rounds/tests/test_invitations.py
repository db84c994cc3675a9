"""One upload per invitation of the study."""

import pytest
from rounds_plain import make_driver, message, post_round, refusal

from anonloom.testing.entropy import SeededEntropy
from anonloom_rounds.invitations import INVITATION_BYTES, Authority, genuine

ENTROPY = SeededEntropy("study")
STUDY, OTHER = Authority.draw(ENTROPY), Authority.draw(ENTROPY)
CODES = [STUDY.invite(ENTROPY) for _ in range(3)]


def test_invitations_are_of_whoever_gave_them_out():
    assert {INVITATION_BYTES} == {len(code) for code in CODES}
    assert 3 == len(set(CODES))
    assert all(genuine(STUDY.public, code) for code in CODES)
    assert not genuine(OTHER.public, CODES[0])
    assert not genuine(STUDY.public, CODES[0][:16] + CODES[1][16:])
    assert not genuine(STUDY.public, b"")


def test_an_authority_hides_its_key():
    assert repr(STUDY._identity.secret)[2:-1] not in repr(STUDY)


def test_each_invitation_admits_one_upload():
    net = make_driver(post_round(authority=STUDY.public))
    net.post([message(1), message(2), message(3)], [CODES[0], CODES[1], CODES[0]])
    net.post([message(4)], [OTHER.invite(SeededEntropy())])
    assert [True, True, False, False] == [client.acknowledged for client in net.clients]
    # Sending again what was confirmed is not a second upload.
    net.retry()
    assert 4 == net.refused()["invitation already used"]
    assert 4 == net.refused()["no invitation"]
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
    assert {"invitation already used": 2} == dict(net.refused())
