"""Every change of a sealed release or of a proof is refused, and the check that failed is named."""

import itertools
import json

import attrs
import numpy as np
import pytest

from anonloom.errors import IntegrityError
from anonloom.kinds import KnownVersion, Query
from anonloom_merkle.scheme import GrowingTree, Merkle
from anonloom_seals.binding import BoundRows
from anonloom_seals.condition import Condition
from anonloom_seals.encoding import EncodedColumn
from anonloom_seals.head import Head
from anonloom_seals.layout import Layout
from anonloom_seals.proof import Proof
from anonloom_seals.published_rows import PublishedRows
from anonloom_seals.ranges import Range, check_range
from anonloom_seals.salts import Seeds

ROWS = ['"[1, 3]",4', '"[2, 2]",5', "*,4", '"[1, 3]",']


def sealed(folder, rows=ROWS, **parameters):
    public, private = folder / "public", folder / "private"
    public.mkdir(parents=True)
    private.mkdir()
    (public / "release.csv").write_text("\n".join(["a,b", *rows, ""]))
    types = {name: {"role": "other", "type": "number"} for name in "ab"}
    (public / "manifest.json").write_text(json.dumps({"spec": {"columns": types}}))
    Merkle(**parameters).seal(public, private)
    return public


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Two versions, of which the second only grew."""
    folder = tmp_path_factory.mktemp("versions")
    first = sealed(folder / "first", ROWS[:-1])
    key = folder / "first" / "private" / "merkle.key"
    second = sealed(folder / "second", key=key, previous=first, growing=True, index=("a", "b"))
    return first, second


@pytest.fixture(scope="module")
def public(versions):
    return versions[1]


@pytest.fixture(scope="module")
def proofs(versions):
    first, second = versions
    queries = {
        "rows": Query(rows=(1, 4)),
        "where on intervals": Query(where="a between 2 and 2"),
        "where on single values": Query(where="b >= 4"),
        "since": Query(since=first / "merkle.json"),
    }
    return {name: Merkle().prove(second, query) for name, query in queries.items()}


def refusal(call, *given, **named):
    with pytest.raises(IntegrityError) as caught:
        call(*given, **named)
    return str(caught.value)


# One bit of every byte; all of them where there is time.
BITS = pytest.mark.parametrize("bits", ["one", pytest.param("all", marks=pytest.mark.long)])


def flips(content, bits):
    for index in range(len(content)):
        for bit in range(8) if bits == "all" else (index % 8,):
            yield content[:index] + bytes([content[index] ^ 1 << bit]) + content[index + 1 :]


# --- releases ------------------------------------------------------------------------------------

UNFIT = "the signature in 'merkle.sig' does not fit 'merkle.json'"
REFUSED = {
    "merkle.json": {UNFIT},
    "merkle.sig": {UNFIT},
    "merkle.pub": {
        UNFIT,
        "'merkle.pub' holds no public Ed25519 key in PEM",
        "'merkle.pub' holds more than a public key in its one spelling",
    },
    **{
        name: {f"the folder is not what was sealed\n    changed: '{name}'"}
        for name in ("merkle.salts", "manifest.json", "release.csv")
    },
}


@BITS
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_every_flipped_bit_of_every_file(public, name, bits):
    assert sorted(REFUSED) == sorted(path.name for path in public.iterdir())
    path = public / name
    content = path.read_bytes()
    try:
        for changed in flips(content, bits):
            path.write_bytes(changed)
            assert refusal(Merkle().verify, public) in REFUSED[name]
    finally:
        path.write_bytes(content)
    Merkle().verify(public)


def test_an_old_version_with_a_known_head(versions, proofs):
    first, second = versions
    known = KnownVersion(head=second / "merkle.json")
    old = "the release is version 1, older than the known version 2"
    assert old == refusal(Merkle().verify, first, known=known)
    proof = Merkle().prove(first, Query(rows=(1,)))
    assert old == refusal(Merkle().verify_proof, proof, known=known)
    assert "the release is version 1; at least 2 is demanded" == refusal(
        Merkle().verify, first, known=KnownVersion(version=2)
    )
    Merkle().verify(
        second, key=first / "merkle.pub", known=KnownVersion(head=first / "merkle.json")
    )


def test_a_release_rewritten_together_with_its_key(versions, tmp_path):
    other = sealed(tmp_path, ROWS[1:])
    key = Head.read((other / "merkle.json").read_bytes(), "it").key
    assert f"the release is signed with another key than the pinned one: {key}" == refusal(
        Merkle().verify, other, key=versions[0] / "merkle.pub"
    )
    assert "the release is of another data set than the known head" == refusal(
        Merkle().verify, other, known=KnownVersion(head=versions[0] / "merkle.json")
    )


# --- proofs --------------------------------------------------------------------------------------

KINDS = ["rows", "where on intervals", "where on single values", "since"]


@BITS
@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_bit_of_a_proof(proofs, kind, bits):
    Merkle().verify_proof(proofs[kind])
    for changed in flips(proofs[kind], bits):
        message = refusal(Merkle().verify_proof, changed)
        assert message.startswith("'the proof' is malformed: ")


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncated_proof(proofs, kind):
    whole = len(proofs[kind])
    for size in (*range(0, whole - 1, 7), whole - 2):
        assert "'the proof' is malformed: it is not JSON" == refusal(
            Merkle().verify_proof, proofs[kind][:size]
        )
    assert (
        "'the proof' is malformed: its sum differs, or it is not spelled as a proof is"
        == refusal(Merkle().verify_proof, proofs[kind][:-1])
    )


ROOT = "the rows of the proof are not those of its head: the root differs"


def test_rows_dropped_added_repeated_or_moved_in_a_proof(proofs):
    """A forger writes the proof anew, sum and all."""
    proof = Proof.read(proofs["rows"])
    (part,) = proof.parts

    def changed(named, **fields):
        made = attrs.evolve(part, **fields)
        return refusal(
            Merkle().verify_proof, attrs.evolve(proof, rows=named, parts=(made,)).write()
        )

    def picked(*places):
        return {
            name: tuple(getattr(part, name)[index] for index in places)
            for name in ("positions", "numbers", "salts", "rows")
        }

    asked = "the path has 2 hashes; the leaves that are shown, in a tree of 4, ask for {}"
    dropped = picked(0)
    assert ROOT == changed((1,), **dropped)
    assert asked.format(1) == changed((1, 2), **(picked(0, 1) | {"positions": (0, 1)}))
    added = picked(0, 0, 1) | {"positions": (0, 1, 3), "numbers": (0, 1, 3)}
    assert asked.format(1) == changed((1, 2, 4), **added)
    assert ROOT == changed((1, 4), **(picked(1, 0) | {"positions": (0, 3)}))
    assert ROOT == changed((1, 4), **(picked(0, 0) | {"positions": (0, 3)}))
    assert ROOT == changed((1, 3), positions=(0, 2), numbers=(0, 2))
    beyond = "the proof shows no row, or one beyond the 4 of its head"
    assert beyond == changed((1, 5), positions=(0, 4), numbers=(0, 4))
    assert beyond == changed((1, 2**62), positions=(0, 2**62 - 1))


def test_foreign_proofs(versions, proofs, tmp_path):
    """The rows of one release under the head of another."""
    other = sealed(tmp_path, ROWS, index=("a", "b"))
    for kind in KINDS[:3]:
        mine = Proof.read(proofs[kind])
        query = Query(rows=mine.rows) if mine.rows else Query(where=mine.where)
        theirs = Proof.read(Merkle().prove(other, query))
        mixed = attrs.evolve(mine, head=theirs.head)
        assert ROOT == refusal(Merkle().verify_proof, mixed.write())
    grown = attrs.evolve(Proof.read(proofs["since"]), head=theirs.head)
    assert "the proof of growth does not lead to the root of the newer tree" == refusal(
        Merkle().verify_proof, grown.write()
    )
    assert "the release is of another data set than the known head" == refusal(
        Merkle().verify_proof, proofs["since"], known=KnownVersion(head=other / "merkle.json")
    )


def test_forged_growth(versions, proofs):
    _, second = versions
    proof = Proof.read(proofs["since"])
    small = attrs.evolve(proof.since, size=2)
    assert "the proof of growth has 96 bytes; from 2 to 4 leaves it must have 32" == refusal(
        Merkle().verify_proof, attrs.evolve(proof, since=small).write()
    )
    root = attrs.evolve(proof.since, root="0" * 64)
    assert "the proof of growth does not lead to the root of the older tree" == refusal(
        Merkle().verify_proof, attrs.evolve(proof, since=root).write()
    )
    large = attrs.evolve(proof.since, size=2**62)
    assert "the sizes are none of a tree that grew" == refusal(
        Merkle().verify_proof, attrs.evolve(proof, since=large).write()
    )
    known = KnownVersion(head=second / "merkle.json")
    assert "the proof begins with another version than the known head" == refusal(
        Merkle().verify_proof, proofs["since"], known=known
    )


# --- a prover who holds the release and lies -----------------------------------------------------


def bound(cells):
    layout = Layout(("age", "id"), ("number", "category"))
    ids = [str(index) for index in range(len(cells))]
    columns = tuple(
        EncodedColumn.of(texts, np.arange(len(texts)), kind)
        for texts, kind in ((cells, "number"), (ids, "category"))
    )
    published = PublishedRows(layout=layout, columns=columns, files=("release.csv",))
    return BoundRows.bind(published, Seeds(((0, bytes(32)),)), GrowingTree, ("age",))


def head_of(rows):
    return Head(
        scheme="merkle",
        dataset="0" * 32,
        version=1,
        previous=None,
        created="2026-01-31T10:00:00Z",
        key="0" * 64,
        table="release.csv",
        size=len(rows.encoded),
        layout=rows.published.layout,
        orders=rows.head_orders(),
        files={},
    )


def accepted(head, sought, parts):
    try:
        return tuple(sorted(row[1] for row in check_range(head, GrowingTree, sought, parts)))
    except IntegrityError:
        return None


@pytest.mark.parametrize(
    ("cells", "low", "high", "expected"),
    [
        (["2", "1", "2", None, "3", "2"], 2, 2, "025"),
        (["2", "1", "2", None, "3", "2"], 0, 0, ""),
        (["[1, 3]", "*", "[2, 2]", None, "[3, 4]"], 3, 9, "014"),
        (["[1, 3]", "*", "[2, 2]", "[0, 1]", "[1, 3]"], 2, 2, "0124"),
    ],
)
def test_nobody_gets_another_answer_accepted(cells, low, high, expected):
    """All subsets of rows in every order, honestly bound: exhaustive."""
    rows = bound(cells)
    head = head_of(rows)
    sought = Range.of(Condition("age", str(low), str(high)), rows.published.layout)
    size = len(cells)
    subsets = [
        positions
        for count in range(1, size + 1)
        for positions in itertools.combinations(range(size), count)
    ]
    places = [place for place in rows.orders if place[0] == "age"]
    shown = [[rows.show(place, positions) for positions in subsets] for place in places]
    accepted_rows = {accepted(head, sought, parts) for parts in itertools.product(*shown)}
    assert {None, tuple(expected)} == accepted_rows
