"""The parameters of an attacker, which all auditors of this plugin share."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from threadpoolctl import threadpool_limits

from anonloom import AuditInput, Findings, Schema, Source, StageContext, Table, param
from anonloom.findings import Question
from anonloom.params import at_least, between, distinct
from anonloom.typing import IntArray
from anonloom_cvpl.configuration import COMPARED, Configuration
from anonloom_cvpl.evidence import Beyond
from anonloom_cvpl.projection import Method, ProjectionSpec
from anonloom_cvpl.similarity import Similarity
from anonloom_linkage.blocking import Granularity
from anonloom_linkage.features import Categories, Clock, Encoding
from anonloom_risk import Answers, RiskAuditor, right_rows
from anonloom_risk.nearest_rows import CONTROL, RELEASE, TARGETS


@attrs.frozen(kw_only=True)
class Attacker(RiskAuditor):
    """An auditor that links as one configuration of CVPL does."""

    question: ClassVar[Question] = "linkability"

    columns: tuple[str, ...] | None = param(
        help="Columns that are compared; by default all that both tables show, but sensitive ones.",
        default=None,
        check=distinct(),
    )
    blocking: dict[str, Granularity] | tuple[str, ...] | None = param(
        help="Only records that agree on these columns are compared: names, or names with the "
        "width of bins (days for dates and times), the level of a hierarchy, or `exact`; up to "
        "three ways are guessed by default that share no column, and any of them brings a pair "
        "together; an empty list compares all pairs.",
        default=None,
    )
    also: tuple[dict[str, Granularity], ...] = param(
        help="Further ways of blocking; pairs that agree in any of them are compared.", default=()
    )
    hash_bits: int = param(
        help="Instead of columns, block by the corner of so many random hyperplanes in which a "
        "record lies; 0 for columns.",
        default=0,
        check=between(0, 30),
    )
    hash_tables: int = param(
        help="How often hyperplanes are drawn; pairs that share any corner are compared.",
        default=3,
        check=at_least(1),
    )
    exact: int | None = param(
        help="Blocks with more candidates than this are treated as `beyond` says; all are searched "
        "exactly by default.",
        default=None,
        check=at_least(1),
    )
    beyond: Beyond = param(
        help="What is done with larger blocks: searched approximately, which needs the extra "
        "`approximate`; cut off after so many candidates (cutoff); so many drawn at random "
        "(sample); or divided along the first component (divide).",
        default="approximate",
    )
    categories: Categories = param(help="How categories become numbers.", default="one-hot")
    scale_categories: bool = param(
        help="Whether indicators of categories are scaled like numbers.", default=False
    )
    covering: Literal["expected", "middle"] = param(
        help="What a generalized cell stands for: the mean of what it covers in the original, or "
        "the middle of an interval and equal shares of leaves.",
        default="expected",
    )
    clock: tuple[Clock, ...] = param(
        help="What of dates and times is compared.",
        default=("position", "hour", "weekday"),
        check=distinct(),
    )
    cyclic: bool = param(
        help="Whether hours and weekdays lie on a circle, 23 o'clock beside midnight.",
        default=False,
    )
    projection: Method = param(
        help="What records are projected by; `robust` and `umap` need an extra.", default="pca"
    )
    fit: Literal["joint", "source", "target", "reference"] = param(
        help="What scales and projection are fitted on: both tables, the original, the release, or "
        "a table of its own, so that several audits share one projection.",
        default="joint",
    )
    reference: Source | None = param(
        help="Where the table of `fit: reference` comes from; it has the compared columns.",
        default=None,
    )
    variance: float = param(
        help="Share of the variance that the components keep.", default=0.9, check=between(0, 1)
    )
    similarity: Similarity = param(
        help="How alike two projected records are: cosine, rbf (of the Euclidean distance), "
        "whitened (cosine of the whitened components), or jaccard (of equal values).",
        default="cosine",
    )

    @property
    def configuration(self) -> Configuration:
        """The attacker that these parameters describe."""
        return Configuration(
            columns=self.columns,
            blocking=self.blocking,
            also=self.also,
            hash_bits=self.hash_bits,
            hash_tables=self.hash_tables,
            exact=self.exact,
            beyond=self.beyond,
            encoding=Encoding(
                categories=self.categories,
                scale_categories=self.scale_categories,
                covering=self.covering,
                clock=self.clock,
                cyclic=self.cyclic,
            ),
            fit=self.fit,
            reference=self.reference,
            projection_spec=ProjectionSpec(method=self.projection, variance=self.variance),
            similarity=self.similarity,
        )

    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Name the most similar row, as configured."""
        with one_thread():
            return [configured_link(self.configuration, case, targets, context)]

    def details(self, case: AuditInput, context: StageContext) -> Findings:
        """Return CVPL's own figures."""
        with one_thread():
            return self.link(case, context)

    @abstractmethod
    def link(self, case: AuditInput, context: StageContext) -> Findings:
        """Link every record of the original, and say what was found."""

    def problem(self, schema: Schema) -> str | None:
        """Say which column cannot be compared, or blocked by, and what lacks its other half."""
        if (self.fit == "reference") != (self.reference is not None):
            return "'fit: reference' and 'reference' go together: a table, and where it comes from"
        names = [*(self.columns or ()), *(self.blocking or ())]
        names += [name for asked in self.also for name in asked]
        for name in names:
            wrong = schema.publication_problem((name,))
            if wrong is not None:
                return wrong
            if schema[name].role not in COMPARED:
                return (
                    f"column '{name}' has role '{schema[name].role}': what is to be protected is "
                    "not what an attacker knows"
                )
        return self._wrong_key(schema)

    def _wrong_key(self, schema: Schema) -> str | None:
        asked: list[tuple[str, Any]] = []
        for item in (self.blocking, *self.also):
            asked += item.items() if isinstance(item, dict) else ()
        for name, how in asked:
            number = not isinstance(how, str)
            if schema[name].type != "category":
                if number and how <= 0:
                    return f"column '{name}' needs bins wider than 0. Got {how:g} instead."
            elif number and (how < 0 or how != int(how)):
                return f"column '{name}' is a category: level 0, 1, ... Got {how:g} instead."
        return None


