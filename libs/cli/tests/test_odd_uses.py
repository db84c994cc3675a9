"""Odd files, odd values and odd surroundings end in one line and the right exit code."""

import os
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from anonloom import param
from anonloom.errors import ParameterError, UsageError
from anonloom.files import MOST_NESTED, read_bytes, read_json
from anonloom_testing.commands import PLAIN, run_in_process

# -- the pipeline file ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ('name: "\\U00110000"', 10, "there is no such character or number"),
        ('name: "\\UFFFFFFFF"', 10, "there is no such character or number"),
        (f"%YAML 1.{'1' * 5000}\n---\nname: a", 9, "there is no such character or number"),
    ],
)
def test_escapes_of_no_character_are_no_yaml(anonloom, shop, text, column, what):
    shop.write(text)
    code, out, err = anonloom("check", "pipeline.yaml")
    head, _, rest = err.partition("\n")
    assert (2, "", f"pipeline.yaml:1:{column}: this is not YAML: {what}") == (code, out, head)
    assert rest.endswith("^\n\n1 problem\n")


@pytest.mark.parametrize("limit", ["1e999", "-1e999", "1e309"])
def test_a_condition_beyond_all_numbers_is_refused(anonloom, shop, limit):
    shop.change("  - counting\n", f"  - {{auditor: counting, fail_if: {{rows: '> {limit}'}}}}\n")
    assert (
        2,
        "",
        "pipeline.yaml:19:41: audit[0].fail_if.rows: must be a comparison with a finite number. "
        f"Got '> {limit}' instead.\n"
        f"    - {{auditor: counting, fail_if: {{rows: '> {limit}'}}}}\n"
        "                                          ^\n"
        "    beyond all numbers there is no figure: it would never stop a release, or always\n\n"
        "1 problem\n",
    ) == anonloom("check", "pipeline.yaml")


def test_the_largest_number_is_one_in_a_condition(anonloom, shop):
    shop.change("  - counting\n", "  - {auditor: counting, fail_if: {rows: '> 1.7e308'}}\n")
    assert (0, "pipeline.yaml: ok\nnot declared, therefore not published: name\n", "") == (
        anonloom("check", "pipeline.yaml")
    )


@attrs.frozen(kw_only=True)
class Sized:
    count: int = param(help="A count.", default=1)
    share: float = param(help="A share.", default=1.0)


@pytest.mark.parametrize("count", [2**63, -(2**63) - 1, 10**30])
def test_integers_that_no_array_holds_are_no_parameters(count):
    with pytest.raises(ParameterError) as refused:
        Sized(count=count)
    assert f"The 'count' parameter of Sized must be an integer. Got {count} instead." == str(
        refused.value
    )
    assert 2**63 - 1 == Sized(count=2**63 - 1).count


def test_integers_that_no_float_holds_are_no_numbers():
    assert 1e30 == Sized(share=10**30).share
    with pytest.raises(ParameterError) as refused:
        Sized(share=10**309)
    assert str(refused.value).startswith(
        "The 'share' parameter of Sized must be a number. Got 1000000000"
    )


def test_quantiles_with_absurd_groups(anonloom, shop):
    shop.change(
        "age: {role: quasi, type: number}",
        "age: {role: quasi, type: number, hierarchy: {build: quantiles, groups: [1000000000000]}}",
    )
    assert (
        2,
        "",
        "pipeline.yaml:9:49: data.columns.age.hierarchy: a level needs 2 to 100000 bins\n"
        "    age: {role: quasi, type: number, hierarchy: {build: quantiles, groups: "
        "[1000000000000]}}\n"
        "                                                ^\n\n"
        "1 problem\n",
    ) == anonloom("check", "pipeline.yaml")


# -- paths and special files ------------------------------------------------------------------


def test_an_argument_with_nul(anonloom):
    expected = "anonloom: an argument holds a NUL character, which nothing can be named by\n"
    for words in (["check", "a\0b"], ["run", "pipeline.yaml", "--to", "a\0b"], ["verify", "\0"]):
        assert (2, "", expected) == anonloom(*words)


