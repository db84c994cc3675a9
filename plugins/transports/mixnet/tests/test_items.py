"""Deposited items: authentic, sealed, and opened by all servers together."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom_mixnet.items import item_size, open_row, read_item, unopened_by, write_item
from anonloom_mixnet.layers import UnopenedLayer
from anonloom_mixnet.suites import SUITES

ROUND, SECRET = b"round", bytes(range(16))


def written(cascade, suite, servers, row, position=3):
    servers_of_round = cascade(suite, servers, item_size(suite, servers, len(row)))
    item = write_item(
        servers_of_round.route, ROUND, position, SECRET, row, servers_of_round.entropy
    )
    return servers_of_round, item


def keys_of(servers_of_round, item):
    return [
        servers_of_round.opener("share", server).open(share).key
        for server, share in enumerate(item.shares)
    ]


@settings(max_examples=30, deadline=None)
@given(
    suite=st.sampled_from(sorted(SUITES)),
    servers=st.integers(1, 4),
    row=st.binary(min_size=1, max_size=500),
    position=st.integers(0, 2**32 - 1),
)
def test_a_row_comes_back_from_the_keys_of_all_servers(cascade, suite, servers, row, position):
    servers_of_round, item = written(cascade, suite, servers, row, position)
    read = read_item(item, suite, servers, len(row))

    assert item_size(suite, servers, len(row)) == len(item)
    assert position == read.position
    assert read.authentic(ROUND, SECRET)
    assert row == open_row(read, suite, keys_of(servers_of_round, read))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_an_item_changed_in_any_bit_is_not_authentic(cascade, data):
    _, item = written(cascade, "x25519", 2, b"row")
    bit = data.draw(st.integers(0, 8 * len(item) - 1))
    changed = bytearray(item)
    changed[bit // 8] ^= 1 << bit % 8

    assert not read_item(bytes(changed), "x25519", 2, 3).authentic(ROUND, SECRET)


def test_an_item_is_bound_to_round_and_secret(cascade):
    _, item = written(cascade, "x25519", 2, b"row")
    read = read_item(item, "x25519", 2, 3)

    assert not read.authentic(b"other", SECRET)
    assert not read.authentic(ROUND, bytes(16))


def test_any_shares_but_all_say_nothing_about_the_row(cascade):
    """With the same entropy all shares but the last are the same whatever the row is."""
    opened = []
    for row in (b"one row", b"another"):
        servers_of_round, item = written(cascade, "x25519", 3, row)
        read = read_item(item, "x25519", 3, 7)
        opened.append(
            [servers_of_round.opener("share", n).open(read.shares[n]).inside for n in range(3)]
        )

    assert opened[0][:2] == opened[1][:2]
    difference = bytes(a ^ b for a, b in zip(opened[0][2], opened[1][2], strict=True))
    assert bytes(a ^ b for a, b in zip(b"one row", b"another", strict=True)) == difference


def test_a_server_that_reveals_another_key_is_named(cascade):
    servers_of_round, item = written(cascade, "x25519", 3, b"row")
    read = read_item(item, "x25519", 3, 3)
    keys = keys_of(servers_of_round, read)
    keys[1] = keys[0]

    with pytest.raises(UnopenedLayer):
        open_row(read, "x25519", keys)
    assert (1,) == unopened_by(read, "x25519", keys)


def test_an_item_of_another_size_is_not_read():
    with pytest.raises(ValueError, match=r"^an item of another size$"):
        read_item(bytes(10), "x25519", 2, 3)
