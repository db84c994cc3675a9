#!/usr/bin/env python3
"""What placements of transport dpf lose: to chance, to malicious senders, to collisions.

python benchmarks/placement.py [--senders 100000] [--repeat 2] [--chance 10000000]

No point function is evaluated: the open tables are made directly. A malicious sender has one leaf
(S slots) of each table, anywhere, and fills it with garbage, or with the pieces of records whose
other copies are missing. Prints tables; writes benchmarks/results/placement.json and .svg.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import svg
from numpy.typing import NDArray
from svg import INK, Box, Panel, mark, path, text

from anonloom_dpf.peeling import COPIES, PeelingPlacement, factor_for, lost_share, slots_per_table
from anonloom_dpf.placement import Placement
from anonloom_dpf.single import SingleSlot, success_rate
from anonloom_testing.transport import SeededEntropy

RESULTS = Path(__file__).parent / "results" / "placement.json"
MESSAGE = 8
LEAVES = (1, 2, 4, 8, 32)
SHARES = (0.001, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1)
TOLERATED = (0.0, 0.01, 0.02, 0.05)
#: Larger tables than that are not worth measuring: ten slots for each sender is the paper's.
LARGEST = 10
#: Capacities and factors at which rounds of honest senders are repeated until they fail.
CAPACITIES = (2, 5, 10, 50, 100, 500, 1000, 10_000)
COLOURS = ("#2e8540", "#2f6db5", "#8e3b9b", "#b36b00", "#c8102e")

Record = dict[str, Any]


def open_tables(
    placement: Placement, records: NDArray[np.uint8], slots: NDArray[np.int64]
) -> list[NDArray[np.uint8]]:
    """The sum of all writes."""
    tables = [np.zeros((size, placement.record_size), np.uint8) for size in placement.tables]
    for index, table in enumerate(tables):
        order = np.argsort(slots[:, index], kind="stable")
        changed, starts = np.unique(slots[order, index], return_index=True)
        table[changed] = np.bitwise_xor.reduceat(records[order], starts, axis=0)
    return tables


def garbage(
    tables: list[NDArray[np.uint8]], leaf: int, senders: int, rng: np.random.Generator
) -> None:
    """Write noise into a leaf of each table for every malicious sender."""
    for table in tables:
        for index in rng.integers(0, len(table) // leaf, senders) * leaf:
            table[index : index + leaf] ^= rng.integers(0, 256, (leaf, table.shape[1]), np.uint8)


def pieces(
    placement: Placement, tables: list[NDArray[np.uint8]], senders: int, rng: np.random.Generator
) -> None:
    """Fill the leaves with true records, each in one table only."""
    leaf = placement.slots_per_leaf
    pool = max(4 * len(tables[0]), 8 * leaf * senders)
    records, slots = placement.place([bytes(MESSAGE)] * pool, SeededEntropy(int(rng.integers(1e9))))
    parts = np.array_split(np.arange(pool), COPIES)
    for number, (table, part) in enumerate(zip(tables, parts, strict=True)):
        # For each slot the records of this part that belong there, each used once.
        order = part[np.argsort(slots[part, number], kind="stable")]
        starts = np.searchsorted(slots[order, number], np.arange(len(table) + 1))
        used = np.zeros(len(table), np.int64)
        for first in rng.integers(0, len(table) // leaf, senders) * leaf:
            for slot in range(first, first + leaf):
                index = starts[slot] + used[slot]
                if index < starts[slot + 1]:
                    table[slot] ^= records[order[index]]
                    used[slot] += 1


def under_attack(args: argparse.Namespace) -> Iterator[Record]:
    """Measure honest records lost, for every leaf size, tolerated and true share."""
    for attack, leaf, tolerated, share in cases():
        placement = PeelingPlacement(
            capacity=args.senders,
            message_size=MESSAGE,
            slots_per_leaf=leaf,
            tolerated=tolerated,
            salt=b"benchmark",
        )
        factor = sum(placement.tables) / args.senders
        bad = round(share * args.senders)
        lost = []
        for seed in range(args.repeat):
            rng = np.random.default_rng([seed, leaf, bad])
            numbered = [index.to_bytes(MESSAGE, "big") for index in range(args.senders - bad)]
            records, slots = placement.place(numbered, SeededEntropy(seed))
            tables = open_tables(placement, records, slots)
            if attack == "garbage":
                garbage(tables, leaf, bad, rng)
            else:
                pieces(placement, tables, bad, rng)
            delivered = set(placement.decode(tables).messages)
            lost.append(len(numbered) - len(delivered.intersection(numbered)))
        yield {
            "attack": attack,
            "slots_per_leaf": leaf,
            "tolerated": tolerated,
            "malicious": share,
            "factor": round(factor, 3),
            "lost": lost,
            "honest": args.senders - bad,
            "predicted": computed_loss(factor, leaf, share),
        }


def computed_loss(factor: float, leaf: int, share: float) -> float:
    """Share of honest records lost, where malicious senders write no record of their own."""
    return lost_share(factor / (1 - share), share * leaf / (1 - share))


def cases() -> Iterator[tuple[str, int, float, float]]:
    """Attack, slots per leaf, tolerated share, true share."""
    for tolerated in TOLERATED:
        for leaf in LEAVES:
            if factor_for(10**5, tolerated * leaf) > LARGEST:
                continue
            for share in (0.0, *SHARES) if tolerated == 0 else SHARES:
                if share or leaf == 1:
                    yield "garbage", leaf, tolerated, share
                if leaf <= 4 and share in (0.001, 0.01, 0.05):
                    yield "pieces", leaf, tolerated, share


def peeled(slots: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """Which of some records stay, given their slots in tables of so many slots in all."""
    count = np.bincount(slots.ravel(), minlength=size)
    sums = np.zeros(size, np.int64)
    np.bitwise_xor.at(sums, slots.ravel(), np.repeat(np.arange(len(slots)), COPIES))
    stays = np.ones(len(slots), np.bool_)
    touched = np.arange(size)
    while True:
        result = np.unique(sums[touched[count[touched] == 1]])
        if not len(result):
            return stays
        stays[result] = False
        touched = slots[result].ravel()
        np.subtract.at(count, touched, 1)
        np.bitwise_xor.at(sums, touched, np.repeat(result, COPIES))


def by_chance(args: argparse.Namespace) -> Iterator[Record]:
    """Measure how often a round of honest senders is not read whole."""
    rng = np.random.default_rng(1)
    for capacity in CAPACITIES:
        ruled = slots_per_table(capacity, 0)
        plain = math.ceil((1.5 if capacity < 1000 else 1.35) * capacity / COPIES)
        for rule, slots in (("factor only", plain), ("as built", ruled)):
            # The factor alone fails often enough to be measured with fewer rounds.
            rounds = args.chance // capacity // (1 if rule == "as built" else 10)
            failed = 0
            at_once = max(1, 400_000 // (capacity + COPIES * slots))
            for start in range(0, rounds, at_once):
                now = min(at_once, rounds - start)
                drawn = rng.integers(0, slots, (now, capacity, COPIES))
                drawn += np.arange(COPIES) * slots
                drawn += np.arange(now)[:, None, None] * (COPIES * slots)
                stays = peeled(drawn.reshape(-1, COPIES), now * COPIES * slots)
                failed += int(stays.reshape(now, capacity).any(axis=1).sum())
            yield {
                "capacity": capacity,
                "rule": rule,
                "slots": COPIES * slots,
                "factor": round(COPIES * slots / capacity, 2),
                "rounds": rounds,
                "failed": failed,
                "meeting": capacity * (capacity - 1) / 2 / slots**COPIES,
            }


def single_slots(args: argparse.Namespace) -> Iterator[Record]:
    """Measure the paper's placement beside both formulas."""
    for ratio in (2.7, 5, 10, 20):
        placement = SingleSlot(
            capacity=args.senders,
            message_size=MESSAGE,
            table=round(ratio * args.senders),
            salt=b"benchmark",
        )
        numbered = [index.to_bytes(MESSAGE, "big") for index in range(args.senders)]
        tables = open_tables(placement, *placement.place(numbered, SeededEntropy(ratio)))
        decoded = placement.decode(tables, expected=args.senders)
        yield {
            "ratio": ratio,
            "delivered": decoded.delivered_count / args.senders,
            "exact": math.exp(-1 / ratio),
            "paper": success_rate(args.senders, placement.tables[0]),
            "collided_slots": decoded.undelivered_slots,
            "lost": decoded.lost_count,
            "estimated": round(placement.estimate(decoded)),
        }


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns."""
    print("| " + " | ".join(heads) + " |")
    print("|" + " ---: |" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def print_attack(records: Sequence[Record], attack: str) -> None:
    """One line for each leaf size and tolerated share, one column for each true share."""
    mine = [record for record in records if record["attack"] == attack]
    shares = sorted({record["malicious"] for record in mine})
    lines: dict[tuple[float, int], dict[float, Record]] = {}
    for record in mine:
        key = (record["tolerated"], record["slots_per_leaf"])
        lines.setdefault(key, {})[record["malicious"]] = record
    rows = []
    for (tolerated, leaf), line in lines.items():
        factor = next(iter(line.values()))["factor"]
        row = [f"{leaf}", f"{tolerated:.0%}", f"{factor:.2f}"]
        row += [
            "/".join(map(str, line[share]["lost"])) if share in line else "" for share in shares
        ]
        rows.append(row)
    print(f"Honest records lost to {attack}, each run, by share of malicious senders:")
    table(["S", "tolerated", "factor", *(f"{share:.1%}" for share in shares)], rows)


def draw(records: Sequence[Record], senders: int) -> str:
    """Loss against the share of malicious senders: by leaf size, and by size of the tables."""
    title = f"Honest records lost of {senders:,}, by share of senders who write garbage"
    left, right = Box(70, 80, 440, 400), Box(600, 80, 440, 400)
    parts = [text((20, 30), title, "start", INK, bold=True, size=16)]
    mine = [r for r in records if r["attack"] == "garbage" and r["malicious"]]
    by_leaf = {
        f"{leaf} slot{'s' * (leaf > 1)} per leaf": [
            r for r in mine if r["slots_per_leaf"] == leaf and r["tolerated"] == 0
        ]
        for leaf in LEAVES
    }
    by_size = {
        f"tolerates {share:.0%}": [
            r for r in mine if r["slots_per_leaf"] == 2 and r["tolerated"] == share
        ]
        for share in TOLERATED
    }
    for box, lines, message in (
        (left, by_leaf, "1.35 slots per sender"),
        (right, by_size, "2 slots per leaf, enlarged tables"),
    ):
        parts += panel_of(box, lines, message)
    parts.append(text((20, 625), "Lines: computed. Discs: measured; rings: nothing lost.", "start"))
    return svg.document(1080, 640, parts, title)


def panel_of(box: Box, lines: dict[str, list[Record]], title: str) -> Iterator[str]:
    """Draw one panel; losses below one record in 100,000 lie on its floor."""
    panel = Panel(box, (0.001, 0.1), (1e-5, 1.0))
    yield from panel.frame((0.001, 0.01, 0.1), (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1), title)
    yield text((box.x + box.width, box.y + box.height + 32), "share of malicious senders", "end")
    shares = np.geomspace(*panel.xs, 200)
    below = box.y + box.height + 36
    for index, (name, records) in enumerate(line for line in lines.items() if line[1]):
        leaf, factor = records[0]["slots_per_leaf"], records[0]["factor"]
        computed = [max(panel.ys[0], computed_loss(factor, leaf, share)) for share in shares]
        points = [panel.place(*point) for point in zip(shares, computed, strict=True)]
        yield path(points, COLOURS[index])
        for record in records:
            share = float(np.mean(record["lost"])) / record["honest"]
            place = panel.place(record["malicious"], max(panel.ys[0], share))
            yield mark(place, "disc" if share else "ring", COLOURS[index], size=3.5)
        yield mark((box.x + 6, below + 17 * index - 4), "disc", COLOURS[index], size=4)
        label = f"{name} ({factor:.2f} slots per sender)" if "tolerates" in name else name
        yield text((box.x + 16, below + 17 * index), label, "start")


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--senders", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=2, help="runs of each attack")
    parser.add_argument("--draw", action="store_true", help="only draw the last results again")
    parser.add_argument("--chance", type=int, default=10_000_000, help="records for each capacity")
    args = parser.parse_args()
    if not args.draw:
        measure(args)
    outcome = json.loads(RESULTS.read_text(encoding="utf-8"))
    drawn = draw(outcome["attacks"], outcome["senders"])
    RESULTS.with_suffix(".svg").write_text(drawn, encoding="utf-8")


def measure(args: argparse.Namespace) -> None:
    """Measure everything, print tables, write JSON."""
    outcome: dict[str, Any] = {"senders": args.senders}
    outcome["single"] = list(single_slots(args))
    print("One random slot (the paper):")
    table(
        ["N/R", "delivered", "e^(-R/N)", "paper", "collided slots", "lost", "estimated"],
        [
            [f"{r['ratio']}", *(f"{r[key]:.4f}" for key in ("delivered", "exact", "paper"))]
            + [f"{r[key]:,}" for key in ("collided_slots", "lost", "estimated")]
            for r in outcome["single"]
        ],
    )
    outcome["chance"] = list(by_chance(args))
    print("Rounds of honest senders that peeling does not read whole:")
    table(
        ["senders", "rule", "slots", "per sender", "rounds", "failed", "share", "two meet"],
        [
            [
                *(f"{r['capacity']:,}", r["rule"], f"{r['slots']:,}", f"{r['factor']:.2f}"),
                *(f"{r['rounds']:,}", f"{r['failed']:,}", f"{r['failed'] / r['rounds']:.1e}"),
                f"{r['meeting']:.1e}",
            ]
            for r in outcome["chance"]
        ],
    )
    outcome["attacks"] = list(under_attack(args))
    for attack in ("garbage", "pieces"):
        print_attack(outcome["attacks"], attack)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
