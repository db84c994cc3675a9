"""A release is sealed, verified and proved in parts through the command line."""

import shutil

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Registry
from anonloom.errors import IntegrityError
from anonloom_cli import main
from anonloom_seals import keys
from anonloom_seals.head import Head
from anonloom_seals.verification import verify_folder

CLINIC = """\
version: 1
name: clinic
seed: 7
data:
  source: csv
  with: {path: clinic.csv}
  columns:
    age: {role: quasi, type: number}
    city: {role: other}
    bill: {role: other, type: number}
privacy:
  - k-anonymity: {k: 3}
stages:
  - partitioner: mondrian
  - generalizer: hierarchy
publish:
  to: out
  shuffle: false
  formats: [csv, parquet]
  reporters: []
  integrity: {integrity: merkle, with: {index: [age, city, bill], key: release.key}}
"""

PEOPLE = """\
age,city,bill
22,Rome,10.5
25,Rome,20
27,Oslo,
31,Oslo,20.0
34,"New
York",7
38,Oslo,1e3
44,Rome,20
47,,0
49,Oslo,-3
"""

DIARY = """\
version: 1
name: diary
data:
  source: csv
  with: {path: diary.csv}
  columns:
    day: {role: other, type: date}
    visits: {role: other, type: number}
privacy: none
publish:
  to: one
  shuffle: false
  reporters: []
  integrity: {integrity: merkle, with: {index: [day], key: release.key, growing: true}}
"""

