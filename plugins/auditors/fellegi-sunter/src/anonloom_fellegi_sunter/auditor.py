"""The auditor `fellegi-sunter`: who could be found again by probabilistic record linkage."""

from collections.abc import Sequence
from typing import ClassVar

import attrs
import numpy as np

from anonloom import (
    AuditInput,
    Finding,
    Findings,
    Release,
    Schema,
    StageContext,
    Table,
    param,
    short_repr,
)
from anonloom.errors import DataError
from anonloom.findings import Question
from anonloom.params import all_of, at_least, distinct, not_empty
from anonloom.typing import IntArray
from anonloom_fellegi_sunter.agreement import (
    MOST_COLUMNS,
    Attribute,
    attributes_of,
    select_attributes,
)
from anonloom_fellegi_sunter.figures import (
    COARSE,
    MORE_ROWS,
    Figures,
    Truth,
    coverage,
    nothing_compared,
)
from anonloom_fellegi_sunter.linking import Linkage, candidates_of, link
from anonloom_fellegi_sunter.model import Model, Others
from anonloom_fellegi_sunter.naming import NamedRows
from anonloom_linkage.aligned_columns import AlignedColumn, align_columns, shared_columns
from anonloom_linkage.blocking import Granularity, Scheme, guess_scheme, scheme
from anonloom_linkage.top2_search import Blocks
from anonloom_risk import Answers, NearestRows, RiskAuditor, align_evidence, right_rows

#: What an attacker may know of people; sensitive values are what they look for.
KNOWN = frozenset({"quasi", "label", "other"})


