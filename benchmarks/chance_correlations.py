#!/usr/bin/env python3
"""How often the search for sensitive correlations finds something where there is nothing.

    python benchmarks/chance_correlations.py [--tables 100]

Independent tables of mixed attributes: numbers with gaps, skewed categories, two values, forty
values. Two of three sensitive values are critical. Prints the share of the tables in which any set
was found, by measure; at most `alpha` is promised.
"""

import argparse

import numpy as np
import pandas as pd

from anonloom_prism.correlations import Measure
from anonloom_prism.discovery import discover

ALPHA = 0.05
MEASURES: tuple[Measure, ...] = ("cramers-v", "classifier", "multiple-correlation")
#: Rows, attributes, share of each critical value.
SHAPES = (
    (30, 8, 0.1),
    (100, 10, 0.02),
    (100, 10, 0.3),
    (400, 12, 0.01),
    (400, 12, 0.1),
    (1500, 12, 0.005),
)


def independent(rows: int, attributes: int, share: float, seed: int) -> pd.DataFrame:
    """Make a table in which nothing tells anything about the illness."""
    rng = np.random.default_rng([rows, attributes, seed])
    skewed = np.array([60, 20, 10, 4, 3, 1, 1, 1]) / 100
    kinds = (
        lambda: np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
        lambda: rng.choice(list("abcdefgh"), rows, p=skewed),
        lambda: rng.integers(0, 2, rows),
        lambda: rng.choice([f"v{index}" for index in range(40)], rows),
    )
    columns = {f"attribute {index}": kinds[index % len(kinds)]() for index in range(attributes)}
    illness = rng.choice(["x", "y", "z"], rows, p=[share, share, 1 - 2 * share])
    # Every critical value has to occur.
    illness[:3] = ["x", "y", "z"]
    return pd.DataFrame({**columns, "illness": illness})


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=100)
    tables = parser.parse_args().tables
    print(
        f"{'rows':>6}{'attributes':>12}{'share':>8}"
        + "".join(f"{measure:>22}" for measure in MEASURES)
    )
    for rows, attributes, share in SHAPES:
        results = {
            measure: sum(
                bool(
                    discover(
                        independent(rows, attributes, share, seed),
                        "illness",
                        ["x", "y"],
                        measure=measure,
                        alpha=ALPHA,
                    )
                )
                for seed in range(tables)
            )
            for measure in MEASURES
        }
        shares = "".join(f"{results[measure] / tables:>22.2f}" for measure in MEASURES)
        print(f"{rows:>6}{attributes:>12}{share:>8}{shares}", flush=True)


if __name__ == "__main__":
    main()