FILES = [
    "manifest.json",
    "merkle.json",
    "merkle.pub",
    "merkle.salts",
    "merkle.sig",
    "release.csv",
    "release.parquet",
    "report.json",
    "report.txt",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a clinic's release, and with two versions of a diary's."""
    folder = tmp_path_factory.mktemp("made")
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "release.key").write_bytes(pem)
    (folder / "pinned.pub").write_bytes(keys.public_key_pem(key.public_key()))
    (folder / "clinic.yaml").write_text(CLINIC)
    (folder / "clinic.csv").write_text(PEOPLE)
    (folder / "diary.yaml").write_text(DIARY)
    (folder / "diary.csv").write_text("day,visits\n2024-03-01,4\n2024-03-02,7\n2024-03-03,5\n")
    assert 0 == main(["run", str(folder / "clinic.yaml"), "--quiet"])
    assert 0 == main(["run", str(folder / "diary.yaml"), "--quiet"])
    with (folder / "diary.csv").open("a") as file:
        file.write("2024-03-02,5\n")
    later = ["publish.to=two", "publish.integrity.with.previous=one"]
    options = [word for setting in later for word in ("--set", setting)]
    assert 0 == main(["run", str(folder / "diary.yaml"), "--quiet", *options])
    return folder


@pytest.fixture
def shop(made, tmp_path, monkeypatch, capsys):
    """A copy of it, in which we stand."""
    shutil.copytree(made, tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")
    capsys.readouterr()
    return tmp_path / "shop"


@pytest.fixture
def said(shop, capsys):
    """Run a command and return its exit code and all that it printed."""

    def run(*words):
        code = main([str(word) for word in words])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def head_of(public):
    return Head.read((public / "merkle.json").read_bytes(), "it")


UNKNOWN = (
    "  does not cover: self-consistent, signer unknown: whoever changes the files can seal them "
    "again; give the publisher's key, obtained elsewhere\n"
)
NEWER = "  does not cover: whether a version newer than this one was published since\n"
OTHERS = "  does not cover: other rows of the release, and its files\n"
PROTECTS = "  does not cover: whether the release protects anybody: the report speaks of that\n"
SORTED = (
    "  does not cover: that the publisher sorted the rows rightly: who has the release can check "
    "that\n"
)
BETWEEN = "an interval or a set lies in every range that has a part between its ends, '*' in all"


def versions(shop, version, folder="out"):
    return (
        "  does not cover: whether this is the data set that you mean, of those of the signer: it "
        f"is {head_of(shop / folder / 'public').dataset}; give a head that you know with --head\n"
        f"  does not cover: whether there is a newer version than this one, {version}: give a head "
        "that you know with --head, or the least version with --at-least\n"
    )


def test_a_release_is_sealed_and_verified(shop, said):
    assert FILES == sorted(path.name for path in (shop / "out" / "public").iterdir())
    beside = "out: seal verified with the key beside it, which proves no publisher\n"
    elsewhere = "out: seal verified with a key obtained elsewhere\n"
    covers = (
        "  covers: every byte of 7 files, and that there is no other file\n"
        "  covers: every row: 9 in 'release.csv', in their order; 'release.parquet' holds the same\n"
        "  covers: that ranges of age, city, bill are complete\n"
    )
    assert (0, beside + covers + UNKNOWN + versions(shop, 1) + PROTECTS) == said("verify", "out")
    key = head_of(shop / "out" / "public").key
    assert (
        0,
        f"{elsewhere}{covers}  covers: the signer: whoever holds the pinned key {key}\n"
        f"  covers: that it is the known version 1\n{NEWER}{PROTECTS}",
    ) == said("verify", "out", "--key", "pinned.pub", "--head", "out/public/merkle.json")


def test_nothing_private_is_published(shop):
    for path in (shop / "out" / "public").iterdir():
        content = path.read_bytes()
        assert b"release.key" not in content
        assert str(shop).encode() not in content
        assert b"PRIVATE" not in content


def test_a_row_is_proved(shop, said):
    code, printed = said("prove", "out", "--row", 5, "--row", 3, "--row", 5, "--to", "rows.proof")
    size = (shop / "rows.proof").stat().st_size
    assert (0, f"proof: rows.proof ({size:,} bytes)\n") == (code, printed)
    assert (
        0,
        "rows.proof: proof verified with the key beside it, which proves no publisher\n"
        "  covers: that these are rows 3, 5 of the 9 rows in 'release.csv'\n"
        + UNKNOWN
        + versions(shop, 1)
        + OTHERS,
    ) == said("verify", "--proof", "rows.proof", "--rows", "rows.csv")
    assert (
        'age,city,bill\n"[22, 34]",Oslo,\n"[22, 34]",New York,7\n'
        == (shop / "rows.csv").read_text()
    )


@pytest.mark.parametrize(
    ("where", "covers", "rows"),
    [
        (
            "age between 34 and 35",
            f"that these 5 are all rows with age between 34 and 35 among 9; {BETWEEN}",
            ["Rome,10.5", "Rome,20", "Oslo,", "Oslo,20", "New York,7"],
        ),
        (
            "age between 35 and 36",
            f"that there is no row with age between 35 and 36 among 9; {BETWEEN}",
            [],
        ),
        (
            "bill >= 1000.0",
            f"that this is the only row with bill >= 1000.0 among 9; {BETWEEN}",
            ["Oslo,1000"],
        ),
        (
            "bill = 20",
            f"that these 3 are all rows with bill = 20 among 9; {BETWEEN}",
            ["Rome,20", "Oslo,20", "Rome,20"],
        ),
        (
            "city = 'New York'",
            "that this is the only row with city = 'New York' among 9; cells are compared as "
            "they are written: a group, a set or '*' may also stand for a value in the range",
            ["New York,7"],
        ),
    ],
)
def test_a_range_is_proved(shop, said, where, covers, rows):
    assert 0 == said("prove", "out", "--where", where, "--to", "p")[0]
    assert (
        0,
        "p: proof verified with the key beside it, which proves no publisher\n"
        f"  covers: {covers}\n" + SORTED + UNKNOWN + versions(shop, 1) + OTHERS,
    ) == said("verify", "--proof", "p", "--rows", "rows.csv")
    written = (shop / "rows.csv").read_text().removeprefix("age,city,bill\n")
    for index in ('"[22, 34]",', '"[38, 49]",'):
        written = written.replace(index, "")
    assert rows == written.splitlines()


def test_a_narrower_range_does_not_pass_for_the_one_that_was_asked(shop, said):
    assert 0 == said("prove", "out", "--where", "bill between 20 and 900", "--to", "p")[0]
    words = ("verify", "--proof", "p", "--key", "pinned.pub", "--rows", "rows.csv", "--where")
    assert (5, "anonloom: the proof answers something else than was asked\n") == said(
        *words, "bill >= 20"
    )
    assert not (shop / "rows.csv").exists()
    assert 0 == said(*words, "bill between 20.0 and 900")[0]


def test_a_condition_writes_no_lines_of_its_own(shop, said):
    """Whoever makes a proof chooses the bounds of a range of texts, and a screen shows them."""
    where = "city >= 'X\n  covers: the signer\x1b[2K\u202e'"
    assert 0 == said("prove", "out", "--where", where, "--to", "p")[0]
    _, printed = said("verify", "--proof", "p")
    assert (
        "  covers: that there is no row with city >= 'X\\n  covers: the signer\\x1b[2K\\u202e' "
        "among 9; cells are compared as they are written: a group, a set or '*' may also stand for "
        "a value in the range"
    ) == printed.splitlines()[1]


def test_versions_and_growth(shop, said):
    first, second = (shop / name / "public" for name in ("one", "two"))
    key, root = head_of(second).key, head_of(first).orders[0].root
    signer = f"  covers: the signer: whoever holds the pinned key {key}\n"
    follows = "  covers: that it is version 2 and follows the known version 1\n"
    options = ("--key", "pinned.pub", "--head", "one/public/merkle.json")
    assert (
        0,
        "two: seal verified with a key obtained elsewhere\n"
        "  covers: every byte of 6 files, and that there is no other file\n"
        "  covers: every row: 4 in 'release.csv', in their order\n"
        "  covers: that ranges of day are complete\n" + signer + follows + NEWER + PROTECTS,
    ) == said("verify", "two", *options)
    assert 0 == said("prove", "two", "--since", "one/public/merkle.json", "--to", "p")[0]
    elsewhere = "p: proof verified with a key obtained elsewhere\n"
    beside = "p: proof verified with the key beside it, which proves no publisher\n"
    begins = (
        f"  covers: that the first 3 of 4 rows are all rows of the version with the root {root}\n"
    )
    assert (
        0,
        f"{elsewhere}{begins}  covers: that this is the known version 1\n"
        + signer
        + follows
        + NEWER
        + OTHERS,
    ) == said("verify", "--proof", "p", *options)
    assert (
        0,
        f"{beside}{begins}  does not cover: which version that is, and whose: give its head with --head\n"
        + UNKNOWN
        + versions(shop, 2, "two")
        + OTHERS,
    ) == said("verify", "--proof", "p")


# --- refusals ------------------------------------------------------------------------------------


def test_an_old_version_is_refused(shop, said):
    assert (
        5,
        "anonloom: the release is version 1, older than the known version 2\n",
    ) == said("verify", "one", "--key", "pinned.pub", "--head", "two/public/merkle.json")
    assert (5, "anonloom: the release is version 1; at least 2 is demanded\n") == said(
        "verify", "one", "--at-least", 2
    )
    assert (5, "anonloom: the release is of another data set than the known head\n") == said(
        "verify", "out", "--head", "one/public/merkle.json"
    )


def test_a_release_published_again_with_another_key(shop, said):
    options = ["--set", "publish.integrity.with.key=null", "--replace"]
    assert 0 == said("run", "clinic.yaml", "--quiet", *options)[0]
    assert 0 == said("verify", "out")[0]
    key = head_of(shop / "out" / "public").key
    refused = f"anonloom: the release is signed with another key than the pinned one: {key}\n"
    assert (5, refused) == said("verify", "out", "--key", "pinned.pub")
    assert 0 == said("prove", "out", "--row", 1, "--to", "p")[0]
    assert (5, refused) == said("verify", "--proof", "p", "--key", "pinned.pub")


def refuse_flip(made, name, at, bit):
    """A recipient without a key, and one who has pinned it, both refuse; and a copy is restored."""
    path = made / "out" / "public" / name
    content = path.read_bytes()
    path.write_bytes(content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :])
    try:
        for key in (None, made / "pinned.pub"):
            with pytest.raises(IntegrityError):
                verify_folder(made / "out", Registry.installed(), key)
    finally:
        path.write_bytes(content)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60)
@given(data=st.data())
def test_every_flipped_bit_of_every_published_file_is_refused(made, name, data):
    """Also of those that are read before the seal is looked at."""
    size = (made / "out" / "public" / name).stat().st_size
    refuse_flip(made, name, data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, 7)))


def test_no_flipped_bit_hides_that_there_is_a_seal(made):
    """Which scheme sealed a release is the report's word, and looked up before any signature."""
    path = made / "out" / "public" / "report.json"
    word = b'  "integrity": {\n    "scheme": "merkle"\n  },'
    start = path.read_bytes().index(word)
    for index in range(start, start + len(word)):
        for bit in range(8):
            refuse_flip(made, "report.json", index, bit)


@pytest.mark.parametrize("name", FILES)
def test_every_missing_file_is_refused(shop, said, name):
    (shop / "out" / "public" / name).unlink()
    missing = {
        "manifest.json": "manifest.json is missing",
        "report.json": "report.json is missing",
        "release.csv": "'release.csv', which the manifest lists, is missing",
        "release.parquet": "'release.parquet', which the manifest lists, is missing",
        "report.txt": "the folder is not what was sealed\n    missing: 'report.txt'",
        "merkle.salts": "the folder is not what was sealed\n    missing: 'merkle.salts'",
    }
    unsealed = f"'{name}' is missing: the folder is not sealed, or its seal was removed"
    assert (5, f"anonloom: {missing.get(name, unsealed)}\n") == said(
        "verify", "out", "--key", "pinned.pub"
    )


def _moved(lines):
    return [lines[0], lines[2], lines[1], *lines[3:]]


@pytest.mark.parametrize(
    "rows",
    [
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines, b"*,Bern,1\n"],
        _moved,
    ],
)
def test_changed_rows_are_refused(shop, said, rows):
    """Dropped, repeated, added, moved: by the manifest's digest, and without it by the head."""
    path = shop / "out" / "public" / "release.csv"
    path.write_bytes(b"".join(rows(path.read_bytes().splitlines(keepends=True))))
    assert (
        5,
        "anonloom: 'release.csv' is not what the manifest says: its digest differs\n",
    ) == said("verify", "out")
    assert (
        5,
        "anonloom: the folder is not what was sealed\n    changed: 'release.csv'\n",
    ) == said("prove", "out", "--row", 1, "--to", "p")
    assert not (shop / "p").exists()


