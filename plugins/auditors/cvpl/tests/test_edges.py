"""Odd tables and odd releases: a right answer or `not assessable`; never NaN or a silent 0."""

import builtins
import json
import math

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Release, Schema, StageContext, Table
from anonloom.errors import IntegrityError, UsageError
from anonloom_cvpl.auditor import Cvpl
from anonloom_cvpl.ensemble import Ensemble, commitment_to
from anonloom_cvpl.progressive import Progressive

AUDITORS = [
    pytest.param(Cvpl(), id="cvpl"),
    pytest.param(Cvpl(similarity="rbf", projection="none"), id="rbf"),
    pytest.param(Cvpl(similarity="jaccard", blocking=()), id="jaccard"),
    pytest.param(Cvpl(similarity="whitened", hash_bits=2), id="whitened"),
    pytest.param(Progressive(), id="progressive"),
    pytest.param(Ensemble(draw=2), id="ensemble"),
]


def table_of(frame, roles=None, types=None):
    roles, types = roles or {}, types or {}
    return Table.build(
        frame,
        Schema(
            [
                Column(
                    name=name,
                    role=roles.get(name, "quasi"),
                    type=types.get(
                        name, "number" if frame[name].dtype.kind in "if" else "category"
                    ),
                )
                for name in frame
            ]
        ),
    )


def people(rows=40, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.permutation(rows * 3)[:rows].astype(float),
            "town": rng.choice(list("abc"), rows).astype(object),
            "spent": rng.normal(50, 20, rows).round(3),
        }
    )


def published(table, **cells):
    """Publish a table with some columns replaced."""
    release = Release.as_it_is(table)
    frame = release.frame.copy()
    for name, values in cells.items():
        frame[name] = pd.Series(values, dtype=object)
    return attrs.evolve(release, frame=frame)


def audited(auditor, original, release, truth="known", **evidence):
    """Audit, and hold what holds of every finding."""
    owner = release.rows_in(original) if truth == "known" else None
    case = AuditInput(release=release, original=original, truth=owner, **evidence)
    result = auditor.audit(case, StageContext())
    for item in result:
        numbers = [item.value, *(item.interval or ())]
        assert not any(isinstance(n, float) and not math.isfinite(n) for n in numbers), item.name
        assert (item.value is None) == ("not assessable" == item.status), item.name
        if item.value is None:
            assert item.assumptions, item.name
        assert item.meaning
    for chart in result.charts:
        json.dumps(dict(chart.data), allow_nan=False)
    return result


def silent(found):
    """Findings about risk that have no value."""
    return {item.name for item in found if item.status == "not assessable"}


# --- the table itself ----------------------------------------------------------------------------


@pytest.mark.parametrize("similarity", ["cosine", "rbf", "whitened", "jaccard"])
@pytest.mark.parametrize("blocking", [None, (), {"town": "exact"}, {"age": "exact"}])
def test_an_unchanged_table_links_everybody(similarity, blocking):
    """LR 1 and P@1 1; jaccard knows only equal values, so that it is given distinct ones."""
    frame = people()
    frame["spent"] = [f"s{index}" for index in range(len(frame))]
    table = table_of(frame)
    auditor = Cvpl(similarity=similarity, blocking=blocking, projection="none")
    result = audited(auditor, table, Release.as_it_is(table))
    assert 1 == result["linkage_rate"].value
    assert 1 == result["precision_at_1"].value
    assert 1 == result["true_link_rate"].value
    assert 1 == result["recall_total"].value
    assert "not assessable" != result["validity"].value


@pytest.mark.parametrize("auditor", AUDITORS)
def test_an_unchanged_table_is_found_risky(auditor):
    table = table_of(people(80))
    result = audited(auditor, table, Release.as_it_is(table))
    for name in ("linkage_rate", "linkage_rate_lower", "linkage_rate_upper"):
        if name in result:
            assert 1 == result[name].value


