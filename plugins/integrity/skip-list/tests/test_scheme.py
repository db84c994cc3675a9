"""Skip lists under a signed head: the same proofs, refused for the same reasons."""

import itertools
import json

import attrs
import pytest

from anonloom import Column, Schema
from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds import KnownVersion, Query
from anonloom_seals.answers import check_answer
from anonloom_seals.head import Head
from anonloom_seals.proof import Proof
from anonloom_seals.sealed_folder import SealedFolder
from anonloom_skip_list.scheme import SkipListSeal

ROWS = ['"[1, 3]",4', '"[2, 2]",5', "*,4", '"[1, 3]",', '"[5, 9]",6']
SEAL = SkipListSeal()


def sealed(folder, rows=ROWS, **parameters):
    public, private = folder / "public", folder / "private"
    public.mkdir(parents=True)
    private.mkdir()
    (public / "release.csv").write_text("\n".join(["a,b", *rows, ""]))
    types = {name: {"role": "other", "type": "number"} for name in "ab"}
    (public / "manifest.json").write_text(json.dumps({"spec": {"columns": types}}))
    SkipListSeal(**{"index": ("a", "b"), **parameters}).seal(public, private)
    return public


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    return sealed(tmp_path_factory.mktemp("release"))


def refusal(call, *given, **named):
    with pytest.raises((IntegrityError, UsageError)) as caught:
        call(*given, **named)
    return str(caught.value)


def shown(proof):
    return SEAL.verify_proof(proof).rows.fillna("").to_numpy().tolist()


def test_rows_and_ranges_are_proved(public):
    assert [["[1, 3]", "4"], ["[5, 9]", "6"]] == shown(SEAL.prove(public, Query(rows=(1, 5))))
    overlapping = shown(SEAL.prove(public, Query(where="a between 3 and 4")))
    assert [["*", "4"], ["[1, 3]", ""], ["[1, 3]", "4"]] == sorted(overlapping)
    assert [["*", "4"], ["[1, 3]", "4"]] == sorted(shown(SEAL.prove(public, Query(where="b = 4"))))
    assert [] == shown(SEAL.prove(public, Query(where="b <= 1")))


def test_every_flipped_bit_of_a_proof(public):
    proof = SEAL.prove(public, Query(where="a = 2"))
    for index in range(len(proof)):
        changed = proof[:index] + bytes([proof[index] ^ 1 << index % 8]) + proof[index + 1 :]
        assert refusal(SEAL.verify_proof, changed).startswith("'the proof' is malformed: ")


def test_rows_of_another_release(public, tmp_path):
    other = sealed(tmp_path)
    mine, theirs = (Proof.read(SEAL.prove(folder, Query(rows=(2,)))) for folder in (public, other))
    (part,) = mine.parts
    # Levels are drawn from the leaves: the path of another list may not even have the form.
    for changed in (
        attrs.evolve(mine, head=theirs.head),
        attrs.evolve(mine, parts=theirs.parts),
        attrs.evolve(mine, parts=(attrs.evolve(part, salts=theirs.parts[0].salts),)),
    ):
        refusal(SEAL.verify_proof, changed.write())


def test_nobody_leaves_a_row_out(public):
    """All subsets of the rows, in both orders, honestly bound: exhaustive."""
    folder = SealedFolder.check(public, SEAL.format)
    signed = Proof.read(SEAL.prove(public, Query(where="a = 3")))
    subsets = [
        positions
        for count in range(1, len(ROWS) + 1)
        for positions in itertools.combinations(range(len(ROWS)), count)
    ]
    lows, highs = (
        [folder.rows.show(("a", end), positions) for positions in subsets]
        for end in ("low", "high")
    )
    accepted_rows = set()
    for parts in itertools.product(lows, highs):
        try:
            result = check_answer(
                attrs.evolve(signed, parts=parts), folder.head, SEAL.format.structure, None
            )
        except IntegrityError:
            continue
        accepted_rows.add(tuple(sorted(result.rows["b"].fillna(""))))
    assert {("", "4", "4")} == accepted_rows


def test_an_old_version(public, tmp_path):
    key = public.parent / "private" / "skip-list.key"
    later = sealed(tmp_path, ROWS[1:], key=key, previous=public.parent)
    known = KnownVersion(head=public / "skip-list.json")
    assert "that it is version 2 and follows the known version 1" in (
        SEAL.verify(later, key=public / "skip-list.pub", known=known).covers
    )
    assert "the release is version 1, older than the known version 2" == refusal(
        SEAL.verify, public, known=KnownVersion(head=later / "skip-list.json")
    )


def test_growth_is_not_what_a_skip_list_shows(public, tmp_path):
    what = "'skip-list' cannot prove that a release only grew"
    assert what == refusal(SEAL.prove, public, Query(since=public / "skip-list.json"))
    schema = Schema((Column(name="a", role="other", type="number"),))
    assert what == SkipListSeal(growing=True).problem(schema)
    assert what == refusal(sealed, tmp_path, growing=True)


def test_a_head_names_its_structure(public):
    head = Head.read((public / "skip-list.json").read_bytes(), "it")
    assert "skip-list" == head.scheme
    assert [(None, "low"), ("a", "low"), ("a", "high"), ("b", "low")] == [
        (order.attribute, order.end) for order in head.orders
    ]