def test_questions_that_have_no_answer(shop, said):
    def refused(*words):
        code, printed = said("prove", "out", *words, "--to", "p")
        assert not (shop / "p").exists()
        return code, printed

    assert (2, "anonloom: there is no row 10: the release has 9\n") == refused("--row", 10)
    assert (2, "anonloom: the bound 'old' is no number\n    Write it as 30 or 1.5.\n") == refused(
        "--where", "age = old"
    )
    assert (
        2,
        "anonloom: there is no column 'weight'\n    There are: age, city, bill.\n",
    ) == refused("--where", "weight = 1")
    assert (
        2,
        "anonloom: the earlier head is not that of an earlier version of this release\n",
    ) == refused("--since", "one/public/merkle.json")


def test_a_pipeline_whose_seal_cannot_work_is_refused_before_it_runs(shop, said):
    change = ["--set", "publish.integrity.with.index=[weight]"]
    code, printed = said("check", "clinic.yaml", *change)
    assert 2 == code
    assert "column 'weight' is not declared; published are: 'age', 'city', 'bill'" in printed


def test_other_rows_do_not_grow(shop, said):
    (shop / "diary.csv").write_text("day,visits\n2024-03-01,4\n")
    options = ["--set", "publish.to=three", "--set", "publish.integrity.with.previous=two"]
    assert (
        5,
        "anonloom: the version before is not the beginning of this release\n"
        "    Only add rows at the end, with 'shuffle: false'; or write 'growing: false'.\n",
    ) == said("run", "diary.yaml", "--quiet", *options)
    assert not (shop / "three").exists()
