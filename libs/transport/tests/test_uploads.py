"""Uploads: each id once, with one content; a receipt covers what was sealed to all servers."""

import hashlib
from collections import Counter

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rounds_plain import make_driver, message, post_round, refusal, uploaded

from anonloom_testing.transport import SeededEntropy, adversaries
from anonloom_transport.codec import pack
from anonloom_transport.engines import ID_BYTES, Envelope
from anonloom_transport.objections import Objection
from anonloom_transport.rounds import Party
from anonloom_transport.signing import SIGNATURE_BYTES
from anonloom_transport.uploads import HASH_BYTES, MARK_BYTES, Body, Uploads, body_size, read_held

ONE, OTHER = (Body.of_all([text, b"y"])[0] for text in (b"one", b"other"))

# --- in memory ------------------------------------------------------------------------------


def test_an_upload_counts_once():
    uploads = Uploads()
    assert "new" == uploads.judge(b"i", ONE)
    uploads.add(b"i", ONE)
    assert ("again", "other") == (uploads.judge(b"i", ONE), uploads.judge(b"i", OTHER))
    with pytest.raises(ValueError, match=r"^an upload is added once$"):
        uploads.add(b"i", ONE)
    assert (1, [b"i"], ONE) == (len(uploads), list(uploads), uploads[b"i"])
    assert b"i" in uploads
    uploads.forget()
    assert 0 == len(uploads)


@given(st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=4), st.data())
def test_a_body_is_for_one_server_and_its_fingerprint_for_all(sealed, data):
    keys = [bytes([index]) * MARK_BYTES for index in range(len(sealed))]
    bodies = Body.of_all(sealed, keys)
    assert 1 == len({body.fingerprint for body in bodies})
    index = data.draw(st.integers(0, len(sealed) - 1))
    body = bodies[index]
    assert body.is_for(index)
    assert body_size(len(sealed), len(sealed[index])) == len(bytes(body))
    again = Body.read(bytes(body), len(sealed))
    assert (body, body.mark) == (again, again.mark)
    changed = attrs.evolve(body, sealed=body.sealed + b"x")
    assert not changed.is_for(index)
    assert body.with_mark(keys[index]).mark == body.mark != body.with_mark(b"another").mark


ids = st.binary(min_size=ID_BYTES, max_size=ID_BYTES)


@given(st.dictionaries(ids, st.binary(max_size=5), max_size=6))
def test_what_servers_tell_each_other_is_read_as_it_was_written(held):
    uploads = Uploads()
    for upload, content in held.items():
        uploads.add(upload, Body.of_all([content])[0])
    expected = {(upload, uploads[upload].fingerprint) for upload in held}
    assert expected == read_held(uploads.write_held())


def test_lists_that_no_honest_server_writes():
    row, later = b"i" * ID_BYTES + bytes(HASH_BYTES), b"j" * ID_BYTES + bytes(HASH_BYTES)
    assert 2 == len(read_held(row + later))
    assert [None] * 3 == [read_held(wrong) for wrong in (row + b"x", row + row, later + row)]


def test_objections_are_read_as_they_were_written():
    receipts = (b"r" * SIGNATURE_BYTES, b"s" * SIGNATURE_BYTES)
    objection = Objection(b"i" * ID_BYTES, receipts, (b"x", b"yy"))
    assert objection == Objection.read(bytes(objection), (1, 2))
    body = objection.body(1)
    assert (b"yy", hashlib.sha256(b"yy").digest()) == (body.sealed, body.hashes[HASH_BYTES:])
    good = bytes(objection)
    wrong = [b"", b"x", good[:-1], good + b"x", pack(b"i", b"r", b"s"), bytes(len(good))]
    assert [None] * 6 == [Objection.read(data, (1, 2)) for data in wrong]
    assert [None] * 2 == [Objection.read(good, sizes) for sizes in ((1, 2, 3), (2, 2))]


# --- at a server ----------------------------------------------------------------------------


