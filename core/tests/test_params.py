"""Parameters have exact types, checks with words, and all problems are told at once."""

import pickle
from pathlib import Path
from typing import Any, Literal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonloom import Partitioner, param
from anonloom.errors import ParameterError, PluginError
from anonloom.params import (
    REDACTED,
    InvalidValue,
    ParameterGroup,
    above,
    all_of,
    as_values,
    at_least,
    at_most,
    below,
    between,
    build,
    describe,
    distinct,
    each,
    not_empty,
    one_of,
    params_of,
)
from anonloom.params._annotations import spec_of
from anonloom.params._type_specs import ParseContext


@attrs.frozen
class Mondrian:
    k: int = param(help="Smallest class.", check=at_least(2))
    cut: Literal["strict", "relaxed"] = param(help="How ties are cut.", default="strict")
    share: float | None = param(help="A share.", default=None, check=between(0, 1))
    columns: tuple[str, ...] = param(help="Columns.", default=())
    weights: dict[str, float] = param(help="Weights.", default=attrs.Factory(dict))
    file: Path | None = param(help="A file.", default=None)
    token: str | None = param(help="A secret.", default=None, private=True)
    fast: bool = param(help="Be fast.", default=False)

    def __attrs_post_init__(self):
        if self.fast and self.cut == "relaxed":
            raise ValueError("'fast' needs strict cuts")


def _cut(self, table, classes, guard, run):
    return classes


@attrs.frozen
class Outer(Partitioner):
    inner: Partitioner = param(help="What comes next.")
    size: int = param(help="A size.", default=3, check=at_least(1))
    partition = _cut


@attrs.frozen
class Leaf(Partitioner):
    depth: int = param(help="Depth.", default=1)
    partition = _cut


METHODS = {"outer": Outer, "leaf": Leaf}


def load(kind, name):
    if name not in METHODS:
        raise PluginError(f"no {kind} is named {name!r}", hint="installed: leaf, outer")
    return METHODS[name]


def name_of(cls):
    return next(name for name, method in METHODS.items() if method is cls)


def errors(cls, values, **options):
    with pytest.raises(InvalidValue) as caught:
        build(cls, values, load=load, **options)
    return [(error.path, error.what, error.hint) for error in caught.value.errors]


def refusal(make):
    with pytest.raises(ParameterError) as caught:
        make()
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"k": 1},
            "The 'k' parameter of Mondrian must be an integer of at least 2. Got 1 instead.",
        ),
        (
            {"k": True},
            "The 'k' parameter of Mondrian must be an integer of at least 2. Got True instead.",
        ),
        (
            {"k": 2.0},
            "The 'k' parameter of Mondrian must be an integer of at least 2. Got 2.0 instead.",
        ),
        (
            {"k": 2, "share": 2},
            "The 'share' parameter of Mondrian must be a number from 0 to 1, or None. "
            "Got 2 instead.",
        ),
        (
            {"k": 2, "share": float("nan")},
            "The 'share' parameter of Mondrian must be a number from 0 to 1, or None. "
            "Got nan instead.",
        ),
        (
            {"k": 2, "cut": "loose"},
            "The 'cut' parameter of Mondrian must be one of 'strict', 'relaxed'. "
            "Got 'loose' instead.",
        ),
        (
            {"k": 2, "columns": "age"},
            "The 'columns' parameter of Mondrian must be a list of texts. Got 'age' instead.",
        ),
        (
            {"k": 2, "columns": ["age", 3]},
            "The 'columns[1]' parameter of Mondrian must be text. Got 3 instead.",
        ),
        (
            {"k": 2, "weights": {"age": "much"}},
            "The 'weights['age']' parameter of Mondrian must be a number. Got 'much' instead.",
        ),
        (
            {"k": 2, "weights": {3: 1.0}},
            "The 'weights' parameter of Mondrian must be a mapping of names to numbers. "
            "Got {3: 1.0} instead.",
        ),
        (
            {"k": 2, "fast": 1},
            "The 'fast' parameter of Mondrian must be true or false. Got 1 instead.",
        ),
        (
            {"k": 2, "token": 12345},
            "The 'token' parameter of Mondrian must be text or None. "
            "What it got is not shown: the parameter is private.",
        ),
    ],
)
def test_a_class_built_in_python_is_judged_by_the_same_rules(values, message):
    assert message == refusal(lambda: Mondrian(**values))


def test_a_parameter_error_is_a_value_error_and_a_usage_error():
    assert issubclass(ParameterError, ValueError)
    assert 2 == ParameterError.exit_code


