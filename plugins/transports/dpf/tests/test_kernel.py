"""All kernels give the same bytes, and the one in use can be named and asked for."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import UsageError
from anonloom_dpf import native
from anonloom_dpf.tree import Tree

COMPILED = native.available()[1:]
needs_kernel = pytest.mark.skipif(
    not COMPILED, reason="no C kernel here: built without a compiler, or a CPU without AES"
)


@pytest.fixture(autouse=True)
def _as_found(monkeypatch):
    monkeypatch.delenv(native.VARIABLE, raising=False)


class Drawn:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def bytes(self, n):
        return self.rng.bytes(n)


def outcome(kernel, tree, m, seed, party=1):
    """Keys, share and tags as one kernel makes them."""
    before = os.environ.get(native.VARIABLE)
    os.environ[native.VARIABLE] = kernel
    try:
        assert kernel == native.kernel_name()
        entropy = Drawn(seed)
        indices = entropy.rng.integers(0, tree.leaves, m)
        payloads = entropy.rng.integers(0, 256, (m, tree.width), dtype=np.uint8)
        keys = tree.keys(indices, payloads, entropy)
        share = entropy.rng.integers(0, 256, (tree.leaves, tree.width), dtype=np.uint8)
        check_key = entropy.bytes(32) if tree.checked else None
        tags = tree.accumulate(party, keys[party], share, check_key=check_key)
    finally:
        if before is None:
            del os.environ[native.VARIABLE]
        else:
            os.environ[native.VARIABLE] = before
    return [
        *(key.tobytes() for key in keys),
        share.tobytes(),
        None if tags is None else tags.tobytes(),
    ]


@needs_kernel
@pytest.mark.parametrize(("leaves", "width"), [(0, 1), (1 << 60, 1), (-1, 16), (1, 0), (1, -16)])
def test_the_kernel_refuses_sizes_that_it_has_no_room_for(leaves, width):
    """Whoever calls it: nothing is written before sizes are known to fit."""
    message = r"^leaves and width must be between 1 and 2\^31\.$"
    none, some = b"", bytearray(64)
    with pytest.raises(ValueError, match=message):
        native._kernel.evaluate(
            False, none, leaves, width, False, False, 0, none, some, none, some, some, none, some
        )
    with pytest.raises(ValueError, match=message):
        native._kernel.generate(none, leaves, width, False, none, none, none, some, some)


@needs_kernel
@given(
    leaves=st.integers(1, 80) | st.integers(1, 4000),
    width=st.integers(1, 100) | st.integers(1, 4096),
    m=st.integers(0, 20),
    checked=st.booleans(),
    party=st.integers(0, 1),
    seed=st.integers(0, 2**32),
)
def test_every_kernel_gives_the_bytes_of_numpy(leaves, width, m, checked, party, seed):
    tree = Tree(leaves, min(width, 400_000 // leaves + 1), checked=checked)
    expected = outcome("numpy", tree, m, seed, party)
    for kernel in COMPILED:
        assert expected == outcome(kernel, tree, m, seed, party), kernel


@needs_kernel
@pytest.mark.parametrize("kernel", COMPILED)
@pytest.mark.parametrize(
    ("leaves", "width", "m"),
    [(135_001, 24, 3), (33_750, 384, 2), (1 << 17, 16, 1), (70_000, 16, 40), (3, 7, 5000)],
)
def test_large_trees_and_batches_too(kernel, leaves, width, m):
    tree = Tree(leaves, width, checked=True)
    assert outcome("numpy", tree, m, 1) == outcome(kernel, tree, m, 1)


@pytest.mark.parametrize("kernel", native.available())
def test_threads_do_not_disturb_each_other(kernel, monkeypatch):
    monkeypatch.setenv(native.VARIABLE, kernel)
    tree = Tree(3000, 40, checked=True)
    keys = tree.keys(np.arange(16), np.ones((16, 40), np.uint8), Drawn(0))[0]

    def half(part):
        share = np.zeros((3000, 40), np.uint8)
        tags = tree.accumulate(0, part, share, check_key=bytes(32))
        return share, tags

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(half, np.split(keys, 4)))
    share, tags = half(keys)
    total = parts[0][0] ^ parts[1][0] ^ parts[2][0] ^ parts[3][0]
    assert share.tobytes() == total.tobytes()
    assert tags.tobytes() == b"".join(part[1].tobytes() for part in parts)


def test_the_fastest_kernel_is_chosen_unless_another_is_asked_for(monkeypatch):
    assert native.available()[-1] == native.kernel_name()
    monkeypatch.setenv(native.VARIABLE, "numpy")
    assert "numpy" == native.kernel_name()
    if COMPILED:
        assert "numpy (asked for)" == native.kernel_description()


def test_a_kernel_that_cannot_be_had_is_an_error(monkeypatch):
    monkeypatch.setenv(native.VARIABLE, "altivec")
    names = ", ".join(native.available())
    with pytest.raises(UsageError) as raised:
        native.kernel_name()
    assert (
        f"ANONLOOM_DPF_KERNEL must be one of {names} on this machine. Got altivec instead."
        == str(raised.value)
    )


def test_without_the_extension_numpy_does_everything(monkeypatch):
    monkeypatch.setattr(native, "_kernel", None)
    assert ("numpy",) == native.available()
    assert "numpy (the C kernel was not built)" == native.kernel_description()
    tree = Tree(20, 3)
    keys = tree.keys(np.array([7]), np.full((1, 3), 9, np.uint8), Drawn(2))
    table = tree.evaluate(0, keys[0][0]) ^ tree.evaluate(1, keys[1][0])
    assert [7] == np.flatnonzero(table.any(axis=1)).tolist()


@needs_kernel
@pytest.mark.parametrize("wrong", ["schedules", "keys", "share", "check"])
def test_the_extension_refuses_buffers_of_another_size(wrong):
    tree = Tree(20, 3, checked=True)
    sizes = {
        "schedules": len(native._schedules(1)),
        "keys": 2 * tree.key_size,
        "share": 60,
        "check": 32,
    }
    sizes[wrong] += 1
    room = {name: bytearray(size) for name, size in sizes.items()}
    with pytest.raises(ValueError) as raised:  # noqa: PT011 -- the message is compared whole
        native._kernel.evaluate(
            False, room["schedules"], 20, 3, True, False, 0, room["keys"], room["share"],
            room["check"], bytearray(32), bytearray(), b"", bytearray(),
        )  # fmt: skip
    assert f"{wrong} has another size than the tree asks for." == str(raised.value)


@needs_kernel
@pytest.mark.parametrize("wrong", ["column", "weights", "sketches"])
def test_the_extension_refuses_columns_of_another_size(wrong):
    tree = Tree(20, 3, counted=True)
    sizes = {"column": 160, "weights": 2 * 1024 * 8, "sketches": 2 * 24}
    sizes[wrong] += 8
    room = {name: bytearray(size) for name, size in sizes.items()}
    with pytest.raises(ValueError) as raised:  # noqa: PT011 -- the message is compared whole
        native._kernel.evaluate(
            False, native._schedules(1), 20, 3, False, True, 0, bytes(2 * tree.key_size),
            bytearray(60), b"", bytearray(), room["column"], room["weights"], room["sketches"],
        )  # fmt: skip
    assert "column has another size than the tree asks for." == str(raised.value)
