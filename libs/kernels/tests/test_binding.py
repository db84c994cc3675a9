"""The binding between Python and C: whatever does not fit a kernel's signature never reaches it."""

import importlib.util
import math
import shutil
import subprocess
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import anonloom_kernels

COMPILER = shutil.which("cc")
HERE = Path(__file__).parent

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="there is no C compiler to build toy kernels with"),
    pytest.mark.skipif(
        importlib.util.find_spec("anonloom_kernels._binding") is None,
        reason="the binding was not built: there was no C compiler at the installation",
    ),
]


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """Toy kernels by name."""
    library = tmp_path_factory.mktemp("toys") / "_kernels.so"
    include = Path(anonloom_kernels.__file__).parent
    subprocess.run(
        [COMPILER, "-shared", "-fPIC", "-O1", f"-I{include}", f"-I{sysconfig.get_path('include')}",
         "-o", library, HERE / "toy_kernels.c", "-lm"],
        check=True,
    )  # fmt: skip
    spec = importlib.util.spec_from_file_location("_kernels", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.table


@pytest.fixture(scope="module")
def call(toys):
    """Call a toy kernel by its name."""
    from anonloom_kernels._binding import bind

    bound = {}

    def caller(name, *arguments):
        bound[name] = bound.get(name) or bind(toys, name)
        return bound[name](*arguments)

    return caller


def codes(*shape):
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


def test_arrays_scalars_tuples_and_results_arrive(call):
    total = np.full(2, 99)

    assert (6, -7.5) == call("sum_rows", (codes(2, 3), total), 0.5, True)
    assert [3, 12] == total.tolist()


def test_numbers_of_numpy_are_numbers(call):
    arguments = (codes(2, 3), np.zeros(2, np.int64)), np.float32(0.5), np.bool_(False)
    assert (6, 7.5) == call("sum_rows", *arguments)


def types():
    """Arguments of `every_type`."""
    return [
        np.zeros(3, bool),
        np.array([0, 1, 2], np.uint8),
        np.array([2**64 - 1], np.uint64),
        np.ones(1, np.float32),
        np.zeros((2, 3, 4)),
        np.int32(3),
    ]


def test_every_type_and_shape_arrives(call):
    arguments = types()

    assert 3 == call("every_type", *arguments)
    assert [False, False, True] == arguments[0].tolist()
    assert 2 == arguments[2][0]
    assert 0.5 == arguments[3][0]
    assert -1 == arguments[4][1, 2, 3]
    assert 1 == np.count_nonzero(arguments[4])


def test_nothing_comes_back_where_nothing_is_said(call):
    assert call("no_room", 4) is None


def test_a_kernel_that_finds_no_memory_raises(call):
    with pytest.raises(MemoryError):
        call("no_room", 2**62)
    with pytest.raises(MemoryError):
        call("no_room", -1)


def read_only(array):
    array.setflags(write=False)
    return array


REFUSED = {
    "another type": (
        0, np.zeros(3, np.int8), TypeError, "'truth' must be an array of bool with 1 dimension",
    ),
    "another width": (
        3, np.ones(1), TypeError, "'single' must be an array of float32 with 1 dimension",
    ),
    "signed for unsigned": (
        2, np.ones(1, np.int64), TypeError, "'large' must be an array of uint64 with 1 dimension",
    ),
    "more dimensions": (
        0, np.zeros((3, 1), bool), TypeError, "'truth' must be an array of bool with 1 dimension",
    ),
    "fewer dimensions": (
        4, np.zeros((2, 3)), TypeError, "'cube' must be an array of float64 with 3 dimensions",
    ),
    "bytes from elsewhere": (
        2, np.ones(1, ">u8"), TypeError, "'large' must be an array of uint64 with 1 dimension",
    ),
    "objects": (
        0, np.array([None] * 3), TypeError, "'truth' must be an array of bool with 1 dimension",
    ),
    "complex numbers": (
        2, np.ones(1, np.complex64), TypeError, "'large' must be an array of uint64 with 1 dimension",
    ),
    "a list": (0, [True, False, True], TypeError, "'truth' must be an array"),
    "none": (0, None, TypeError, "'truth' must be an array"),
    "gaps": (1, np.zeros(6, np.uint8)[::2], ValueError, "'small' must be contiguous, row after row"),
    "backwards": (
        1, np.zeros(3, np.uint8)[::-1], ValueError, "'small' must be contiguous, row after row",
    ),
    "columns first": (
        4, np.zeros((2, 3, 4), order="F"), ValueError, "'cube' must be contiguous, row after row",
    ),
    "not aligned": (
        2, np.zeros(9, np.uint8)[1:].view(np.uint64), ValueError, "'large' must be aligned in memory",
    ),
    "read-only": (
        0, read_only(np.zeros(3, bool)), ValueError, "'truth' is written to and must not be read-only",
    ),
    "another size than an array before": (
        1, np.zeros(4, np.uint8), ValueError, "'small' must have 3 elements along axis 0; it has 4",
    ),
    "another size than the signature says": (
        4, np.zeros((2, 2, 4)), ValueError, "'cube' must have 3 elements along axis 1; it has 2",
    ),
    "fewer than a sum needs": (
        3, np.ones(0, np.float32), ValueError,
        "'single' must have at least 1 elements along axis 0; it has 0",
    ),
    "half a number": (5, 2.0, TypeError, "'factor' must be a whole number"),
    "too large a number": (5, 2**63, OverflowError, "'factor' must fit into 64 bits"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_before_the_kernel_runs(call, case):
    place, wrong, error, text = REFUSED[case]
    arguments = types()
    arguments[place] = wrong
    with pytest.raises(error) as caught:
        call("every_type", *arguments)
    assert f"kernel every_type: {text}" == str(caught.value)
    untouched = types()
    for number in {0, 2, 3, 4} - {place}:
        assert untouched[number].tobytes() == arguments[number].tobytes()


def test_a_read_only_array_that_is_only_read_is_taken(call):
    arguments = (read_only(codes(2, 3)), np.zeros(2, np.int64)), 1, False
    assert (6, 15.0) == call("sum_rows", *arguments)


def test_empty_arrays_are_taken(call):
    arguments = (np.zeros((0, 5), np.int32), np.zeros(0, np.int64)), 1, False
    assert (0, 0.0) == call("sum_rows", *arguments)


@pytest.mark.parametrize("wrong", [codes(2, 3), (codes(2, 3),), [codes(2, 3), np.zeros(2, int)]])
def test_what_must_be_a_tuple_of_so_many_is_one(call, wrong):
    with pytest.raises(TypeError) as caught:
        call("sum_rows", wrong, 1.0, False)
    expected = "kernel sum_rows: the argument with 'codes' must be a tuple of 2"
    assert expected == str(caught.value)


def test_words_are_no_numbers(call):
    with pytest.raises(TypeError) as caught:
        call("rounded", "1")
    assert "kernel rounded: 'x' must be a number" == str(caught.value)
    with pytest.raises(TypeError) as caught:
        call("sum_rows", (codes(1, 1), np.zeros(1, int)), 1, np.zeros(2))
    assert "kernel sum_rows: 'negative' must be true or false" == str(caught.value)


def test_the_number_of_arguments_is_checked(call):
    with pytest.raises(TypeError) as caught:
        call("pairs", 1)
    assert "kernel pairs: takes 2 arguments; it was given 1" == str(caught.value)


@pytest.mark.parametrize("name", ["wrong_word", "no_end", "no_result", "four_sides"])
def test_a_signature_that_cannot_be_read_is_refused_when_it_is_bound(toys, name):
    from anonloom_kernels._binding import bind

    with pytest.raises(SystemError) as caught:
        bind(toys, name)
    assert f"kernel {name}: its signature cannot be read" == str(caught.value)


def test_a_name_that_is_not_there_is_refused(toys):
    from anonloom_kernels._binding import bind

    with pytest.raises(LookupError) as caught:
        bind(toys, "sum_columns")
    assert "no kernel is called 'sum_columns'" == str(caught.value)


def test_arrays_are_let_go_after_a_call_and_after_a_refusal(call):
    total = np.zeros(2, np.int64)
    call("sum_rows", (codes(2, 3), total), 1.0, False)
    with pytest.raises(ValueError, match="must have 2 elements"):
        call("sum_rows", (codes(2, 3), np.zeros(3, np.int64)), 1.0, False)
    # An array with an open buffer cannot be resized.
    total.resize(5, refcheck=False)
    assert 5 == len(total)


INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)


@given(INTEGERS, INTEGERS)
@example(-(2**63), -1)
@example(-(2**63), 0)
def test_whole_numbers_are_divided_and_compared_as_in_python(call, a, b):
    with np.errstate(all="ignore"):
        quotient, remainder = np.int64(a) // np.int64(b), np.int64(a) % np.int64(b)
    assert (quotient, remainder, min(a, b), max(a, b)) == call("pairs", a, b)


FLOATS = st.floats(width=64) | st.integers(-4, 4).map(float)


@given(FLOATS, FLOATS)
def test_the_first_of_what_cannot_be_compared_is_chosen_as_in_python(call, a, b):
    expected = [value.hex() for value in (min(a, b), max(a, b))]
    assert expected == [value.hex() for value in call("chosen", a, b)]


@given(st.floats(-1e6, 1e6) | st.sampled_from([math.inf, -math.inf, math.nan, -0.0, 0.5e-12]))
def test_scores_are_rounded_as_by_numpy(call, x):
    assert float(np.round(np.float64(x), 12)).hex() == call("rounded", x).hex()


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9), max_size=200))
def test_whole_numbers_are_sorted(call, numbers):
    array = np.array(numbers, np.int64)
    call("sorted", array)
    assert sorted(numbers) == array.tolist()


@given(st.lists(FLOATS, max_size=200))
def test_an_order_is_that_of_a_stable_sort_with_nan_last(call, numbers):
    array = np.array(numbers, np.float64)
    key, order, spare = (np.empty(len(numbers), np.int64) for _ in range(3))
    call("order_of", array, key, order, spare)
    assert np.argsort(array, kind="stable").tolist() == order.tolist()


def test_threads_call_at_the_same_time(call):
    results = []

    def work():
        for _ in range(200):
            results.append(call("sum_rows", (codes(20, 30), np.zeros(20, np.int64)), 1.0, False))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(600, float(sum(range(600))))} == set(results)
    assert 800 == len(results)
