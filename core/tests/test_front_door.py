"""What importing core costs, seen from outside: a fresh process each."""

import importlib.metadata
import os
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest


def python(code, **options):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, **options
    )


def test_public_names_are_resolved_when_they_are_used():
    answer = python(
        "import sys, anonloom; assert 'numpy' not in sys.modules;"
        "print(anonloom.Registry.__module__, sorted(anonloom.__all__) == anonloom.__all__,"
        "'Pipeline' in dir(anonloom))"
    )
    assert "anonloom._registry.registry True True\n" == answer.stdout


def test_a_name_that_is_not_public_is_an_attribute_error():
    import anonloom

    with pytest.raises(AttributeError) as caught:
        anonloom.Loom  # noqa: B018  # looking it up is the test
    assert "module 'anonloom' has no attribute 'Loom'" == str(caught.value)


def test_every_public_name_exists():
    import anonloom

    assert [] == [name for name in anonloom.__all__ if getattr(anonloom, name, None) is None]


def test_without_the_command_line_a_module_run_says_what_brings_it(tmp_path):
    # A distribution of the same name that comes first hides the one that brings the command.
    info = tmp_path / "anonloom_cli-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: anonloom-cli\nVersion: 0\n")
    answer = subprocess.run(
        [sys.executable, "-m", "anonloom", "plugins"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        2,
        "",
        "anonloom: the command line is not installed\n    pip install anonloom-cli\n",
    ) == (
        answer.returncode,
        answer.stdout,
        answer.stderr,
    )


@pytest.mark.parametrize(
    ("installed", "code", "said"),
    [
        ((SimpleNamespace(load=lambda: lambda: 3),), 3, ""),
        ((), 2, "anonloom: the command line is not installed\n    pip install anonloom-cli\n"),
    ],
)
def test_a_module_run_ends_as_the_command_does(monkeypatch, capsys, installed, code, said):
    asked = []

    def entry_points(**words):
        asked.append(words)
        return installed

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("anonloom", run_name="__main__")
    assert ([{"group": "console_scripts", "name": "anonloom"}], code) == (asked, ended.value.code)
    assert ("", said) == capsys.readouterr()
