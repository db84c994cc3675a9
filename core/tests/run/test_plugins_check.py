"""`anonloom plugins check`: the conformance checks of an installed method, without pytest."""

import pytest

from anonloom import Registry
from anonloom._cli import main


@pytest.fixture
def checked(registry, monkeypatch, capsys):
    """Run the command on the toys and return exit code, output and errors."""
    monkeypatch.setattr(Registry, "_environment", registry)

    def run(*words):
        code = main(["plugins", "check", *words])
        return code, *capsys.readouterr()

    return run


def test_every_check_is_listed_and_counted(checked):
    code, printed, _ = checked("size")

    lines = printed.splitlines()
    assert 0 == code
    assert "privacy model size (anonloom-core 0.1.0)" == lines[0]
    assert "  passed    check_method_is_registered" in lines
    assert lines[-1].endswith("skipped")


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
