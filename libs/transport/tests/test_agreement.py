"""What all servers hold is in; who holds all receipts and is missing is heard."""

from collections import Counter

import attrs
import pytest
from rounds_plain import (
    deposit_round,
    make_driver,
    message,
    post_round,
    refusal,
    secrets,
    uploaded,
)

from anonloom_testing.transport import SeededEntropy, adversaries
from anonloom_transport import faults
from anonloom_transport.codec import unpack
from anonloom_transport.engines import Envelope
from anonloom_transport.invitations import Authority
from anonloom_transport.objections import Objection
from anonloom_transport.rounds import Party
from anonloom_transport.signing import Signer

ALL = tuple(message(index) for index in range(4))


def of_client(*numbers):
    return lambda envelope: envelope.sender.index in numbers


# --- too few --------------------------------------------------------------------------------


def test_a_round_never_closes_below_its_batch():
    net = uploaded(post_round(min_batch=5))
    assert "the round has 4 uploads, it closes with at least 5" == refusal(net.close)
    net.post([message(4)])
    assert 5 == len(net.finish())


def test_a_round_stops_when_too_few_uploads_are_held_by_all():
    net = make_driver(post_round())
    lost = faults.step("upload")
    net.network.faults.append(faults.drop(lambda e: lost(e) and e.receiver.index == 1))
    net.post([message(1)])
    net.network.faults.clear()
    net.post([message(2)])
    net.network.faults.append(faults.drop(lambda e: lost(e) and e.receiver.index == 0))
    net.post([message(3)])
    net.network.faults.clear()
    expected = "the round has stopped: 1 uploads are held by every server, it takes 2"
    assert expected == refusal(net.finish)
    assert expected == refusal(net.settle)
    assert expected == refusal(net.open)
    assert expected == refusal(net.close)


@pytest.mark.parametrize(
    ("cohort", "min_leave", "expected"),
    [
        (4, 1, ""),
        (0, 3, ""),
        (1, 3, ""),
        (7, 3, ""),
        (
            3,
            3,
            "1 senders more than the 3 before: with fewer than 3, what is new would show whose it "
            "is",
        ),
        (
            5,
            3,
            "1 of 5 senders are missing: with fewer than 3 missing, what is absent would show "
            "whose it is",
        ),
        (
            6,
            3,
            "2 of 6 senders are missing: with fewer than 3 missing, what is absent would show "
            "whose it is",
        ),
    ],
)
def test_a_round_is_held_when_only_a_few_of_the_cohort_stay_away_or_are_new(
    cohort, min_leave, expected
):
    net = uploaded(post_round(cohort=cohort, min_leave=min_leave))
    net.close()
    net.settle()
    assert [expected] * 2 == [server.stop_reason for server in net.servers]


def beyond(cohort, **more):
    """A round for three senders, to which a fourth has come."""
    net = make_driver(post_round(capacity=3, cohort=cohort, **more))
    net.post([message(index) for index in range(4)])
    assert {"the round is full": 2} == dict(net.count_refusals())
    return net


def test_a_round_to_which_more_came_than_it_takes_is_held():
    """Three of three would look complete: whether the fourth was one of them nobody can tell."""
    net = beyond(cohort=3)
    net.restart(0)  # a server that starts again has not forgotten it
    net.close()
    assert [
        "more senders came than the 3 that the round takes: some who were among the 3 before may "
        "have been refused"
    ] * 2 == [server.stop_reason for server in net.servers]


def test_of_a_first_phase_who_comes_too_late_is_told_so_and_the_round_goes_on():
    net = beyond(cohort=0)
    assert [True, True, True, False] == [client.is_acknowledged for client in net.clients]
    assert 3 == len(net.finish())
    assert [True, True, True, False] == [client.stands for client in net.clients]


def test_who_may_not_send_takes_no_place_and_is_no_overflow():
    authority, entropy = Authority.draw(SeededEntropy()), SeededEntropy("more")
    codes = [authority.invite(entropy) for _ in range(3)]
    strange = Authority.draw(entropy).invite(entropy)
    net = make_driver(post_round(capacity=3, cohort=3, authority=authority.public))
    net.post([message(index) for index in range(5)], [strange, *codes, strange])
    assert {"no invitation": 4} == dict(net.count_refusals())
    assert 3 == len(net.finish())


