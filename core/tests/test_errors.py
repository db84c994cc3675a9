"""Messages have one form, and errors carry their exit code across processes."""

import pickle

import pytest

from anonloom import AnonloomError, errors
from anonloom.errors import Place, PrivacyError, Problem, SpecError


def test_a_problem_shows_place_path_what_line_caret_and_hint():
    place = Place("p.yaml", 5, 10, "      k: 1")
    problem = Problem("must be at least 2", "stages[0].with.k", place, "Smallest class.\nOr more.")
    assert """\
p.yaml:5:10: stages[0].with.k: must be at least 2
    k: 1
       ^
    Smallest class.
    Or more.""" == str(problem)


def test_a_problem_leaves_out_what_it_does_not_have():
    assert "too bad" == str(Problem("too bad"))
    assert "seed: too bad" == str(Problem("too bad", "seed"))
    assert "p.yaml:1:1: too bad" == str(Problem("too bad", place=Place("p.yaml", 1, 1)))


def test_a_tab_does_not_move_the_caret():
    assert "k: 1\n   ^" == Place("p.yaml", 1, 5, "\tk: 1").picture()


def test_a_caret_in_the_margin_keeps_the_margin():
    assert "  k: 1\n^" == Place("p.yaml", 1, 1, "  k: 1").picture()


def test_a_long_line_is_cut_around_the_column():
    line = "a" * 500 + "X" + "b" * 500
    text, caret = Place("p.yaml", 1, 501, line).picture().splitlines()
    assert 100 == len(text)
    assert "X" == text[caret.index("^")]


def test_a_spec_error_holds_each_problem_once_in_the_order_of_places():
    late = Problem("late", place=Place("p.yaml", 9, 1))
    early = Problem("early", place=Place("p.yaml", 2, 7))
    whole = Problem("whole")
    error = SpecError([late, early, late, whole])
    assert (whole, early, late) == error.problems
    assert "whole\n\np.yaml:2:7: early\n\np.yaml:9:1: late" == str(error)


def test_a_hint_stands_on_lines_of_its_own():
    assert "no\n    try this\n    or that" == str(AnonloomError("no", hint="try this\nor that"))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("AnonloomError", 1),
        ("UsageError", 2),
        ("ParameterError", 2),
        ("SpecError", 2),
        ("PluginError", 2),
        ("PrivacyError", 3),
        ("DataError", 4),
        ("IntegrityError", 5),
        ("TransportError", 5),
    ],
)
def test_exit_codes(name, code):
    assert code == getattr(errors, name).exit_code
    assert issubclass(getattr(errors, name), AnonloomError)


@pytest.mark.parametrize(
    "error",
    [PrivacyError("no", hint="k: 3"), SpecError([Problem("bad", place=Place("p", 1, 2, "x"))])],
)
def test_an_error_survives_the_way_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(error), str(error), error.hint) == (type(copy), str(copy), copy.hint)
    assert getattr(error, "problems", None) == getattr(copy, "problems", None)


def test_the_line_of_a_mistake_does_not_show_the_password_of_a_url():
    line = 'with: {url: "postgresql://smith:p@ss@host/db", tabel: x}'
    place = Place("p.yaml", 4, line.index("tabel") + 1, line)
    assert (
        'with: {url: "postgresql://**********@host/db", tabel: x}\n'
        + " " * line.index("tabel")
        + "^"
    ) == place.picture()
