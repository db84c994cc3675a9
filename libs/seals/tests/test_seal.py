"""A seal over rows: what it leaves behind, what it covers, and every way in which it refuses."""

import shutil
import stat
from pathlib import Path

import attrs
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from proofs_toys import COLUMNS, ROWS, FlatSeal, StillSeal, key_file, publish, sealed, sign_again

from anonloom import Column, Schema
from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds import KnownVersion, Query
from anonloom_seals import keys
from anonloom_seals.folder import entry_of
from anonloom_seals.head import Head, Order
from anonloom_seals.proof import Proof
from anonloom_seals.salts import Seeds

SEAL = FlatSeal()


def head_in(public):
    return Head.read((public / "flat.json").read_bytes(), "flat.json")


def refusal(call, *given_, **named):
    with pytest.raises((IntegrityError, UsageError)) as caught:
        call(*given_, **named)
    return str(caught.value)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def secret(tmp_path):
    return key_file(tmp_path / "release.key")


@pytest.fixture
def seal(secret):
    return FlatSeal(key=secret, index=("age", "seen", "city"))


@pytest.fixture
def public(tmp_path, seal):
    return sealed(tmp_path / "out", seal)


# --- sealing -------------------------------------------------------------------------------------


def test_sealing_leaves_a_head_its_signature_the_key_and_the_seed_of_the_salts(tmp_path):
    public, private = tmp_path / "public", tmp_path / "private"
    publish(public)
    private.mkdir()
    made = FlatSeal(index=("age",)).seal(public, private)
    assert ("flat.json", "flat.sig", "flat.pub", "flat.salts") == made.public
    assert ("flat.key",) == made.private
    assert 0o600 == stat.S_IMODE((private / "flat.key").stat().st_mode)
    head = head_in(public)
    assert ("flat", 1, None, "release.csv", 6) == (
        head.scheme,
        head.version,
        head.previous,
        head.table,
        head.size,
    )
    assert [(None, "low"), ("age", "low"), ("age", "high")] == [
        (order.attribute, order.end) for order in head.orders
    ]
    assert ["flat.pub", "flat.salts", "manifest.json", "release.csv"] == sorted(head.files)
    signer = keys.read_public((public / "flat.pub").read_bytes(), "it")
    assert keys.fingerprint(signer) == head.key


def test_every_release_is_a_data_set_with_salts_and_a_key_of_its_own(tmp_path):
    one, other = (sealed(tmp_path / name) for name in ("one", "other"))
    assert head_in(one).dataset != head_in(other).dataset
    assert head_in(one).orders != head_in(other).orders
    for name in ("flat.pub", "flat.salts"):
        assert (one / name).read_bytes() != (other / name).read_bytes()


def test_what_cannot_be_sealed(tmp_path, secret):
    public, private = tmp_path / "public", tmp_path / "private"
    public.mkdir()
    private.mkdir()
    assert "the folder holds no table: neither release.csv nor release.parquet" == refusal(
        SEAL.seal, public, private
    )
    public.rmdir()
    publish(public)
    inside = key_file(public / "release.key")
    assert "the private key lies in the folder that is to be published" == refusal(
        FlatSeal(key=inside).seal, public, private
    )
    inside.unlink()
    (public / "link").symlink_to(secret)
    assert "'link' is a symbolic link" == refusal(SEAL.seal, public, private)
    (public / "link").unlink()
    assert (
        "column 'weight' is to be indexed, but it is not published\n"
        "    Published are: age, city, seen."
        == refusal(FlatSeal(index=("weight",)).seal, public, private)
    )
    # Nothing was left behind by any of these.
    assert ["manifest.json", "release.csv"] == names_in(public)
    assert [] == names_in(private)
    for name in ("flat.json", "flat.sig", "flat.pub", "flat.salts"):
        (public / name).touch()
        assert f"the folder is sealed already: it has a '{name}'" == refusal(
            SEAL.seal, public, private
        )
        (public / name).unlink()