def test_the_check_of_a_combination_reaches_python_as_it_is():
    with pytest.raises(ValueError, match="'fast' needs strict cuts"):
        Mondrian(k=2, fast=True, cut="relaxed")


def test_parameters_are_keywords_only():
    with pytest.raises(TypeError):
        Mondrian(3)


def test_lists_become_tuples_integers_numbers_and_texts_paths():
    method = Mondrian(k=2, columns=["age"], share=1, file="a.csv", weights={"age": 2})
    assert ("age",) == method.columns
    assert (1.0, float) == (method.share, type(method.share))
    assert Path("a.csv") == method.file
    assert float is type(method.weights["age"])


def test_a_method_is_picklable_and_equal_to_its_copy():
    method = Mondrian(k=2, columns=("a",))
    assert method == pickle.loads(pickle.dumps(method))


def test_a_secret_is_not_in_the_repr():
    assert "hunter2" not in repr(Mondrian(k=2, token="hunter2"))


def test_all_problems_are_found_at_once():
    assert [
        (("cutt",), "unknown parameter 'cutt' for Mondrian", "did you mean 'cut'?"),
        (
            ("zzz",),
            "unknown parameter 'zzz' for Mondrian",
            "Mondrian takes k, cut, share, columns, weights, file, token, fast",
        ),
        ((), "Mondrian needs the parameter 'k'", "Smallest class."),
        (
            ("share",),
            "must be a number from 0 to 1, or null. Got 'half' instead.",
            "A share.",
        ),
        (("columns", 0), "must be text. Got 3 instead.", "write it in quotes: '3'"),
    ] == errors(Mondrian, {"cutt": "strict", "zzz": 1, "share": "half", "columns": [3]})


def test_messages_call_a_method_by_the_name_that_was_asked_for():
    with pytest.raises(InvalidValue) as caught:
        build(Mondrian, {"zzz": 1}, name="mondrian")
    assert [
        (
            "unknown parameter 'zzz' for mondrian",
            "mondrian takes k, cut, share, columns, weights, file, token, fast",
        ),
        ("mondrian needs the parameter 'k'", "Smallest class."),
    ] == [(error.what, error.hint) for error in caught.value.errors]


def test_a_misspelt_required_name_is_one_problem():
    assert [(("K",), "unknown parameter 'K' for Mondrian", "did you mean 'k'?")] == errors(
        Mondrian, {"K": 3}
    )


def test_the_check_of_a_combination_concerns_the_whole():
    assert [((), "'fast' needs strict cuts", "")] == errors(
        Mondrian, {"k": 2, "fast": True, "cut": "relaxed"}
    )


def test_a_section_speaks_of_keys():
    assert [
        (("k2",), "unknown key 'k2' in 'privacy'", "did you mean 'k'?"),
    ] == errors(Mondrian, {"k2": 3}, section="'privacy'")
    assert [((), "'privacy' needs 'k'", "Smallest class.")] == errors(
        Mondrian, {}, section="'privacy'"
    )


def test_paths_are_relative_to_the_folder_and_absolute_ones_stay():
    assert Path("/x/a.csv") == build(Mondrian, {"k": 2, "file": "a.csv"}, folder=Path("/x")).file
    assert Path("/a.csv") == build(Mondrian, {"k": 2, "file": "/a.csv"}, folder=Path("/x")).file


def test_a_nested_method_is_a_name_or_a_mapping_or_an_instance():
    assert Outer(inner=Leaf()) == build(Outer, {"inner": "leaf"}, load=load)
    deep = {"inner": {"partitioner": "outer", "with": {"inner": "leaf", "size": 9}}}
    assert Outer(inner=Outer(inner=Leaf(), size=9)) == build(Outer, deep, load=load)
    assert Outer(inner=Leaf(depth=2)) == build(Outer, {"inner": Leaf(depth=2)}, load=load)


@attrs.frozen
class Weather(ParameterGroup):
    rain: float = param(help="How much rain.", default=0.0, check=between(0, 1))
    wind: int = param(help="How much wind.", default=0)
    code: str | None = param(help="A secret.", default=None, private=True)


@attrs.frozen
class Walk:
    length: int = param(help="How far.", default=1)
    weather: Weather = param(help="What it is like.", default=Weather())


