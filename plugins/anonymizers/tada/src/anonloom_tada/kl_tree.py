"""The partitioner `kl-tree`: a decision tree for the label whose leaves the guard admits."""

from functools import partial
from typing import Literal

import attrs

from anonloom import Classes, Guard, Partitioner, Schema, StageContext, Table, param
from anonloom.errors import UsageError
from anonloom.params import above, all_of, each, not_empty


@attrs.frozen(kw_only=True)
class KLTree(Partitioner):
    """Target-aware partitioning (TA_DA): the first of two steps, before any other partitioner.

    Given classes that the guard does not admit and that cannot be split into admitted ones are
    suppressed.
    """

    task: Literal["prediction", "clustering"] = param(
        help="What the release is for. prediction: splits make the labels of both parts more "
        "uniform; clustering: they bring similar rows together, and no label is looked at.",
        default="prediction",
    )

    labels: dict[str, float] | None = param(
        help="Columns with the role `label` that are to be predicted, and the weight of each; by "
        "default all of them, equally.",
        default=None,
        check=all_of(not_empty(), each(above(0))),
    )

    gain: Literal["auto", "entropy", "gini", "variance"] = param(
        help="What a split of a label must lower. auto: the entropy of a category, the variance of "
        "a number, date or time.",
        default="auto",
    )

    reuse: bool = param(
        help="Whether a quasi-identifier may be split along more than once on a path, as in other "
        "decision trees; task: clustering always does.",
        default=False,
    )

    picture: Literal["columns", "conditions"] = param(
        help="What the picture of the tree in the public report says of a split: its column, or "
        "also its threshold or group, as far as the release shows them, which may say more of a "
        "class than its cells do.",
        default="columns",
    )

    def __attrs_post_init__(self) -> None:
        """Refuse what is said of labels where none is looked at."""
        messages = {"labels": self.labels is not None, "gain": self.gain != "auto"}
        for name, given in messages.items():
            if given and self.task == "clustering":
                raise ValueError(
                    f"'{name}' is for 'task: prediction'; clustering looks at no label"
                )

    @property
    def unrefined(self) -> str | None:
        """What is left undone by a tree for labels alone; clusters are divided to the end."""
        if self.task == "clustering":
            return None
        return (
            "kl-tree is the first of two steps: it divides rows by what predicts the label, and no "
            "partitioner follows that divides its leaves further. More is generalized than the "
            "privacy models demand; another partitioner after it, such as level-order, keeps more."
        )

    def problem(self, schema: Schema) -> str | None:
        """Say which label is missing or has no variance, or None."""
        if self.task == "clustering":
            return None
        present = schema.names_with_role("label")
        if not present:
            return (
                "no column has the role 'label': declare what is to be predicted, or use "
                "'task: clustering'"
            )
        for name in self.labels or present:
            if name not in present:
                listed = ", ".join(f"'{item}'" for item in present)
                return f"column '{name}' does not have the role 'label'; labels: {listed}"
            if self.gain == "variance" and schema[name].type == "category":
                return (
                    f"column '{name}' is a category, which has no variance; use 'gain: entropy' "
                    "or 'gain: gini'"
                )
        return None

    def partition(
        self, table: Table, classes: Classes, guard: Guard, context: StageContext
    ) -> Classes:
        """Return the refined classes."""
        problem = self.problem(table.schema)
        if problem is not None:
            raise UsageError(f"kl-tree: {problem}")
        if not len(classes):
            return classes
        if not table.axes:
            # Nothing to split along: a class is as good as it came.
            return classes.suppress(~guard.admits_classes(table, classes))
        # Imported here: a pipeline that is only checked needs none of it.
        from anonloom_kernels.compiled import announce_interpreted
        from anonloom_tada.targets import for_clusters, for_labels
        from anonloom_tada.tree_chart import LOWERED, findings, picture
        from anonloom_tada.tree_growth import Grower

        if self.task == "clustering":
            weighted, targets = for_clusters(table, classes)
        else:
            weighted, targets = for_labels(table, classes, self._weights(table), self.gain)
        grower = Grower.of(table, weighted, targets, guard, self._reuses)
        announce_interpreted(context, __package__, grower.steps)
        grown = grower.grow(classes, context)
        refined = grown.classes(classes, weighted, grower.order)
        # A split makes admitted parts only; what was never split is as good as it came.
        admitted = guard.admits_classes(table, refined)
        lowered = LOWERED[self.task]
        context.find(*findings(table, grown, lowered, admitted))
        drawn = partial(picture, table, grown, guard, lowered, admitted)
        if self.picture == "columns":
            context.find(*drawn())
        else:
            context.find_later(drawn)
        return refined if admitted.all() else refined.suppress(~admitted)

    @property
    def _reuses(self) -> bool:
        return self.reuse or self.task == "clustering"

    def _weights(self, table: Table) -> dict[str, float]:
        return self.labels or dict.fromkeys(table.schema.names_with_role("label"), 1.0)
