"""`anonloom plugins check`: the conformance checks of an installed method, without pytest."""

import re

import pytest

from anonloom import Registry
from anonloom_cli import main


@pytest.fixture
def checked(registry, monkeypatch, capsys):
    """Run the command on the toys and return exit code, output and errors."""
    monkeypatch.setattr(Registry, "_environment", registry)

    def run(*words):
        code = main(["plugins", "check", *words])
        return code, *capsys.readouterr()

    return run


def test_every_check_is_listed_and_counted(checked):
    _, printed, _ = checked("size")

    lines = printed.splitlines()
    assert "privacy model size (anonloom-core 0.1.0)" == lines[0]
    assert "  passed    check_method_is_registered" in lines
    assert re.fullmatch(r"  \d+ passed, 1 incomplete", lines[-1])


def test_a_model_whose_reference_nobody_gave_does_not_pass(checked):
    code, printed, errors = checked("size")

    lines = printed.splitlines()
    at = lines.index("  incomplete  check_agrees_with_the_reference")
    assert "            no reference: the subclass in the plugin's tests gives one" == lines[at + 1]
    assert 2 == code
    assert (
        "anonloom: 'size' is not checked whole: 1 check lacks something that only the plugin's own tests can give\n"
        "    Run the plugin's tests: pytest, in its folder.\n"
    ) == errors


def test_parameters_are_given_as_yaml(checked):
    # The kit's tables have a column `illness`.
    _, without, _ = checked("two-values")
    _, given, _ = checked("two-values", "--with", "of=illness")

    assert "TwoValues needs the parameter 'of'" in without
    assert "needs the parameter" not in given


@pytest.mark.parametrize("text", ["k", "=3"])
def test_a_parameter_reads_name_and_value(checked, text):
    code, _, errors = checked("size", "--with", text)

    assert 2 == code
    assert f"anonloom: --with must read name=value. Got {text!r} instead.\n" == errors


def test_a_method_that_breaks_its_promise_exits_with_2(checked):
    code, printed, errors = checked("runs", "--with", "loses=true")

    assert 2 == code
    assert "  failed    check_no_row_is_lost" in printed
    assert "anonloom: 'runs' fails " in errors


def test_an_unknown_name_is_answered_with_the_nearest(checked):
    code, _, errors = checked("rums")

    assert 2 == code
    assert "anonloom: no method is named 'rums'\n    did you mean 'runs'?\n" == errors
