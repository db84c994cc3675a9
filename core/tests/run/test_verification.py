"""Verifying a published folder."""

import json

import pytest

from anonloom._run.verification import verify_folder
from anonloom.errors import IntegrityError, UsageError


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