def test_a_group_is_a_mapping_or_an_instance():
    assert Walk() == build(Walk, {"weather": {}}, load=load)
    assert Walk(weather=Weather(rain=0.5)) == build(Walk, {"weather": {"rain": 0.5}}, load=load)
    assert Walk(weather=Weather(wind=2)) == build(Walk, {"weather": Weather(wind=2)}, load=load)
    walk = Walk(weather=Weather(wind=2))
    assert walk == build(Walk, as_values(walk), load=load)
    with pytest.raises(ParameterError, match=r"must be a Weather\. Got {'wind': 2} instead\."):
        Walk(weather={"wind": 2})


def test_problems_of_a_group_have_their_own_paths():
    must = "must be a mapping with any of rain, wind, code. Got 3 instead."
    assert [(("weather",), must, "What it is like.")] == errors(Walk, {"weather": 3})
    assert [
        (("weather", "rian"), "unknown parameter 'rian' for this group", "did you mean 'rain'?"),
        (("weather", "wind"), "must be an integer. Got True instead.", "How much wind."),
    ] == [
        (path, what.replace("true", "True"), hint)
        for path, what, hint in errors(Walk, {"weather": {"rian": 1, "wind": True}})
    ]


def test_what_stands_beside_its_group_is_one_problem_with_the_line_to_write():
    given = {"rain": 0.5, "length": 2, "weather": {"code": "x"}, "wind": 3, "sun": 1}
    assert [
        (
            ("rain",),
            "Walk takes 'rain' and 'wind' inside 'weather'",
            "write weather: {code: ..., rain: 0.5, wind: 3}",
        ),
        (("sun",), "unknown parameter 'sun' for Walk", "Walk takes length, weather"),
    ] == errors(Walk, given)


def test_a_group_is_described_with_its_members():
    (length, weather) = describe(Walk)
    assert ["length"] == [each.name for each in length.with_members()]
    assert ["weather", "weather.rain", "weather.wind", "weather.code"] == [
        each.name for each in weather.with_members()
    ]
    assert {"rain", "wind", "code"} == set(weather.schema["properties"])
    assert {"rain": 0.0, "wind": 0, "code": None} == weather.default


def test_problems_of_a_nested_method_have_their_own_paths():
    assert [
        (
            ("inner", "with", "size"),
            "must be an integer of at least 1. Got 0 instead.",
            "A size.",
        ),
    ] == errors(Outer, {"inner": {"partitioner": "outer", "with": {"inner": "leaf", "size": 0}}})
    assert [
        (("inner", "partitioner"), "outer needs the parameter 'inner'", "What comes next.")
    ] == errors(Outer, {"inner": {"partitioner": "outer"}})
    assert [
        (("inner",), "no partitioner is named 'twig'", "installed: leaf, outer"),
    ] == errors(Outer, {"inner": "twig"})
    assert [
        (
            ("inner",),
            "must be a partitioner: a name, or a mapping with 'partitioner' and 'with'",
            "write {partitioner: NAME, with: {...}}",
        ),
    ] == errors(Outer, {"inner": {"sampler": "leaf"}})
    assert [
        (
            ("inner", "with"),
            "must be a mapping of parameters. Got ['a'] instead.",
            "What comes next.",
        )
    ] == errors(Outer, {"inner": {"partitioner": "leaf", "with": ["a"]}})


def test_in_python_a_nested_method_is_an_instance():
    assert "The 'inner' parameter of Outer must be a partitioner. Got 'leaf' instead." == refusal(
        lambda: Outer(inner="leaf")
    )


def test_values_make_the_method_again():
    method = Outer(inner=Outer(inner=Leaf(depth=4)), size=2)
    values = as_values(method, name_of)
    assert {
        "inner": {
            "partitioner": "outer",
            "with": {"inner": {"partitioner": "leaf", "with": {"depth": 4}}, "size": 3},
        },
        "size": 2,
    } == values
    assert method == build(Outer, values, load=load)


@given(
    st.builds(
        Mondrian,
        k=st.integers(2, 10**6),
        cut=st.sampled_from(["strict", "relaxed"]),
        share=st.none() | st.floats(0, 1),
        columns=st.lists(st.text(), max_size=3).map(tuple),
        weights=st.dictionaries(st.text(), st.floats(-1e9, 1e9), max_size=3),
    )
)
def test_every_method_survives_the_way_through_plain_values(method):
    assert method == build(Mondrian, as_values(method), load=load)


def test_private_values_can_be_redacted_everywhere():
    assert REDACTED == as_values(Mondrian(k=2, token="hunter2"), redact=True)["token"]
    assert "hunter2" == as_values(Mondrian(k=2, token="hunter2"))["token"]
    assert as_values(Mondrian(k=2), redact=True)["token"] is None


