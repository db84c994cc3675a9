#!/usr/bin/env python3
"""Whether auditor `traffic` finds anything in what whole donations leave on lines and servers.

    python benchmarks/donation_traffic.py [--studies 140] [--missing 40] [--only NAME ...]

Each study has 50 donors in two classes, who register, reserve and answer five times; of each class
one position is erased. Keys and coins come from the system's randomness. In some studies every
donor misses each iteration after the first with a chance of 1 %, and decoys stand in. 140 studies
are about 20,000 trials of each transport. Prints a table and writes
benchmarks/results/donation_traffic.json.
"""

import argparse
import json
import secrets
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonloom_anonify.campaign import Campaign
from anonloom_anonify.findings import smallest_pattern
from anonloom_anonify.simulation import Behaviour
from anonloom_anonify.study import Study
from anonloom_anonify.work import ClassAssignment
from anonloom_direct.transport import Direct
from anonloom_dpf.transport import Dpf
from anonloom_mixnet.transport import Mixnet
from anonloom_traffic.attack import Guess, best_guess
from anonloom_traffic.iterations import over_iterations
from anonloom_traffic.observation import observe
from anonloom_traffic.round_pairs import round_pairs
from anonloom_transport import EngineTransport, Rounds, SystemEntropy, Trace

RESULTS = Path(__file__).parent / "results" / "donation_traffic.json"
DONORS, SERVERS, ITERATIONS, SIZE = 50, 2, 5, 16
MISSES = 0.01

TRANSPORTS: dict[str, EngineTransport] = {"direct": Direct(), "dpf": Dpf(), "mixnet": Mixnet()}
PHASES = ("registration", "reservation", "publishing")


class Halves:
    """Two classes, of which the first and the last position are erased."""

    def classify(self, records: NDArray[np.uint8], seed: int) -> ClassAssignment:
        """Put everybody into a class by the first byte."""
        return ClassAssignment(records[:, 0].astype(np.int64) % 2 + 1, (("*",), ("0",), ("1",)))

    def draw(self, numbers: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
        """Erase two."""
        kept = np.ones(len(numbers), np.bool_)
        kept[[0, -1]] = False
        return kept

    def readable(self, answers: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Take all."""
        return np.ones(len(answers), np.bool_)


def study(transport: EngineTransport, misses: float) -> Campaign:
    """Play one study whose donors register and answer random bytes."""
    described = Study(
        id=secrets.token_hex(8), servers=SERVERS, donors=DONORS, k=2, min_batch=DONORS // 2,
        iterations=ITERATIONS, missing="blank" if misses else "stop",
        registration_size=SIZE, answer_size=SIZE,
    )  # fmt: skip
    behaviour = Behaviour.sample(DONORS, ITERATIONS, np.random.default_rng(), absent=misses)
    behaviour.absent[0] = False
    played = Campaign(
        transport=transport,
        study=described,
        works=[Halves() for _ in range(SERVERS)],
        records=_random(),
        answers=[(_random(), np.ones(DONORS, np.bool_)) for _ in range(ITERATIONS)],
        behaviour=behaviour,
        entropy=SystemEntropy(),
        traced=True,
    )
    played.run()
    return played


def _random() -> NDArray[np.uint8]:
    drawn = np.frombuffer(secrets.token_bytes(DONORS * SIZE), np.uint8)
    return drawn.reshape(DONORS, SIZE)


def phase(campaigns: Sequence[Campaign], name: str) -> tuple[Trace, ...]:
    """Return all rounds of one phase."""
    return tuple(
        entry.trace
        for played in campaigns
        for entry in played.ledger.entries
        if entry.name.startswith(name)
    )


def complete(campaigns: Sequence[Campaign]) -> Iterator[tuple[str, Guess]]:
    """Guess senders of every phase, and which messages of different phases belong together."""
    for name in PHASES:
        rounds = Rounds(phase(campaigns, name), SERVERS)
        yield name, best_guess(rounds, repeated=name == "publishing")
        if name == "publishing":
            yield (
                "publishing, one iteration",
                best_guess(Rounds(phase(campaigns, "publishing 1.1"), SERVERS), repeated=False),
            )
    # Only rounds of one study are compared.
    pairs = (round_pairs(Rounds(played.traces, SERVERS)).traces for played in campaigns)
    between = Rounds(tuple(trace for of in pairs for trace in of), SERVERS)
    yield "links between phases", best_guess(between, repeated=False)


def _row(transport: str, what: str, found: Guess) -> dict[str, Any]:
    top1, (low, high) = found.top1, found.top1.interval
    view = found.view if top1.excess else "nothing"
    print(f"{transport:8}{what:34}{top1.trials:7}{top1.value:9.4f}  "
          f"{f'{low:.4f} to {high:.4f}':<19}{top1.chance:7.4f}  {view}")  # fmt: skip
    return {
        "transport": transport, "what": what, "trials": top1.trials, "success": top1.value,
        "interval": [low, high], "chance": top1.chance, "shannon": found.shannon, "found": view,
        "smallest_set": found.smallest,
    }  # fmt: skip


def missed(transport: str, campaigns: Sequence[Campaign]) -> dict[str, Any]:
    """Guess with donors who miss iterations; say how often absence gives them away."""
    rounds = Rounds(phase(campaigns, "publishing"), SERVERS)
    row = _row(transport, "publishing, 1 % missing", best_guess(rounds))
    last = over_iterations(observe(rounds), None, 0.99)[-1]
    patterns = [smallest_pattern(played) for played in campaigns]
    smallest = min((pattern for pattern in patterns if pattern is not None), default=None)
    if last.absent is not None:
        low, high = last.absent.interval
        print(f"{'':8}{'whoever was ever missing':34}{last.absent.trials:7}{last.absent.value:9.4f}"
              f"  {f'{low:.4f} to {high:.4f}':<19}{last.absent.chance:7.4f}  "
              f"smallest pattern in a class: {smallest}")  # fmt: skip
        row |= {
            "absent_success": last.absent.value, "absent_interval": [low, high],
            "absent_trials": last.absent.trials, "smallest_blank_pattern": smallest,
        }  # fmt: skip
    return row


def main() -> None:
    """Play and guess."""
    parser = argparse.ArgumentParser(description="The auditor `traffic` on whole donations.")
    parser.add_argument("--studies", type=int, default=140)
    parser.add_argument("--missing", type=int, default=40, help="studies with donors missing")
    parser.add_argument("--only", nargs="*", choices=list(TRANSPORTS), default=["dpf", "mixnet"])
    asked = parser.parse_args()
    print(f"{'':8}{'':34}{'trials':>7}{'success':>9}  {'99 % interval':<19}{'chance':>7}  found")
    rows = []
    for name in asked.only:
        began = time.process_time()
        played = [study(TRANSPORTS[name], 0.0) for _ in range(asked.studies)]
        carried = time.process_time()
        rows += [_row(name, what, result) for what, result in complete(played)]
        guessed = time.process_time()
        print(f"{name:8}{carried - began:.0f} s of CPU to play, {guessed - carried:.0f} to guess")
        if asked.missing:
            rows.append(
                missed(name, [study(TRANSPORTS[name], MISSES) for _ in range(asked.missing)])
            )
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"donors": DONORS, "iterations": ITERATIONS, "rows": rows}))


if __name__ == "__main__":
    main()