def stranger(net, envelope, **changes):
    """Send a changed copy of an envelope; return what the first server refused by now."""
    changed = attrs.evolve(envelope, **{"sender": Party("client", 77), **changes})
    net.inject(changed)
    return dict(net.servers[0].refusals)


def sent_to_first(net):
    return next(
        sight.envelope
        for sight in net.trace.network
        if sight.envelope.step == "upload" and sight.envelope.receiver.index == 0
    )


def test_uploads_that_are_not_what_they_should_be():
    net = make_driver(post_round())
    client = net.client()
    good = client.post(message(1))[0]
    body = Body.read(good.body, 2)

    assert {"not of this round": 1} == stranger(net, good, round=b"other")
    assert 1 == stranger(net, good, step="nonsense")["unknown step"]
    assert 1 == stranger(net, good, sender=Party("server", 1))["not from a client"]
    assert 1 == stranger(net, good, body=good.body[:-1])["wrong size"]
    assert 2 == stranger(net, good, body=good.body + b"x")["wrong size"]
    assert 3 == stranger(net, good, upload=good.upload[1:])["wrong size"]
    assert 1 == stranger(net, good, upload=b"j" * ID_BYTES)["cannot be opened"]
    for index in (0, HASH_BYTES, 2 * HASH_BYTES, len(good.body) - 1):
        # One's own hash, the hash for the other server, the mark, what was sealed.
        altered = good.body[:index] + bytes([good.body[index] ^ 1]) + good.body[index + 1 :]
        stranger(net, good, body=altered)
    assert 4 == net.servers[0].refusals["damaged"]
    resealed = Body.of_all([net.servers[1].save()[: len(body.sealed)], b""])[0]
    wrong = attrs.evolve(resealed, mark=body.mark)
    assert 2 == stranger(net, good, body=bytes(wrong))["cannot be opened"]
    assert 0 == net.servers[0].accepted_count

    counted = sum(stranger(net, good).values())
    assert counted == sum(stranger(net, good).values())
    assert 1 == net.servers[0].accepted_count
    other = attrs.evolve(body, hashes=body.hashes[::-1])
    assert 1 == stranger(net, good, body=bytes(other))["other bytes under a known id"]
    assert Counter() == net.servers[1].refusals


def test_an_envelope_for_another_server():
    net = uploaded(post_round())
    envelope = sent_to_first(net)
    assert [] == net.servers[1].receive(envelope)
    assert {"not for this server": 1} == dict(net.servers[1].refusals)


def test_nothing_is_taken_before_the_round_has_begun():
    net = make_driver(post_round(), faults=[lambda delivery: []])
    envelope = Envelope(
        sender=Party("client", 0),
        receiver=Party("server", 0),
        step="upload",
        round=net.round.digest,
    )
    net.servers[0].receive(envelope)
    net.servers[0].receive(attrs.evolve(envelope, step="held", sender=Party("server", 1)))
    assert {"before the round has begun": 2} == dict(net.servers[0].refusals)
    assert "the round has not begun" == refusal(net.client)


def test_uploads_after_the_deadline_after_the_close_and_beyond_the_capacity():
    net = make_driver(post_round(1, min_batch=1, capacity=2, deadline=10))
    net.post([message(1)])
    net.network.clock.move_to(11)
    net.post([message(2)])
    assert {"after the deadline": 1} == dict(net.count_refusals())
    assert [True, False] == [client.is_acknowledged for client in net.clients]
    net = make_driver(post_round(1, capacity=2))
    net.post([message(1), message(2), message(3)])
    assert {"the round is full": 1} == dict(net.count_refusals())
    net.close()
    net.post([message(4)])
    assert 1 == net.count_refusals()["after the close"]
    # What stands is confirmed again.
    before = net.count_refusals()
    stranger(net, sent_to_first(net))
    assert before == net.count_refusals()


