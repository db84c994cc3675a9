"""Source diabetes: the real table where it is at hand, else simulated persons; it says which."""

from typing import Any, Literal

import attrs
import numpy as np

from anonloom import Finding, Schema, Source, StageContext, Table, param
from anonloom.data import check_columns
from anonloom.errors import DataError
from anonloom.kinds import stream
from anonloom.lazy import pd
from anonloom.params import at_least
from anonloom_diabetes import file
from anonloom_diabetes import population as facts
from anonloom_diabetes.simulation import Persons, simulate

COLUMNS = tuple(file.COLUMNS)

#: As many persons as the real table has.
ROWS = 100_000

SIMULATED = "Rows are simulated: nobody in them exists, and figures are not those of real persons."
REAL = "Rows are those of the diabetes prediction table."


@attrs.frozen(kw_only=True)
class Diabetes(Source):
    """Loads the diabetes prediction table, or persons simulated after its aggregates.

    A finding `simulated` says which of both it was.
    """

    which: Literal["auto", "real", "simulated"] = param(
        help="The real table, the simulated one, or the real one where it is at hand.",
        default="auto",
    )
    rows: int | None = param(
        help="Number of persons: 100,000 simulated ones by default, and all real ones; fewer real "
        "ones are drawn at random.",
        default=None,
        check=at_least(1),
    )
    seed: int | None = param(
        help="Seed of the rows, so that they stay the same while that of the pipeline changes; by "
        "default that of the pipeline.",
        default=None,
        check=at_least(0),
    )

    def load(self, schema: Schema, context: StageContext) -> Table:
        """Read or simulate all columns, and keep the declared ones.

        Raises
        ------
        DataError
            When a column is declared that there is not, or when the real table is asked for and
            absent, broken, or too small.
        """
        check_columns(COLUMNS, schema)
        rng = context.rng if self.seed is None else stream(self.seed, "diabetes")
        path = None if self.which == "simulated" else file.find()
        if path is not None:
            frame = self._sample_rows(file.read(path, context), rng)
            context.find(*_real(file.is_known(path)))
        elif self.which == "real":
            raise DataError(
                f"the real diabetes table is not at hand: {file.why_absent()}", hint=file.WHERE
            )
        else:
            frame = _frame(simulate(self.rows or ROWS, rng))
            asked = "'which: simulated' was written"
            context.find(
                _simulated_finding(asked if self.which == "simulated" else file.why_absent())
            )
        return Table.build(frame[list(schema.names)], schema)

    def columns(self) -> tuple[str, ...]:
        """Names of all columns."""
        return COLUMNS

    def _sample_rows(self, frame: "pd.DataFrame", rng: np.random.Generator) -> "pd.DataFrame":
        """So many rows of the real table, in their order."""
        if self.rows is None:
            return frame
        if self.rows > len(frame):
            raise DataError(
                f"the real diabetes table has {len(frame)} rows, fewer than the {self.rows} that "
                "'rows' asks for"
            )
        return frame.iloc[np.sort(rng.permutation(len(frame))[: self.rows])]


def _frame(persons: Persons) -> "pd.DataFrame":
    columns: dict[str, Any] = {
        "gender": _words(persons.gender, facts.GENDERS),
        "age": persons.age,
        "hypertension": _flags(persons.hypertension),
        "heart_disease": _flags(persons.heart_disease),
        "smoking_history": _words(persons.smoking, facts.SMOKING),
        "bmi": persons.bmi,
        "HbA1c_level": persons.hba1c,
        "blood_glucose_level": persons.glucose,
        "diabetes": _flags(persons.diabetes),
    }
    return pd.DataFrame(columns)


def _words(codes: Any, words: tuple[str, ...]) -> Any:
    return pd.Categorical.from_codes(codes, categories=pd.Index(words, dtype="str"))


def _flags(happens: Any) -> Any:
    return _words(happens.astype(np.int8), ("0", "1"))


def _simulated_finding(reason: str) -> Finding:
    return Finding(name="simulated", value=1, meaning=SIMULATED, assumptions=(reason,))


def _real(known: bool) -> list[Finding]:
    return [
        Finding(name="simulated", value=0, meaning=REAL),
        Finding(
            name="known_copy",
            value=int(known),
            meaning="Whether the file is, byte for byte, the copy on which this package's figures "
            "were measured."
            if known
            else "The file has the columns of the table, but is not the copy on which this "
            "package's figures were measured.",
        ),
    ]
