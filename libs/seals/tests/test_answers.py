"""Answers say what they show, and nothing that anybody else wrote into them."""

import attrs
import pytest
from proofs_toys import Flat, GrowingFlat, bound, head_of

from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds import KnownVersion, Query
from anonloom_seals.answers import answer, check_answer, refuse_other
from anonloom_seals.proof import Growth, Proof
from anonloom_seals.signed_text import SignedText

COLUMNS = {
    "age": ("number", ["[1, 2]", "3", None, "1e2"]),
    "city": ("category", ["Rome", "", None, "Oslo"]),
}
INDEX = ("age", "city")


@pytest.fixture
def rows():
    return bound(COLUMNS, INDEX)


@pytest.fixture
def head(rows):
    return head_of(rows)


def signed(head):
    return SignedText(head.write(), b"", b"")


def asked(rows, head, /, **query):
    return answer(signed(head), head, rows, Query(**query))


def shown(proof, head, known=None, structure=GrowingFlat):
    proved = check_answer(proof, head, structure, known)
    verified = proved.verified
    return verified.covers, verified.does_not_cover, proved.rows.to_numpy().tolist()


def refusal(call, *given, **named):
    with pytest.raises((IntegrityError, UsageError)) as caught:
        call(*given, **named)
    return f"{type(caught.value).__name__}: {caught.value}"


def write(path, head):
    path.write_bytes(head.write())
    return path


# --- rows --------------------------------------------------------------------------------------


def test_one_row(rows, head):
    assert (
        ("that this is row 4 of the 4 rows in 'release.csv'",),
        (),
        [["100", "Oslo"]],
    ) == shown(asked(rows, head, rows=(4,)), head)


def test_several_rows(rows, head):
    assert (
        ("that these are rows 1, 2, 3 of the 4 rows in 'release.csv'",),
        (),
        [["[1, 2]", "Rome"], ["3", ""], [None, None]],
    ) == shown(asked(rows, head, rows=(1, 2, 3)), head)


def test_many_rows():
    rows = bound({"age": ("number", ["1"] * 20)})
    proof = asked(rows, head_of(rows), rows=tuple(range(2, 15)))
    covers, _, result = shown(proof, head_of(rows))
    assert (
        "that these are rows 2, 3, 4, 5, 6 and 8 more of the 20 rows in 'release.csv'",
    ) == covers
    assert [["1"]] * 13 == result


def test_questions_that_have_no_answer(rows, head):
    assert "UsageError: there is no row 5: the release has 4" == refusal(
        asked, rows, head, rows=(1, 5)
    )
    assert "UsageError: nothing is asked: give rows, a condition or an earlier head" == refusal(
        asked, rows, head
    )


def test_rows_that_were_not_named(rows, head):
    proof = asked(rows, head, rows=(1, 2))
    other = "IntegrityError: the proof shows other rows than it names"
    for named in ((1,), (2,), (2, 1), (1, 2, 3), (1, 3), (1, 1, 2)):
        assert other == refusal(shown, attrs.evolve(proof, rows=named), head)
    parts = "IntegrityError: the proof does not have the parts that its rows ask for"
    (part,) = proof.parts
    by_age = rows.show(("age", "low"), [0, 1])
    for given in ((), (part, part), (by_age,)):
        assert parts == refusal(shown, attrs.evolve(proof, parts=given), head)


# --- ranges ------------------------------------------------------------------------------------

SORTED = ("that the publisher sorted the rows rightly: who has the release can check that",)
BETWEEN = "an interval or a set lies in every range that has a part between its ends, '*' in all"
WRITTEN = (
    "cells are compared as they are written: a group, a set or '*' may also stand for a value in "
    "the range"
)


@pytest.mark.parametrize(
    ("where", "said", "found"),
    [
        (
            "age  >=  2.0",
            f"that these 3 are all rows with age >= 2.0 among 4; {BETWEEN}",
            [["[1, 2]", "Rome"], ["3", ""], ["100", "Oslo"]],
        ),
        (
            "age = 2",
            f"that this is the only row with age = 2 among 4; {BETWEEN}",
            [["[1, 2]", "Rome"]],
        ),
        (
            "age between 5 and 6",
            f"that there is no row with age between 5 and 6 among 4; {BETWEEN}",
            [],
        ),
        (
            "city = ''",
            f"that this is the only row with city = '' among 4; {WRITTEN}",
            [["3", ""]],
        ),
    ],
)
def test_ranges(rows, head, where, said, found):
    assert ((said,), SORTED, found) == shown(asked(rows, head, where=where), head)


def test_conditions_of_a_forger(rows, head):
    proof = asked(rows, head, where="age = 2")
    makes_no_sense = "IntegrityError: the condition of the proof makes no sense: "
    for where, what in {
        "age": "the condition 'age' cannot be read",
        "age < 3": "the condition 'age < 3' leaves its bound out; ranges are closed",
        "age = old": "the bound 'old' is no number",
        "age between 3 and 2": "the condition 'age between 3 and 2' ends before it begins",
        "'a\nb' = 2": r"there is no column 'a\nb'",
    }.items():
        assert makes_no_sense + what == refusal(shown, attrs.evolve(proof, where=where), head)
    for where in ("age  = 2", "age between 2 and 2", "'age' = 2", " age = 2"):
        assert "IntegrityError: the condition of the proof is not in its one spelling" == refusal(
            shown, attrs.evolve(proof, where=where), head
        )


def test_a_proof_of_one_range_is_none_of_another(rows, head):
    proof = asked(rows, head, where="age = 2")
    for where in ("age = 3", "age >= 2", "city = Rome", "age <= 200"):
        refusal(shown, attrs.evolve(proof, where=where), head)


