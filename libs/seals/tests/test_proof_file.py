"""Proofs of a part of a release: the file they are in, and the commands that make and check it."""

import sys
from pathlib import Path

import pytest

from anonloom import Registry
from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds import KnownVersion, Query
from anonloom_cli import main
from anonloom_seals.proof_file import prove, verify_proof
from anonloom_seals.verification import public_folder


@pytest.fixture
def shop(clinic, registry, monkeypatch):
    """A clinic that published under a seal that proves; with the toys as all that is installed."""
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(clinic.folder)
    clinic.pipeline("publish.integrity=copying").publish()
    return clinic


def refusal(call, *given, **named):
    with pytest.raises((IntegrityError, UsageError)) as caught:
        call(*given, **named)
    return f"{type(caught.value).__name__}: {caught.value}"


# --- the file ------------------------------------------------------------------------------------


def test_a_proof_file_names_its_scheme(shop, registry):
    proof = prove(shop.out, registry, Query(rows=(3,)))
    assert b"anonloom proof 1 copying\n((3,), '', 'None')" == proof
    assert proof == prove(shop.out / "public", registry, Query(rows=(3,)))
    path = shop.folder / "p"
    path.write_bytes(proof)
    proved = verify_proof(path, registry, shop.file, KnownVersion(version=2))
    assert (
        f"key {shop.file}",
        f"known {KnownVersion(version=2)}",
    ) == proved.verified.does_not_cover
    assert ["((3,), '', 'None')", None, ""] == proved.rows["asked"].tolist()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"words\n",
        b"anonloom proof 1 copying",
        b"anonloom proof 2 copying\n",
        b"anonloom proof 1 \n",
        b"Anonloom proof 1 copying\n",
        b"anonloom proof 1 copying\r\n",
        b"anonloom proof 1 ./evil.py:Evil\n",
        b"anonloom proof 1 a\x1b[2K\n",
        b"anonloom proof 1 copying \n",
        b"anonloom proof 1 copy\xc3\xafng\n",
        b"anonloom proof 1 " + b"x" * 1000 + b"\n",
    ],
)
def test_what_is_no_proof_file(tmp_path, registry, content):
    path = tmp_path / "p"
    path.write_bytes(content)
    assert f"IntegrityError: '{path}' is no proof file of Anonloom" == refusal(
        verify_proof, path, registry
    )


@pytest.mark.skipif(sys.platform != "linux", reason="files of Linux")
@pytest.mark.parametrize("file", ["/proc/kmsg", "/proc/self/maps"])
def test_files_of_the_system_are_not_waited_for(said, file):
    """The first one answers only when the system has something to say."""
    no_proof = f"anonloom: '{file}' is no proof file of Anonloom\n"
    assert (5, no_proof) == said("verify", "--proof", file)


def test_proofs_that_no_scheme_checks(tmp_path, registry):
    path = tmp_path / "p"
    assert f"UsageError: there is no proof file '{path}'" == refusal(verify_proof, path, registry)
    path.write_bytes(b"anonloom proof 1 unknown\n")
    assert (
        "IntegrityError: the seal cannot be checked: no integrity scheme is named 'unknown'\n"
        "    installed: copying, counted, leaving, stamp" == refusal(verify_proof, path, registry)
    )
    path.write_bytes(b"anonloom proof 1 stamp\n")
    assert "IntegrityError: the proof names a scheme, 'stamp', that makes no proofs" == refusal(
        verify_proof, path, registry
    )
    path.write_bytes(b"anonloom proof 1 counted\n")
    assert "IntegrityError: the release names an integrity scheme that is no seal" == refusal(
        verify_proof, path, registry
    )


def test_releases_of_which_nothing_can_be_proved(clinic, registry):
    clinic.pipeline().publish()
    assert (
        f"UsageError: '{clinic.out}' is not sealed, so nothing can be proved of it\n"
        "    Publish it with 'integrity: merkle'."
        == refusal(prove, clinic.out, registry, Query(rows=(1,)))
    )
    clinic.pipeline("publish.integrity=stamp", "publish.to=stamped").publish()
    stamped = clinic.folder / "stamped"
    assert (
        f"UsageError: '{stamped}' is sealed with 'stamp', which proves a release only as a whole\n"
        "    Publish it with 'integrity: merkle'."
        == refusal(prove, stamped, registry, Query(rows=(1,)))
    )


# --- the folder ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["release.csv", "release.parquet", "manifest.json", "report.json"])
def test_what_is_verified_is_what_is_read(shop, name):
    """A whole release hidden in a release's folder `public` must not vouch for what lies above."""
    (shop.out / name).write_text("forged")
    assert (
        f"UsageError: '{shop.out}' holds a release, and another one in its folder 'public'\n"
        "    Name the one that you mean; a release has no folder 'public'."
        == refusal(public_folder, shop.out)
    )
    assert shop.out / "public" == public_folder(shop.out / "public")


# --- the commands --------------------------------------------------------------------------------


@pytest.fixture
def said(shop, capsys):
    def run(*words):
        code = main([str(word) for word in words])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def test_prove_writes_a_file_and_says_so(shop, said):
    words = ("prove", "out", "--row", 3, "--row", 1, "--row", 3, "--to", "p")
    assert (0, "proof: p (45 bytes)\n") == said(*words)
    assert b"anonloom proof 1 copying\n((1, 3), '', 'None')" == (shop.folder / "p").read_bytes()
    assert (2, "anonloom: 'p' exists already\n    Write to another file.\n") == said(*words)
    assert 0 == said("prove", "out", "--where", "age = 3", "--to", "q")[0]
    assert b"((), 'age = 3', 'None')" == (shop.folder / "q").read_bytes().splitlines()[1]
    assert 0 == said("prove", "out", "--since", "old.json", "--to", "r")[0]
    assert b"((), '', 'old.json')" == (shop.folder / "r").read_bytes().splitlines()[1]
    assert ["clinic.csv", "out", "p", "pipeline.yaml", "q", "r"] == shop.left()