def test_a_copy_is_told_apart_from_strangers():
    table = table_of(people())
    release = Release.as_it_is(table)
    case = AuditInput(release=release, original=table, truth=release.rows_in(table))
    result = Cvpl(attribution=False).audit(case, StageContext())
    true, wrong = result["auc"].value, result["equal_records"].value
    assert 0.9 < true <= 1
    assert 0 <= wrong < 1
    assert "auc" not in Cvpl(attribution=False).audit(
        AuditInput(release=release, original=table), StageContext()
    )


@pytest.mark.parametrize("auditor", AUDITORS)
def test_names_may_have_spaces_quotes_and_anything(auditor):
    names = {"age": "age in 'years'", "town": 'the "town"', "spent": "a; b, %"}
    table = table_of(people().rename(columns=names))
    plain = table_of(people())
    odd = audited(auditor, table, Release.as_it_is(table))
    even = audited(auditor, plain, Release.as_it_is(plain))

    def renamed(name):
        figure, dot, column = name.partition(".")
        return figure + dot + names.get(column, column)

    assert {renamed(o.name): o.value for o in even if o.name != "configuration"} == {
        o.name: o.value for o in odd if o.name != "configuration"
    }


@pytest.mark.parametrize("auditor", AUDITORS)
def test_a_constant_column_changes_nothing(auditor):
    frame = people()
    with_constant = frame.assign(same=7.0, equal="x")
    one, other = table_of(frame), table_of(with_constant)
    result = audited(auditor, one, Release.as_it_is(one))
    again = audited(auditor, other, Release.as_it_is(other))
    for name in ("linkage_rate", "linkage_null", "precision_at_1", "linkage_rate_upper"):
        if name in result and getattr(auditor, "similarity", "cosine") != "jaccard":
            assert result[name].value == pytest.approx(again[name].value), name


@pytest.mark.parametrize("auditor", AUDITORS)
def test_a_table_of_nothing_but_constants_is_not_assessable(auditor):
    table = table_of(pd.DataFrame({"a": [1.0] * 12, "b": ["x"] * 12}))
    result = audited(auditor, table, Release.as_it_is(table))
    assert {"linkage_rate", "linkage_rate_lower"} & silent(result)


@pytest.mark.parametrize("auditor", AUDITORS)
@pytest.mark.parametrize("cell", ["*", None])
def test_a_suppressed_column_says_nothing_and_loses_nobody(auditor, cell):
    """Not even where it is a key of the blocks."""
    table = table_of(people(60))
    release = published(table, town=[cell] * 60)
    result = audited(auditor, table, release)
    if "without_candidates" in result and not getattr(auditor, "hash_bits", 0):
        assert 0 == result["without_candidates"].value
        assert 1 == result["recall_block"].value
    assert not {"linkage_rate", "linkage_rate_lower"} & silent(result)


@pytest.mark.parametrize("auditor", AUDITORS)
def test_a_wholly_suppressed_release_is_not_assessable(auditor):
    table = table_of(people())
    release = published(table, age=["*"] * 40, town=["*"] * 40, spent=["*"] * 40)
    result = audited(auditor, table, release)
    assert {"linkage_rate", "linkage_rate_lower"} & silent(result)


@pytest.mark.parametrize("auditor", AUDITORS)
@pytest.mark.parametrize("where", ["both", "release"])
def test_columns_without_a_single_value(auditor, where):
    frame = people().assign(empty=np.nan, blank=pd.Series([None] * 40, dtype=object))
    types = {"empty": "number", "blank": "category"}
    if where == "both":
        table = table_of(frame, types=types)
        result = audited(auditor, table, Release.as_it_is(table))
    else:
        table = table_of(people())
        result = audited(auditor, table, published(table, spent=[None] * 40))
    assert not {"linkage_rate", "linkage_rate_lower"} & silent(result)


@pytest.mark.parametrize("auditor", AUDITORS)
def test_one_row(auditor):
    table = table_of(people(1))
    result = audited(auditor, table, Release.as_it_is(table))
    assert {"linkage_rate", "linkage_rate_lower"} & silent(result)