# --- growth ------------------------------------------------------------------------------------


@pytest.fixture
def grown(head):
    columns = {name: (kind, [*texts, "7"]) for name, (kind, texts) in COLUMNS.items()}
    rows = bound(columns)
    return rows, head_of(rows, version=2, previous=head.digest)


def test_growth(grown, head, tmp_path):
    rows, later = grown
    proof = asked(rows, later, since=write(tmp_path / "old.json", head))
    begins = f"that the first 4 of 5 rows are all rows of the version with the root {head.orders[0].root}"
    assert (
        (begins,),
        ("which version that is, and whose: give its head with --head",),
        [],
    ) == shown(proof, later)
    known = KnownVersion(head=tmp_path / "old.json")
    assert ((begins, "that this is the known version 1"), (), []) == shown(proof, later, known)


NOT_EARLIER = "UsageError: the earlier head is not that of an earlier version of this release"


def test_growth_from_something_else_is_not_proved(grown, head, tmp_path):
    rows, later = grown
    names = ("weight", "town")
    swapped = attrs.evolve(head.layout, names=names)
    for other in (
        attrs.evolve(head, dataset="f" * 32),
        attrs.evolve(head, version=3, previous="0" * 64),
        attrs.evolve(head, size=6),
        attrs.evolve(head, key="0" * 64),
        attrs.evolve(head, scheme="still"),
        attrs.evolve(head, layout=swapped, orders=head.orders[:1]),
    ):
        old = write(tmp_path / "old.json", other)
        assert NOT_EARLIER == refusal(asked, rows, later, since=old)
    changed = write(tmp_path / "old.json", attrs.evolve(head, size=3))
    assert (
        "UsageError: the earlier version is not the beginning of this one, so its growth cannot "
        "be proved\n    Seal both with 'growing: true' and publish them with 'shuffle: false'."
    ) == refusal(asked, rows, later, since=changed)


def test_some_structures_show_no_growth(head, tmp_path):
    rows = bound(COLUMNS, (), Flat)
    old = write(tmp_path / "old.json", head)
    still = attrs.evolve(head, scheme="still")
    what = "'still' cannot prove that a release only grew"
    assert f"UsageError: {what}" == refusal(asked, rows, still, since=old)
    proof = Proof(head=signed(still), since=Growth(size=0, root="0" * 64, path=b""))
    assert f"IntegrityError: {what}" == refusal(shown, proof, still, structure=Flat)


def test_forged_growth(grown, head, tmp_path):
    rows, later = grown
    known = KnownVersion(head=write(tmp_path / "old.json", head))
    proof = asked(rows, later, since=known.head)
    root = attrs.evolve(proof.since, root="0" * 64)
    assert "IntegrityError: the list did not grow" == refusal(
        shown, attrs.evolve(proof, since=root), later
    )
    part = rows.show((None, "low"), [0])
    assert "IntegrityError: the proof has rows, which a proof of growth has not" == refusal(
        shown, attrs.evolve(proof, parts=(part,)), later
    )
    empty = bound({name: (kind, []) for name, (kind, _) in COLUMNS.items()})
    nothing = Growth(size=0, root=head_of(empty).orders[0].root, path=proof.since.path)
    assert "IntegrityError: the proof begins with another version than the known head" == refusal(
        shown, attrs.evolve(proof, since=nothing), later, known
    )


def test_rows_under_other_names_are_not_the_same_rows(grown, head, tmp_path):
    """Leaves hold cells, not names: the columns of both heads are compared."""
    rows, later = grown
    proof = asked(rows, later, since=write(tmp_path / "old.json", head))
    renamed = attrs.evolve(head.layout, names=("weight", "town"))
    other = attrs.evolve(head, layout=renamed, orders=head.orders[:1])
    known = KnownVersion(head=write(tmp_path / "old.json", other))
    assert (
        "IntegrityError: the known head is not that of an earlier version of this release"
        == refusal(shown, proof, later, known)
    )


# --- what was asked ------------------------------------------------------------------------------


def test_a_proof_that_answers_what_was_asked(rows, head, tmp_path):
    proof = asked(rows, head, rows=(1, 3))
    refuse_other(proof, head, Query(rows=(1, 3)))
    proof = asked(rows, head, where="age between 3 and 9")
    for where in ("age between 3 and 9", "age BETWEEN 3.0 and 0.9e1", "'age' between '3' and 9"):
        refuse_other(proof, head, Query(where=where))
    proof = asked(rows, head, since=write(tmp_path / "head", head))
    refuse_other(proof, head, Query(since=tmp_path / "head"))


def test_a_proof_that_answers_something_else(rows, head, tmp_path):
    known = write(tmp_path / "head", head)
    other = write(tmp_path / "other", attrs.evolve(head, size=3))
    proofs = [
        asked(rows, head, rows=(1, 3)),
        asked(rows, head, where="age between 3 and 9"),
        asked(rows, head, since=known),
    ]
    queries = [
        Query(),
        Query(rows=(1,)),
        Query(rows=(1, 3, 4)),
        Query(where="age between 3 and 10"),
        Query(where="age between 2 and 9"),
        Query(where="age >= 3"),
        Query(where="city between 3 and 9"),
        Query(since=other),
    ]
    for proof in proofs:
        for query in queries:
            assert "IntegrityError: the proof answers something else than was asked" == refusal(
                refuse_other, proof, head, query
            )


def test_what_was_asked_must_make_sense(rows, head):
    proof = asked(rows, head, rows=(1,))
    assert "UsageError: there is no column 'weight'\n    There are: age, city." == refusal(
        refuse_other, proof, head, Query(where="weight = 1")
    )
