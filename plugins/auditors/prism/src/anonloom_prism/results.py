"""What a search says to a steward: how many sets give something away, how much, and which."""

from collections.abc import Iterator, Sequence

from anonloom import Chart, Finding, Findings
from anonloom_prism.correlations import ALL, Correlation
from anonloom_prism.discovery import Question, Search

#: Most sets that the table lists.
LISTED = 100

#: Smaller chances are not told apart: the distribution is an approximation.
LEAST_CHANCE = 1e-6

SCALES = {
    "cramers-v": "Cramer's V, corrected for chance: 0 nothing, 1 everything",
    "multiple-correlation": "multiple correlation, corrected for chance: 0 nothing, 1 everything",
    "classifier": "what a classifier gains over the majority: 0 nothing, 1 always right",
}

_SEEN = {
    "cramers-v": "the values of a set are taken in combination",
    "multiple-correlation": "attributes are added up: what only their combination shows is not "
    "seen",
    "classifier": "the classifier is a table of decisions, each row judged by the others",
}

#: Names and meanings of the figures that every audit has.
FIGURES = {
    "correlations": "Sets of attributes from which critical values of '{}' can be inferred; a "
    "model should do without at least one attribute of each.",
    "strongest": "How much the set tells that tells most about critical values of '{}'; 0 when "
    "no set tells more than may be told.",
    "attributes": "Attributes that belong to at least one such set.",
    "by_chance": "Sets that tell as much of a critical value, but may do so by chance: more rows "
    "would show.",
    "looked_at": "Sets that were looked at; those that contain a set found before are not.",
}


def findings(
    search: Search, question: Question, sensitive: str, named: bool, people: bool
) -> Findings:
    """Return figures and charts of a search.

    Parameters
    ----------
    named
        Whether the steward named the critical values; if not, they are cells of the table, and
        numbers stand for them.
    people
        Whether some persons have several rows.
    """
    assumptions = tuple(_assumptions(search, question, people))
    sets = {item.attributes for item in search.found}
    values = {
        "correlations": len(sets),
        "strongest": max((item.value for item in search.found), default=0.0),
        "attributes": len(frozenset().union(*sets)),
        "by_chance": search.by_chance,
        "looked_at": sum(search.looked_at.values()),
    }
    return Findings.of(
        [
            Finding(
                name=name,
                value=values[name],
                meaning=meaning.format(sensitive),
                better="neither" if name == "looked_at" else "lower",
                assumptions=(*assumptions, SCALES[question.measure])
                if name == "strongest"
                else assumptions,
            )
            for name, meaning in FIGURES.items()
        ],
        _by_size(search, sensitive, assumptions),
        [_size_chart(search, sensitive)] if search.sets else [],
        [_table(search, sensitive, question, named)] if search.found else [],
    )


def unknown(why: str, sensitive: str) -> Findings:
    """Say of every figure why there is none."""
    return Findings.of(
        Finding(
            name=name,
            value=None,
            status="not assessable",
            meaning=meaning.format(sensitive),
            better="neither" if name == "looked_at" else "lower",
            assumptions=(why,),
        )
        for name, meaning in FIGURES.items()
    )


def _by_size(search: Search, sensitive: str, said: tuple[str, ...]) -> Iterator[Finding]:
    for size in search.sets:
        of = "single attributes" if size == 1 else f"sets of {size} attributes"
        one = "a single attribute" if size == 1 else f"a set of {size} attributes"
        yield Finding(
            name=f"correlations.{size}",
            value=len(_of_size(search.found, size)),
            meaning=f"How many {of} give critical values of '{sensitive}' away.",
            better="lower",
            assumptions=said,
        )
        yield Finding(
            name=f"strongest.{size}",
            value=search.strongest[size],
            meaning=f"The most that {one} tells about a critical value of '{sensitive}', found or "
            "not; sets that contain a smaller one that was found are not looked at.",
            better="lower",
            assumptions=said,
        )


def _of_size(found: Sequence[Correlation], size: int) -> set[frozenset[str]]:
    return {item.attributes for item in found if item.size == size}


def _assumptions(search: Search, question: Question, people: bool) -> Iterator[str]:
    if question.alpha is None:
        yield "no guard against chance: small tables show correlations that are none"
    else:
        yield (
            f"with a chance of at most {question.alpha:g} something is found where no attribute "
            "has anything to do with critical values"
        )
    yield f"a set is counted when it reaches {question.threshold:g}"
    yield _SEEN[question.measure]
    yield (
        f"in sets, numbers are seen in {question.bins} ranges and categories in at most "
        f"{question.levels} levels: what is finer may tell more"
    )
    if question.size < len(search.attributes):
        yield f"sets of more than {question.size} attributes are not looked at"
    if people:
        yield "several rows of one person count as several people, and chance is underrated"
    if search.left_out:
        yield f"{search.left_out} rows without a sensitive value are left out"
    if search.constant:
        listed = ", ".join(f"'{name}'" for name in search.constant)
        yield f"columns that never vary tell nothing: {listed}"


def _size_chart(search: Search, sensitive: str) -> Chart:
    return Chart(
        name="by_size",
        kind="bars",
        title=f"How much sets tell about '{sensitive}'",
        x="attributes in the set",
        y="strongest correlation",
        meaning="The strongest correlation of a set of each size, among sets that contain no "
        "smaller one that was found.",
        data={
            "labels": [str(size) for size in search.sets],
            "strongest": [search.strongest[size] for size in search.sets],
        },
    )


def _table(search: Search, sensitive: str, question: Question, named: bool) -> Chart:
    number = {target: f"value {index + 1}" for index, target in enumerate(search.targets)}
    number[ALL] = "all critical values"
    rows = [
        [
            " + ".join(sorted(item.attributes)),
            item.target if named and item.target != ALL else number[item.target],
            round(item.value, 4),
            float(f"{item.p:.2g}") if item.p >= LEAST_CHANCE else f"below {LEAST_CHANCE:f}",
        ]
        for item in search.found[:LISTED]
    ]
    more = len(search.found) - LISTED
    return Chart(
        name="found",
        kind="table",
        title=f"Attributes that give '{sensitive}' away",
        meaning=f"Every set, and the critical value that it tells about; {SCALES[question.measure]}"
        ". The chance is that of seeing a contribution as large from an attribute that has none, "
        "for the number of sets that there are."
        + (f" {more} more are not listed." if more > 0 else ""),
        data={
            "columns": ["attributes", "critical value", question.measure, "chance"],
            "rows": rows,
        },
    )