def test_what_a_seal_can_tell_before_the_run():
    schema = Schema(
        (
            Column(name="age", role="quasi", type="number"),
            Column(name="name", role="identifier"),
            Column(name="city", role="quasi"),
            Column(name="bill", role="other", type="number"),
            Column(name="seen", role="quasi", type="date"),
        )
    )
    assert None is FlatSeal(index=("age", "city", "bill"), growing=True).problem(schema)
    assert (
        "column 'weight' is not declared; published are: 'age', 'city', 'bill', 'seen'"
        == FlatSeal(index=("weight",)).problem(schema)
    )
    assert (
        "column 'name' has role 'identifier' and is not published; published are: 'age', 'city', "
        "'bill', 'seen'" == FlatSeal(index=("name",)).problem(schema)
    )
    assert (
        "column 'seen' is published as groups of a hierarchy, and nobody can tell from a group's "
        "name where it ends: publish intervals, or index another column"
        == FlatSeal(index=("age", "seen")).problem(schema)
    )
    assert "'still' cannot prove that a release only grew" == StillSeal(growing=True).problem(
        schema
    )
    assert (
        "a new version must be signed with the key of the version before: give it with 'key'"
        == FlatSeal(previous=Path("older")).problem(schema)
    )


# --- verifying -----------------------------------------------------------------------------------

UNKNOWN = (
    "self-consistent, signer unknown: whoever changes the files can seal them again; give the "
    "publisher's key, obtained elsewhere"
)
PROTECTS = "whether the release protects anybody: the report speaks of that"


def test_what_verifying_covers(public, seal):
    head = head_in(public)
    covers = (
        "every byte of 4 files, and that there is no other file",
        "every row: 6 in 'release.csv', in their order",
        "that ranges of age, seen, city are complete",
    )
    versions = (
        f"whether this is the data set that you mean, of those of the signer: it is {head.dataset}; "
        "give a head that you know with --head",
        "whether there is a newer version than this one, 1: give a head that you know with --head, "
        "or the least version with --at-least",
    )
    assert (covers, (UNKNOWN, *versions, PROTECTS)) == attrs.astuple(SEAL.verify(public))
    pinned = f"the signer: whoever holds the pinned key {head.key}"
    assert ((*covers, pinned), (*versions, PROTECTS)) == attrs.astuple(
        SEAL.verify(public, key=public / "flat.pub")
    )
    known = KnownVersion(head=public / "flat.json", version=1)
    assert (
        (*covers, "that it is version 1, at least 1", "that it is the known version 1"),
        (UNKNOWN, "whether a version newer than this one was published since", PROTECTS),
    ) == attrs.astuple(SEAL.verify(public, known=known))


CHANGED = "the folder is not what was sealed\n    "
FLIPPED = {
    "flat.json": {"the signature in 'flat.sig' does not fit 'flat.json'"},
    "flat.sig": {"the signature in 'flat.sig' does not fit 'flat.json'"},
    "flat.pub": {
        "'flat.pub' holds no public Ed25519 key in PEM",
        "'flat.pub' holds more than a public key in its one spelling",
        "the signature in 'flat.sig' does not fit 'flat.json'",
    },
    "flat.salts": {f"{CHANGED}changed: 'flat.salts'"},
    "manifest.json": {f"{CHANGED}changed: 'manifest.json'"},
    "release.csv": {f"{CHANGED}changed: 'release.csv'"},
}


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_flipped_bit_is_noticed_and_the_check_that_failed_is_named(public, data):
    name = data.draw(st.sampled_from(sorted(FLIPPED)))
    content = (public / name).read_bytes()
    index, bit = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7))
    changed = content[:index] + bytes([content[index] ^ 1 << bit]) + content[index + 1 :]
    (public / name).write_bytes(changed)
    try:
        assert refusal(SEAL.verify, public) in FLIPPED[name]
    finally:
        (public / name).write_bytes(content)


def test_files_that_are_missing_added_or_lead_elsewhere(public):
    for name in ("flat.json", "flat.sig", "flat.pub"):
        (public / name).rename(public / "aside")
        assert f"'{name}' is missing: the folder is not sealed, or its seal was removed" == refusal(
            SEAL.verify, public
        )
        (public / name).symlink_to(public / "aside")
        assert f"'{name}' is a symbolic link" == refusal(SEAL.verify, public)
        (public / name).unlink()
        (public / "aside").rename(public / name)
    for name in ("flat.salts", "release.csv", "manifest.json"):
        (public / name).rename(public / "aside")
        assert f"{CHANGED}missing: '{name}'\n    added: 'aside'" == refusal(SEAL.verify, public)
        (public / "aside").rename(public / name)
    (public / "more").mkdir()
    assert f"{CHANGED}added folder: 'more'" == refusal(SEAL.verify, public)
    nowhere = public / "nowhere"
    assert f"{nowhere}: there is no such folder" == refusal(SEAL.verify, nowhere)


