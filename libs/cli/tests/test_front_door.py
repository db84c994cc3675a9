"""What a command may import, seen from outside: a fresh process each."""

import os
import runpy
import subprocess
import sys

import pytest

import anonloom_cli

HEAVY = ("attr", "pluggy", "numpy", "pandas", "yaml", "rich", "typing")


def python(code, **options):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize(
    ("words", "allowed"),
    [(["--help"], ()), (["--version"], ()), (["plugins"], ("pluggy", "typing"))],
)
def test_light_commands_import_nothing_heavy(words, allowed):
    code = (
        "import sys; from anonloom_cli import main; code = main(sys.argv[1:]);"
        f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    imported = python(f"import sys; print([m for m in {HEAVY} if m in sys.modules])")
    before = set(eval(imported.stdout))
    assert 0 == answer.returncode
    assert set() == set(eval(answer.stderr)) - before - set(allowed)


def test_a_reader_that_has_seen_enough_is_no_error():
    read, write = os.pipe()
    os.close(read)
    answer = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from anonloom_cli import main; sys.exit(main(['plugins']))",
        ],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (141, "") == (answer.returncode, answer.stderr)


def test_the_package_can_be_run_and_ends_as_the_command_does(monkeypatch):
    monkeypatch.setattr(anonloom_cli, "main", lambda: 3)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("anonloom_cli", run_name="__main__")
    assert 3 == ended.value.code