def test_a_sender_that_tells_servers_different_things_is_left_out():
    """Two messages under one id, each sealed well: no two servers hold the same."""
    net = uploaded(post_round(), senders=2)
    faces = [
        net.transport.client(
            net.servers[0].notice, net.pins, entropy=SeededEntropy("twins"), clock=net.network.clock
        )
        for _ in range(2)
    ]
    one, other = (face.post(message(90 + index)) for index, face in enumerate(faces))
    assert one[0].upload == other[0].upload
    net.inject(attrs.evolve(one[0], sender=Party("client", 50)))
    net.inject(attrs.evolve(other[1], sender=Party("client", 50)))
    assert (message(0), message(1)) == net.finish()
    assert Counter({"not held alike by every server": 2}) == net.count_refusals()


@given(
    body=st.binary(max_size=200),
    step=st.sampled_from(["upload", "objection", "held", "sign accepted", "stop", "receipt", "x"]),
    role=st.sampled_from(["client", "server"]),
    index=st.integers(0, 3),
    id=st.binary(max_size=20),
)
def test_no_garbage_makes_a_server_fail_or_counts_as_an_upload(body, step, role, index, id):
    net = GARBLED
    before = net.servers[0].accepted_count, sum(net.servers[0].refusals.values())
    net.inject(
        Envelope(
            sender=Party(role, index),
            receiver=Party("server", 0),
            step=step,
            round=net.round.digest,
            upload=id,
            body=body,
        )
    )
    assert (before[0], before[1] + 1) == (
        net.servers[0].accepted_count,
        sum(net.servers[0].refusals.values()),
    )
    assert "" == net.servers[0].stop_reason


GARBLED = uploaded(post_round())


def test_random_bytes_that_are_sealed_well_are_judged_by_the_transport():
    net = make_driver(post_round())
    client = net.client()
    size = net.servers[0].strategy.content_size
    for envelope in adversaries.nonsense(client, size, SeededEntropy("nonsense")):
        net.inject(envelope)
    assert client.is_acknowledged  # to this transport any bytes are a message


def test_garbage_under_every_word_is_counted():
    net = uploaded(post_round())
    words = ("upload", "objection", "held", "nonsense")
    sent = adversaries.garbage(net.round, SeededEntropy("g"), words, Party("client", 9))
    for envelope in sent:
        net.inject(envelope)
    assert len(sent) == sum(net.count_refusals().values())
    assert [message(index) for index in range(4)] == list(net.finish())


# --- at a client ----------------------------------------------------------------------------


def test_a_client_sends_one_message_however_often_it_is_asked():
    sender = make_driver(post_round()).client()
    assert [] == sender.resend()
    first = sender.post(message(1))
    assert first == sender.post(message(1)) == sender.resend()
    assert "a sender has one message per round, and another one was sent" == refusal(
        lambda: sender.post(message(2))
    )


def test_a_receipt_counts_only_for_the_bytes_that_were_sent():
    net = make_driver(post_round())
    sender = net.client()
    first, _ = sender.post(message(1))
    (receipt,) = net.servers[0].receive(first)
    server = Party("server", 0)
    stray = [
        attrs.evolve(receipt, body=b""),
        attrs.evolve(receipt, body=receipt.body[:-1]),
        attrs.evolve(receipt, sender=Party("server", 1)),
        attrs.evolve(receipt, sender=Party("server", 7)),
        attrs.evolve(receipt, sender=Party("client", 0)),
        attrs.evolve(receipt, step="accepted"),
        attrs.evolve(receipt, step="nonsense"),
    ]
    assert [[]] * len(stray) == [sender.receive(envelope) for envelope in stray]
    assert 2 == len(sender.resend())
    sender.receive(receipt)
    sender.receive(receipt)
    assert [Party("server", 1)] == [envelope.receiver for envelope in sender.resend()]
    assert (False, server) == (sender.is_acknowledged, receipt.sender)


def test_what_comes_before_anything_was_sent_is_ignored():
    net = uploaded(post_round())
    receipt = next(s.envelope for s in net.trace.network if s.envelope.step == "receipt")
    assert [] == net.client().receive(receipt)