def one_thread() -> Any:
    """Return a context for many small matrices: threads of the algebra would wait for each other.

    The searches have threads of their own.
    """
    return threadpool_limits(1, user_api="blas")


def configured_link(
    configuration: Configuration,
    case: AuditInput,
    targets: Table,
    context: StageContext,
    name: str = "linkage",
) -> Answers:
    """Name, for every target, the most similar row of its blocks.

    It is the surer, the less similar the most similar person of the control is.
    """
    assert case.original is not None
    control = () if case.control is None else (case.control,)
    others = [case.release, targets, *control]
    setup = configuration.prepare(case.original, others, context)
    meaning = "The most similar row is named, as the attacker is configured."
    if setup is None:
        nobody = np.full(len(targets), -np.inf)
        return Answers(
            name=name, right=np.zeros(len(targets)), score=nobody, columns=(), meaning=meaning
        )
    evidence = setup.task(RELEASE, TARGETS).evidence(context)
    score = evidence.best
    if control:
        others_best = setup.task(CONTROL, TARGETS).evidence(context).best
        score = np.where(np.isfinite(score), score - np.maximum(others_best, -1.0), -np.inf)
    return Answers(
        name=name,
        right=right_rows(case, setup.columns, evidence.row, context.rng, context.workers),
        score=score,
        columns=tuple(column.name for column in setup.columns),
        meaning=meaning,
    )


def true_rows(case: AuditInput) -> IntArray | None:
    """For every record of the original its row of the release; -1 for none, None if unknown."""
    if case.truth is None or case.original is None:
        return None
    return rows_behind(case.truth, len(case.original))


def rows_behind(owner: IntArray, records: int) -> IntArray:
    """Turn the record of every row into the row of every record; of several the first."""
    rows = np.full(records, -1, np.int64)
    known = np.flatnonzero(owner >= 0)[::-1]
    rows[owner[known]] = known
    return rows