# --- blocks --------------------------------------------------------------------------------------


def test_one_block_of_all():
    table = table_of(people())
    result = audited(Cvpl(blocking=()), table, Release.as_it_is(table))
    assert 40 == result["candidates"].value
    assert 0 == result["without_candidates"].value
    assert "block_sizes" not in {chart.name for chart in result.charts}


def test_blocks_of_one_record_each():
    """Everybody meets only the own row: all are linked, and chance links nobody."""
    table = table_of(people())
    result = audited(Cvpl(blocking={"age": "exact"}), table, Release.as_it_is(table))
    assert 1 == result["candidates"].value
    assert 1 == result["linkage_rate"].value
    assert 0 == result["linkage_null"].value
    assert 1 == result["precision_at_1"].value
    assert 1 == result["precision_chance"].value
    assert "there is no wrong pair" == result["false_link_rate_pairs"].assumptions[0]


def test_blocks_that_do_not_fit_the_release_are_not_assessable():
    """Every person is a year older: nobody meets anybody, which is no safety."""
    frame = people()
    frame["age"] = frame["age"] * 2
    table = table_of(frame)
    release = published(table, age=frame["age"] + 1)
    result = audited(Cvpl(blocking={"age": "exact"}), table, release)
    assert 1 == result["without_candidates"].value
    assert "not assessable" == result["validity"].value
    message = (
        "100.0% of the records have no candidate, more than 5%: the blocks do not fit the release"
    )
    for name in ("linkage_rate", "linkage_excess", "precision_at_1", "linkage_rate_calibrated"):
        assert None is result[name].value
        assert message == result[name].assumptions[0]
    assert f"Whether the figures mean anything: {message}." == result["validity"].meaning


def test_progressive_does_not_call_a_misfit_safe():
    frame = people()
    frame["age"] = frame["age"] * 2
    table = table_of(frame)
    release = published(table, age=frame["age"] + 1)
    result = audited(Progressive(blocking={"age": "exact"}), table, release)
    assert "not assessable" == result["linkage_rate_upper"].status


# --- releases ------------------------------------------------------------------------------------


@pytest.mark.parametrize("auditor", AUDITORS)
@pytest.mark.parametrize("truth", ["known", "unknown"])
def test_an_empty_release_is_not_assessable(auditor, truth):
    table = table_of(people())
    release = Release.as_it_is(table).take(np.empty(0, np.int64))
    result = audited(auditor, table, release, truth)
    assert {"linkage_rate", "linkage_rate_lower"} & silent(result)


@pytest.mark.parametrize("auditor", AUDITORS)
def test_domains_without_a_common_value(auditor):
    """Far away numbers and strange words: linked by nothing, or not assessable."""
    frame = people()
    table = table_of(frame)
    release = published(
        table, age=frame["age"] + 10_000, town=["elsewhere"] * 40, spent=frame["spent"] - 99_999
    )
    result = audited(auditor, table, release)
    for name in ("linkage_rate", "linkage_rate_upper"):
        if name in result and result[name].value is not None:
            assert result[name].value <= 1


def test_strange_words_in_every_cell_are_not_assessable():
    table = table_of(people()[["town"]])
    result = audited(Cvpl(), table, published(table, town=["elsewhere"] * 40))
    assert "not assessable" == result["linkage_rate"].status


def test_cells_that_cannot_be_read_are_counted():
    table = table_of(people())
    towns = people()["town"].tolist()
    result = audited(Cvpl(), table, published(table, town=["??", "!!", *towns[2:]]))
    assert 2 == result["unread_cells"].value


@pytest.mark.parametrize("auditor", AUDITORS)
@pytest.mark.parametrize(("records", "rows"), [(200, 3), (3, 200)])
def test_tables_of_very_different_sizes(auditor, records, rows):
    frame = people(200)
    table = table_of(frame.iloc[:records].reset_index(drop=True))
    whole = Release.as_it_is(table_of(frame))
    release = attrs.evolve(whole.take(np.arange(rows)), origin=None)
    audited(auditor, table, release, "unknown")