@attrs.frozen(kw_only=True)
class FellegiSunter(RiskAuditor):
    """Links the original to the release as a classical record linkage would."""

    question: ClassVar[Question] = "linkability"

    blocking: tuple[str, ...] | dict[str, Granularity] | None = param(
        help="Columns that must agree before records are compared: names, or per column the width "
        "of its bins (of dates and times in days), the level of its hierarchy, `exact` or `auto`; "
        "by default guessed from the quasi-identifiers.",
        default=None,
        check=distinct(),
    )
    columns: tuple[str, ...] | None = param(
        help="Columns to compare; by default the published quasi-identifiers, labels and others.",
        default=None,
        check=all_of(not_empty(), distinct()),
    )
    tolerance: dict[str, float] = param(
        help="How far a number may be from a published one to agree: of a date in days, of a time "
        "in seconds.",
        default=attrs.Factory(dict),
    )
    share_of_sd: float = param(
        help="The tolerance of columns that `tolerance` does not name, as a share of their "
        "standard deviation.",
        default=0.1,
        check=at_least(0),
    )
    others: Others = param(
        help="How pairs agree that do not match: as different people of the original do, or, as "
        "in the textbook, column by column, with EM to find how often.",
        default="null",
    )

    def __attrs_post_init__(self) -> None:
        """Refuse what no column can mean."""
        for name, allowed in self.tolerance.items():
            if not 0 <= allowed < np.inf:
                raise ValueError(
                    f"the tolerance of '{name}' must be a number of at least 0. "
                    f"Got {allowed!r} instead."
                )
        for name, how in self._granularities.items():
            if not isinstance(how, str) and not 0 < how < np.inf:
                raise ValueError(
                    f"the blocking of '{name}' must be a number above 0, 'exact' or 'auto'. "
                    f"Got {how!r} instead."
                )
        if self.columns is not None and len(self.columns) > MOST_COLUMNS:
            raise ValueError(
                f"at most {MOST_COLUMNS} columns can be compared, as their patterns are counted. "
                f"Got {len(self.columns)}."
            )

    @property
    def _granularities(self) -> dict[str, Granularity]:
        return self.blocking if isinstance(self.blocking, dict) else {}

    def problem(self, schema: Schema) -> str | None:
        """Say which of the columns is not published, or is no number though it is named as one."""
        named = (*(self.blocking or ()), *(self.columns or ()), *self.tolerance)
        unpublished = schema.publication_problem(named)
        if unpublished is not None:
            return unpublished
        for name in self.tolerance:
            if schema[name].type == "category":
                return f"column '{name}' is a category: there is no tolerance"
        return None

    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Name the row with the greatest weight; surer, the less other people resemble the target.

        The model is estimated from the targets themselves: matching pairs from those with the
        release, other pairs from those of two targets.
        """
        prepared = self._prepare(targets, case.release)
        names = tuple(attribute.column.name for attribute in prepared.attributes)
        right, margin = np.zeros(len(targets)), np.full(len(targets), -np.inf)
        if prepared.pairs and prepared.attributes:
            nobody = np.full(len(case.release), -1, np.int64)
            linkage = prepared.link(_persons(targets), nobody, self.others, context)
            aligned = align_evidence(case, targets, names)
            nearest = NearestRows.of(aligned, context.workers)
            named = NamedRows.of(linkage, nearest.row)
            right = right_rows(case, aligned, named.row, context.rng, context.workers)
            margin = named.margin
        return [
            Answers(
                name="weight",
                right=right,
                score=margin,
                columns=names,
                meaning="An attacker names the row whose agreement with the person is least "
                "likely between strangers.",
            )
        ]

    def _prepare(self, records: Table, release: Release) -> "_Prepared":
        """Bring records and release into one representation, and divide them into blocks."""
        columns, absent = self._column_names(records, release)
        aligned = {item.name: item for item in self._aligned_columns(records, release, columns)}
        blocking = self._scheme(records, tuple(aligned.values()))
        every = attributes_of([aligned[name] for name in columns], self.tolerance, self.share_of_sd)
        # What no pair at all agrees in takes no place among the patterns.
        attributes = select_attributes([item for item in every if item.chance > 0])
        blocks = blocking.blocks(len(records), len(release))
        candidates = candidates_of(blocks, len(records), len(release))
        return _Prepared(attributes, every, blocking, blocks, candidates, absent)

    def details(self, case: AuditInput, context: StageContext) -> Findings:
        """Link every record of the original to the release, and to the rest of the original."""
        original = case.original
        assert original is not None, "needs"
        prepared = self._prepare(original, case.release)
        attributes, every, blocking = prepared.attributes, prepared.every, prepared.blocking
        candidates, pairs, absent = prepared.candidates, prepared.pairs, prepared.absent
        records, rows = len(original), len(case.release)
        attacked = (
            f"blocking: {blocking.words}",
            f"compared: {', '.join(attribute.words for attribute in attributes) or 'nothing'}",
        )
        result = coverage(attacked, candidates, pairs)
        left_out = _left_out(every, attributes) | absent
        if not pairs or not attributes:
            reason = (
                "no record shares a block with a published row"
                if not pairs
                else "no column agrees in any pair"
            )
            degenerate = _model_finding(None, (reason,), attacked)
            none = nothing_compared(reason, attacked)
            return Findings.of(degenerate, none, result, _left_out_finding(left_out, every))
        truth = np.full(rows, -1, np.int64) if case.truth is None else case.truth
        after = prepared.link(_persons(original), truth, self.others, context)
        left_out |= {
            attributes[index].column.name: why for index, why in after.model.left_out.items()
        }
        figures = Figures(
            after,
            None if case.truth is None else _true_pairs(truth, blocking, records),
            attacked,
            _bounds(attributes, records, rows),
            context.rng,
        )
        return Findings.of(
            _model_finding(after.model, after.model.flaws, attacked),
            figures.findings(),
            result,
            _left_out_finding(left_out, every),
            figures.charts(),
            figures.private_rows(),
        )

    def _column_names(self, original: Table, release: Release) -> tuple[list[str], dict[str, str]]:
        """Columns to compare, and those asked for that the release does not have."""
        if self.columns is None:
            return list(shared_columns(original, [release], KNOWN)), {}
        there = [name for name in self.columns if name in release.frame]
        absent = [name for name in self.columns if name not in release.frame]
        return there, dict.fromkeys(absent, "is not in the release")

    def _aligned_columns(
        self, original: Table, release: Release, columns: list[str]
    ) -> tuple[AlignedColumn, ...]:
        """All columns that are compared or blocked by."""
        keys = self.blocking
        if keys is None:
            keys = shared_columns(original, [release], frozenset({"quasi"}))
        for name in keys:
            if name not in release.frame:
                raise DataError(
                    f"column '{name}' is not in the release: records cannot be blocked by it"
                )
        return align_columns(original, [release], list(dict.fromkeys([*columns, *keys])))

    def _scheme(self, original: Table, aligned: tuple[AlignedColumn, ...]) -> Scheme:
        if self.blocking is None:
            return guess_scheme(aligned, original.schema.quasi)
        return scheme(aligned, self.blocking)


@short_repr
@attrs.frozen(eq=False)
class _Prepared:
    """Records and a release as they are compared.

    Attributes
    ----------
    attributes, every
        The columns that are compared, and all that were asked for.
    candidates
        Number of candidates of every record.
    absent
        Columns that the release does not have, and that in words.
    """

    attributes: tuple[Attribute, ...]
    every: tuple[Attribute, ...]
    blocking: Scheme
    blocks: tuple[Blocks, ...]
    candidates: IntArray
    absent: dict[str, str]

    @property
    def pairs(self) -> int:
        """Pairs of a record and a row of the release that are compared."""
        return int(self.candidates.sum())

    def link(
        self, persons: IntArray, truth: IntArray, others: Others, context: StageContext
    ) -> Linkage:
        """Estimate the model, and link all records with it."""
        return link(self.attributes, self.blocking, self.blocks, persons, truth, others, context)


def _persons(original: Table) -> IntArray:
    """Person of every record: nobody is linked to themselves in the null."""
    persons = original.persons
    return np.arange(len(original)) if persons is None else persons.astype(np.int64)


def _true_pairs(truth: IntArray, blocking: Scheme, records: int) -> Truth:
    rows = np.flatnonzero(truth >= 0)
    together = np.asarray(blocking.meet(truth[rows], rows), bool)
    return Truth.of(truth, together, records)


def _bounds(attributes: tuple[Attribute, ...], records: int, rows: int) -> tuple[str, ...]:
    """Say in what the null is kinder to the release than chance would be."""
    results = []
    if any(attribute.coarse for attribute in attributes):
        results.append(COARSE)
    if rows > records:
        results.append(MORE_ROWS)
    return tuple(results)


def _left_out(every: tuple[Attribute, ...], kept: tuple[Attribute, ...]) -> dict[str, str]:
    """Why columns are not compared at all."""
    crowded = f"agrees by chance more often than the {len(kept)} that are compared"
    reasons = {}
    for item in every:
        if not item.chance:
            silent = bool(item.silent.all())
            reasons[item.column.name] = (
                "is open in every row of the release" if silent else "agrees in no pair"
            )
        elif item not in kept:
            reasons[item.column.name] = crowded
    return reasons


def _left_out_finding(left_out: dict[str, str], every: tuple[Attribute, ...]) -> Finding:
    unread = {item.column.name: item.column.unread[1] for item in every if item.column.unread[1]}
    return Finding(
        name="left_out",
        value=len(left_out),
        better="neither",
        unit="columns",
        meaning="Columns from which the model could learn nothing.",
        columns=(),
        assumptions=(
            *(f"column '{name}' {why}" for name, why in left_out.items()),
            *(
                f"column '{name}': {cells} cells could not be read and say nothing"
                for name, cells in unread.items()
            ),
        ),
    )


def _model_finding(
    model: Model | None, flaws: tuple[str, ...], attacked: tuple[str, ...]
) -> Finding:
    """Say whether there is a model that can be relied on."""
    if model is None or flaws:
        meaning = "EM found no model of matching pairs" + (
            ": the weights are those of its start, m = 0.9." if model is not None else "."
        )
    else:
        meaning = "EM found a class of pairs that agree as matches do."
    prior = () if model is None else (f"share of the pairs that match: {model.estimate.prior:.3g}",)
    return Finding(
        name="model",
        value="sound" if model is not None and not flaws else "degenerate",
        better="neither",
        meaning=meaning,
        assumptions=(*flaws, *prior, *attacked),
    )