def rewritten(public, secret, seal, rows):
    """Write other rows and sign a head that lists the new file, but keeps the old roots."""
    lines = (public / "release.csv").read_text().splitlines()
    (public / "release.csv").write_text("\n".join([lines[0], *rows(lines[1:]), ""]))
    files = {"release.csv": entry_of(public / "release.csv")}

    def listed(head):
        return attrs.evolve(head, files={**head.files, **files})

    sign_again(public, secret, seal, listed)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (lambda rows: rows[1:], "'release.csv' has 5 rows; the head says 6"),
        (lambda rows: rows[:-1], "'release.csv' has 5 rows; the head says 6"),
        (lambda rows: [*rows, rows[0]], "'release.csv' has 7 rows; the head says 6"),
        (
            lambda rows: [rows[0], *rows[:-1]],
            "the rows are not those of the head: the root differs",
        ),
        (lambda rows: rows[::-1], "the rows are not those of the head: the root differs"),
        (
            lambda rows: [rows[1], rows[0], *rows[2:]],
            "the rows are not those of the head: the root differs",
        ),
        (
            lambda rows: [row.replace("Oslo", "Rome") for row in rows],
            "the rows are not those of the head: the root differs",
        ),
    ],
)
def test_rows_are_bound_apart_from_the_file(public, secret, seal, rows, message):
    rewritten(public, secret, seal, rows)
    assert message == refusal(SEAL.verify, public)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(st.integers(0, len(ROWS) - 1), max_size=len(ROWS) + 2))
def test_rows_dropped_added_repeated_or_moved_are_noticed(public, secret, seal, order):
    """Even where the new file is the one that the signed head lists."""
    assume(order != list(range(len(ROWS))))
    before = {name: (public / name).read_bytes() for name in names_in(public)}
    rewritten(public, secret, seal, lambda rows: [rows[index] for index in order])
    try:
        assert refusal(SEAL.verify, public) == (
            f"'release.csv' has {len(order)} rows; the head says 6"
            if len(order) != len(ROWS)
            else "the rows are not those of the head: the root differs"
        )
    finally:
        for name, content in before.items():
            (public / name).write_bytes(content)


def test_the_same_rows_in_another_file_have_the_same_roots(public, secret, seal):
    rewritten(public, secret, seal, lambda rows: [row.replace("Oslo", '"Oslo"') for row in rows])
    SEAL.verify(public)


def order_of(**changes):
    return Order(attribute="age", end="low", root="0" * 64, **changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda head: attrs.evolve(
                head,
                layout=attrs.evolve(head.layout, names=("a", "city", "seen")),
                orders=head.orders[:1],
            ),
            "the columns of 'release.csv' are not those of the head",
        ),
        (
            lambda head: attrs.evolve(head, table="release.parquet"),
            "the columns of 'release.parquet' are not those of the head",
        ),
        (lambda head: attrs.evolve(head, size=7), "'release.csv' has 6 rows; the head says 7"),
        (
            lambda head: attrs.evolve(head, orders=(*head.orders[:2], order_of())),
            "the rows are not sorted as the head says: the root of an order differs",
        ),
        (
            lambda head: attrs.evolve(head, orders=head.orders[:2]),
            "the rows are not sorted as the head says: the root of an order differs",
        ),
        (
            lambda head: attrs.evolve(head, orders=(*head.orders, head.orders[1])),
            "the rows are not sorted as the head says: the root of an order differs",
        ),
        (
            lambda head: attrs.evolve(head, key="0" * 64),
            "'flat.json' was written for another key than 'flat.pub'",
        ),
        (
            lambda head: attrs.evolve(head, scheme="still"),
            "'flat.json' is the head of another scheme",
        ),
        (
            lambda head: head.write() + b"\n",
            "'flat.json' is malformed: it is not spelled as a head is",
        ),
    ],
)
def test_heads_that_were_signed_and_are_wrong(public, secret, seal, change, message):
    sign_again(public, secret, seal, change)
    assert message == refusal(SEAL.verify, public)


def test_groups_are_no_order_whoever_signs_it(tmp_path, secret):
    seal = FlatSeal(key=secret)
    public = sealed(tmp_path / "out", seal, [["young", "Rome", ""]])
    sign_again(
        public, secret, seal, lambda head: attrs.evolve(head, orders=(*head.orders, order_of()))
    )
    assert (
        "the head makes no sense: column 'age' cannot be indexed: some of its cells are names of "
        "groups, and a reader cannot know where these begin and end\n"
        "    Publish it as intervals ('publish: interval'), or index another column."
        == refusal(SEAL.verify, public)
    )


