"""Verifying a published folder."""

import asyncio
import json
import os
import types

import pytest
from seals_clinic_toys import LEAVING, PLACE

import anonloom_seals.plugin
from anonloom import Registry
from anonloom.api import Method, hookimpl
from anonloom.errors import IntegrityError, UsageError
from anonloom_cli import main
from anonloom_seals.verification import verify_folder


@pytest.fixture
def out(clinic):
    clinic.pipeline().publish()
    return clinic.out


def test_an_untouched_release_without_a_seal_agrees_with_its_digests(out, registry):
    verified = verify_folder(out, registry, unsealed=True)

    assert ("every file that the manifest lists has the digest that it lists",) == verified.covers
    assert (
        "the manifest itself, the reports, and files that the manifest does not list",
        "who published it: the release is not sealed",
    ) == verified.does_not_cover
    assert verified == verify_folder(out / "public", registry, unsealed=True)


def test_a_release_without_a_seal_is_refused_unless_digests_are_enough(out, registry):
    with pytest.raises(IntegrityError) as refused:
        verify_folder(out, registry)
    assert (
        "the release is not sealed: its digests agree, which whoever changed it could have arranged"
        == refused.value.what
    )
    assert (
        "Ask the publisher for a sealed release; --unsealed is content with digests."
        == refused.value.hint
    )


def test_a_changed_release_is_refused(out, registry):
    path = out / "public" / "release.csv"
    path.write_bytes(path.read_bytes().replace(b"flu", b"flv", 1))
    with pytest.raises(IntegrityError) as refused:
        verify_folder(out, registry)

    assert "'release.csv' is not what the manifest says: its digest differs" == str(refused.value)


def test_a_missing_file_is_refused(out, registry):
    (out / "public" / "release.csv").unlink()
    with pytest.raises(IntegrityError) as refused:
        verify_folder(out, registry)

    assert "'release.csv', which the manifest lists, is missing" == str(refused.value)


def test_a_manifest_cannot_lead_out_of_the_folder(out, registry):
    path = out / "public" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["outputs"] = {"../private/run.json": "0"}
    path.write_text(json.dumps(manifest))
    with pytest.raises(IntegrityError) as refused:
        verify_folder(out, registry)

    assert "'run.json', which the manifest lists, is missing" == str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "manifest.json cannot be read as JSON"),
        ("[]", "manifest.json is no JSON object"),
        ("{}", "manifest.json lists no outputs"),
    ],
)
def test_a_damaged_manifest_is_refused(out, registry, content, message):
    (out / "public" / "manifest.json").write_text(content)
    with pytest.raises(IntegrityError) as refused:
        verify_folder(out, registry)

    assert message == str(refused.value)


def test_a_key_demands_a_seal(out, registry, tmp_path):
    with pytest.raises(IntegrityError) as refused:
        verify_folder(out, registry, key=tmp_path / "key")

    assert "a key was given, but the release is not sealed" == str(refused.value)


def test_a_seal_is_verified_by_its_scheme(clinic, registry):
    clinic.pipeline("publish.integrity=stamp").publish()
    assert ("the stamp is there",) == verify_folder(clinic.out, registry).covers

    (clinic.out / "public" / "stamp").unlink()
    with pytest.raises(IntegrityError) as refused:
        verify_folder(clinic.out, registry)
    assert "the stamp is missing" == str(refused.value)


@pytest.mark.parametrize(
    "said",
    [{}, {"inteGrity": {"scheme": "stamp"}}, {"integrity": {"rcheme": "stamp"}}]
    + [{"integrity": word} for word in (False, 0, "", "stamp", [], {}, {"scheme": None})],
)
def test_a_report_that_does_not_say_whether_there_is_a_seal(clinic, registry, said):
    """Else one damaged letter would make a sealed release one that was never sealed."""
    clinic.pipeline("publish.integrity=stamp").publish()
    path = clinic.out / "public" / "report.json"
    report = json.loads(path.read_text())
    del report["integrity"]
    path.write_text(json.dumps(report | said))
    with pytest.raises(IntegrityError) as refused:
        verify_folder(clinic.out, registry)

    assert "report.json does not say whether the release is sealed" == str(refused.value)


@pytest.mark.parametrize("name", ["manifest.json", "report.json"])
def test_a_release_without_its_manifest_or_report_is_refused(out, registry, name):
    (out / "public" / name).unlink()
    with pytest.raises(IntegrityError) as refused:
        verify_folder(out, registry)

    assert f"{name} is missing" == str(refused.value)


def test_a_folder_without_a_release_is_a_mistake_of_the_call(tmp_path, registry):
    with pytest.raises(UsageError) as refused:
        verify_folder(tmp_path, registry)
    assert f"'{tmp_path}' holds no release: it has no manifest.json" == str(refused.value)

    with pytest.raises(UsageError) as refused:
        verify_folder(tmp_path / "nothing", registry)
    assert f"there is no folder '{tmp_path / 'nothing'}'" == str(refused.value)


