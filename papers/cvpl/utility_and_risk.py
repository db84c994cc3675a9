"""R9: whether the utility of a protection and its linkage rate are related, proxy by proxy.

The paper gives one utility per protection and does not say how Table 11's four proxies are put
together. Its correlation is that of the 13 rows of Table 13, which give r = 0.43 again.
"""

from collections.abc import Sequence

import attrs

from papers.cvpl import paper_tables
from papers.cvpl.paper_runs import LR, PROXIES, Runs

#: Two correlations with each proxy: together they find a relation by chance once in twenty times.
LEVEL = 0.05 / (2 * len(PROXIES))
#: Fewer protections say nothing.
LEAST = 4


@attrs.frozen
class Relation:
    """Pearson's and Spearman's correlation, each with its p, over so many protections."""

    r: float
    p: float
    rank: float
    rank_p: float
    protections: int

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> "Relation":
        """Relate the members of pairs."""
        from scipy import stats

        ours, theirs = zip(*pairs, strict=True)
        linear, rank = stats.pearsonr(ours, theirs), stats.spearmanr(ours, theirs)
        return cls(
            float(linear.statistic),
            float(linear.pvalue),
            float(rank.statistic),
            float(rank.pvalue),
            len(pairs),
        )

    @property
    def is_related(self) -> bool:
        """Whether either correlation differs from 0."""
        return min(self.p, self.rank_p) < LEVEL


def relations(runs: Runs, proxy: str) -> Relation | None:
    """Relate the linkage rate and a proxy over the protections of Table 13; None where too few."""
    pairs = [
        (rate, utility)
        for case in paper_tables.TABLE_13
        for rate, utility in [(runs.mean(LR, case), runs.mean(proxy, case))]
        if rate is not None and utility is not None
    ]
    # What does not vary is related to nothing, and has no correlation.
    varied = all(len(set(values)) > 1 for values in zip(*pairs, strict=True))
    return Relation.of(pairs) if len(pairs) >= LEAST and varied else None


def papers_relation() -> Relation:
    """Relate the columns CVPL-LR and Utility of the paper's Table 13."""
    return Relation.of([(row[0], row[4]) for row in paper_tables.TABLE_13.values()])
