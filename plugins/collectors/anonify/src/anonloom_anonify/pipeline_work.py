"""The work of a server done by the stages of a pipeline."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom import Classes, Guard, Release, Table
from anonloom.errors import PluginError, TransportError
from anonloom.hierarchies import STAR
from anonloom.kinds import Stages
from anonloom.lazy import pd
from anonloom_anonify.work import ClassAssignment
from anonloom_transport import RecordLayout

#: Class of a record that has none.
NONE = -1


@attrs.define(eq=False)
class PipelineWork:
    """What one server computes with the declared stages; see `Work`.

    Attributes
    ----------
    registration, answer
        How quasi-identifiers and answers are written.
    guard
        What every class must satisfy, sampling and drop-outs taken into account.
    first
        Whether this server's stages are those of the run, of which observers and the report are
        told. Every server computes the same; one account of it is enough.
    prepared, classes
        The table of which classes were made last, and these classes.
    """

    registration: RecordLayout
    answer: RecordLayout
    guard: Guard = attrs.field(repr=False)
    stages: Stages = attrs.field(repr=False)
    first: bool
    prepared: Table | None = attrs.field(default=None, init=False, repr=False)
    classes: Classes | None = attrs.field(default=None, init=False, repr=False)

    def classify(self, records: NDArray[np.uint8], seed: int) -> ClassAssignment:
        """Run the stages up to the generalizer on what was registered."""
        decoded = self.registration.decode(records)
        readable = np.flatnonzero(decoded.readable)
        if not len(readable):
            raise TransportError("nobody registered with anything that can be read")
        stages = self._stages(seed)
        # The origin of a row is its place among all records: mechanisms may leave rows out.
        prepared = stages.prepare(
            Table.build(decoded.frame, self.registration.schema, readable.astype(np.int64))
        )
        classes = stages.partition(prepared, self.guard)
        release = stages.generalize(prepared, classes)
        if release.origin is None or release.classes is None:
            raise PluginError("the stages do not say which class a record is in")
        self.prepared, self.classes = prepared, classes
        numbers = np.full(len(records), NONE, np.int64)
        numbers[release.origin] = release.classes + 1
        left_out = len(readable) - len(release)
        refused = dict(decoded.refused)
        if left_out:
            refused["left out by a sampler before classes were made"] = left_out
        return ClassAssignment(numbers, cells_of(release), refused)

    def draw(self, numbers: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
        """Let the sampler draw from classes."""
        return self._stages(seed).sample_mask(numbers - 1)

    def readable(self, answers: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return which answers can be read."""
        return self.answer.decode(answers).readable

    def _stages(self, seed: int) -> Stages:
        return self.stages.with_seed(seed) if self.first else self.stages.for_server(seed)


def cells_of(release: Release) -> tuple[tuple[str | None, ...], ...]:
    """Return what is published of each class, first of suppressed records.

    Raises
    ------
    PluginError
        When the records of a class are not published alike: nobody could be told by class.
    """
    assert release.classes is not None
    quasi = release.schema.quasi
    count = int(release.classes.max(initial=-1)) + 1
    cells: list[list[Any]] = []
    for name in quasi:
        codes = release.frame[name].cat.codes.to_numpy().astype(np.int64)
        of_class = np.full(count + 1, -1, np.int64)
        of_class[release.classes] = codes
        in_class = release.classes >= 0
        if not np.array_equal(of_class[release.classes[in_class]], codes[in_class]):
            raise PluginError(
                f"the generalizer publishes column '{name}' of one class in different ways, and "
                "donors are told by class only"
            )
        texts = [*release.frame[name].cat.categories, None]
        cells.append([texts[code] for code in of_class[:count].tolist()])
    return (tuple(STAR for _ in quasi), *zip(*cells, strict=True))


def spread(
    cells: tuple[tuple[str | None, ...], ...], at: int, numbers: NDArray[np.int64]
) -> "pd.Series[Any]":
    """Return the cells of one quasi-identifier for records of these classes."""
    texts = np.array([of_class[at] for of_class in cells], object)
    codes, categories = pd.factorize(texts)
    return pd.Series(
        pd.Categorical.from_codes(
            codes[numbers].astype(np.int32), categories=pd.Index(categories, dtype="str")
        )
    )