@pytest.mark.parametrize("text", [b"", b"0" * 64 + b"\n", b"0 " + b"g" * 64 + b"\n", b"\xff" * 67])
def test_salts_that_are_no_seed(public, secret, seal, text):
    (public / "flat.salts").write_bytes(text)
    listed = {"flat.salts": entry_of(public / "flat.salts")}
    sign_again(
        public, secret, seal, lambda head: attrs.evolve(head, files={**head.files, **listed})
    )
    assert "'flat.salts' is malformed: it holds no seeds" == refusal(SEAL.verify, public)


def test_another_seed_makes_other_leaves(public, secret, seal):
    (public / "flat.salts").write_bytes(b"0 " + b"0" * 64 + b"\n")
    listed = {"flat.salts": entry_of(public / "flat.salts")}
    sign_again(
        public, secret, seal, lambda head: attrs.evolve(head, files={**head.files, **listed})
    )
    assert "the rows are not those of the head: the root differs" == refusal(SEAL.verify, public)


def test_a_release_rewritten_together_with_its_key(public, tmp_path):
    pinned = tmp_path / "pinned.pub"
    shutil.copy(public / "flat.pub", pinned)
    shutil.rmtree(public.parent)
    public = sealed(tmp_path / "out", FlatSeal(), ROWS[:-1])
    SEAL.verify(public)
    assert (
        f"the release is signed with another key than the pinned one: {head_in(public).key}"
        == refusal(SEAL.verify, public, key=pinned)
    )
    proof = SEAL.prove(public, Query(rows=(1,)))
    assert (
        f"the release is signed with another key than the pinned one: {head_in(public).key}"
        == refusal(SEAL.verify_proof, proof, key=pinned)
    )


def test_no_scheme_believes_the_seal_of_another(public, tmp_path, secret):
    """Same files, same key, other names: the signature is for one scheme."""
    other = tmp_path / "other"
    shutil.copytree(public, other)
    for end in ("json", "sig", "pub", "salts"):
        (other / f"flat.{end}").rename(other / f"still.{end}")
    assert "the signature in 'still.sig' does not fit 'still.json'" == refusal(
        StillSeal().verify, other
    )
    proof = SEAL.prove(public, Query(rows=(1,)))
    assert "the signature in 'the proof' does not fit 'the head of the proof'" == refusal(
        StillSeal().verify_proof, proof
    )


# --- CSV and Parquet -----------------------------------------------------------------------------


def test_both_files_have_the_same_leaves(tmp_path, secret, monkeypatch):
    """Sealed with the same seed, a release in CSV, in Parquet and in both has the same roots."""
    cells = pd.DataFrame(
        {
            "age": pd.Categorical(["[20, 29]", "*", None], categories=["*", "young", "[20, 29]"]),
            "city": ["Rome", "", None],
            "seen": pd.to_datetime(["2024-03-01", None, "2023-12-31"]).date,
        }
    )
    csv = [['"[20, 29]"', "Rome", "2024-03-01"], ["*", '""', ""], ["", "", "2023-12-31"]]
    monkeypatch.setattr("anonloom_seals.salts.new_seed", lambda: bytes(32))
    heads = []
    for name in ("csv", "parquet", "both"):
        public = tmp_path / name / "public"
        publish(public, csv)
        if name != "csv":
            cells.to_parquet(public / "release.parquet", index=False)
        if name == "parquet":
            (public / "release.csv").unlink()
        index = ("age", "seen", "city")
        FlatSeal(key=secret, index=index).seal(public, tmp_path / name)
        heads.append(head_in(public))
    assert 1 == len({head.orders for head in heads})
    assert ["file low", "age low", "age high", "seen low", "city low"] == [
        f"{order.attribute or 'file'} {order.end}" for order in heads[0].orders
    ]
    assert ["release.csv", "release.parquet", "release.csv"] == [head.table for head in heads]
    covers = SEAL.verify(tmp_path / "both" / "public").covers
    assert (
        "every row: 3 in 'release.csv', in their order; 'release.parquet' holds the same"
        == (covers[1])
    )


