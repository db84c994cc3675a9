"""Several rounds come to what each sender and each server had of all of them."""

from collections import Counter

import pytest
from rounds_plain import message, post_round

from anonloom_testing.transport import Carrier, SeededEntropy
from anonloom_transport.driver import Driver
from anonloom_transport.ledger import Entry, Ledger


def played(name, senders, **more):
    net = Driver(Carrier(**more), post_round(servers=2), entropy=SeededEntropy())
    net.post([message(index) for index in range(senders)])
    net.finish()
    return Entry.of(name, net)


@pytest.fixture
def ledger():
    return Ledger([played("first", 4), played("second", 3, grumbles=True)])


def figures(findings):
    return {finding.name: finding.value for finding in findings if hasattr(finding, "value")}


def test_an_entry_keeps_what_a_round_left():
    entry = played("first", 4, grumbles=True)
    described = len(post_round(servers=2).encode())
    assert ("first", 2, 4, described, True) == (
        entry.name,
        entry.servers,
        entry.accepted,
        entry.described,
        entry.simulated,
    )
    assert Counter({"said it too loudly": 8}) == entry.refused
    assert {index: message(index) for index in range(4)} == entry.trace.sent


def test_the_smallest_round_decides_and_refusals_add_up(ledger):
    assert 3 == ledger.smallest
    assert ledger.is_simulated
    assert Counter({"said it too loudly": 6}) == ledger.refusal_counts


def test_a_ledger_of_system_randomness_is_not_simulated():
    net = Driver(Carrier(), post_round())
    net.post([message(0), message(1)])
    net.finish()
    assert not Ledger([Entry.of("one", net)]).is_simulated


def test_bytes_are_those_of_each_sender(ledger):
    result = figures(ledger.traffic(senders=7, rounds="both rounds"))
    # To each of two servers: the digest of the round, and 8 bytes; receipts are as long.
    each = 7 * 2 * (32 + 8)
    described = 2 * len(post_round(servers=2).encode())
    assert {
        "upload": each / 7,
        "download": described + each / 7,
        "between_servers": 0,
    } == result


def test_meanings_name_the_rounds(ledger):
    meanings = [item.meaning for item in ledger.traffic(7, "both rounds")]
    assert [
        "Bytes that each sender sent, in both rounds together.",
        "Bytes that each sender received, the description of both rounds included.",
        "Bytes that each server sent to the others.",
    ] == meanings


def test_seconds_of_all_phases_come_to_those_of_the_whole(ledger):
    *findings, chart = ledger.work("both rounds")
    result = figures(findings)
    phases = [
        f"{name}-{phase}"
        for name in ("first", "second")
        for phase in ("begin", "upload", "close", "settle", "open")
    ]
    assert phases == [row[0] for row in chart.data["rows"]]
    for role in ("clients", "server"):
        parts = [value for name, value in result.items() if name.startswith(f"{role}_cpu.")]
        assert result[f"{role}_cpu"] == pytest.approx(sum(parts))
    assert "Costs of both rounds" == chart.title


def test_refusals_are_told_with_those_outside_the_rounds(ledger):
    figure, chart = ledger.refusals(Counter(unreadable=2))
    assert 8 == figure.value
    assert [["unreadable", 2], ["said it too loudly", 6]] == chart.data["rows"]


def test_without_refusals_there_is_no_table():
    (figure,) = Ledger([played("first", 2)]).refusals(Counter())
    assert 0 == figure.value
