"""The promises of every auditor, and those of one that measures risk."""

from collections.abc import Iterator
from typing import Any

import attrs

from anonloom import AuditInput, Release
from anonloom_testing import AuditorConformance, tables
from anonloom_testing.purity import Scenario
from anonloom_testing.transport.synthetic_traces import SyntheticTraces
from anonloom_traffic.auditor import Traffic


def case(trace: Any) -> AuditInput:
    return AuditInput(Release.as_it_is(tables.crowd(20).table()), trace=trace)


#: Traces in the place of the tables' scenarios, of which the auditor looks at none.
TRACES = {
    "one round of posts": ({"clients": 12}, 1),
    "rounds of posts": ({"clients": 12, "miss": 0.2}, 8),
    "one round of deposits": ({"clients": 12, "iterations": 1}, 1),
    "iterations with blanks": (
        {"clients": 12, "iterations": 4, "miss": 0.1, "blank": bytes(32)},
        8,
    ),
    "one client": ({"clients": 1}, 2),
    "two clients": ({"clients": 2, "servers": 1}, 1),
    "five servers": ({"clients": 5, "servers": 5}, 2),
}


class OfTraces(AuditorConformance):
    method = Traffic
    risk_finding = "top1_excess"

    def scenarios(self) -> Iterator[Scenario]:
        yield from list(super().scenarios())[:3]  # without a trace
        for name, (kind, rounds) in TRACES.items():
            yield Scenario(
                name, lambda kind=kind, n=rounds: {"case": case(SyntheticTraces(**kind).rounds(n))}
            )
        for special, leak in (("planted", "state"), ("independent", "")):
            made = SyntheticTraces(leak=leak, clients=20)
            rounds = made.rounds(20)
            yield Scenario(special, lambda rounds=rounds: {"case": case(rounds)}, special=special)


class TestTraffic(OfTraces):
    pass


class TestFewTrials(OfTraces):
    params = {"trials": 30, "confidence": 0.95, "blank": "00" * 32}


def test_a_single_trace_is_one_round() -> None:
    from anonloom import StageContext

    rounds = SyntheticTraces(clients=10).rounds(1)
    alone = Traffic().audit(case(rounds.traces[0]), StageContext())
    assert Traffic().audit(case(rounds), StageContext()) == alone
    assert attrs.asdict(alone["rounds"])["value"] == 1