def test_who_is_listed_without_receipts_stands_and_who_holds_them_all_does_too():
    net = make_driver(post_round())
    net.network.faults.append(faults.drop(faults.step("receipt")))
    listed, _ = net.post([message(0), message(1)])
    assert not listed.stands
    net.close()
    assert listed.stands
    assert not listed.is_acknowledged


# --- the order of things --------------------------------------------------------------------


def test_everything_waits_for_its_turn():
    net = uploaded(deposit_round())
    assert "the servers have not agreed on the uploads yet" == refusal(net.settle)
    assert "not everything is settled yet" == refusal(net.open)
    net.servers[0].close()
    assert "the servers have not agreed on the uploads yet" == refusal(net.servers[0].settle)
    net.close()
    assert "not everything is settled yet" == refusal(net.open)
    net.settle()
    assert "the round has the positions 0 to 3. Got 4 instead." == refusal(lambda: net.erase([4]))
    assert "the round has not ended on every server" == refusal(net.result)
    net.erase([0])
    net.open()
    assert "the round is open: nothing can be erased any more" == refusal(lambda: net.erase([1]))
    assert (None, *ALL[1:]) == net.result()


def test_only_a_deposit_erases():
    net = uploaded(post_round())
    assert "this round is for 'post', not for 'deposit'" == refusal(lambda: net.erase([0]))


def test_servers_must_erase_the_same():
    net = uploaded(deposit_round())
    net.close()
    net.settle()
    net.servers[0].erase([0])
    net.servers[1].erase([1])
    net.open()
    text = (
        "the servers do not agree on what is erased: server {} says something else than server {}"
    )
    assert [text.format(1, 0), text.format(0, 1)] == [server.stop_reason for server in net.servers]
    assert [None, None] == [server.result for server in net.servers]


def test_what_the_round_plans_is_erased_without_asking():
    round = deposit_round(erase=(1, 3))
    net = uploaded(round, erase=(1, 3))
    assert (ALL[0], None, ALL[2], None) == net.finish()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"index": 2}, "the round has the servers 0 to 1. Got 2 instead."),
        ({"pins": [b"p"]}, "a round of 2 servers needs the public key of each. Got 1 instead."),
        ({"slot_keys": ()}, "the keys of the slots are not those of the round"),
        (
            {"slot_keys": [secret.key() for secret in secrets()[::-1]]},
            "the keys of the slots are not those of the round",
        ),
        ({"erasure": None}, "what is planned to be erased is not what the round says"),
    ],
)
def test_a_server_signs_only_what_it_knows(change, expected):
    net = make_driver(deposit_round(erase=(1,)), erase=(1,))
    config = attrs.evolve(net.configs[0], **change)
    made = net.transport.server
    assert expected == refusal(
        lambda: made(net.round, config, entropy=net.entropy, clock=net.network.clock)
    )


def test_a_plan_names_positions_that_exist():
    assert "the round has the positions 0 to 3. Got 9 instead." == refusal(
        lambda: make_driver(deposit_round(erase=(9,)), erase=(9,))
    )


def test_a_client_refuses_what_does_not_fit():
    post, deposit = make_driver(post_round()), make_driver(deposit_round())
    foreign = attrs.evolve(secrets()[0], alpha=b"x" * 16)
    assert "a message of this round must have 8 bytes. Got 9 instead." == refusal(
        lambda: post.client().post(b"x" * 9)
    )
    assert "this round is for 'deposit', not for 'post'" == refusal(
        lambda: deposit.client().post(message(1))
    )
    assert "this round is for 'post', not for 'deposit'" == refusal(
        lambda: post.client().deposit(secrets()[0], message(1))
    )
    assert "a message of this round must have 8 bytes. Got 0 instead." == refusal(
        lambda: deposit.client().deposit(secrets()[0], b"")
    )
    assert "the secret is not that of a position of this round" == refusal(
        lambda: deposit.client().deposit(foreign, message(1))
    )