def test_a_release_of_more_rows_than_the_original_says_that_the_null_is_low():
    frame = people(200)
    table = table_of(frame.iloc[:150].reset_index(drop=True))
    release = attrs.evolve(Release.as_it_is(table_of(frame)), origin=None)
    result = audited(Cvpl(), table, release, "unknown")
    message = "the release has 200 rows, the null only 150: with as many it would be higher"
    assert message in result["linkage_null"].assumptions
    assert message in result["linkage_excess"].assumptions


@pytest.mark.parametrize("auditor", AUDITORS)
def test_a_release_of_sensitive_columns_alone_is_not_assessable(auditor):
    table = table_of(people(), roles={"spent": "sensitive"})
    release = Release.as_it_is(table)
    release = attrs.evolve(release, frame=release.frame[["spent"]])
    result = audited(auditor, table, release)
    assert {"linkage_rate", "linkage_rate_lower"} & silent(result)


@pytest.mark.parametrize("auditor", AUDITORS)
def test_a_table_without_quasi_identifiers(auditor):
    """Everybody is compared with everybody, by the other columns."""
    table = table_of(people(), roles=dict.fromkeys(("age", "town", "spent"), "other"))
    result = audited(auditor, table, Release.as_it_is(table))
    for name in ("linkage_rate", "linkage_rate_upper"):
        if name in result:
            assert 1 == result[name].value


@pytest.mark.parametrize("auditor", AUDITORS)
def test_rows_that_are_nobodys(auditor):
    """Truth is known, and nobody is in the release."""
    table = table_of(people())
    release = Release.as_it_is(table_of(people(seed=9)))
    case = AuditInput(release=release, original=table, truth=np.full(40, -1))
    result = auditor.audit(case, StageContext())
    if "false_link_rate" in result:
        assert "not assessable" == result["precision_at_1"].status
        assert (
            "no row of the release belongs to a record of the original"
            == result["precision_at_1"].assumptions[0]
        )
        assert result["linkage_rate"].value == result["false_link_rate"].value


def test_figures_of_nobody_are_not_zero():
    """No true pair in any block: what is said of such pairs is not assessable."""
    frame = people()
    table = table_of(frame)
    turned = frame["town"].map({"a": "b", "b": "c", "c": "a"})
    result = audited(Cvpl(blocking={"town": "exact"}), table, published(table, town=turned))
    assert 0 == result["recall_block"].value
    assert 0 == result["precision_at_1"].value
    for name in ("true_link_rate", "recall_match", "precision_in_block"):
        assert "not assessable" == result[name].status, name
        assert "no true pair shares a block" == result[name].assumptions[0]


def test_precision_of_linked_records_needs_linked_records():
    frame = people()
    table = table_of(frame, roles={"age": "other", "town": "other", "spent": "other"})
    release = published(table, spent=frame["spent"] + 1)
    auditor = Cvpl(threshold=1.0, blocking=(), similarity="rbf", projection="none")
    result = audited(auditor, table, release)
    assert 0 == result["linkage_rate"].value
    assert "not assessable" == result["precision_linked"].status
    assert "no record is linked" == result["precision_linked"].assumptions[0]


def test_false_links_that_no_threshold_makes_rare_are_not_called_zero():
    """Everybody has a double: even at similarity 1 every record resembles a wrong row."""
    frame = pd.concat([people(20)] * 2, ignore_index=True)
    table = table_of(frame)
    result = audited(Cvpl(), table, Release.as_it_is(table))
    assert 0.5 == result["precision_at_1"].value
    for name in ("threshold_calibrated", "linkage_rate_calibrated"):
        assert "not assessable" == result[name].status
        assert "false links are more frequent even at similarity 1" == result[name].assumptions[0]