def test_a_path_with_nul_in_a_pipeline(anonloom, shop):
    shop.change("path: clinic.csv", 'path: "cli\\0nic.csv"')
    assert (
        2,
        "",
        "pipeline.yaml:7:16: data.with.path: must be a path. What it got is not shown: the "
        "parameter is private.\n"
        "    The file; a name that ends in .gz is decompressed.\n\n"
        "1 problem\n",
    ) == anonloom("check", "pipeline.yaml")


def test_a_path_with_nul_from_python(shop):
    with pytest.raises(UsageError) as refused:
        shop.pipeline().publish(to="a\0b")
    assert (
        "'a\\x00b' cannot be written: a path holds no NUL character\n"
        "    Publish to another folder." == str(refused.value)
    )
    with pytest.raises(UsageError) as refused:
        type(shop.pipeline()).load("a\0b", registry=shop.registry)
    assert "a\0b: cannot be read: a path holds no NUL character" == str(refused.value)


@pytest.fixture
def silent(tmp_path):
    """A pipe that nobody writes to: whoever opens it waits for ever."""
    os.mkfifo(tmp_path / "silent")
    return "silent"


@pytest.mark.skipif(sys.platform != "linux", reason="these files are Linux's own")
class TestSpecialFiles:
    @pytest.mark.parametrize("file", ["/dev/zero", "/dev/null", "/dev/full"])
    def test_devices(self, anonloom, shop, file):
        refused = f"anonloom: {file}: this is no ordinary file\n"
        setting = f"data.with.path={file}"
        assert (4, "", refused) == anonloom("run", "pipeline.yaml", "--quiet", "--set", setting)
        unread = f"anonloom: {file}: cannot be read: this is no ordinary file\n"
        assert (2, "", unread) == anonloom("check", file)
        shop.change("sex: {role: quasi}", f"sex: {{role: quasi, hierarchy: {file}}}")
        assert (
            4,
            "",
            f"anonloom: column 'sex': {file}: the hierarchy file cannot be read (this is no "
            "ordinary file)\n",
        ) == anonloom("check", "pipeline.yaml")

    @pytest.mark.parametrize("file", ["/proc/kmsg", "/proc/self/maps"])
    def test_files_of_the_system_are_not_waited_for(self, anonloom, file):
        """The first one answers only when the system has something to say."""
        empty = f"anonloom: {file}: the file is empty\n"
        setting = f"data.with.path={file}"
        assert (4, "", empty) == anonloom("run", "pipeline.yaml", "--quiet", "--set", setting)
        assert (2, "", f"{file}:1:1: the file is empty\n\n1 problem\n") == anonloom("check", file)


def test_pipes_are_no_tables(anonloom, silent):
    setting = f"data.with.path={silent}"
    refused = f"anonloom: {silent}: this is no ordinary file\n"
    assert (4, "", refused) == anonloom("run", "pipeline.yaml", "--quiet", "--set", setting)


