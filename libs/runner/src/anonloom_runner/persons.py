"""Rows are not taken for persons where the table says otherwise.

Every model counts persons: by the column with the role `person`, or else by rows. An identifier
that comes back shows that rows are not persons, and stops the run; a column that looks like a
number of persons, and is none by its role, is named in a warning.
"""

from anonloom import Schema, Source, StageContext, Table
from anonloom.data import LikelyPersonColumn, may_differ, numbering_persons
from anonloom.errors import PrivacyError
from anonloom.spec import Unit

__all__ = [
    "refuse_shared_identifiers",
    "warn_of_person_numbers",
]

#: Share of the rows that may share their value of an identifier: slips of whoever typed them.
_MOST_SHARING = 0.01

#: Rows in which columns are looked at that nobody declared, and cells in all of them.
_ROWS, _CELLS = 20_000, 4_000_000


def refuse_shared_identifiers(table: Table, unit: Unit) -> None:
    """Refuse to count rows as persons where an identifier comes back.

    Raises
    ------
    PrivacyError
        Naming the columns, with a line for each way out.
    """
    if unit == "record" or table.schema.names_with_role("person"):
        return
    results = [
        (name, rows)
        for name, rows in table.sharing.items()
        if rows >= _MOST_SHARING * len(table) and rows and not table.schema[name].namesakes
    ]
    if not results:
        return
    counted = "; ".join(
        f"column '{name}' is an identifier, and {rows} of {len(table)} rows have a value of it "
        "that another row has, too"
        for name, rows in results
    )
    name = results[0][0]
    pseudonym = ", pseudonymize: true" if table.schema[name].pseudonymize else ""
    raise PrivacyError(
        f"rows would be counted as persons: {counted}",
        hint="Nothing was written. Declare what is so, in one line:\n"
        f"{name}: {{role: person}}  # rows that share a value are one person's\n"
        f"{name}: {{role: identifier{pseudonym}, namesakes: true}}  # different people share it\n"
        "unit: record  # below 'data': records are counted, and nothing is said of persons",
    )


def warn_of_person_numbers(
    source: Source, schema: Schema, total: int, unit: Unit, context: StageContext
) -> None:
    """Name columns that look like a number of persons and do not have that role.

    Columns that are not declared are looked at in the first rows, and forgotten.

    Parameters
    ----------
    total
        Number of rows of the table.
    """
    if unit == "record" or schema.names_with_role("person") or not schema.quasi:
        return
    there = source.columns() or ()
    # Columns without a name are what trailing separators leave.
    undeclared = [name for name in dict.fromkeys(there) if name and name not in schema]
    published = [
        name for name in schema.names_with_role("sensitive", "label", "other") if name in there
    ]
    names = [*schema.quasi, *undeclared, *published]
    if not undeclared and not published:
        return
    first = source.first_rows(names, max(min(_ROWS, _CELLS // len(names)), 1))
    if first is None:
        return
    judged = [name for name in (*undeclared, *published) if name in first.columns]
    for result in numbering_persons(first, schema.quasi, judged, total):
        context.warn(_words(result, schema), privacy=True)


def _words(found: LikelyPersonColumn, schema: Schema) -> str:
    which = "" if found.name in schema else ", which is not declared,"
    but = " but one" if may_differ(len(schema.quasi)) else ""
    return (
        f"Column '{found.name}'{which} is probably a person's number, and rows are counted as "
        f"persons: {found.sharing} of the first {found.rows} rows share a value of it, and "
        f"{found.agreeing:.0%} of these agree in all quasi-identifiers{but}. Declare it as "
        "'role: person', or as 'role: identifier' with 'namesakes: true', or write 'unit: record' "
        "below 'data'."
    )
