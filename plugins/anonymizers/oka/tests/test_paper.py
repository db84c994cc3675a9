"""Lin and Wei, An Efficient Clustering Method for k-Anonymity, PAIS 2008.

The full text was not at hand when this was written: it follows the two algorithm boxes, traced by
hand on a small table, not a table of the paper.
"""

import numpy as np
import pandas as pd

from anonloom import Column, Schema, Table
from anonloom_kernels.height_distance import heights_of
from anonloom_oka.one_pass import cluster_cells

#: The range is 16, so that no distance is rounded.
AGES = [1, 2, 3, 4, 15, 16, 17]


def test_both_stages_by_hand():
    """Ages 1, 2, 3, 4, 15, 16, 17 with k = 3: two clusters, seeded by 1 and 2.

    Clustering: 3 is closest to 2; their mean 2.5 attracts 4, and so on: 1 stays alone, the other
    six have the mean 9.5.
    Adjustment: 4 and 15 are 5.5 away from the mean and stay; of 3 and 16, both 6.5 away, the
    earlier one stays. Of what is removed, 17 and 16 come first and fill the cluster of 1, which lacks
    two rows. Then 2 is free to choose: it is closer to {3, 4, 15} than to {1, 16, 17}.
    """
    table = Table.build(
        pd.DataFrame({"age": AGES}), Schema([Column(name="age", role="quasi", type="number")])
    )
    codes = np.ascontiguousarray(table.codes.T)
    draws = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    turns = draws[::-1].copy()

    after, before = cluster_cells(heights_of(table), codes, np.array([0, 7]), draws, turns, 3)

    assert [0, 1, 1, 1, 1, 1, 1] == before.tolist()
    assert [0, 1, 1, 1, 1, 0, 0] == after.tolist()