def test_the_release_may_lack_columns():
    table = table_of(people())
    release = Release.as_it_is(table)
    release = attrs.evolve(release, frame=release.frame.drop(columns="town"))
    result = audited(Cvpl(), table, release)
    assert result["configuration"].value.startswith("columns: age, spent; ")


@pytest.mark.parametrize("auditor", AUDITORS)
def test_columns_that_the_release_lacks_are_no_blocks(auditor):
    """A key that the release does not show can divide nobody."""
    table = table_of(people())
    release = Release.as_it_is(table)
    release = attrs.evolve(release, frame=release.frame.drop(columns="town"))
    result = audited(attrs.evolve(auditor, blocking={"town": "exact"}, hash_bits=0), table, release)
    assert not {"linkage_rate", "linkage_rate_lower"} & silent(result)


@pytest.mark.parametrize("similarity", ["cosine", "rbf", "whitened", "jaccard"])
@pytest.mark.parametrize("fit", ["source", "target"])
def test_a_table_of_one_row_fits_no_space(similarity, fit):
    original, single = table_of(people(20)), table_of(people(1, seed=4))
    other = attrs.evolve(Release.as_it_is(single), origin=None)
    if fit == "source":
        original, other = single, attrs.evolve(Release.as_it_is(original), origin=None)
    result = audited(Cvpl(fit=fit, similarity=similarity), original, other, "unknown")
    assert "not assessable" == result["linkage_rate"].status
    assert (
        "the tables share no column that varies and of which the release says anything"
        == result["linkage_rate"].assumptions[0]
    )


# --- words ---------------------------------------------------------------------------------------

SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="town", role="quasi"),
        Column(name="illness", role="sensitive"),
        Column(name="name", role="identifier"),
    ]
)


@pytest.mark.parametrize("kind", [Cvpl, Progressive, Ensemble])
@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({}, None),
        ({"columns": ["age"], "blocking": ["town"]}, None),
        ({"blocking": {"age": 10, "town": 1}}, None),
        ({"blocking": {"town": "exact", "age": "auto"}}, None),
        (
            {"columns": ["illness"]},
            "column 'illness' has role 'sensitive': what is to be protected is not what an attacker knows",
        ),
        (
            {"also": [{"illness": "exact"}]},
            "column 'illness' has role 'sensitive': what is to be protected is not what an attacker knows",
        ),
        ({"blocking": {"age": 0}}, "column 'age' needs bins wider than 0. Got 0 instead."),
        ({"blocking": {"age": -2.5}}, "column 'age' needs bins wider than 0. Got -2.5 instead."),
        (
            {"blocking": {"town": 1.5}},
            "column 'town' is a category: level 0, 1, ... Got 1.5 instead.",
        ),
        (
            {"also": [{"town": -1}]},
            "column 'town' is a category: level 0, 1, ... Got -1 instead.",
        ),
    ],
)
def test_problems_of_the_parameters(kind, parameters, problem):
    if kind is Ensemble and problem is not None:
        problem = f"configuration 1 of the family: {problem}"
    if kind is Progressive and "also" in parameters:
        problem = "blocking columns are given up one by one: neither 'hash_bits' nor 'also'"
    assert problem == kind(**parameters).problem(SCHEMA)


def test_bounds_need_an_exact_search():
    wrong = Progressive(exact=1_000).problem(SCHEMA)
    assert "an approximate search gives no bound from above: leave out 'exact'" == wrong


@pytest.mark.parametrize("kind", [Cvpl, Progressive])
def test_columns_that_are_not_there_are_named(kind):
    unknown = kind(columns=("height",)).problem(SCHEMA)
    assert SCHEMA.publication_problem(("height",)) == unknown
    assert "height" in unknown
    assert SCHEMA.publication_problem(("name",)) == kind(blocking=("name",)).problem(SCHEMA)


