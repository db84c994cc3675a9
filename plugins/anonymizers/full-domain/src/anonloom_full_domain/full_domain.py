"""Full-domain: the level of every column, one for the whole table, at which least is lost."""

import attrs
import numpy as np

from anonloom import Classes, Finding, Guard, Partitioner, StageContext, Table, param
from anonloom.params import at_least, between
from anonloom_full_domain.class_assembly import assemble, box_regions
from anonloom_full_domain.evaluation import Evaluation
from anonloom_full_domain.grid import Grid
from anonloom_full_domain.search import Best, evaluated_nodes, exact, greedy, passed_nodes
from anonloom_full_domain.verdicts import Judge
from anonloom_kernels.compiled import announce_interpreted


@attrs.frozen(kw_only=True)
class FullDomain(Partitioner):
    """Global recoding to levels of hierarchies (Samarati 2001), optimal as in Flash.

    Equal values are published equally everywhere. Of all nodes of the lattice that suppress no more
    rows than allowed, one of least loss (GCP) is published.
    """

    suppress_at_most: float = param(
        help="Greatest share of all rows that may be suppressed, counting those that already are.",
        default=0.0,
        check=between(0, 1),
    )

    most_nodes: int = param(
        help="A lattice with more nodes than this is searched greedily: what is found need not be "
        "the best.",
        default=1_000_000,
        check=at_least(1),
    )

    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the refined classes."""
        if not len(classes):
            return classes
        grid = Grid.of(table, classes, guard.min_size)
        judge = Judge(table, grid, guard)
        allowed = self._suppression_limit(table, classes, guard)
        evaluation = Evaluation(grid, judge, allowed, np.arange(len(grid)))
        proven = grid.lattice.nodes <= self.most_nodes
        if not proven:
            warn_of_greed(grid.lattice.nodes, self.most_nodes, context)
        nodes = evaluated_nodes(grid.lattice, allowed > 0) if proven else passed_nodes(grid.lattice)
        announce_interpreted(context, __package__, grid.steps(nodes))
        best = exact(evaluation, context) if proven else greedy(evaluation, context)
        boxes, good = evaluation.admission(best.node)
        _report(grid, best, proven, context)
        label = np.where(good, np.cumsum(good) - 1, -1)[boxes.of_point]
        levels = np.tile(np.array(best.node, np.int64), (int(good.sum()), 1))
        regions = box_regions(grid, boxes.first[good], levels)
        result = assemble(grid, label, regions)
        return attrs.evolve(result, global_recoding=True)

    def _suppression_limit(self, table: Table, classes: Classes, guard: Guard) -> int:
        """How many rows may be suppressed.

        Rows of a given class that the guard refuses as a whole may be, whatever the limit: the top
        of the lattice, which always can be published, does not do better.
        """
        share = int(self.suppress_at_most * classes.total + 1e-9) - len(classes.suppressed)
        refused = ~guard.admits_classes(table, classes)
        return max(share, int(classes.sizes[refused].sum()))


def warn_of_greed(nodes: int, most: int, context: StageContext) -> None:
    """Say that only a part of the lattice was searched."""
    context.warn(
        f"There are {nodes:,} combinations of levels, more than 'most_nodes' ({most:,}): only "
        "those were tried that a greedy search passes, and others may lose less. Raise the limit, "
        "or leave out columns or levels of hierarchies."
    )


def _report(grid: Grid, best: Best, proven: bool, context: StageContext) -> None:
    context.find(
        Finding(
            name="lattice_nodes",
            value=grid.lattice.nodes,
            meaning="Combinations of levels that could be published.",
        ),
        Finding(
            name="evaluated_nodes",
            value=best.evaluated,
            meaning="Combinations of levels for which the classes were formed and judged; the "
            "others were decided by these.",
        ),
        Finding(
            name="search",
            value="optimal" if proven else "not proven optimal",
            meaning="Whether no other combination of levels loses less; a lattice with more nodes "
            "than `most_nodes` is searched greedily.",
        ),
    )
