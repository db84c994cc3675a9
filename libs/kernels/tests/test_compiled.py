"""Kernels run as C or interpreted, with the same result; who waits is told; threads keep order."""

import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from anonloom import StageContext
from anonloom_kernels import bound_kernel, comparison, compiled
from anonloom_kernels.bound_kernel import Kernel
from anonloom_kernels.comparison import (
    arrays_compared,
    assert_same,
    compare_call,
    comparing_kernels,
)
from anonloom_kernels.compiled import announce_interpreted, in_threads, is_compiled, kernel


@pytest.fixture(autouse=True)
def _not_compared(monkeypatch):
    """Whatever the environment says, these tests say themselves when calls are compared."""
    monkeypatch.setattr(Kernel, "instead", None)


@kernel
def wraps(numbers):
    """Both is an event for numpy, and none in C."""
    return int(numbers[0] * numbers[0]), float(np.float64(1) / numbers[1])


@kernel
def calls_another(numbers):
    return wraps(numbers)[0] + 1


def test_without_c_the_python_text_runs_and_overflow_is_no_event():
    largest = np.array([2**62, 0])

    assert not wraps.is_compiled
    assert (0, float("inf")) == wraps(largest)
    assert 1 == calls_another(largest)


def with_c(function, c):
    """A kernel with something in the place of its C."""
    result = Kernel(function)
    result.compiled = c
    return result


def test_a_reference_calls_the_references_of_other_kernels(monkeypatch):
    """Otherwise it would be compared with parts of itself."""

    def refuse(*_):
        raise AssertionError("C was called")

    monkeypatch.setitem(globals(), "wraps", with_c(wraps.reference, refuse))

    assert 1 == calls_another(np.array([2**62, 0]))
    with pytest.raises(AssertionError, match="C was called"):
        wraps(np.array([2**62, 0]))


def test_c_is_called_again_after_a_reference_has_failed():
    def fail(numbers):
        raise ValueError("wrong")

    both = with_c(fail, lambda numbers: 7)
    with pytest.raises(ValueError, match="wrong"):
        both.interpret([])
    assert 7 == both([])


def add_one(numbers, pair):
    numbers += 1
    pair[0][0] = numbers[0]
    return float(numbers[0]), len(pair)


SAME = with_c(add_one, add_one)


def arguments():
    shared = np.array([1.0, np.nan])
    return shared, (shared, np.array([2]))


def test_a_comparison_returns_the_result_and_counts_arrays():
    before = arrays_compared()["add_one"]

    assert (2.0, 2) == assert_same(SAME, *arguments())
    assert 3 == arrays_compared()["add_one"] - before


def other_array(numbers, pair):
    result = add_one(numbers, pair)
    pair[1][0] += 1
    return result


def other_zero(numbers, pair):
    add_one(numbers, pair)
    numbers[0] = -0.0


def zero(numbers, pair):
    add_one(numbers, pair)
    numbers[0] = 0.0


DIFFERENT = {
    "an array": (
        with_c(add_one, other_array),
        "kernel add_one: array 3 of its arguments has other bits in C than in Python, first at [0]",
    ),
    "a result": (
        with_c(add_one, lambda numbers, pair: (add_one(numbers, pair)[0] + 1e-9, 2)),
        "kernel add_one: C returns something else than Python",
    ),
    "the sign of zero": (
        with_c(zero, other_zero),
        "kernel zero: array 1 of its arguments has other bits in C than in Python, first at [0]",
    ),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_a_comparison_finds_every_difference(case):
    both, text = DIFFERENT[case]
    with pytest.raises(AssertionError) as caught:
        compare_call(both, arguments())
    assert text == str(caught.value)


def test_only_what_was_built_can_be_compared():
    with pytest.raises(AssertionError) as caught:
        assert_same(wraps, np.array([1, 1]))
    assert "there is no C to compare with: it was not built" == str(caught.value)
    with pytest.raises(AssertionError) as caught:
        assert_same(add_one, *arguments())
    assert "only what is decorated with kernel has a C of its own" == str(caught.value)


def test_every_call_is_compared_where_the_environment_says_so(monkeypatch):
    monkeypatch.setattr(Kernel, "instead", compare_call)
    before = comparison.arrays_compared()["add_one"]

    assert (2.0, 2) == SAME(*arguments())
    assert 3 == comparison.arrays_compared()["add_one"] - before
    with pytest.raises(AssertionError):
        with_c(add_one, other_array)(*arguments())


def test_calls_are_compared_for_a_while():
    with pytest.raises(AssertionError, match="has other bits"), comparing_kernels():
        with_c(add_one, other_array)(*arguments())
    with_c(add_one, other_array)(*arguments())


def test_a_comparison_of_nothing_fails():
    with pytest.raises(AssertionError) as caught, comparing_kernels():
        wraps(np.array([1, 1]))
    assert "no compiled kernel was called" == str(caught.value)


PROGRAM = """
    from anonloom_kernels.compiled import is_compiled
    from anonloom_kernels.level_order_key import order_blocks
    print(is_compiled("anonloom_kernels"), order_blocks.is_compiled)
"""


def test_the_environment_can_ask_for_interpreted_kernels():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        env=os.environ | {"ANONLOOM_KERNELS": "python"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "False False\n" == done.stdout


def test_c_of_other_sources_is_refused(monkeypatch):
    class Binding:
        @staticmethod
        def bind(table, name):
            raise LookupError(f"no kernel is called '{name}'")

    monkeypatch.setitem(sys.modules, "anonloom_kernels._binding", Binding)
    monkeypatch.setattr(bound_kernel, "kernels_of", lambda package: object())
    with pytest.raises(ImportError) as caught:
        kernel(add_one)
    expected = (
        f"the compiled kernels of {add_one.__module__.partition('.')[0]} are not those of its "
        "Python files (no kernel is called 'add_one'); install the package again"
    )
    assert expected == str(caught.value)


ADVICE = "; to make it fast, install a C compiler and then anonloom-kernels and anonloom-toy again"


@pytest.mark.parametrize(
    ("steps", "duration"),
    [
        (1, ""),
        (4_000_000, ""),
        (42_000_000, " and takes about 42 s"),
        (150_000_000, " and takes about 2 minutes"),
        (9_000_000_000, " and takes about 2 hours"),
    ],
)
def test_who_waits_for_an_interpreted_kernel_is_told_how_long_and_what_helps(
    monkeypatch, steps, duration
):
    monkeypatch.setattr(compiled, "_seconds_per_step", lambda: 1e-6)
    texts = []

    announce_interpreted(StageContext(say=texts.append), "anonloom_toy", steps)

    begin = "anonloom-toy was installed without its compiled kernels: this step is interpreted"
    assert [begin + duration + ADVICE] == texts


def test_nothing_is_said_where_kernels_are_compiled(monkeypatch):
    monkeypatch.setattr(compiled, "kernels_of", lambda package: object())
    texts = []

    announce_interpreted(StageContext(say=texts.append), "anonloom_toy", 1e12)

    assert is_compiled("anonloom_toy")
    assert [] == texts


def test_a_step_takes_some_time():
    assert 0 < compiled._seconds_per_step() < 1e-3


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_parts(workers):
    def work(part):
        time.sleep(0.02 if part == 0 else 0)
        return part * part

    assert [part * part for part in range(8)] == in_threads(work, range(8), workers)


@pytest.mark.parametrize("workers", [1, 3])
def test_what_goes_wrong_in_a_thread_is_not_lost(workers):
    with pytest.raises(ValueError, match=r"substring not found"):
        in_threads("abc".index, ["a", "x", "b"], workers)