def test_progressive_gives_up_only_columns_of_its_blocks():
    wrong = Progressive(blocking=("age",), relax=("town",)).problem(SCHEMA)
    assert "'relax' names 'town', which is no blocking column" == wrong
    assert None is Progressive(blocking=("age", "town"), relax=("town",)).problem(SCHEMA)
    assert None is Progressive(relax=("town",)).problem(SCHEMA)
    assert (
        "blocking columns are given up one by one: neither 'hash_bits' nor 'also'"
        == Progressive(hash_bits=3).problem(SCHEMA)
    )


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        (
            {"family": ({"colour": 1},)},
            "configuration 1 of the family: 'colour' is no parameter of an attacker",
        ),
        (
            {"family": ({}, {"threshold": 0.5}), "draw": 1},
            "configuration 2 of the family: 'threshold' is no parameter of an attacker",
        ),
        ({"family": ({},), "draw": 2}, "2 configurations cannot be drawn from 1"),
        (
            {"commitment": "0" * 64},
            "'commitment' goes with 'secret': the file with what was committed to",
        ),
        ({"commitment": "abc", "secret": "file"}, "'commitment' must be 64 hexadecimal digits"),
        (
            {"family": ({"blocking": {"age": 0}},), "draw": 1},
            "configuration 1 of the family: column 'age' needs bins wider than 0. Got 0 instead.",
        ),
    ],
)
def test_problems_of_an_ensemble(parameters, problem):
    assert problem == Ensemble(**parameters).problem(SCHEMA)


@pytest.mark.parametrize(
    "changes",
    [
        {"variance": 2},
        {"similarity": "taste"},
        {"projection": "oracle"},
        {"hash_bits": 99},
        {"columns": "age"},
    ],
)
def test_a_family_member_with_a_wrong_value_is_a_problem(changes):
    wrong = Ensemble(family=(changes,), draw=1).problem(SCHEMA)
    assert wrong is not None
    assert wrong.startswith("configuration 1 of the family: ")


@pytest.mark.parametrize("text", [None, "no hexadecimal", ""])
def test_an_unreadable_secret(tmp_path, text):
    file = tmp_path / "secret"
    if text is not None:
        file.write_text(text)
    table = table_of(people())
    with pytest.raises(UsageError) as caught:
        audited(Ensemble(secret=file), table, Release.as_it_is(table))
    message = "the secret of the ensemble must be 32 bytes, 64 hexadecimal digits"
    if text != "":
        message = (
            "the secret of the ensemble cannot be read: it must be a file of 64 hexadecimal digits"
        )
    assert message == str(caught.value).splitlines()[0]


def test_a_secret_that_was_not_committed_to(tmp_path):
    file = tmp_path / "secret"
    file.write_text("ab" * 32)
    table = table_of(people())
    with pytest.raises(IntegrityError) as caught:
        audited(
            Ensemble(secret=file, commitment=commitment_to(b"\0" * 32)),
            table,
            Release.as_it_is(table),
        )
    assert (
        "the secret of the ensemble is not what was committed to"
        == str(caught.value).splitlines()[0]
    )
    assert "Somebody has another secret, or changed it after the commitment." == caught.value.hint


@pytest.mark.parametrize(
    ("projection", "package", "said", "hint"),
    [
        (
            "robust",
            "sklearn",
            "projection 'robust' needs the package scikit-learn",
            "pip install 'anonloom-cvpl[robust]'",
        ),
        (
            "umap",
            "umap",
            "projection 'umap' needs the package umap-learn",
            "pip install 'anonloom-cvpl[umap]'",
        ),
    ],
)
def test_a_projection_whose_package_is_missing(monkeypatch, projection, package, said, hint):
    really = builtins.__import__

    def refusing(name, *rest, **more):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return really(name, *rest, **more)

    table = table_of(people())
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(UsageError) as caught:
        Cvpl(projection=projection).audit(
            AuditInput(release=Release.as_it_is(table), original=table), StageContext()
        )
    assert said == str(caught.value).splitlines()[0]
    assert hint == caught.value.hint