def test_a_row_that_only_one_file_has(tmp_path):
    public = tmp_path / "public"
    publish(public, [["1", "Rome", ""]])
    pd.DataFrame({"age": [1, 1], "city": ["Rome"] * 2, "seen": [None] * 2}).to_parquet(
        public / "release.parquet"
    )
    assert (
        "'release.csv' and 'release.parquet' do not hold the same rows: one has 1, the other 2"
        == refusal(SEAL.seal, public, tmp_path)
    )


def test_other_columns_are_covered_as_a_file_only(tmp_path):
    public = tmp_path / "public"
    publish(public, [['"[1, 2]"', "Rome", ""]])
    bounds = pd.DataFrame({"age_min": [1], "age_max": [2], "city": ["Rome"], "seen": [None]})
    bounds.to_parquet(public / "release.parquet")
    FlatSeal().seal(public, tmp_path)
    assert "whether 'release.parquet' holds the same rows" == SEAL.verify(public).does_not_cover[0]
    content = bytearray((public / "release.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (public / "release.parquet").write_bytes(content)
    assert f"{CHANGED}changed: 'release.parquet'" == refusal(SEAL.verify, public)


# --- versions ------------------------------------------------------------------------------------


def test_a_version_follows_another(public, tmp_path, seal):
    later = sealed(tmp_path / "later", attrs.evolve(seal, previous=public.parent), ROWS[:2])
    first, second = head_in(public), head_in(later)
    assert (2, first.digest, first.dataset, first.key) == (
        second.version,
        second.previous,
        second.dataset,
        second.key,
    )
    known = KnownVersion(head=public / "flat.json")
    assert "that it is version 2 and follows the known version 1" in (
        SEAL.verify(later, known=known).covers
    )
    old = "the release is version 1, older than the known version 2"
    assert old == refusal(SEAL.verify, public, known=KnownVersion(head=later / "flat.json"))
    proof = SEAL.prove(public, Query(rows=(1,)))
    assert old == refusal(SEAL.verify_proof, proof, known=KnownVersion(head=later / "flat.json"))
    assert "the release is version 1; at least 2 is demanded" == refusal(
        SEAL.verify_proof, proof, known=KnownVersion(version=2)
    )


def test_versions_that_cannot_be_continued(public, tmp_path, seal):
    assert (
        "a new version must be signed with the key of the version before\n"
        "    Give it with 'key'." == refusal(sealed, tmp_path / "a", FlatSeal(previous=public))
    )
    other = key_file(tmp_path / "other.key")
    assert "the version before was signed with another key" == refusal(
        sealed, tmp_path / "b", FlatSeal(previous=public, key=other)
    )
    next_ = attrs.evolve(seal, previous=public)
    next_.ready()
    (public / "flat.salts").write_bytes(b"0 " + b"0" * 64 + b"\n")
    assert "'flat.salts' is not what was sealed" == refusal(sealed, tmp_path / "c", next_)
    (public / "flat.json").write_bytes(b"{}")
    assert "the signature in 'flat.sig' does not fit 'flat.json'" == refusal(
        sealed, tmp_path / "d", next_
    )


def test_what_cannot_be_sealed_is_refused_beforehand(public, tmp_path):
    """A run takes long: its work is not lost for a key that was not there from the start."""
    FlatSeal().ready()
    absent = tmp_path / "absent"
    assert f"the private key {absent} cannot be read: No such file or directory" == refusal(
        FlatSeal(key=absent).ready
    )
    other = key_file(tmp_path / "other.key")
    FlatSeal(key=other).ready()
    assert "the version before was signed with another key" == refusal(
        FlatSeal(previous=public, key=other).ready
    )
    assert f"the version before: there is no folder '{absent}'" == refusal(
        FlatSeal(previous=absent, key=other).ready
    )


def test_growth_is_checked_before_it_is_sealed(public, tmp_path, seal):
    growing = attrs.evolve(seal, previous=public, growing=True)
    later = sealed(tmp_path / "later", growing, [*ROWS, ["1", "Bern", ""]])
    # Old rows keep their salts; those of new rows do not follow from the older release.
    old, new = (Seeds.read((item / "flat.salts").read_bytes()) for item in (public, later))
    assert ([0], [0, 6]) == tuple([start for start, _ in item.stretches] for item in (old, new))
    assert old.stretches == new.stretches[:1]
    (part,) = Proof.read(SEAL.prove(later, Query(rows=(6, 7)))).parts
    assert (old.salt(5), new.salt(6)) == part.salts
    assert old.salt(6) != new.salt(6)
    proof = SEAL.prove(later, Query(since=public / "flat.json"))
    proved = SEAL.verify_proof(proof, known=KnownVersion(head=public / "flat.json"))
    assert "that this is the known version 1" == proved.verified.covers[1]
    what = (
        "the version before is not the beginning of this release\n"
        "    Only add rows at the end, with 'shuffle: false'; or write 'growing: false'."
    )
    renamed = {"weight": "number", "city": "category", "seen": "date"}
    for number, (rows, columns) in enumerate(
        [(ROWS[::-1], COLUMNS), (ROWS[:-1], COLUMNS), (ROWS, renamed), (ROWS[1:] * 2, COLUMNS)]
    ):
        folder = tmp_path / f"no {number}"
        index = tuple(columns)
        assert what == refusal(sealed, folder, attrs.evolve(growing, index=index), rows, columns)
        assert ["manifest.json", "release.csv"] == names_in(folder / "public")


# --- proofs --------------------------------------------------------------------------------------


def test_what_a_proof_covers(public):
    head = head_in(public)
    proved = SEAL.verify_proof(SEAL.prove(public, Query(rows=(4,))), key=public / "flat.pub")
    assert (
        "that this is row 4 of the 6 rows in 'release.csv'",
        f"the signer: whoever holds the pinned key {head.key}",
    ) == proved.verified.covers
    assert "other rows of the release, and its files" == proved.verified.does_not_cover[-1]
    assert [["[25, 34]", "", "2024-04-01"]] == proved.rows.to_numpy().tolist()


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("age between 30 and 32", [3, 4, 5]),
        ("age >= 100", [5]),
        ("age <= 19", [5]),
        ("seen = 2024-03-01", [1, 6]),
        ("seen between 2024-03-02 and 2024-03-31", []),
        ("city = ''", [4]),
        ("city <= P", [2, 4]),
    ],
)
def test_ranges_of_a_folder(public, where, rows):
    csv = pd.read_csv(public / "release.csv", dtype=str, keep_default_na=False)
    proved = SEAL.verify_proof(SEAL.prove(public, Query(where=where)))
    result = proved.rows.fillna("").to_numpy().tolist()
    assert sorted(csv.iloc[[row - 1 for row in rows]].to_numpy().tolist()) == sorted(result)


