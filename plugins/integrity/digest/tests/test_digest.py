"""The seal notices every change, and says which check failed."""

import json
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from hypothesis import given
from hypothesis import strategies as st

from anonloom.errors import IntegrityError, UsageError
from anonloom.kinds import KnownVersion
from anonloom_digest.digest import DOMAIN, Digest
from anonloom_seals import keys

FILES = {"release.csv": b"age,zip\n[1, 2],*\n", "report.json": b"{}", "proofs/a.bin": b"\0\1"}


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def seal(folder, files=FILES, **options):
    public, private = folder / "public", folder / "private"
    public.mkdir(parents=True)
    private.mkdir()
    write(public, files)
    sealed = Digest(**options).seal(public, private)
    return public, private, sealed


@pytest.fixture
def sealed(tmp_path):
    public, _, _ = seal(tmp_path)
    return public


def refusal(public, key=None):
    with pytest.raises(IntegrityError) as caught:
        Digest().verify(public, key=key)
    assert 5 == caught.value.exit_code
    return str(caught.value).replace(str(public.parent), "HERE")


def key_file(path, key=None, encryption=None):
    key = key or Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption())
    path.write_bytes(pem)
    return path


def resign(public, private, listing):
    """Write a list of one's own with a signature that fits it."""
    key = load_pem_private_key((private / "digest.key").read_bytes(), None)
    (public / "digest.json").write_bytes(listing)
    (public / "digest.sig").write_bytes(keys.sign(key, listing, DOMAIN))


# --- sealing --------------------------------------------------------------------------------


def test_sealing_leaves_three_public_files_and_a_private_key(tmp_path):
    public, private, sealed = seal(tmp_path)
    assert ("digest.json", "digest.sig", "digest.pub") == sealed.public
    assert ("digest.key",) == sealed.private
    assert FILES == {name: (public / name).read_bytes() for name in FILES}
    assert 0o600 == stat.S_IMODE((private / "digest.key").stat().st_mode)
    assert "PRIVATE" not in "".join((public / name).read_text() for name in sealed.public)


def test_the_list_can_be_checked_with_sha256sum(sealed):
    listing = json.loads((sealed / "digest.json").read_text())
    assert "anonloom digest of a release" == listing["context"]
    assert 1 == listing["format"]
    assert ["digest.pub", "proofs/a.bin", "release.csv", "report.json"] == list(listing["files"])
    assert {
        "sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        "size": 2,
    } == listing["files"]["report.json"]


def test_every_release_has_a_new_key(tmp_path):
    one, _, _ = seal(tmp_path / "one")
    other, _, _ = seal(tmp_path / "other")
    assert (one / "digest.pub").read_bytes() != (other / "digest.pub").read_bytes()


def test_a_given_key_signs_all_releases_and_stays_where_it_is(tmp_path):
    key = key_file(tmp_path / "release.key")
    one, private, sealed = seal(tmp_path / "one", key=key)
    other, _, _ = seal(tmp_path / "other", key=key)
    assert () == sealed.private
    assert [] == list(private.iterdir())
    assert (one / "digest.pub").read_bytes() == (other / "digest.pub").read_bytes()
    assert "release.key" not in repr(Digest(key=key))
    Digest().verify(one, key=other / "digest.pub")


def sealing_refusal(folder, **options):
    with pytest.raises(IntegrityError) as caught:
        seal(folder, **options)
    return str(caught.value)


def test_keys_that_cannot_sign(tmp_path):
    no_key = (
        "the key file holds no private Ed25519 key in PEM\n"
        "    make one with: openssl genpkey -algorithm ed25519 -out release.key"
    )
    absent = tmp_path / "absent"
    assert f"the private key {absent} cannot be read: No such file or directory" == (
        sealing_refusal(tmp_path / "a", key=absent)
    )
    (tmp_path / "words").write_text("words")
    assert no_key == sealing_refusal(tmp_path / "b", key=tmp_path / "words")
    other = key_file(tmp_path / "other", generate_private_key(SECP256R1()))
    assert no_key == sealing_refusal(tmp_path / "c", key=other)
    closed = key_file(tmp_path / "closed", encryption=BestAvailableEncryption(b"x"))
    assert "the private key is encrypted; decrypt it first" == sealing_refusal(
        tmp_path / "d", key=closed
    )


def test_a_key_that_cannot_sign_is_refused_beforehand(tmp_path):
    Digest().ready()
    Digest(key=key_file(tmp_path / "good")).ready()
    absent = tmp_path / "absent"
    with pytest.raises(IntegrityError) as caught:
        Digest(key=absent).ready()
    assert f"the private key {absent} cannot be read: No such file or directory" == (
        str(caught.value)
    )


def test_a_private_key_is_never_published(tmp_path):
    public, private = tmp_path / "public", tmp_path / "private"
    public.mkdir()
    private.mkdir()
    key = key_file(public / "release.key")
    with pytest.raises(IntegrityError) as caught:
        Digest(key=key).seal(public, private)
    assert "the private key lies in the folder that is to be published" == str(caught.value)


