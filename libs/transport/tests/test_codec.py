"""Bytes in bytes: what is packed comes out again, and no two packings read alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom_transport.codec import cut, is_ascending, pack, unpack

parts = st.lists(st.binary(max_size=20), max_size=6)


@given(parts)
def test_what_is_packed_comes_out_again(given):
    assert given == unpack(pack(*given))


@given(parts, parts)
def test_no_two_packings_are_alike(one, other):
    assert (one == other) == (pack(*one) == pack(*other))


@given(st.binary(max_size=60))
def test_what_can_be_unpacked_was_packed_like_that(data):
    try:
        result = unpack(data)
    except ValueError:
        return
    assert data == pack(*result)


@given(parts.filter(bool), st.integers(1, 8))
def test_what_is_cut_off_is_noticed(given, missing):
    data = pack(*given)
    whole = {len(pack(*given[:number])) for number in range(len(given) + 1)}
    if len(data) - missing in whole:
        return
    with pytest.raises(ValueError, match=r"^the parts are longer than the whole$"):
        unpack(data[:-missing])


@given(st.binary(max_size=40), st.integers(1, 9))
def test_pieces_of_one_width(data, width):
    if len(data) % width:
        with pytest.raises(ValueError, match=r"^the pieces do not come out even$"):
            cut(data, width)
    else:
        pieces = cut(data, width)
        assert (data, {width} if data else set()) == (b"".join(pieces), {*map(len, pieces)})


@given(st.lists(st.binary(max_size=2), max_size=5))
def test_rising_is_sorted_without_repetition(pieces):
    assert (sorted(set(pieces)) == pieces) == is_ascending(pieces)
