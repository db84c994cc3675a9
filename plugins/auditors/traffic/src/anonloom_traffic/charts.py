"""Charts: success beside chance by view, entropy, and what presence gives away over rounds."""

import math
from collections.abc import Iterator, Sequence

from anonloom import Chart
from anonloom_traffic.attack import Guess
from anonloom_traffic.iterations import Step
from anonloom_traffic.views import FAMILIES


def charts(single: Guess, several: Guess, steps: list[Step]) -> Iterator[Chart]:
    """Draw what was found."""
    families = [family for family in FAMILIES if family in several.families]
    if families:
        shares = [several.families[family] for family in families]
        yield Chart(
            name="success_by_view",
            kind="bars",
            title="How often the sender is guessed, by what is looked at",
            data={
                "labels": families,
                "success": [share.value for share in shares],
                "surely at least": [share.interval[0] for share in shares],
                "chance": [share.chance for share in shares],
            },
            x="what is looked at",
            y="share of messages",
            meaning="Success near chance means that the view tells nothing about senders.",
        )
    yield Chart(
        name="entropy",
        kind="bars",
        title="Bits that the adversary lacks to know a sender",
        data={
            "labels": ["one round", "all rounds"],
            "Shannon entropy": [single.shannon, several.shannon],
            "min-entropy": [single.min_entropy, several.min_entropy],
            "perfect hiding": [math.log2(single.senders), math.log2(several.senders)],
        },
        y="bits",
        meaning="Perfect hiding lacks as many bits as it takes to name one of all senders.",
    )
    if len({step.rounds for step in steps}) > 1:
        yield from _over_rounds(steps)


def _over_rounds(steps: list[Step]) -> Iterator[Chart]:
    rounds = [step.rounds for step in steps]
    series = {
        "all": _line(rounds, [step.found.value for step in steps]),
        "chance": _line(rounds, [step.found.chance for step in steps]),
    }
    if any(step.absent for step in steps):
        series["ever absent"] = _line(
            rounds, [step.absent.value if step.absent else None for step in steps]
        )
    yield Chart(
        name="presence_over_rounds",
        kind="line",
        title="How often absence alone gives a sender away",
        data=series,
        x="rounds",
        y="share of messages",
        meaning="Every round that somebody misses leaves fewer others with the same absences.",
    )
    if any(step.smallest is not None for step in steps):
        yield Chart(
            name="smallest_pattern_over_rounds",
            kind="line",
            title="Fewest positions that were empty in the same rounds",
            data={"positions": _line(rounds, [step.smallest for step in steps])},
            x="rounds",
            y="positions",
            meaning="Whoever misses rounds hides among the positions that were empty with hers.",
        )


def _line(x: Sequence[int], y: Sequence[float | None]) -> dict[str, list[float | None]]:
    return {"x": list(x), "y": list(y)}