def test_a_folder_is_sealed_once(tmp_path):
    public, private, _ = seal(tmp_path)
    with pytest.raises(IntegrityError) as caught:
        Digest().seal(public, private)
    assert "the folder is sealed already: it has a 'digest.json'" == str(caught.value)


def test_an_old_private_key_is_not_overwritten(tmp_path):
    public, private, _ = seal(tmp_path)
    for name in ("digest.json", "digest.sig", "digest.pub"):
        (public / name).unlink()
    with pytest.raises(IntegrityError) as caught:
        Digest().seal(public, private)
    assert "'digest.key' cannot be written: File exists" == str(caught.value)


def test_links_are_not_sealed(tmp_path):
    public, private = tmp_path / "public", tmp_path / "private"
    public.mkdir()
    private.mkdir()
    (public / "link").symlink_to(tmp_path)
    with pytest.raises(IntegrityError) as caught:
        Digest().seal(public, private)
    assert "'link' is a symbolic link" == str(caught.value)
    assert [] == list(private.iterdir())


# --- verifying ------------------------------------------------------------------------------


def test_without_a_pinned_key_the_signer_is_unknown(sealed):
    verified = Digest().verify(sealed)
    assert ("every byte of 4 files, and that there is no other file",) == verified.covers
    assert (
        "self-consistent, signer unknown: whoever changes the files can seal them again; give "
        "the publisher's key, obtained elsewhere" == verified.does_not_cover[0]
    )


def test_with_a_pinned_key_the_signer_is_covered(sealed, tmp_path):
    pinned = shutil.copy(sealed / "digest.pub", tmp_path / "pinned.pub")
    verified = Digest().verify(sealed, key=Path(pinned))
    fingerprint = json.loads((sealed / "digest.json").read_text())["key"]
    assert f"the signer: whoever holds the pinned key {fingerprint}" == verified.covers[1]
    assert not any("unknown" in text for text in verified.does_not_cover)


def test_a_release_rewritten_together_with_its_key(sealed, tmp_path):
    pinned = Path(shutil.copy(sealed / "digest.pub", tmp_path / "pinned.pub"))
    forged, _, _ = seal(tmp_path / "forged", {"release.csv": b"lies"})
    fingerprint = json.loads((forged / "digest.json").read_text())["key"]
    Digest().verify(forged)  # consistent with itself: only the pinned key tells
    assert f"the release is signed with another key than the pinned one: {fingerprint}" == refusal(
        forged, pinned
    )


def test_a_pinned_key_that_is_none(sealed, tmp_path):
    assert "the pinned key HERE/absent cannot be read: No such file or directory" == refusal(
        sealed, tmp_path / "absent"
    )
    (tmp_path / "words").write_text("words")
    assert "the pinned key HERE/words holds no public Ed25519 key in PEM" == refusal(
        sealed, tmp_path / "words"
    )


def test_signatures_stay_what_they_were():
    """The bytes before what is signed never change: old releases must verify."""
    assert b"anonloom digest signature 1\0" == DOMAIN


@pytest.mark.parametrize("known", [KnownVersion(version=2), KnownVersion(head=Path("head.json"))])
def test_a_digest_knows_of_no_versions(sealed, known):
    Digest().verify(sealed, known=KnownVersion())
    with pytest.raises(UsageError) as caught:
        Digest().verify(sealed, known=known)
    assert (
        "a digest knows of no versions: the release cannot be compared with a known head or "
        "version; only its key and its files can be checked" == str(caught.value)
    )


def test_what_differs_is_named(sealed):
    (sealed / "release.csv").write_bytes(b"age,zip\n[1, 3],*\n")
    (sealed / "report.json").rename(sealed / "raport.json")
    (sealed / "empty").mkdir()
    assert (
        "the folder is not what was sealed\n"
        "    missing: 'report.json'\n"
        "    added: 'raport.json'\n"
        "    added folder: 'empty'\n"
        "    changed: 'release.csv'" == refusal(sealed)
    )


def test_no_such_folder(tmp_path):
    assert f"{tmp_path / 'x'}: there is no such folder".replace(str(tmp_path), "HERE") == refusal(
        tmp_path / "x"
    )


@pytest.mark.parametrize("name", ["digest.json", "digest.sig", "digest.pub"])
def test_a_removed_seal(sealed, name):
    (sealed / name).unlink()
    assert f"'{name}' is missing: the folder is not sealed, or its seal was removed" == refusal(
        sealed
    )


@pytest.mark.parametrize("name", ["digest.json", "digest.sig", "digest.pub", "release.csv"])
def test_a_link_in_the_place_of_a_file(sealed, tmp_path, name):
    moved = shutil.move(sealed / name, tmp_path / "elsewhere")
    (sealed / name).symlink_to(moved)
    assert f"'{name}' is a symbolic link" == refusal(sealed)


def test_a_pipe_in_the_place_of_a_file(sealed):
    (sealed / "release.csv").unlink()
    os.mkfifo(sealed / "release.csv")
    assert "'release.csv' is no ordinary file" == refusal(sealed)


