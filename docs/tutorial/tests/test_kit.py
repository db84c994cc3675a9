"""The page on the conformance kit names every check, in the words of the code."""

import inspect
from pathlib import Path

from anonloom import Registry
from anonloom_sentinels_twins.testing import WorkCheckConformance
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.purity import PURITY_CHECKS

KINDS = Registry.empty().kinds
PAGE = Path(__file__).resolve().parents[1] / "kit.md"
MARK = "\n## Every kind\n"

#: What a subclass may or must give besides `method` and `params`.
GIVES = {
    "source": "`source(frame, folder)`: stores a frame and returns the source that reads it; or `schema`, for a source that makes its rows itself. `tables` limits what is stored.",
    "mechanism": "`tables` limits what is tried, for example to those that have a column which a parameter names.",
    "partitioner": "Nothing. `tables` limits what is tried.",
    "outliers": "Nothing. `tables` limits what is tried.",
    "generalizer": "Nothing. `tables` limits what is tried.",
    "sampler": "`rate`: the share of all rows that is kept, if one is promised.",
    "privacy": "`reference(rows, everybody)`: the model's definition over plain rows. `tables` limits what is tried.",
    "transport": "`servers`: how many servers the rounds have; 2 by default.",
    "collector": "Nothing.",
    "auditor": "For one that measures risk, `risk_finding`: the figure that must be at least `found_at_least` (0.5) on unique rows published as they are, and at most `blamed_at_most` (0.2) on an independent table.",
    "integrity": "For a seal, `public_key(public, private)`: where the publisher's key is. A scheme of another sort names a class of its own in its attribute `conformance`.",
    "reporter": "Nothing.",
    "engine": "Nothing. It runs small pipelines of toy methods, so that of the checks of every kind only those of the declaration are asked of it.",
}

#: Integrity schemes that are no seal: the kit does not know them, their package brings the checks.
WORK_CHECK = "A work check has `WorkCheckConformance` of `anonloom_sentinels_twins.testing`; `trials` says how often an omission is tried."


def promise(check):
    return inspect.getdoc(check).split("\n")[0]


def table(checks):
    rows = [f"| `{check.__name__}` | {promise(check)} |" for check in checks]
    return "\n".join(["| check | holds the method to this |", "| --- | --- |", *rows]) + "\n"


def generated():
    parts = [MARK, "\n", table([*DECLARATION_CHECKS, *PURITY_CHECKS])]
    parts.append(
        "\nTransports, collectors and integrity schemes draw keys and coins from the system, so that "
        "`check_same_seed_same_result` is not asked of them.\n"
    )
    for kind in KINDS:
        cls = Registry.empty().kit(kind)
        own = [check for check in cls.checks if check not in (*DECLARATION_CHECKS, *PURITY_CHECKS)]
        name = KINDS[kind].name.capitalize()
        parts.append(f"\n## {name}: `{cls.__name__}`\n\nA subclass gives: {GIVES[kind]}\n\n")
        parts.append(table(own))
        if kind == WorkCheckConformance.kind:
            shared = WorkCheckConformance.common_checks
            own = [check for check in WorkCheckConformance.checks if check not in shared]
            parts.append(f"\n{WORK_CHECK}\n\n{table(own)}")
    return "".join(parts)


def test_the_page_says_what_the_code_says():
    """Written anew with `python docs/tutorial/tests/test_kit.py`."""
    written = PAGE.read_text().partition(MARK)

    assert generated() == "".join(written[1:])


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text().partition(MARK)[0] + generated())
