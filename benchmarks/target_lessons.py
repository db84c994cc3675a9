"""One division of Adult: the learning part is anonymized, models are judged by the other rows."""

import warnings
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from adult_table import TREES, hierarchy_file, rows_of_adult
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from anonloom import (
    AuditInput,
    Classes,
    Column,
    Guard,
    Partitioner,
    Release,
    Schema,
    StageContext,
    Table,
)
from anonloom.hierarchies import FromFile
from anonloom_learning.classifiers import fit_model
from anonloom_learning.versions import Lesson, Question
from anonloom_level_order.method import LevelOrder
from anonloom_loss import gcp
from anonloom_mondrian.mondrian import Mondrian
from anonloom_privacy_models.k_anonymity import KAnonymity
from anonloom_privacy_models.l_diversity import LDiversity
from anonloom_recoding.hierarchy import ByHierarchy
from anonloom_runner import check
from anonloom_tada.kl_tree import KLTree

LABEL, SENSITIVE = "salary-class", "occupation"
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
#: Share of the people that models learn from.
TRAIN = 0.7
DIVERSITY = 2

#: Every chain by its name.
CHAINS: Mapping[str, tuple[Partitioner, ...]] = {
    "mondrian": (Mondrian(),),
    "kl-tree + mondrian": (KLTree(), Mondrian()),
    "level-order": (LevelOrder(),),
    "kl-tree + level-order": (KLTree(), LevelOrder()),
    "mondrian widest": (Mondrian(cut="widest"),),
    "kl-tree + mondrian widest": (KLTree(), Mondrian(cut="widest")),
    "kl-tree reuse + mondrian": (KLTree(reuse=True), Mondrian()),
}
#: What is compared: each with the first chain of its pair.
PAIRS = (
    ("mondrian", "kl-tree + mondrian"),
    ("level-order", "kl-tree + level-order"),
    ("mondrian widest", "kl-tree + mondrian widest"),
    ("mondrian", "kl-tree reuse + mondrian"),
    ("mondrian", "level-order"),
    ("level-order", "kl-tree + mondrian"),
)
UNPROTECTED = "unprotected"
MODELS = ("logistic-regression", "random-forest", "gradient-boosting")


def adult_with_label(rows: int) -> Table:
    """Return Adult with seven quasi-identifiers, occupation as sensitive, salary as the label."""
    return Table.build(rows_of_adult(rows), schema())


def schema() -> Schema:
    """Say what the columns are."""
    columns = []
    for name in QUASI:
        tree = FromFile(path=hierarchy_file(name, TREES))
        if name == "age":
            columns.append(
                Column(name=name, role="quasi", type="number", publish="interval", hierarchy=tree)
            )
        else:
            columns.append(Column(name=name, role="quasi", hierarchy=tree))
    return Schema(
        (*columns, Column(name=SENSITIVE, role="sensitive"), Column(name=LABEL, role="label"))
    )


def guard_of(k: int) -> Guard:
    """Return k-anonymity with distinct l-diversity."""
    return Guard((KAnonymity(k=k), LDiversity(l=DIVERSITY, of=SENSITIVE)))


@attrs.frozen(eq=False)
class Division:
    """The people who are learned from, and those who judge."""

    table: Table
    learning: NDArray[np.int64]
    judging: NDArray[np.int64]
    seed: int

    @classmethod
    def of(cls, table: Table, seed: int) -> "Division":
        """Divide at random."""
        order = np.random.default_rng(seed).permutation(len(table))
        count = round(TRAIN * len(table))
        return cls(table, np.sort(order[:count]), np.sort(order[count:]), seed)

    def anonymized(self, chain: str, k: int) -> tuple[Release, float]:
        """Anonymize the learning part alone: a tree must not see the labels that judge it."""
        part, guard = self.table.take(self.learning), guard_of(k)
        classes: Classes = part.whole()
        for index, method in enumerate(CHAINS[chain]):
            context = StageContext(stage=f"stage-{index}", seed=1)
            classes = method.partition(part.restricted_to(_reads(method)), classes, guard, context)
        release = ByHierarchy().generalize(part, classes, StageContext(seed=1))
        models = tuple((type(model).__name__, model) for model in guard.models)
        verdicts = check.judge_models(release, models)
        if not all(verdict.holds for verdict in verdicts) or len(classes.suppressed):
            raise RuntimeError(f"{chain} does not keep what is demanded at k = {k}")
        return release, gcp(part, classes)

    def unprotected(self) -> Release:
        """Publish the learning part as it is."""
        part = self.table.take(self.learning)
        # Every row is a class of its own, and covers a single value everywhere.
        every = Classes.from_labels(np.arange(len(part)))
        return ByHierarchy().generalize(part, every, StageContext(seed=1))

    def lesson(self, release: Release) -> Lesson:
        """Encode release and original alike, as the auditor `learning` does."""
        case = AuditInput(release=release, original=self.table)
        question = Question(label=LABEL, positive=None, features=None, rows=None, widths=False)
        return question.lesson(case, np.random.default_rng(0))

    def accuracy(self, lesson: Lesson, model: str) -> float:
        """Learn from the release and judge by original rows of others."""
        original, learned = lesson.versions[0], lesson.versions[-1]
        rows, labels = learned.rows, learned.labels
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if model == "gradient-boosting":
                boosted = HistGradientBoostingClassifier(random_state=self.seed)
                judge: Any = boosted.fit(rows, labels)
            else:
                judge = fit_model(model, self.seed, rows, labels, lesson.shares)
            predicted = judge.predict(original.rows[self.judging])
        return float((predicted == original.labels[self.judging]).mean())


def _reads(method: Partitioner) -> frozenset[str]:
    return frozenset({"quasi", "label"}) if isinstance(method, KLTree) else frozenset({"quasi"})
