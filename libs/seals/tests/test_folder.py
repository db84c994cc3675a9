"""A folder is compared with a list; what differs is named, and nothing leads elsewhere."""

import json
import os

import pytest

from anonloom.errors import IntegrityError
from anonloom_seals.folder import compare, contents, entry_of, read
from anonloom_seals.listing import Entry, file_values, read_entries, read_json

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "inner" / "b").write_bytes(b"b")
    return tmp_path


def test_contents_of_a_folder(folder):
    assert (["a", "inner/b"], ["inner"]) == contents(folder)
    assert Entry(EMPTY, 0) == entry_of(folder / "a")


def test_a_list_comes_back(folder):
    files = {name: entry_of(folder / name) for name in contents(folder)[0]}
    data = json.dumps(file_values(files)).encode()
    assert files == read_json(data, "list.json", read_entries)
    compare(folder, files, ())


def refusal(call, *given):
    with pytest.raises(IntegrityError) as caught:
        call(*given)
    return str(caught.value)


def test_everything_that_differs_is_named(folder):
    files = {name: entry_of(folder / name) for name in contents(folder)[0]}
    (folder / "a").write_bytes(b"x")
    (folder / "inner" / "b").rename(folder / "inner" / "c")
    (folder / "more").mkdir()
    (folder / "seal").touch()
    assert (
        "the folder is not what was sealed\n"
        "    missing: 'inner/b'\n"
        "    added: 'inner/c'\n"
        "    added folder: 'more'\n"
        "    changed: 'a'" == refusal(compare, folder, files, ("seal",))
    )


def test_names_write_no_lines_of_their_own(folder):
    files = {name: entry_of(folder / name) for name in contents(folder)[0]}
    name = "x\n    out: verified\x1b[2K"
    shown = "'x\\n    out: verified\\x1b[2K'"
    (folder / name).touch()
    assert f"the folder is not what was sealed\n    added: {shown}" == refusal(
        compare, folder, files, ()
    )
    (folder / name).unlink()
    (folder / name).mkdir()
    assert f"the folder is not what was sealed\n    added folder: {shown}" == refusal(
        compare, folder, files, ()
    )
    (folder / name).rmdir()
    (folder / name).symlink_to(folder / "a")
    assert f"{shown} is a symbolic link" == refusal(contents, folder)


def test_what_leads_elsewhere_is_refused(folder):
    (folder / "link").symlink_to(folder / "a")
    assert "'link' is a symbolic link" == refusal(contents, folder)
    assert "'link' is a symbolic link" == refusal(read, folder, "link")
    (folder / "link").unlink()
    os.mkfifo(folder / "pipe")
    assert "'pipe' is no ordinary file" == refusal(contents, folder)


def test_files_that_cannot_be_read(folder):
    assert b"b" == read(folder, "inner/b")
    missing = "'c' is missing: the folder is not sealed, or its seal was removed"
    assert missing == refusal(read, folder, "c")
    assert "'c' cannot be read: No such file or directory" == refusal(entry_of, folder / "c")


GOOD = {"sha256": EMPTY, "size": 0}


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"words", "it is not JSON"),
        (b"\xff", "it is not JSON"),
        (b"[" * 200_000, "it is not JSON"),
        (b'{"a": 1, "a": 1}', "a name stands twice"),
        (b"[]", "its files are no mapping"),
        ({"a": {}}, "the entry of 'a' does not have exactly 'sha256' and 'size'"),
        ({"a": {**GOOD, "sha256": EMPTY.upper()}}, "the entry of 'a' has no hash"),
        ({"a": {**GOOD, "size": True}}, "the entry of 'a' has no size"),
        ({"a": {**GOOD, "size": -1}}, "the entry of 'a' has no size"),
        *(
            ({name: GOOD}, f"the file name {name!r} leads out of the folder")
            for name in ["../x", "/etc/passwd", "a/../b", "a//b", "", "a\\b", "C:x", "./a", "a\0"]
        ),
    ],
)
def test_malformed_lists(data, what):
    written = data if isinstance(data, bytes) else json.dumps(data).encode()
    assert f"'list.json' is malformed: {what}" == refusal(
        read_json, written, "list.json", read_entries
    )