def test_nothing_is_proved_of_a_changed_release(public):
    (public / "release.csv").write_bytes((public / "release.csv").read_bytes() + b"\n")
    assert f"{CHANGED}changed: 'release.csv'" == refusal(SEAL.prove, public, Query(rows=(1,)))


def test_the_head_of_a_proof_is_checked_like_that_of_a_release(public, secret, seal, tmp_path):
    proof = Proof.read(SEAL.prove(public, Query(rows=(1,))))

    def with_head(**changes):
        text = attrs.evolve(head_in(public), **changes).write()
        signature = keys.sign(keys.read_private(secret), text, SEAL.format.domain)
        return attrs.evolve(proof, head=attrs.evolve(proof.head, text=text, signature=signature))

    for changed, message in [
        (
            with_head(key="0" * 64),
            "'the head of the proof' was written for another key than 'the proof'",
        ),
        (with_head(scheme="still"), "'the head of the proof' is the head of another scheme"),
        (
            attrs.evolve(proof, head=attrs.evolve(proof.head, text=b"{}")),
            "the signature in 'the proof' does not fit 'the head of the proof'",
        ),
        (
            attrs.evolve(proof, head=attrs.evolve(proof.head, key=b"words")),
            "'the proof' holds no public Ed25519 key in PEM",
        ),
        (with_head(size=5), "the path is not of the size that the positions ask for"),
    ]:
        assert message == refusal(SEAL.verify_proof, changed.write())


def test_a_foreign_head_does_not_fit_the_rows(public, tmp_path, seal):
    """Rows of one version under the signed head of another, both of the same size."""
    later = sealed(tmp_path / "later", attrs.evolve(seal, previous=public), ROWS[::-1])
    old, new = (Proof.read(SEAL.prove(folder, Query(rows=(1,)))) for folder in (public, later))
    mixed = attrs.evolve(old, head=new.head)
    assert "the rows of the proof are not those of its head: the root differs" == refusal(
        SEAL.verify_proof, mixed.write()
    )
