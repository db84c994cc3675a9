"""The settings of the paper's figures 8 and 9, as campaigns."""

import attrs

from anonloom_sentinels_twins.work_check import Campaign

#: Zipf's law with exponent 1 over four classes, as in figure 8(a).
ZIPF = tuple((1 / rank) / (1 + 1 / 2 + 1 / 3 + 1 / 4) for rank in (1, 2, 3, 4))
#: Figure 9(c), whose text gives no budget: 50 extra jobs only move the level of both curves.
NINE_C = Campaign(jobs=1000, workers=10, lazy=4, omission=0.2, classes=ZIPF, budget=50)
#: Figure 9(a): 49 lazy of 100 workers omit half of their jobs.
NINE_A = attrs.evolve(NINE_C, workers=100, lazy=49, omission=0.5)
#: Figure 9(b) at its end: all workers are lazy and omit everything.
NINE_B = attrs.evolve(NINE_C, lazy=10, omission=1.0)

#: Figure 8: the share of sentinels that the most frequent class has, by how they are chosen. Of
#: the inverse distribution the paper says the same as of the data's; see the README.
GUESSED = {"data": 0.48, "inverse": 0.48, "uniform": 0.25}
#: Figure 9(c): where the curves of sentinels and twins cross.
CROSSING = 0.598


def printed_threshold(classes: int) -> float:
    """Return the share of the most frequent class above which the printed rule takes sentinels."""
    return 0.5 * (1 + classes)
