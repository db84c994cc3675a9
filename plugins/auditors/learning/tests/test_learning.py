"""What `learning` finds: planted losses, planted nothing, and what it says of itself."""

import attrs
import numpy as np
import pandas as pd
import pytest

from anonloom import AuditInput, Column, Finding, Findings, Release, Schema, StageContext, Table
from anonloom.kinds import GridRow
from anonloom_learning import classifiers
from anonloom_learning.auditor import LearningAuditor
from anonloom_learning.classifiers import fit_model
from anonloom_learning.names import ALL
from anonloom_learning.trials import divide_people
from anonloom_learning.versions import NotAssessable, Question
from anonloom_testing import tables
from anonloom_testing.auditor import publish_classes

ROWS = 400
SCHEMA = Schema(
    [
        Column(name="age", role="quasi", type="number"),
        Column(name="job", role="quasi"),
        Column(name="sugar", role="sensitive", type="number"),
        Column(name="ill", role="label"),
    ]
)
FAST = ("decision-tree", "logistic-regression")


def people(label="age", seed=3, rows=ROWS):
    """A table whose label follows the age, the sugar, or nothing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "job": rng.choice(["baker", "clerk", "smith"], rows),
            "sugar": rng.normal(size=rows).round(3),
        }
    )
    ill = {
        "age": frame["age"] >= 70,
        "sugar": frame["sugar"] > 0.5,
        "nothing": pd.Series(rng.random(rows) < 0.3),
    }[label]
    return Table.build(frame.assign(ill=np.where(ill, "yes", "no")), SCHEMA)


def one_class(table):
    """Publish everybody in one class: nothing is left of the quasi-identifiers."""
    return publish_classes(table, table.whole())


def sampled(release, share=0.5, seed=5):
    kept = np.random.default_rng(seed).random(len(release)) < share
    return release.take(kept)


def audit(case, workers=1, seed=1, **how):
    how = {"classifiers": FAST, "repeats": 2} | how
    return LearningAuditor(**how).audit(case, StageContext(seed=seed, workers=workers))


def values(found):
    return {finding.name: finding.value for finding in found}


# --- planted -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tested_on", ["own", "original"])
def test_generalization_that_destroys_what_the_label_depends_on_is_seen(tested_on):
    table = people("age")
    result = audit(AuditInput(one_class(table), table), tested_on=tested_on, repeats=5)
    for name in FAST:
        assert result[f"accuracy_loss.{name}"].value > 0.15
        assert result[f"accuracy_loss.{name}"].interval[0] > 0
        assert result[f"f1_loss.{name}"].value > 0.5
    assert result["accuracy_over_majority"].value <= 0.02


@pytest.mark.parametrize("tested_on", ["own", "original"])
def test_generalization_of_what_the_label_does_not_need_costs_nothing(tested_on):
    table = people("sugar")
    result = audit(AuditInput(one_class(table), table), tested_on=tested_on, repeats=3)
    for name in FAST:
        assert abs(result[f"accuracy_loss.{name}"].value) <= 0.02
    assert result["accuracy_over_majority"].value > 0.2


def test_nothing_is_learned_of_an_independent_label():
    table = people("nothing", rows=800)
    result = audit(AuditInput(Release.as_it_is(table), table), repeats=3, classifiers=ALL[:2])
    assert result["accuracy_over_majority"].value <= 0.02
    most_frequent = (table.column("ill") == "no").mean()
    assert abs(result["majority_accuracy"].value - most_frequent) < 0.05


def test_all_eight_classifiers_learn_what_can_be_learned():
    table = people("sugar")
    result = audit(AuditInput(Release.as_it_is(table), table), classifiers=ALL, repeats=1)
    for name in ALL:
        assert result[f"accuracy.{name}"].value > 0.8, name
        assert 0.0 == result[f"accuracy_loss.{name}"].value, name


# --- versions ------------------------------------------------------------------------------------


def test_without_a_sampler_there_are_two_versions_and_with_one_three():
    table = people("sugar")
    release = one_class(table)
    (chart, *_) = audit(AuditInput(release, table)).charts
    assert ["labels", "original", "anonymized"] == list(chart.data)
    result = audit(AuditInput(sampled(release), table, before_sampling=release))
    assert ["accuracy", "precision", "recall", "f1"] == [chart.name for chart in result.charts]
    for chart in result.charts:
        assert ["labels", "original", "anonymized", "sampled"] == list(chart.data)
    accuracy = result.charts[0].data
    assert [*FAST, "always the most frequent"] == accuracy["labels"]
    assert result["accuracy.decision-tree"].value == accuracy["sampled"][0]
    assert result["majority_accuracy"].value == accuracy["sampled"][-1]
    lost = accuracy["original"][0] - accuracy["sampled"][0]
    assert pytest.approx(lost) == result["accuracy_loss.decision-tree"].value
    assert len(sampled(release)) == result["rows"].value


def question(**how):
    return Question(
        **({"label": "ill", "positive": None, "features": None, "rows": None, "widths": True} | how)
    )


@pytest.mark.parametrize("tested_on", ["own", "original"])
def test_the_same_people_judge_all_versions_and_are_in_no_learning_part(tested_on):
    table = people("age")
    release = one_class(table)
    case = AuditInput(sampled(release), table, before_sampling=release)
    lesson = question().lesson(case, np.random.default_rng(1))
    for repeat in divide_people(lesson, 0.75, 3, tested_on, np.random.default_rng(2)):
        judges = set(repeat.parts[0].judged.people[repeat.parts[0].judging].tolist())
        assert 100 == len(judges)
        for part in repeat.parts:
            learned = set(part.learned.people[part.learning].tolist())
            judged = set(part.judged.people[part.judging].tolist())
            published = set(part.learned.people.tolist())
            assert set() == learned & judges
            if tested_on == "own":
                assert judges & published == judged
            else:
                assert ("original", judges) == (part.judged.name, judged)


def test_all_rows_of_a_person_are_in_one_part():
    sample = tables.persons_with_many_rows()
    table = sample.table()
    release = one_class(table)
    lesson = question(label="outcome").lesson(AuditInput(release, table), np.random.default_rng(1))
    assert len(table) > lesson.people
    for repeat in divide_people(lesson, 0.6, 4, "own", np.random.default_rng(2)):
        for part in repeat.parts:
            of = part.learned.people
            assert set() == set(of[part.learning].tolist()) & set(of[part.judging].tolist())


def test_more_repeats_do_not_change_the_first():
    table = people("age")
    lesson = question().lesson(AuditInput(one_class(table), table), np.random.default_rng(1))
    few, many = (
        divide_people(lesson, 0.75, count, "own", np.random.default_rng(2)) for count in (1, 3)
    )
    assert few[0].parts[1].judging.tolist() == many[0].parts[1].judging.tolist()
    assert few[0].seeds == many[0].seeds


def test_rows_that_correspond_to_nobody_are_divided_alone_and_said_to_be():
    table = people("sugar")
    release = attrs.evolve(one_class(table), origin=None)
    result = audit(AuditInput(release, table))["accuracy.decision-tree"]
    assert result.value > 0.9
    assert (
        "2 random divisions; some published rows correspond to no known person and are drawn alone"
        == result.assumptions[1]
    )
    strict = audit(AuditInput(release, table), tested_on="original")["accuracy.decision-tree"]
    assert (
        "2 random divisions; some published rows correspond to no known person: a model may have "
        "seen whom it is judged by" == strict.assumptions[1]
    )


def test_the_rows_of_every_version_are_capped_and_the_finding_says_so():
    table = people("sugar")
    release = one_class(table)
    case = AuditInput(sampled(release, 0.1), table, before_sampling=release)
    lesson = question(rows=100).lesson(case, np.random.default_rng(1))
    assert [100, 100, len(case.release)] == [len(version.labels) for version in lesson.versions]
    original, anonymized, _ = (set(version.people.tolist()) for version in lesson.versions)
    assert original == anonymized
    result = audit(AuditInput(release, table), rows=100)["rows"]
    assert (100, ("random samples of 100 rows: original, anonymized",)) == (
        result.value,
        result.assumptions,
    )


# --- randomness ----------------------------------------------------------------------------------


def test_figures_depend_on_the_seed_and_not_on_the_number_of_workers():
    table = people("sugar")
    case = AuditInput(one_class(table), table)
    how = {"classifiers": ("random-forest", "svm", "k-nearest-neighbours"), "repeats": 2}
    one, three = (audit(case, workers=workers, **how) for workers in (1, 3))
    assert one == three
    assert one != audit(case, seed=2, **how)


def test_another_choice_of_classifiers_changes_no_figure():
    table = people("sugar")
    case = AuditInput(one_class(table), table)
    alone = audit(case, classifiers=("decision-tree",))
    assert alone["accuracy.decision-tree"] == audit(case)["accuracy.decision-tree"]


def test_progress_tells_every_model():
    table = people("sugar")
    reports = []
    LearningAuditor(classifiers=FAST, repeats=2).audit(
        AuditInput(one_class(table), table),
        StageContext(report=lambda done, total: reports.append((done, total))),
    )
    assert [(done, 8) for done in range(9)] == reports


# --- what is said --------------------------------------------------------------------------------


def test_a_finding_says_what_it_is_about():
    table = people("sugar")
    result = audit(AuditInput(one_class(table), table))
    accuracy, f1 = result["accuracy.decision-tree"], result["f1.decision-tree"]
    assert (
        "Share of the rows that a decision tree predicts right, learned from the release. The "
        "label is 'ill'." == accuracy.meaning
    )
    assert (
        "Harmonic mean of precision and recall of a decision tree, learned from the release. "
        "Positive is the rarer value of 'ill'." == f1.meaning
    )
    assert (
        "models learn from 0.75 of the people of a version and are judged by the other rows of the "
        "same version, generalized as they are",
        "2 random divisions, the same people judge in all versions, as far as they are published",
    ) == accuracy.assumptions
    strict = audit(AuditInput(one_class(table), table), tested_on="original", repeats=1)
    assert (
        "models learn from 0.75 of the people and are judged by original rows of the others; "
        "widths of intervals are no features, as original rows have none",
        "1 random division, the same people judge in all versions, as far as they are published",
    ) == strict["accuracy.decision-tree"].assumptions
    assert strict["accuracy.decision-tree"].interval is None


def labelled(labels, **how):
    """A table with these labels, published as it is."""
    frame = pd.DataFrame({"age": range(len(labels)), "job": "clerk", "sugar": 0.5, "ill": labels})
    table = Table.build(frame, SCHEMA)
    return AuditInput(Release.as_it_is(table), table)


@pytest.mark.parametrize(
    ("labels", "positive", "expected", "about"),
    [
        ([0, 0, 1], None, 1, "Positive is the rarer value of 'ill'."),
        ([0, 1, 1], None, 0, "Positive is the rarer value of 'ill'."),
        ([0, 1], None, 1, "Positive is the last of the two equally frequent values of 'ill'."),
        ([0, 1, 1], "1", 1, "Positive is '1' of 'ill'."),
        ([0, 1, 2], "2", 2, "Positive is '2' of 'ill'."),
        (
            [0, 1, 2],
            None,
            None,
            "The plain mean over the values of 'ill', each positive in its turn.",
        ),
    ],
)
def test_the_positive_value_is_the_rarer_one_or_the_one_that_was_asked_for(
    labels, positive, expected, about
):
    lesson = question(positive=positive).lesson(labelled(labels * 4), np.random.default_rng(1))
    assert (expected, about) == (lesson.positive, lesson.about)


@pytest.mark.parametrize("positive", [1, 1.0, "1"])
def test_the_positive_value_may_be_a_number(positive):
    result = audit(labelled([0, 0, 0, 1] * 10), positive=positive)
    assert "Positive is '1' of 'ill'." in result["recall.decision-tree"].meaning


def test_a_value_that_is_never_predicted_has_a_precision_of_0_and_that_is_said():
    table = people("nothing")
    result = audit(AuditInput(one_class(table), table), features=("age",))
    precision, f1 = result["precision.decision-tree"], result["f1_loss.decision-tree"]
    message = (
        "anonymized table: in 2 of 2 divisions a value was never predicted; its precision counts "
        "as 0"
    )
    assert (0.0, message) == (precision.value, precision.assumptions[0])
    assert message in f1.assumptions
    assert message not in result["recall.decision-tree"].assumptions


def test_rows_without_a_label_are_left_out_and_counted():
    result = audit(labelled([0, 0, 1, None] * 10))
    assert 30 == result["rows"].value
    assert (
        "10 of 40 rows of the original table have no single value of the label and are left out",
        "10 of 40 rows of the anonymized table have no single value of the label and are left out",
    ) == result["rows"].assumptions


def test_columns_that_are_not_learned_from_are_named():
    table = people("sugar")
    whole = one_class(table)
    release = attrs.evolve(whole, frame=whole.frame.drop(columns="job"))
    result = audit(AuditInput(release, table))["rows"]
    assert ("not learned from, as the release lacks them: 'job'",) == result.assumptions
    texts = [f"p{number}" for number in range(ROWS)]
    frame = table.frame.assign(job=texts)
    case = AuditInput(Release.as_it_is(Table.build(frame, SCHEMA)), Table.build(frame, SCHEMA))
    result = audit(case)["rows"]
    assert (
        "not learned from, as they have many values and no hierarchy that groups them: 'job'",
    ) == result.assumptions


def test_cells_that_cannot_be_read_are_counted():
    table = people("sugar")
    whole = one_class(table)
    release = attrs.evolve(whole, frame=whole.frame.assign(age="older than some"))
    result = audit(AuditInput(release, table))["rows"]
    assert (
        f"{ROWS} cells of the anonymized table cannot be read and count as '*'",
    ) == result.assumptions


def test_models_that_are_stopped_before_they_come_to_rest_are_counted(monkeypatch):
    table = people("sugar")
    case = AuditInput(Release.as_it_is(table), table)
    assert 0 == audit(case)["not_converged"].value
    monkeypatch.setattr(classifiers, "STEPS", 1)
    result = audit(case, classifiers=("svm", "logistic-regression", "decision-tree"))
    assert (8, ("of 12 models",)) == (
        result["not_converged"].value,
        result["not_converged"].assumptions,
    )


def test_a_stump_no_better_than_chance_leaves_adaboost_with_the_most_frequent_label():
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, np.float32)
    labels = (rows[:, 0] != rows[:, 1]).astype(np.int64)
    model = fit_model("adaboost", 1, rows, labels, np.zeros(2, bool))
    assert 1 == len(set(model.predict(rows).tolist()))


def test_naive_bayes_is_not_led_by_a_value_that_a_label_never_has():
    rng = np.random.default_rng(1)
    ill = rng.random(2000) < 0.2
    sugar = np.where(ill, 1.5, 0.0) + rng.normal(size=2000)
    # Nobody of the ten rare ones is ill; a normal distribution of their share would have variance 0.
    rare = np.zeros(2000, bool)
    rare[np.flatnonzero(~ill)[:10]] = True
    rows = np.stack([sugar, rare, ~rare], axis=1).astype(np.float32)
    model = fit_model("naive-bayes", 1, rows, ill.astype(np.int64), np.array([False, True, True]))
    assert (model.predict(rows) == ill).mean() > 0.8


# --- not assessable ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "how", "reason"),
    [
        (
            labelled([1] * 20),
            {},
            "the label 'ill' takes fewer than two values",
        ),
        (
            labelled(list(range(60))),
            {},
            "the label 'ill' takes more than 50 values",
        ),
        (
            labelled([0, 1] * 10),
            {"positive": "yes"},
            "'positive' must be a value of the label 'ill'. Got 'yes' instead.",
        ),
        (
            labelled([0, 1] * 10),
            {"features": ("job", "sugar")},
            "no column varies that the label could be learned from",
        ),
        (
            labelled([0, 1]),
            {},
            "no division leaves two values of the label to learn from and a row to judge by",
        ),
        (
            labelled([0, 1] * 10),
            {"label": "illness"},
            "column 'illness' is not declared; published are: 'age', 'job', 'sugar', 'ill'",
        ),
    ],
)
def test_what_cannot_be_assessed_says_why(case, how, reason):
    result = audit(case, **how)
    assert 6 * len(FAST) + 3 == len(list(result))
    for finding in result:
        assert (None, "not assessable", (reason,)) == (
            finding.value,
            finding.status,
            finding.assumptions,
        )
        assert "{" not in finding.meaning


def test_a_release_without_the_label_or_without_rows_cannot_be_assessed():
    table = people("sugar")
    release = one_class(table)
    bare = attrs.evolve(release, frame=release.frame.drop(columns="ill"))
    with pytest.raises(NotAssessable, match=r"^the release lacks the label 'ill'$"):
        question().lesson(AuditInput(bare, table), np.random.default_rng(1))
    empty = release.take(np.empty(0, np.int64))
    with pytest.raises(NotAssessable, match=r"^a version has no row with a label$"):
        question().lesson(AuditInput(empty, table), np.random.default_rng(1))


@pytest.mark.parametrize(
    ("columns", "how", "expected"),
    [
        (SCHEMA.columns, {}, None),
        (
            SCHEMA.columns[:3],
            {},
            "no column has the role 'label': name the one to predict with 'label'",
        ),
        (SCHEMA.columns[:3], {"label": "sugar"}, None),
        (
            SCHEMA.columns[:3],
            {"label": ""},
            "column '' is not declared; published are: 'age', 'job', 'sugar'",
        ),
        (
            (*SCHEMA.columns, Column(name="well", role="label")),
            {},
            "the role 'label' has 'ill', 'well': name the one to predict with 'label'",
        ),
        (
            SCHEMA.columns,
            {"features": ("age", "ill")},
            "column 'ill' is the label: it is no feature",
        ),
        (
            (*SCHEMA.columns, Column(name="who", role="person")),
            {"features": ("who",)},
            "column 'who' has role 'person' and is not published; published are: 'age', 'job', "
            "'sugar', 'ill'",
        ),
        (
            (*SCHEMA.columns, Column(name="id", role="identifier", pseudonymize=True)),
            {"features": ("id",)},
            "column 'id' is an identifier: nothing is learned from pseudonyms",
        ),
    ],
)
def test_a_pipeline_is_told_what_is_wrong_before_it_runs(columns, how, expected):
    assert expected == LearningAuditor(**how).problem(Schema(columns))


# --- experiments ---------------------------------------------------------------------------------


def row(label, parameters, accuracy, lost):
    result = Findings.of(
        Finding(name="accuracy.svm", value=accuracy, meaning="."),
        Finding(name="accuracy_loss.svm", value=lost, meaning="."),
        Finding(name="majority_accuracy", value=0.5, meaning="."),
    )
    return GridRow(label, parameters, result)


def test_an_experiment_shows_means_over_seeds_per_classifier_and_setting():
    grid = [
        row(f"k={k}, seed={seed}", {"k": k, "seed": seed}, 0.9 - k / 1000 + seed / 100, k / 1000)
        for k in (10, 20)
        for seed in (0, 2)
    ]
    table, heat, line = LearningAuditor().summarize(grid).charts
    assert {
        "columns": ["run", "svm", "majority"],
        "rows": [["k=10", pytest.approx(0.9), 0.5], ["k=20", pytest.approx(0.89), 0.5]],
    } == table.data
    assert {"x": ["svm"], "y": ["k=10", "k=20"], "z": [[0.01], [0.02]]} == heat.data
    assert {"svm": {"x": [10.0, 20.0], "y": pytest.approx([0.9, 0.89])}} == line.data
    assert ("k", "accuracy", "Accuracy on the release") == (line.x, line.y, line.title)


def test_every_combination_of_what_else_is_varied_has_its_own_picture():
    grid = [
        row(f"k={k}, method={name}", {"k": k, "method": name}, 0.9, 0.0)
        for k in (10, 20)
        for name in ("a", "b")
    ]
    titles = [
        chart.title for chart in LearningAuditor().summarize(grid).charts if chart.kind == "line"
    ]
    assert [
        "Accuracy on the release: method = a",
        "Accuracy on the release: method = b",
    ] == titles


def test_an_experiment_without_figures_shows_nothing():
    assert Findings() == LearningAuditor().summarize([GridRow("a", {}, Findings())])