def test_a_pipeline_may_come_through_a_pipe(shop):
    answer = subprocess.run(
        [sys.executable, "-m", "anonloom", "check", "/dev/stdin"],
        input="version: 2",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (2, "/dev/stdin:1:1: a pipeline needs 'data'") == (
        answer.returncode,
        answer.stderr.splitlines()[0],
    )


# -- tables -----------------------------------------------------------------------------------

HEAD = b"age,sex,illness,bill\n31,f,flu,100\n"


@pytest.mark.parametrize(
    "rows",
    [b"\xff,f\n", b"31,f\n\xff,f,flu,1\n", b'31,f,"fl\xff\nu",1,2\n', b"31,\xff\xfe,f,l,u,\xff\n"],
)
def test_a_ragged_row_with_a_bad_byte(anonloom, shop, rows):
    (shop.folder / "clinic.csv").write_bytes(HEAD + rows)
    assert (
        4,
        "",
        f"anonloom: {shop.folder / 'clinic.csv'}: 1 row has more or fewer cells than the header's "
        "4 (row 2)\n    the separator is ','; a cell that holds it must be quoted\n",
    ) == anonloom("run", str(shop.file), "--quiet")


def test_a_bad_byte_alone_is_named_by_its_line(anonloom, shop):
    (shop.folder / "clinic.csv").write_bytes(HEAD + b"31,\xff,flu,1\n")
    assert (
        4,
        "",
        "anonloom: clinic.csv: the file is not utf-8 (first in line 3)\n"
        "    name its encoding, for example 'encoding: cp1252', or save it as utf-8\n",
    ) == anonloom("run", "pipeline.yaml", "--quiet")


# -- JSON that strangers wrote ----------------------------------------------------------------


@pytest.mark.parametrize("nested", [MOST_NESTED, MOST_NESTED + 1, 900, 100_000])
def test_json_is_read_down_to_a_depth(tmp_path, nested):
    path = tmp_path / "x.json"
    path.write_text("[" * nested + "]" * nested)
    if nested <= MOST_NESTED:
        assert isinstance(read_json(path), list)
    else:
        with pytest.raises(ValueError, match="nested too deeply"):
            read_json(path)


def test_json_with_half_a_character_is_none(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": "\\ud83d\\ude00"}')
    assert {"a": "\N{GRINNING FACE}"} == read_json(path)
    path.write_text('{"a": "\\ud83d"}')
    with pytest.raises(ValueError, match="surrogates not allowed"):
        read_json(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    with (tmp_path / "x").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="File too large"):
        read_bytes(tmp_path / "x")


# -- surroundings -----------------------------------------------------------------------------


def test_too_little_memory_is_no_bug(anonloom, monkeypatch):
    def starved(arguments):
        raise MemoryError

    module = type(sys)("fake_command")
    module.configure, module.execute = lambda parser: None, starved
    monkeypatch.setitem(sys.modules, "fake_command", module)
    monkeypatch.setitem(sys.modules["anonloom_cli"].COMMANDS, "check", ("fake_command", "x"))
    assert (2, "", "anonloom: there is not enough memory for this\n") == anonloom("check")


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_summary_that_cannot_be_printed_does_not_deny_the_release(clinic):
    clinic.write(PLAIN)
    words = ("run", "pipeline.yaml", "--quiet", "--replace")
    for _ in ("new", "replaced"):
        with FULL.open("w") as full:
            answer = run_in_process(clinic.folder, *words, stdout=full)
        assert (
            0,
            "anonloom: the release is published in 'out', but this could not be printed: No space "
            "left on device\n",
        ) == (answer.returncode, answer.stderr)
        assert (clinic.out / "public" / "release.csv").is_file()
    with FULL.open("w") as full:
        answer = run_in_process(clinic.folder, *words, stdout=full, stderr=full)
        assert 0 == answer.returncode
        # Nothing was done that could not be said: a plan that nobody could read is a failure.
        answer = run_in_process(clinic.folder, "plan", "pipeline.yaml", stdout=full)
        assert (
            2,
            "anonloom: a file or the output cannot be used: No space left on device\n",
        ) == (answer.returncode, answer.stderr)
        assert 2 == run_in_process(clinic.folder, "--help", stdout=full, stderr=full).returncode


def test_a_reader_that_leaves_does_not_deny_the_release(clinic):
    clinic.write(PLAIN)
    read, write = os.pipe()
    os.close(read)
    answer = run_in_process(clinic.folder, "run", "pipeline.yaml", "--quiet", stdout=write)
    os.close(write)
    assert (
        0,
        "anonloom: the release is published in 'out', but this could not be printed: Broken pipe\n",
    ) == (answer.returncode, answer.stderr)


def test_a_path_whose_name_is_no_text(anonloom, shop):
    """Linux knows names of any bytes; Python shows what is no text as halves of characters."""
    assert (
        2,
        "",
        "anonloom: 'o\\udcff' cannot be written: its name is no UTF-8\n"
        "    Publish to another folder.\n",
    ) == anonloom("run", "pipeline.yaml", "--quiet", "--to", "o\udcff")


def test_the_root_of_all_is_no_output(anonloom):
    assert (
        2,
        "",
        "anonloom: '/' exists already\n    Use --replace, or publish to another folder.\n",
    ) == anonloom("run", "pipeline.yaml", "--quiet", "--to", "/")


def test_a_path_of_a_thousand_steps_is_none(anonloom):
    path = "a" + ".a" * 3000
    code, out, err = anonloom("check", "pipeline.yaml", "--set", f"{path}=1")
    head = err.splitlines()[0]
    assert (2, "", f"--set:1:1: '{path}' is not a path") == (code, out, head)
