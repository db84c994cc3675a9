"""Estimates add up, are told in words, and rest on rates that were measured once."""

import itertools

import attrs
import pytest

from anonloom_transport import estimates
from anonloom_transport.estimates import (
    Estimate,
    Operation,
    Work,
    duration,
    microbenchmark,
    seconds,
    size,
)

ONE = Estimate(
    upload_bytes=1,
    download_bytes=20,
    server_bytes=300,
    server_cpu=0.5,
    sender_cpu=0.25,
    server_memory=4000,
)


def test_two_rounds_cost_what_both_cost_but_share_the_memory():
    other = attrs.evolve(ONE, upload_bytes=7, server_cpu=2.0, server_memory=5000)
    both = Estimate(
        upload_bytes=8,
        download_bytes=40,
        server_bytes=600,
        server_cpu=2.5,
        sender_cpu=0.5,
        server_memory=5000,
    )
    assert both == ONE + other == other + ONE
    with pytest.raises(TypeError):
        ONE + 1


def test_costs_are_told_in_words():
    asked = Estimate(
        upload_bytes=12_345,
        download_bytes=3_200_000,
        server_bytes=987,
        server_cpu=240.0,
        sender_cpu=0.0123,
        server_memory=1_234_000_000,
    )
    assert (
        "each donor sends 12.3 kB, receives 3.2 MB and computes for about 12.3 ms",
        "each server sends 987 bytes to the others, computes for about 4 min on one core like this "
        "machine's, and holds about 1.23 GB",
    ) == asked.sentences("donor")
    alone = attrs.evolve(asked, server_bytes=0)
    assert (
        "each server computes for about 4 min on one core like this machine's, and holds about "
        "1.23 GB"
    ) == alone.sentences()[1]


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (1994, "1.99 kB"),
        (9996, "10 kB"),
        (12_345, "12.3 kB"),
        (99_960, "100 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (3_200_000, "3.2 MB"),
        (1_500_000_000_000, "1.5 TB"),
    ],
)
def test_sizes_have_three_digits(number, told):
    assert told == size(number)


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (0.0, "1 ms or less"),
        (0.0034, "3.4 ms"),
        (0.25, "250 ms"),
        (0.9999, "1 s"),
        (1.26, "1.3 s"),
        (99.0, "99 s"),
        (99.6, "1.7 min"),
        (240.0, "4 min"),
        (5970.0, "1.7 h"),
        (47 * 3600.0, "47 h"),
        (960_000.0, "11 days"),
        (96_000_000.0, "1,111 days"),
    ],
)
def test_times_have_two_digits_from_a_second_on(number, told):
    assert told == duration(number)


def test_an_operation_is_measured_once_in_a_process():
    asked = []

    def measure():
        asked.append(1)
        return 0.5

    named = f"{__name__}: measured once"
    work = Work({Operation(named, measure): 4}) + Work({Operation(named, measure): 6})
    assert [5.0, 5.0] == [seconds(work), seconds(work)]
    assert 1 == len(asked)


@pytest.mark.parametrize(
    ("each", "calls"),
    [
        (0.003, 1 + 5 * 3),  # several calls make a try
        (0.01, 1 + 5),  # one call is a try
        (1.0, 1 + 1),  # so long that one is enough
    ],
)
def test_what_is_tried_is_done_over_and_over_for_a_moment(monkeypatch, each, calls):
    """The clock stands still but for the calls themselves."""
    done = itertools.count()
    now = [0.0]

    def act():
        next(done)
        now[0] += each

    monkeypatch.setattr(estimates.time, "thread_time", lambda: now[0])
    assert pytest.approx(each / 10) == microbenchmark(lambda: act, 10)()
    assert calls == next(done)