def test_a_signature_that_does_not_fit(sealed):
    path = sealed / "digest.json"
    path.write_bytes(path.read_bytes().replace(b"release.csv", b"release.cvs"))
    assert "the signature in 'digest.sig' does not fit 'digest.json'" == refusal(sealed)


@pytest.mark.parametrize(
    "other", [bytes.upper, lambda line: line[:2] + b" " + line[2:], bytes.strip]
)
def test_a_signature_has_one_spelling(sealed, other):
    path = sealed / "digest.sig"
    path.write_bytes(other(path.read_bytes()))
    assert "the signature in 'digest.sig' does not fit 'digest.json'" == refusal(sealed)


def test_another_key_beside_the_list(sealed):
    (sealed / "digest.pub").write_text("words")
    assert "'digest.pub' holds no public Ed25519 key in PEM" == refusal(sealed)


GOOD = {"sha256": "0" * 64, "size": 1}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda c: b"words", "it is not JSON"),
        (lambda c: b"\xff", "it is not JSON"),
        (lambda c: b"[1]", "it does not have exactly the fields of a digest"),
        (lambda c: {**c, "more": 1}, "it does not have exactly the fields of a digest"),
        (lambda c: {**c, "context": "x"}, "it is no digest of a release"),
        (
            lambda c: {**c, "format": 2},
            "it has a format that this version does not know, which is 1",
        ),
        (
            lambda c: {**c, "format": True},
            "it has a format that this version does not know, which is 1",
        ),
        (lambda c: {**c, "hash": "md5"}, "it names another hash than sha256"),
        (lambda c: {**c, "key": "x"}, "it names no key"),
        (lambda c: {**c, "files": []}, "its files are no mapping"),
        (
            lambda c: {**c, "files": {"a": {}}},
            "the entry of 'a' does not have exactly 'sha256' and 'size'",
        ),
        (lambda c: {**c, "files": {"a": {**GOOD, "sha256": 1}}}, "the entry of 'a' has no hash"),
        (lambda c: {**c, "files": {"a": {**GOOD, "size": -1}}}, "the entry of 'a' has no size"),
        (lambda c: {**c, "files": {"a": {**GOOD, "size": True}}}, "the entry of 'a' has no size"),
        (
            lambda c: json.dumps(c).replace('"format": 1', '"format": 1, "format": 1').encode(),
            "a name stands twice",
        ),
        *(
            (
                lambda c, name=name: {**c, "files": {name: GOOD}},
                f"the file name {name!r} leads out of the folder",
            )
            for name in ["../x", "/etc/passwd", "a/../b", "a//b", "", "a\\b", "C:x", "./a", "a\0"]
        ),
    ],
)
def test_a_malformed_list_is_refused_though_it_is_signed(tmp_path, change, what):
    public, private, _ = seal(tmp_path)
    changed = change(json.loads((public / "digest.json").read_text()))
    resign(public, private, changed if isinstance(changed, bytes) else json.dumps(changed).encode())
    assert f"'digest.json' is malformed: {what}" == refusal(public)


def test_a_deeply_nested_list_is_refused(tmp_path):
    public, private, _ = seal(tmp_path)
    resign(public, private, b"[" * 200_000)
    assert "'digest.json' is malformed: it is not JSON" == refusal(public)


def test_a_list_for_another_key(tmp_path):
    public, private, _ = seal(tmp_path)
    listing = json.loads((public / "digest.json").read_text())
    resign(public, private, json.dumps({**listing, "key": "0" * 64}).encode())
    assert "'digest.json' was written for another key than 'digest.pub'" == refusal(public)


# --- every change ---------------------------------------------------------------------------

names = st.text("abc", min_size=1, max_size=3)
folders = st.dictionaries(names, st.binary(min_size=1, max_size=40), min_size=1, max_size=4)


@given(files=folders, data=st.data())
def test_every_flipped_bit_of_every_file_is_noticed(files, data):
    with tempfile.TemporaryDirectory() as place:
        public, _, _ = seal(Path(place) / "x", files)
        Digest().verify(public)
        path = public / data.draw(st.sampled_from(sorted(p.name for p in public.iterdir())))
        content = bytearray(path.read_bytes())
        bit = data.draw(st.integers(0, 8 * len(content) - 1))
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        refusal(public)


@given(files=folders, data=st.data())
def test_every_dropped_added_renamed_or_exchanged_file_is_noticed(files, data):
    with tempfile.TemporaryDirectory() as place:
        public, _, _ = seal(Path(place) / "x", files)
        there = sorted(path.name for path in public.iterdir())
        name = data.draw(st.sampled_from(there))
        new = data.draw(names.filter(lambda name: name not in there))
        content = (public / name).read_bytes()
        change = data.draw(st.sampled_from(["drop", "add", "rename", "copy", "cut", "lengthen"]))
        if change in ("drop", "rename"):
            (public / name).unlink()
        if change in ("add", "rename", "copy"):
            (public / new).write_bytes(b"" if change == "add" else content)
        if change in ("cut", "lengthen"):
            (public / name).write_bytes(content[:-1] if change == "cut" else content + b"\n")
        refusal(public)