# --- objections -----------------------------------------------------------------------------


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("operation", [post_round, deposit_round])
def test_a_server_is_handed_again_what_it_confirmed_and_lost(operation, servers):
    net = uploaded(operation(servers), corrupted={1: adversaries.loses(of_client(0, 2))})
    assert all(client.is_acknowledged for client in net.clients)
    assert 2 == net.servers[1].accepted_count
    assert ALL == net.finish()
    remark = "server 1 did not hold an upload that it had confirmed"
    assert Counter({remark: 2}) == net.servers[0].remarks
    assert [False, True, False, True] == [client.listed for client in net.clients]


def test_who_was_not_confirmed_by_all_does_not_object():
    net = uploaded(post_round(), corrupted={1: adversaries.ignores(of_client(0))})
    assert not net.clients[0].is_acknowledged
    assert ALL[1:] == net.finish()
    assert Counter({"not held alike by every server": 1}) == net.count_refusals()
    assert False is net.clients[0].listed
    assert {"objection"} & {sight.envelope.step for sight in net.trace.network} == set()


def objecting(net, body, sender=0):
    net.inject(
        Envelope(
            sender=Party("client", sender),
            receiver=Party("server", 0),
            step="objection",
            round=net.round.digest,
            body=body,
        )
    )
    return dict(net.servers[0].refusals)


def objection_of(net, client=0):
    """Return the objection that a client would make."""
    return net.clients[client]._object()[0].body


def test_an_objection_of_another_size_is_not_even_read(monkeypatch):
    """A megabyte of zeros is a hundred thousand empty parts, and a stranger may send it."""
    net = uploaded(post_round())
    good = objection_of(net)
    net.close()

    def unpack(*given):
        raise AssertionError("it is read")

    monkeypatch.setattr("anonloom_transport.objections.unpack", unpack)
    for number, body in enumerate((bytes(10**6), good + b"x", good[:-1], b""), 1):
        assert {"unfounded objection": number} == objecting(net, body)


def test_objections_prove_themselves_or_are_refused():
    net = uploaded(post_round())
    good = objection_of(net)
    read = Objection.read(good, net.servers[0].collection.sealed_sizes)
    net.close()
    net.clients[0].listed = None
    wrong = [
        b"",
        b"garbage",
        good[:-1],
        bytes(attrs.evolve(read, receipts=read.receipts[::-1])),
        bytes(attrs.evolve(read, receipts=read.receipts[:1] * 2)),
        bytes(attrs.evolve(read, sealed=read.sealed[::-1])),
        bytes(attrs.evolve(read, upload=b"x" * 16)),
    ]
    for number, body in enumerate(wrong, 1):
        assert {"unfounded objection": number} == objecting(net, body)
    # Who is on the list has nothing to object to, and would only make servers pass it around.
    listed = {"unfounded objection": len(wrong), "objection of somebody who is on the list": 1}
    assert listed == objecting(net, good)
    assert {} == net.servers[0].state.objections
    net.settle()
    net.open()
    assert ALL == net.result()
    assert Counter() == net.servers[0].remarks


def test_objections_have_their_time():
    net = uploaded(post_round())
    good = objection_of(net)
    assert {"not the time for objections": 1} == objecting(net, good)
    net.close()
    net.settle()
    assert {"not the time for objections": 2} == objecting(net, good)


def test_a_server_cannot_invent_an_objection():
    """What it passes on has to prove itself to everybody; what does not is as if never said."""
    net = uploaded(post_round(3))
    read = Objection.read(objection_of(net), net.servers[0].collection.sealed_sizes)
    unknown = attrs.evolve(read, upload=b"x" * 16)
    net.close()
    net.servers[1].state.objections[unknown.upload] = bytes(unknown)
    net.servers[1].state.objections[b"y"] = b"garbage"
    net.settle()
    assert [4] * 3 == [len(server.state.admitted) for server in net.servers]


def test_one_server_that_hears_an_objection_is_enough():
    deaf = faults.drop(lambda e: e.step == "objection" and e.receiver.index != 2)
    net = uploaded(post_round(3), corrupted={1: adversaries.loses(of_client(0))}, faults=[deaf])
    assert ALL == net.finish()


def test_an_objection_that_was_lost_is_made_again():
    deaf = faults.drop(faults.step("objection"))
    net = uploaded(post_round(), corrupted={1: adversaries.loses(of_client(0))}, faults=[deaf])
    net.close()
    net.network.faults.clear()
    net.retry()
    net.settle()
    net.open()
    assert ALL == net.result()