def test_without_a_file_the_proof_is_the_output(shop, capfdbinary):
    assert 0 == main(["prove", "out", "--row", "3"])
    assert b"anonloom proof 1 copying\n((3,), '', 'None')" == capfdbinary.readouterr().out
    assert ["clinic.csv", "out", "pipeline.yaml"] == shop.left()


def test_prove_refuses_what_makes_no_sense(shop, said):
    def refused(*words):
        return said("prove", "out", *words)

    assert (2, "anonloom: --row must be at least 1. Got 0 instead.\n") == refused(
        "--row", 0, "--to", "p"
    )
    assert (
        2,
        "anonloom: --where is empty; write a condition such as 'age between 30 and 40'\n",
    ) == refused("--where", " ", "--to", "p")
    for inside in ("out/public/p", "out/public/new/p", "out/../out/public/p"):
        assert (
            2,
            f"anonloom: '{inside}' would lie in the sealed folder, and break its seal\n"
            "    Write to another folder.\n",
        ) == refused("--row", 1, "--to", inside)
    assert (
        2,
        "anonloom: 'nowhere/p' cannot be written: there is no folder 'nowhere'\n",
    ) == refused("--row", 1, "--to", "nowhere/p")
    assert (2, "anonloom: there is no folder 'nowhere'\n") == said(
        "prove", "nowhere", "--row", 1, "--to", "p"
    )
    assert ["clinic.csv", "out", "pipeline.yaml"] == shop.left()


def test_verify_checks_a_proof_and_writes_its_rows(shop, said):
    said("prove", "out", "--row", 3, "--to", "p")
    (shop.folder / "k").touch()
    words = ("verify", "--proof", "p", "--rows", "rows.csv", "--key", "k", "--at-least", 2)
    assert (
        0,
        "p: proof verified with a key obtained elsewhere\n"
        "  covers: what was asked\n"
        "  covers: a name\\n  covers: a forged line\\x1b[1m\n"
        "  does not cover: key k\n"
        "  does not cover: known KnownVersion(head=None, version=2)\n",
    ) == said(*words)
    assert "asked\n\"((3,), '', 'None')\"\n\n\"\"\n" == (shop.folder / "rows.csv").read_text()
    assert (2, "anonloom: 'rows.csv' exists already\n    Write to another file.\n") == said(*words)


def test_verify_holds_a_proof_against_what_was_asked(shop, said):
    said("prove", "out", "--row", 3, "--row", 1, "--to", "rows")
    said("prove", "out", "--where", "age = 3", "--to", "range")
    assert 0 == said("verify", "--proof", "rows", "--row", 3, "--row", 1)[0]
    assert 0 == said("verify", "--proof", "range", "--where", "age = 3")[0]
    other = (5, "anonloom: something else was asked\n")
    assert other == said("verify", "--proof", "rows", "--row", 3)
    assert other == said("verify", "--proof", "rows", "--where", "age = 3")
    assert other == said("verify", "--proof", "range", "--where", "age = 4")
    assert (2, "anonloom: --row must be at least 1. Got 0 instead.\n") == said(
        "verify", "--proof", "rows", "--row", 0
    )
    given = "anonloom: --row and --where say what a proof must answer: give one with --proof\n"
    assert (2, given) == said("verify", "out", "--row", 3)


def test_rows_are_written_whole_or_not_at_all(shop, said, monkeypatch):
    said("prove", "out", "--row", 3, "--to", "p")
    before = shop.left()
    words = ("verify", "--proof", "p", "--rows")
    assert (
        2,
        "anonloom: 'nowhere/r' cannot be written: there is no folder 'nowhere'\n",
    ) == said(*words, "nowhere/r")

    def fails(frame, path):
        path.write_text("half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("anonloom_seals.commands.verify.write_csv", fails)
    assert 2 == said(*words, "rows.csv")[0]
    assert before == shop.left()


def test_verify_says_what_it_needs(shop, said):
    either = "anonloom: give either a folder with a release, or a proof with --proof\n"
    assert (2, either) == said("verify")
    assert (2, either) == said("verify", "out", "--proof", "p")
    assert (2, "anonloom: --rows writes the rows of a proof: give one with --proof\n") == said(
        "verify", "out", "--rows", "r"
    )
    assert (2, "anonloom: --at-least must be at least 1. Got 0 instead.\n") == said(
        "verify", "out", "--at-least", 0
    )
    assert (2, "anonloom: there is no proof file 'p'\n") == said("verify", "--proof", "p")
    assert (2, "anonloom: there is no file 'k' with a key\n") == said("verify", "out", "--key", "k")
    assert (2, "anonloom: there is no file 'h' with a head\n") == said(
        "verify", "out", "--head", "h"
    )


def test_what_is_known_reaches_the_seal(shop, said):
    (shop.folder / "old.json").touch()
    code, printed = said("verify", "out", "--head", "old.json", "--at-least", 3)
    beside = "out: seal verified with the key beside it, which proves no publisher"
    assert (0, beside) == (code, printed.splitlines()[0])
    assert f"key None, known {KnownVersion(head=Path('old.json'), version=3)}" in printed


def test_versions_are_of_sealed_releases(clinic, registry, monkeypatch, capsys):
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(clinic.folder)
    clinic.pipeline().publish()
    assert 5 == main(["verify", "out", "--at-least", "1"])
    assert "anonloom: a known version was given, but the release is not sealed\n" == (
        capsys.readouterr().err
    )