def test_parameters_can_be_described():
    k, cut, *_ = describe(Mondrian)
    assert ("k", "an integer of at least 2", True, "Smallest class.") == (
        k.name,
        k.words,
        k.required,
        k.help,
    )
    assert {"type": "integer", "minimum": 2, "description": "Smallest class."} == k.schema
    assert ("one of 'strict', 'relaxed'", False, "strict") == (cut.words, cut.required, cut.default)


@pytest.mark.parametrize(
    ("check", "words", "good", "bad"),
    [
        (at_least(2), " of at least 2", [2, 3.5], [1, float("nan")]),
        (above(0), " above 0", [0.1], [0, -1]),
        (at_most(2), " of at most 2", [2], [3]),
        (below(1), " below 1", [0.9], [1]),
        (between(0, 1), " from 0 to 1", [0, 1], [-0.1, 1.1]),
        (between(0, 1, least_open=True), " above 0 and at most 1", [1], [0]),
        (between(0, 1, most_open=True), " of at least 0 and below 1", [0], [1]),
        (between(0, 1, least_open=True, most_open=True), " above 0 and below 1", [0.5], [0, 1]),
        (one_of(1, "a"), " out of 1, 'a'", [1, "a"], [True, 1.0, "b"]),
        (not_empty(), " that is not empty", ["a", (1,)], ["", ()]),
        (distinct(), " without repetitions", [(1, 2), ()], [(1, 1)]),
        (
            each(at_least(1)),
            ", each of at least 1",
            [(1, 2), (), {"a": 1}, {}],
            [(0,), {"a": 1, "b": 0}],
        ),
        (all_of(at_least(1), at_most(3)), " of at least 1 and of at most 3", [2], [0, 4]),
    ],
)
def test_checks_carry_their_words(check, words, good, bad):
    assert words == check.words
    assert [True] * len(good) == [check(value) for value in good]
    assert [False] * len(bad) == [check(value) for value in bad]


def test_a_check_of_numbers_leaves_other_members_of_a_union_alone():
    @attrs.frozen
    class Some:
        bins: int | Literal["auto"] = param(help="Bins.", check=at_least(1))

    assert "auto" == Some(bins="auto").bins
    assert (
        "The 'bins' parameter of Some must be 'auto' or an integer of at least 1. Got 0 instead."
        == refusal(lambda: Some(bins=0))
    )


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int, "an integer"),
        (float, "a number"),
        (bool, "true or false"),
        (str, "text"),
        (Path, "a path"),
        (int | None, "an integer or null"),
        (int | str | None, "an integer or text or null"),
        (tuple[int, ...], "a list of integers"),
        (tuple[int, str], "a list of an integer and text"),
        (tuple[tuple[float, ...], ...], "a list of lists"),
        (dict[str, int], "a mapping of names to integers"),
        (Literal["a"], "'a'"),
        (Partitioner, "a partitioner"),
        (tuple[Partitioner, ...], "a list of partitioners"),
        (object, "a value"),
        (Any, "a value"),
    ],
)
def test_annotations_have_words(annotation, words):
    assert words == spec_of(annotation).words(ParseContext(load))


@pytest.mark.parametrize("annotation", [list, list[int], dict, dict[int, int], set[str], 3])
def test_an_annotation_that_no_parameter_can_have_is_the_authors_mistake(annotation):
    with pytest.raises(TypeError):
        spec_of(annotation)


def test_a_field_without_param_is_the_authors_mistake():
    @attrs.frozen
    class Wrong:
        k: int = 3

    with pytest.raises(TypeError) as caught:
        params_of(Wrong)
    assert str(caught.value).endswith("Wrong.k must be declared with param()")


def test_a_parameter_needs_help():
    with pytest.raises(TypeError) as caught:
        param(help=" ")
    assert "a parameter needs a help text" == str(caught.value)


def test_a_number_in_quotes_is_told_to_lose_them():
    assert [(("k",), "must be an integer of at least 2. Got '5' instead.")] == [
        error[:2] for error in errors(Mondrian, {"k": "5"})
    ]
    assert "write it without quotes: 5" == errors(Mondrian, {"k": "5"})[0][2]
    assert "write it without quotes: true" == errors(Mondrian, {"k": 2, "fast": "true"})[0][2]
    assert "Smallest class." == errors(Mondrian, {"k": "five"})[0][2]


def test_a_path_with_nul_is_no_path():
    assert [(("file",), "must be a path or null. Got 'a\\x00' instead.", "A file.")] == errors(
        Mondrian, {"k": 2, "file": "a\0"}
    )