def test_a_receipt_that_a_server_held_back_does_not_make_believe_that_the_message_arrives():
    """Else a sender would be left out who believes that all have confirmed and nobody objects."""
    late = faults.delay(
        100, lambda e: e.step == "receipt" and e.sender.index == 1 and e.receiver.index == 0
    )
    net = make_driver(post_round(), corrupted={1: adversaries.loses(of_client(0))}, faults=[late])
    for sender in range(4):
        client = net.client()
        net.network.send(Party("client", sender), client.post(message(sender)))
    while net.network.on_the_way and net.network.next_delivery.at < 50:
        net.deliver_one()
    assert [False, True, True, True] == [client.is_acknowledged for client in net.clients]
    for server in net.servers:
        net.network.send(Party("server", net.servers.index(server)), server.close())
    while net.network.on_the_way and net.network.next_delivery.at < 50:
        net.deliver_one()
    assert False is net.clients[0].listed
    net.deliver()
    net.settle()
    net.open()
    assert ALL[1:] == net.result()
    assert not net.clients[0].is_acknowledged


def test_the_list_is_shown_to_everybody_who_uploaded_and_again_when_asked():
    net = uploaded(post_round(), faults=[faults.drop(faults.step("accepted"))])
    net.close()
    assert {None} == {client.listed for client in net.clients}
    net.network.faults.clear()
    net.close()
    assert {True} == {client.listed for client in net.clients}


def test_a_client_believes_a_list_that_all_servers_have_signed_only():
    """A server that shows one donor another list makes her object to nothing, and see nothing."""
    lie = adversaries.shows_lists(lambda document: document[16:])
    net = uploaded(post_round(), corrupted={1: lie})
    net.network.faults.append(
        faults.drop(lambda e: e.step == "accepted" and e.sender == Party("server", 0))
    )
    net.close()
    assert {None} == {client.listed for client in net.clients}
    assert ALL == (net.settle(), net.open(), net.result())[2]


def test_an_upload_that_was_confirmed_and_is_refused_later_stops_the_round():
    """It can only happen to a server that had confirmed what it never opened."""
    net = uploaded(deposit_round(), corrupted={1: adversaries.loses(of_client(0))})
    honest = net.servers[1].honest
    keys = honest.config.slot_keys
    other = attrs.evolve(keys[0], alpha=b"x" * 16)
    honest.state.config = attrs.evolve(honest.config, slot_keys=(other, *keys[1:]))
    net.close()
    net.settle()
    expected = "an upload that all servers confirmed is refused: not the position's secret"
    assert expected == net.servers[1].stop_reason
    assert f"server 1 stopped the round: {expected}" == net.servers[0].stop_reason


def test_nobody_stops_a_round_that_has_ended():
    net = uploaded(post_round())
    net.finish()
    text = b"I change my mind"
    signature = Signer(net.identities[1]).sign("word stop", net.round.digest, text)
    net.inject(
        Envelope(
            sender=Party("server", 1),
            receiver=Party("server", 0),
            step="stop",
            round=net.round.digest,
            body=signature + text,
        )
    )
    assert {"after the end": 1} == dict(net.servers[0].refusals)
    net.restart(0)
    assert ALL == net.result()


def test_everybody_learns_the_result_signed_by_all():
    net = uploaded(post_round())
    net.finish()
    assert 1 == len({server.state.signed_result for server in net.servers})
    document, *signatures = unpack(net.servers[0].state.signed_result)
    assert (list(ALL), 2) == ([entry[1:] for entry in unpack(document)], len(signatures))


def test_an_operator_is_told_whom_a_server_waits_for():
    net = uploaded(post_round())
    assert [[], []] == [server.missing_messages for server in net.servers]
    net.network.faults.append(faults.drop(lambda e: e.sender == Party("server", 1)))
    net.close()
    assert [(1, "held")] == net.servers[0].missing_messages
    assert [(0, "sign accepted")] == net.servers[1].missing_messages
    net.network.faults.clear()
    net.retry()
    net.settle()
    net.open()
    net.result()
    assert [[], []] == [server.missing_messages for server in net.servers]