# --- hostile folders ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("manifest.json", "[" * 100_000, "manifest.json cannot be read as JSON"),
        ("report.json", "[" * 100_000, "report.json cannot be read as JSON"),
        (
            "report.json",
            '{"integrity": ["./evil.py:Evil"]}',
            "report.json does not say whether the release is sealed",
        ),
        (
            "report.json",
            '{"integrity": {"scheme": "./evil.py:Evil"}}',
            "the seal cannot be checked: './evil.py:Evil' is local code, which runs only with "
            "--allow-local-code",
        ),
        (
            "manifest.json",
            '{"outputs": {"release.csv": "\\u00e9"}}',
            "'release.csv' is not what the manifest says: its digest differs",
        ),
        (
            "manifest.json",
            '{"outputs": {"\\u001b[2J": "0"}}',
            "'\\x1b[2J', which the manifest lists, is missing",
        ),
    ],
)
def test_a_hostile_folder_is_refused_in_words(clinic, registry, name, content, message):
    clinic.pipeline().publish()
    (clinic.out / "public" / name).write_text(content)
    with pytest.raises(IntegrityError) as refused:
        verify_folder(clinic.out, registry)
    assert message == refused.value.what


def test_a_pipe_in_the_place_of_a_report_is_not_waited_for(clinic, registry):
    clinic.pipeline().publish()
    (clinic.out / "public" / "report.json").unlink()
    os.mkfifo(clinic.out / "public" / "report.json")
    with pytest.raises(IntegrityError) as refused:
        verify_folder(clinic.out, registry)
    assert "report.json is missing" == refused.value.what


# --- the command -------------------------------------------------------------------------------


@pytest.fixture
def shop(clinic, registry, monkeypatch):
    """The clinic, and the toys as all that is installed."""
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(clinic.folder)
    return clinic


def test_verify_says_what_it_covers_and_exits_with_5_when_something_changed(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    assert 5 == main(["verify", "out"])
    assert "anonloom: the release is not sealed" in capsys.readouterr().err
    assert 0 == main(["verify", "out", "--unsealed"])
    assert (
        "out: digests only, no seal: they agree with the manifest, which proves nothing\n"
        "  covers: every file that the manifest lists has the digest that it lists\n"
        "  does not cover: the manifest itself, the reports, and files that the manifest does not "
        "list\n"
        "  does not cover: who published it: the release is not sealed\n" == capsys.readouterr().out
    )

    (shop.out / "public" / "release.csv").write_text("nothing")
    assert 5 == main(["verify", "out", "--unsealed"])
    assert (
        "anonloom: 'release.csv' is not what the manifest says: its digest differs\n"
        == capsys.readouterr().err
    )


# --- seals that fail ---------------------------------------------------------------------------


class Own(BaseException):
    """What a plugin may think of."""


ERRORS = [
    SystemExit(),
    SystemExit(None),
    SystemExit(3),
    SystemExit("Alice Smith"),
    GeneratorExit(),
    asyncio.CancelledError(),
    BaseExceptionGroup("several", [SystemExit(0)]),
    Own("Alice Smith"),
    KeyError("Alice Smith"),
    MemoryError(),
]


@pytest.fixture
def sealed(shop, capsys):
    shop.pipeline("publish.integrity=leaving").publish()
    capsys.readouterr()
    yield shop.out
    LEAVING.clear()


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.parametrize("entry", ["verify", "__attrs_post_init__"])
def test_a_seal_that_fails_has_verified_nothing(sealed, capsys, entry, error):
    LEAVING[entry] = error
    assert 5 == main(["verify", "out"])
    bug = (
        "this is a bug of integrity scheme 'leaving' of acme 2.0: "
        f"{type(error).__name__} in {PLACE}"
    )
    assert ("", f"anonloom: the seal cannot be checked: {bug}\n") == capsys.readouterr()


def test_verify_of_a_tampered_release_with_a_seal_that_exits(sealed, capsys):
    report = json.loads((sealed / "public" / "report.json").read_text())
    (sealed / "public" / "report.json").write_text(json.dumps({**report, "name": "other"}))
    LEAVING["verify"] = SystemExit(0)
    assert 5 == main(["verify", "out"])


def test_a_seal_without_an_answer_has_verified_nothing(sealed, registry, monkeypatch):
    seal = registry.load("integrity", "leaving")
    monkeypatch.setattr(seal, "verify", lambda self, public, key=None, known=None: None)
    with pytest.raises(IntegrityError) as refused:
        verify_folder(sealed, registry)
    assert (
        "the seal cannot be checked: it must answer with VerifiedScope. Got NoneType instead."
        == str(refused.value)
    )


def test_verify_where_the_seal_cannot_even_be_imported(sealed, capsys, registry, monkeypatch):
    (sealed.parent / "acme_exits.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(sealed.parent)
    seal = Method(name="leaving", target="acme_exits:Seal", summary="Leaves.")
    other = Registry.empty()
    other.register(anonloom_seals.plugin, distribution="anonloom-seals", version="0.1.0")
    plugin = types.SimpleNamespace(
        ANONLOOM_API=2, anonloom_register_integrity_schemes=hookimpl(lambda: [seal])
    )
    assert other.register(plugin, distribution="acme", version="3.0")
    monkeypatch.setattr(Registry, "_environment", other)
    assert 5 == main(["verify", "out"])
    assert (
        "anonloom: the seal cannot be checked: this is a bug of integrity scheme 'leaving' "
        f"of acme 3.0: SystemExit in {sealed.parent / 'acme_exits.py'}:2\n"
    ) == capsys.readouterr().err
