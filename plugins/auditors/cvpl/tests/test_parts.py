"""The parts of an attacker, each by itself: against slow counts, planted answers and its words."""

import itertools
import stat
import sys
from types import SimpleNamespace

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonloom import AuditInput, Chart, Column, Release, Schema, StageContext, Table
from anonloom.errors import UsageError
from anonloom.findings import Notice
from anonloom_cvpl import attribution, auditor, charts, commands, pairs, progressive, rates
from anonloom_cvpl.attacker import rows_behind
from anonloom_cvpl.auditor import Cvpl
from anonloom_cvpl.chance_law import by_law
from anonloom_cvpl.ensemble import FAMILY, Ensemble, commitment_to, draw_configurations
from anonloom_cvpl.groups import recognition_chance
from anonloom_cvpl.progressive import Progressive, climb, ladder
from anonloom_cvpl.projection import components_for, principal_components

quick = settings(deadline=None, max_examples=25)


def prepared_for(shop, **how):
    return Cvpl(**how).configuration.prepare(shop.original, [shop.release], StageContext())


def true_rows(shop):
    return rows_behind(shop.owner, len(shop.original))


# --- projection ----------------------------------------------------------------------------------


@quick
@given(
    values=st.lists(st.floats(0, 10), min_size=1, max_size=12),
    variance=st.floats(0, 1),
    least=st.integers(1, 5),
    most=st.integers(1, 12),
)
def test_as_many_components_as_keep_the_variance(values, variance, least, most):
    assume(max(values) > 1e-3)
    values = np.sort(values)[::-1]
    positive = int((values > 1e-12 * values[0]).sum())
    enough = [
        k for k in range(1, len(values) + 1) if values[:k].sum() >= variance * values.sum() - 1e-9
    ]
    want = max(min(max(enough[0], least), most, positive), 1)
    # A sum may fall short of the whole by its last digit.
    assert components_for(values, variance, least, most) in (want, min(want + 1, most, positive))


def test_components_are_clamped():
    values = np.array([8.0, 1.0, 0.5, 0.3, 0.2])
    assert 2 == components_for(values, 0.9, 1, 50)
    assert 3 == components_for(values, 0.9, 3, 50)
    assert 1 == components_for(values, 0.9, 1, 1)
    assert 5 == components_for(values, 1.0, 1, 50)
    assert 1 == components_for(np.zeros(4), 0.9, 3, 50)
    assert 2 == components_for(np.array([1.0, 1.0, 1e-15]), 1.0, 3, 50)


def test_directions_are_orthonormal_in_order_and_have_their_own_sign():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(50, 6)) @ rng.normal(size=(6, 6))
    covariance = np.cov(rows.T)
    values, directions = principal_components(covariance)
    np.testing.assert_allclose(directions.T @ directions, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(covariance @ directions, directions * values, atol=1e-9)
    assert sorted(values, reverse=True) == values.tolist()
    assert (directions[np.abs(directions).argmax(axis=0), range(6)] > 0).all()


@pytest.mark.parametrize("fit", ["joint", "source", "target"])
def test_a_projection_is_fitted_on_the_tables_it_says(shop, fit):
    one = shop("perturbed", 60, 3)
    setup = prepared_for(one, fit=fit, blocking=())
    vectors = setup.projection.vectors
    sides = {"joint": (0, 1), "source": (0,), "target": (1,)}[fit]
    rows = np.vstack([vectors.dense(side) for side in sides])
    np.testing.assert_allclose(setup.projection.offset, rows.mean(axis=0), atol=1e-9)
    total = rows.var(axis=0).sum()
    assert total == pytest.approx(setup.projection.total)
    along = ((rows - rows.mean(axis=0)) @ setup.projection.matrix).var(axis=0)
    np.testing.assert_allclose(setup.projection.variances, along, atol=1e-9)
    assert along.sum() / total == pytest.approx(setup.projection.retained_share)
    assert setup.projection.retained_share >= 0.9


def test_nothing_is_lost_without_a_projection(shop):
    projection = prepared_for(shop("as it is", 40, 1), projection="none").projection
    assert projection.vectors.width == projection.components
    assert 1 == pytest.approx(projection.retained_share)


def test_a_random_projection_keeps_what_its_directions_span(shop):
    one = shop("as it is", 60, 1)
    projection = prepared_for(one, projection="random").projection
    again = prepared_for(one, projection="random").projection
    assert projection.matrix.tolist() == again.matrix.tolist()
    assert min(20, projection.vectors.width) == projection.components
    assert 0 < projection.retained_share <= 1 + 1e-9


def test_a_robust_projection_is_fitted_to_the_many():
    """Three wild amounts are all the variance of a column; the others hardly differ in it."""
    pytest.importorskip("sklearn", reason="scikit-learn, of the extra `robust`, is not here")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    frame.loc[:2, "c"] = [400.0, -500.0, 450.0]
    table = numbers(frame)
    total = {}
    for method in ("pca", "robust"):
        configuration = Cvpl(blocking=(), projection=method).configuration
        setup = configuration.prepare(table, [Release.as_it_is(table)], StageContext())
        total[method] = setup.projection.total
    assert 3 == pytest.approx(total["pca"])
    assert 1.5 < total["robust"] < 2.5


class Placing:
    """In place of UMAP: the first features, far away from the origin."""

    calls = 0

    def __init__(self, n_components, **_):
        self.components = n_components

    def fit(self, sample):
        self.embedding_ = sample[:, : self.components] + 100

    def transform(self, rows):
        Placing.calls += 1
        return rows[:, : self.components] + 100


def test_a_map_without_a_matrix_places_every_table_once_around_its_middle(shop, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=Placing))
    monkeypatch.setattr(Placing, "calls", 0)
    one = shop("perturbed", 60, 1)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)
    result = Cvpl(projection="umap", blocking={"town": 1}).details(case, StageContext())
    assert 2 == Placing.calls
    assert "retained_variance" not in result
    projection = prepared_for(one, projection="umap").projection
    whole = projection.of(0)
    assert whole[[3, 1]].tolist() == projection.of(0, np.array([3, 1])).tolist()
    both = np.vstack([whole, projection.of(1)])
    np.testing.assert_allclose(both.mean(axis=0), 0, atol=1e-4)


def numbers(frame, role="other"):
    schema = Schema([Column(name=name, role=role, type="number") for name in frame])
    return Table.build(frame, schema)


# --- similarity ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "low"), [("cosine", -1), ("whitened", -1), ("rbf", 0), ("jaccard", 0)]
)
@pytest.mark.parametrize("release", ["as it is", "in classes", "rows suppressed", "synthetic"])
def test_similarities_lie_in_their_range(shop, kind, low, release):
    one = shop(release, 30, 2, missing=True)
    task = prepared_for(one, similarity=kind, blocking=()).task()
    i, j = (grid.ravel() for grid in np.meshgrid(range(30), range(len(one.release))))
    result = pairs.similarities(task, i, j)
    assert (result >= low).all()
    assert (result <= 1).all()
    assert np.unique(result.round(3)).size > 3


@pytest.mark.parametrize("kind", ["cosine", "whitened", "rbf", "jaccard"])
def test_similarity_is_symmetric_and_1_with_oneself(shop, kind):
    one = shop("as it is", 30, 2)
    task = prepared_for(one, similarity=kind, blocking=(), projection="none").task()
    i, j = (grid.ravel() for grid in np.meshgrid(range(30), range(30)))
    result = pairs.similarities(task, i, j).reshape(30, 30)
    np.testing.assert_allclose(result, result.T, atol=1e-5)
    np.testing.assert_allclose(np.diag(result), 1, atol=1e-5)


def test_jaccard_counts_values_in_common():
    """Of three columns, two in common are 2 of 4 values in all."""
    frame = pd.DataFrame({"a": list("xxyy"), "b": list("xyxy"), "c": list("xyyx")})
    table = Table.build(frame, Schema([Column(name=name, role="other") for name in frame]))
    configuration = Cvpl(similarity="jaccard", blocking=()).configuration
    setup = configuration.prepare(table, [Release.as_it_is(table)], StageContext())
    i, j = (grid.ravel() for grid in np.meshgrid(range(4), range(4), indexing="ij"))
    result = pairs.similarities(setup.task(), i, j)
    common = [(frame.iloc[a] == frame.iloc[b]).sum() for a, b in zip(i, j, strict=True)]
    np.testing.assert_allclose(result, [c / (6 - c) for c in common], atol=1e-6)


# --- rates ---------------------------------------------------------------------------------------

SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.5000001, 0.9, 1.0]), min_size=1, max_size=15)


@quick
@given(true=SCORES, wrong=SCORES)
def test_the_area_under_the_curve_is_the_share_of_pairs_in_order(true, wrong):
    chances = [(a > b) + (a == b) / 2 for a in true for b in wrong]
    assert np.mean(chances) == pytest.approx(
        rates.area_under_curve(np.array(true), np.array(wrong))
    )


@quick
@given(
    values=st.lists(st.one_of(st.floats(-1, 1), st.just(np.nan), st.just(-np.inf)), max_size=20),
    taus=st.lists(st.floats(-1, 1), min_size=1, max_size=5),
)
def test_shares_count_what_reaches(values, taus):
    result = rates.share_reaching(np.array(values, float), np.array(taus))
    assert [sum(v >= t for v in values) / max(len(values), 1) for t in taus] == result.tolist()


def test_thresholds_are_those_of_the_paper():
    assert [0.7, 0.71, 0.98, 0.99] == rates.THRESHOLDS[[0, 1, -2, -1]].tolist()
    assert 30 == len(rates.THRESHOLDS)


# --- pairs ---------------------------------------------------------------------------------------


@quick
@given(
    kind=st.sampled_from(["as it is", "in classes", "rows suppressed"]),
    rows=st.integers(3, 20),
    seed=st.integers(0, 999),
)
def test_few_wrong_pairs_are_all_there(shop, kind, rows, seed):
    one = shop(kind, rows, seed)
    setup = prepared_for(one, blocking={"town": 1})
    assume(setup is not None)
    task, truth = setup.task(), true_rows(one)
    result = pairs.wrong_pairs(task, truth, StageContext().rng)
    met = [
        (i, j)
        for i, j in itertools.product(range(rows), range(len(one.release)))
        if setup.schemes[0].meet(np.array([i]), np.array([j]))[0] and truth[i] != j
    ]
    assert result.everyone
    i, j = np.array(met, int).reshape(-1, 2).T
    want = pairs.similarities(task, i, j)
    np.testing.assert_allclose(np.sort(result.similarity), np.sort(want), atol=1e-6)


def test_many_wrong_pairs_are_drawn_alike(shop, monkeypatch):
    one = shop("perturbed", 80, 4)
    task = prepared_for(one, blocking={"sex": "exact"}).task()
    every = pairs.wrong_pairs(task, true_rows(one), StageContext().rng)
    monkeypatch.setattr(pairs, "DRAWN", 2_500)
    some = pairs.wrong_pairs(task, true_rows(one), StageContext().rng)
    assert not some.everyone
    assert len(some.similarity) <= 2_500 < len(every.similarity)
    # Of 2,500 draws a mean is known to 1/50 of the deviation.
    error = every.similarity.std() / 50
    assert abs(some.similarity.mean() - every.similarity.mean()) < 4 * error


def test_lucky_pairs_are_drawn_from_all_candidates_alike(shop):
    """Also where some rows leave a key open, and others do not."""
    one = shop("rows suppressed", 24, 7)
    setup = prepared_for(one, blocking={"town": 1}, similarity="rbf", projection="none")
    task = setup.task()
    assert len(task.blocks()[0]) > 1
    meets = setup.schemes[0].meet(np.zeros(24, int), np.arange(24))
    among = np.flatnonzero(meets)
    want = pairs.similarities(task, np.zeros(len(among), int), among)
    rng = np.random.default_rng(0)
    times = 1_500
    result = np.array([pairs.lucky_pairs(task, rng)[0] for _ in range(times)])
    values, counts = np.unique(want.round(6), return_counts=True)
    for value, count in zip(values, counts, strict=True):
        share = count / len(among)
        error = np.sqrt(share * (1 - share) / times)
        assert abs((np.abs(result - value) < 1e-5).mean() - share) < 4.5 * error + 1e-9


# --- groups --------------------------------------------------------------------------------------


@quick
@given(data=st.data(), records=st.integers(1, 10), rows=st.integers(0, 10))
def test_groups_are_recognized_by_the_vote_of_their_members(data, records, rows):
    group = np.array(data.draw(st.lists(st.integers(0, 3), min_size=records, max_size=records)))
    group = np.unique(group, return_inverse=True)[1]
    row = np.array(
        data.draw(st.lists(st.integers(-1, rows - 1), min_size=records, max_size=records))
    )
    truth = np.array(
        data.draw(st.lists(st.integers(-1, records - 1), min_size=rows, max_size=rows)), int
    )
    want = []
    for indice in range(group.max() + 1):
        votes = [
            group[truth[row[i]]]
            for i in np.flatnonzero(group == indice)
            if row[i] >= 0 and truth[row[i]] >= 0
        ]
        most = max((votes.count(v) for v in set(votes)), default=0)
        winners = [v for v in set(votes) if votes.count(v) == most]
        want.append(1 / len(winners) if indice in winners else 0.0)
    assert want == recognition_chance(group, row, truth).tolist()


def test_households_are_linked_through_any_member(shop):
    one = shop("as it is", 40, 1)
    groups = (np.arange(40) // 2).astype(np.int32)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner, groups=groups)
    result = Cvpl(attribution=False).details(case, StageContext())
    assert 1 == result["group_linkage_rate"].value == result["group_linkage_rate_all"].value
    assert 1 == result["group_precision"].value
    assert "20 groups of 2.0 records on average" in result["group_precision"].assumptions
    unknown = Cvpl(attribution=False).details(attrs.evolve(case, truth=None), StageContext())
    assert "not assessable" == unknown["group_precision"].status


# --- several releases ----------------------------------------------------------------------------


def test_releases_are_put_together(shop):
    one, other = shop("perturbed", 60, 1), shop("as it is", 60, 1)
    case = AuditInput(
        release=one.release,
        original=one.original,
        truth=one.owner,
        other_releases=(other.release,),
    )
    attacker = Cvpl(attribution=False, blocking={"town": 1})
    result = attacker.details(case, StageContext())
    assert 2 == result["releases"].value
    assert 1 == result["linkage_rate_any"].value
    assert result["linkage_rate"].value == result["linkage_rate_every"].value
    assert 1 == result["precision_any"].value
    same = attacker.details(attrs.evolve(case, other_releases=(one.release,)), StageContext())
    assert same["linkage_rate"].value == same["linkage_rate_any"].value
    assert same["linkage_rate"].value == same["linkage_rate_every"].value
    nobody = attrs.evolve(other.release, origin=None)
    unknown = attacker.details(attrs.evolve(case, other_releases=(nobody,)), StageContext())
    assert "not assessable" == unknown["precision_any"].status
    assert (
        "nobody says whose the rows of every release are" == unknown["precision_any"].assumptions[0]
    )


def test_a_control_is_attacked_like_the_original(shop):
    """People of the same kind outside: linked as chance links, and everybody inside is linked."""
    inside, outside = shop("as it is", 300, 1), shop("as it is", 300, 2)
    case = AuditInput(release=inside.release, original=inside.original, control=outside.original)
    result = Cvpl(attribution=False, blocking={"town": 1}).details(case, StageContext())
    assert 1 == result["linkage_rate"].value
    assert result["linkage_null"].value == pytest.approx(
        result["linkage_null_control"].value, abs=0.12
    )
    assert 1 - result["linkage_null_control"].value == pytest.approx(
        result["linkage_excess_control"].value
    )


# --- attribution ---------------------------------------------------------------------------------


@pytest.mark.parametrize("projection", ["pca", "none", "random"])
def test_shares_of_the_space_add_up_and_lie_near_their_intervals(shop, projection):
    setup = prepared_for(shop("perturbed", 200, 1), projection=projection, blocking=())
    shares = attribution.contributions(setup, StageContext().rng)
    assert {"age", "town", "sex", "spent", "shop", "at"} == set(shares)
    assert 1 == pytest.approx(sum(share.value for share in shares.values()))
    for share in shares.values():
        low, high = share.interval
        assert low - 0.03 <= share.value <= high + 0.03


def test_leaving_a_column_out_fits_the_space_again(shop):
    """The moments without a column are part of those with it."""
    setup = prepared_for(shop("perturbed", 60, 1), blocking={"town": 1})
    linear = setup.projection
    projection_spec = setup.configuration.projection_spec
    mean, covariance = linear.vectors.moments(0, 1)
    for name, span in zip(
        (p.name for p in linear.vectors.parts), linear.vectors.spans, strict=True
    ):
        again = projection_spec.fit(linear.vectors.without(name), (0, 1), StageContext().rng)
        kept = np.r_[: span.start, span.stop : len(mean)]
        np.testing.assert_allclose(again.offset, mean[kept], atol=1e-12)
        assert again.total == pytest.approx(np.trace(covariance[np.ix_(kept, kept)]))


def test_the_column_that_tells_people_apart_is_the_one_that_is_missed():
    rng = np.random.default_rng(0)
    rows = 200
    frame = pd.DataFrame(
        {"mark": rng.permutation(rows).astype(float), "noise": rng.choice([0.0, 1.0], rows)}
    )
    table = numbers(frame)
    release = Release.as_it_is(table)
    shaken = release.frame.copy()
    shaken["noise"] = rng.permutation(shaken["noise"].to_numpy())
    release = attrs.evolve(release, frame=shaken)
    configuration = Cvpl(similarity="rbf", projection="none", blocking=()).configuration
    setup = configuration.prepare(table, [release], StageContext())
    drops = attribution.ablation(setup, 0.9, np.arange(rows), StageContext())
    # By the mark alone nearly half, as the noise misleads; by the noise alone 2 of 200.
    assert drops["mark"].value > 0.3
    assert drops["noise"].value < 0
    for share in drops.values():
        assert share.interval[0] <= share.value <= share.interval[1]


# --- progressive ---------------------------------------------------------------------------------

LADDER = {"town": 1, "sex": "exact", "age": 10}


@quick
@given(
    kind=st.sampled_from(["as it is", "perturbed", "in classes", "synthetic", "rows suppressed"]),
    rows=st.integers(3, 24),
    seed=st.integers(0, 999),
    similarity=st.sampled_from(["cosine", "rbf", "whitened", "jaccard"]),
    threshold=st.floats(0.3, 1),
)
def test_bounds_hold_at_every_step(shop, kind, rows, seed, similarity, threshold):
    setup = prepared_for(shop(kind, rows, seed), similarity=similarity, blocking=LADDER)
    assume(setup is not None)
    schemes = ladder(setup.schemes[0], ("age", "sex", "town"))
    assert 4 == len(schemes)
    steps, why = climb(setup, schemes, threshold, StageContext(), tolerance=-1, seconds=None)
    final = attrs.evolve(setup.task(), schemes=schemes[-1:]).evidence(StageContext())
    rate = float((final.best >= threshold).mean())
    near = (
        float((final.best >= threshold - 1e-5).mean()),
        float((final.best >= threshold + 1e-5).mean()),
    )
    assert "the ladder ends" == why
    assert 4 == len(steps)
    for step in steps:
        assert step.lower <= near[0] + 1e-12
        assert step.upper >= near[1] - 1e-12
        assert step.lower <= step.upper <= 1 + 1e-12
    assert sorted(step.lower for step in steps) == [step.lower for step in steps]
    assert steps[-1].lower == steps[-1].upper == pytest.approx(rate, abs=near[0] - near[1] + 1e-12)


def test_a_ladder_gives_up_the_last_key_first(shop):
    finest = prepared_for(shop(), blocking=LADDER).schemes[0]
    names = [[key.column.name for key in step.keys] for step in ladder(finest, None)]
    assert [["town", "sex", "age"], ["town", "sex"], ["town"]] == names
    names = [[key.column.name for key in step.keys] for step in ladder(finest, ("town", "height"))]
    assert [["town", "sex", "age"], ["sex", "age"]] == names


def test_the_first_step_is_never_the_last(shop):
    """Where nothing is linked at first, the paper's algorithm would stop and call it converged."""
    one = shop("perturbed", 60, 2)
    setup = prepared_for(one, blocking={"town": "exact", "sex": "exact", "age": "exact"})
    schemes = ladder(setup.schemes[0], None)
    steps, _ = climb(setup, schemes, 0.999999, StageContext(), tolerance=1.0, seconds=None)
    assert 2 == len(steps)


def test_two_flat_steps_end_the_climb_and_leave_the_bounds(shop):
    one = shop("synthetic", 60, 2)
    setup = prepared_for(
        one, blocking={"town": "exact", "sex": "exact", "age": 10, "at": 7}, similarity="rbf"
    )
    schemes = ladder(setup.schemes[0], ("at", "age", "sex", "town"))
    steps, why = climb(setup, schemes, 0.9999, StageContext(), tolerance=0.001, seconds=None)
    assert 3 == len(steps)
    assert "two steps raised the rate by less than the tolerance; the bounds hold" == why
    assert 0 == steps[-1].lower
    assert steps[-1].upper > 0.9


def test_no_step_is_begun_that_would_take_too_long(shop):
    setup = prepared_for(shop("perturbed", 60, 2), blocking=LADDER)
    schemes = ladder(setup.schemes[0], ("age", "sex", "town"))
    ticks = itertools.count(0, 1.0)
    context = StageContext()
    steps, why = climb(
        setup, schemes, 0.9999, context, tolerance=-1, seconds=2.5, clock=lambda: next(ticks)
    )
    assert "the next step would take too long" == why
    text = (
        f"The ladder stopped after {len(steps)} of {len(schemes)} steps: the next one would have "
        "ended after 'seconds'. The bounds are wider than they need to be."
    )
    assert [Notice(text)] == context.found
    assert 1 == len(steps)
    ticks = itertools.count(0, 1.0)
    steps, why = climb(
        setup,
        schemes,
        0.9999,
        StageContext(),
        tolerance=-1,
        seconds=1e6,
        clock=lambda: next(ticks),
    )
    assert (4, "the ladder ends") == (len(steps), why)


def test_bounds_are_findings_that_say_so(shop):
    one = shop("perturbed", 60, 2)
    case = AuditInput(release=one.release, original=one.original)
    result = Progressive(blocking=LADDER, tolerance=0.0).details(case, StageContext())
    assert {"bound"} == {result[f"linkage_rate_{end}"].status for end in ("lower", "upper")}
    assert result["linkage_rate_lower"].value <= result["linkage_rate_upper"].value
    assert f"stopped because {result['stopped'].value}" in result["linkage_rate_lower"].assumptions
    (chart,) = result.charts
    assert result["steps"].value == len(chart.data["at least"]["x"])
    assert result["linkage_rate_upper"].value == chart.data["at most"]["y"][-1]


# --- ensemble ------------------------------------------------------------------------------------


def test_the_draw_follows_from_the_revealed_secret(shop, tmp_path):
    one = shop("perturbed", 40, 2)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)
    file = tmp_path / "secret"
    file.write_text("0f" * 32 + "\n")
    ensemble = Ensemble(secret=file, commitment=commitment_to(bytes.fromhex("0f" * 32)))
    result = ensemble.details(case, StageContext(seed=1))
    secret = bytes.fromhex(result["revealed_secret"].value)
    assert commitment_to(secret) == result["commitment"].value
    message = ", ".join(str(number + 1) for number in draw_configurations(secret, FAMILY, 3))
    assert message == result["drawn"].value
    assert message == ensemble.details(case, StageContext(seed=2))["drawn"].value
    assert "was published before the release was made" in result["commitment"].meaning


def test_without_a_secret_the_seed_decides_and_nothing_is_proved(shop):
    one = shop("perturbed", 40, 2)
    case = AuditInput(release=one.release, original=one.original)
    result, again = (Ensemble(draw=2).details(case, StageContext(seed=5)) for _ in range(2))
    other = Ensemble(draw=2).details(case, StageContext(seed=6))
    assert result["revealed_secret"].value == again["revealed_secret"].value
    assert result["revealed_secret"].value != other["revealed_secret"].value
    assert "nothing proves that the draw was fair" in result["commitment"].meaning


def test_the_worst_of_the_drawn_attackers_counts(shop):
    one = shop("perturbed", 80, 2)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)
    family = ({"variance": 0.5}, {"projection": "none"})
    result = Ensemble(family=family, draw=2, blocking={"town": 1}).details(case, StageContext())
    each = [
        Cvpl(**member, blocking={"town": 1}, attribution=False).details(case, StageContext())
        for member in family
    ]
    for name in ("linkage_rate", "precision_at_1", "linkage_excess"):
        assert max(item[name].value for item in each) == result[name].value
    mean = np.mean([item["linkage_rate"].value for item in each])
    assert mean == pytest.approx(result["linkage_rate_mean"].value)


def test_a_family_cannot_be_changed_after_the_secret_is_known():
    """Another member, another order, another value: each gives another draw for some secret."""
    secrets = [bytes([k]) * 32 for k in range(20)]
    draws = [draw_configurations(secret, FAMILY, 3) for secret in secrets]
    assert all(3 == len(set(draw)) for draw in draws)
    assert all(sorted(draw) == list(draw) for draw in draws)
    assert len(set(draws)) > 10
    for changed in ((*FAMILY, {"cyclic": True}), FAMILY[::-1], ({"variance": 0.7}, *FAMILY[1:])):
        assert draws != [draw_configurations(secret, changed, 3) for secret in secrets]


def test_every_configuration_is_drawn_about_as_often():
    counts = np.zeros(len(FAMILY))
    times = 600
    for k in range(times):
        counts[list(draw_configurations(k.to_bytes(32, "big"), FAMILY, 3))] += 1
    share = 3 / len(FAMILY)
    error = np.sqrt(share * (1 - share) / times)
    assert np.abs(counts / times - share).max() < 4 * error


# --- the secret ----------------------------------------------------------------------------------


def test_a_secret_is_written_for_its_owner_alone(tmp_path, capsys):
    file = tmp_path / "secret"
    assert 0 == commands.execute(SimpleNamespace(file=str(file)))
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    secret = bytes.fromhex(file.read_text().strip())
    assert 32 == len(secret)
    assert (
        f"commitment: {commitment_to(secret)}\n"
        "Publish the commitment now, and keep the file to yourself until the audit.\n"
    ) == capsys.readouterr().out
    with pytest.raises(UsageError) as caught:
        commands.execute(SimpleNamespace(file=str(file)))
    assert f"'{file}' exists and is left as it is" == str(caught.value).splitlines()[0]
    assert "A secret that was committed to must not be replaced." == caught.value.hint
    assert secret.hex() == file.read_text().strip()


def test_a_secret_that_cannot_be_written(tmp_path):
    file = tmp_path / "nowhere" / "secret"
    with pytest.raises(UsageError) as caught:
        commands.execute(SimpleNamespace(file=str(file)))
    assert f"'{file}' cannot be written: No such file or directory" == str(caught.value)


# --- records and rows ----------------------------------------------------------------------------


def test_of_several_rows_of_one_person_the_first_is_the_true_one():
    assert [1, -1, 0, 4] == rows_behind(np.array([2, 0, 0, -1, 3]), 4).tolist()


def test_the_steward_sees_who_is_exposed(shop):
    """Rows of the original whose own row is the most similar, widest margin first."""
    one = shop("perturbed", 80, 2)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)
    attacker = Cvpl(attribution=False, blocking={"town": 1})
    (exposed,) = attacker.details(case, StageContext()).private
    setup = prepared_for(one, blocking={"town": 1})
    evidence = setup.task().evidence(StageContext(), true_rows(one))
    assert (evidence.hit[exposed.rows] == 1).all()
    assert sorted(exposed.scores, reverse=True) == exposed.scores.tolist()
    assert () == attacker.details(attrs.evolve(case, truth=None), StageContext()).private


# --- who, by chance, and where it is safe --------------------------------------------------------


def test_the_measure_of_the_subgroups_of_a_column_adds_up_to_the_linkage_rate(shop):
    one = shop("perturbed", 400, 3)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)

    result = Cvpl(attribution=False, threshold=0.8).details(case, StageContext())

    (table,) = (chart for chart in result.charts if chart.name == "subgroups")
    rows = [dict(zip(table.data["columns"], row, strict=True)) for row in table.data["rows"]]
    for name in ("sex", "town", "age"):
        own = [row for row in rows if row["subgroup"].startswith(f"{name}, ")]
        assert 400 == sum(row["records"] for row in own)
        assert result["linkage_rate"].value == pytest.approx(sum(row["mu"] for row in own))
        for row in own:
            assert row["mu"] * 400 == pytest.approx(row["linked"] * row["records"])
    assert result["linkage_rate_worst_subgroup"].value == max(row["linked"] for row in rows)
    assert result["precision_worst_subgroup"].value == max(row["right"] for row in rows)
    assert ["sex, value 1", "sex, value 2"] == sorted(
        row["subgroup"] for row in rows if row["subgroup"].startswith("sex")
    )


def test_small_subgroups_are_left_out(shop):
    one = shop("perturbed", 25, 3)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)

    result = Cvpl(attribution=False).details(case, StageContext())

    assert "linkage_rate_worst_subgroup" not in result
    assert "subgroups" not in [chart.name for chart in result.charts]


@given(st.floats(0, 1), st.integers(0, 60))
def test_the_law_of_candidates_is_the_chance_that_not_all_of_them_fail(share, candidates):
    slow = 1.0
    for _ in range(candidates):
        slow *= 1 - share

    assert by_law(share, np.array([candidates]))[0] == pytest.approx(1 - slow, abs=1e-9)


def test_the_law_is_beside_what_chance_links(shop):
    one = shop("synthetic", 300, 3)
    case = AuditInput(release=one.release, original=one.original)

    result = Cvpl(attribution=False, threshold=0.8).details(case, StageContext())

    law, rate = result["linkage_rate_by_law"], result["linkage_rate"].value
    assert 0 < rate <= law.value + 0.1
    assert "at similarity 0.8" in law.assumptions
    (chart,) = (chart for chart in result.charts if chart.name == "chance_law")
    assert ["links", "1 - (1 - p)^C"] == list(chart.data)


@pytest.mark.parametrize("tolerable", [0.0, 0.2, 1.0])
def test_the_safe_threshold_is_the_least_at_which_few_enough_are_linked(shop, tolerable):
    one = shop("perturbed", 200, 3)
    case = AuditInput(release=one.release, original=one.original)

    result = Cvpl(attribution=False, tolerable=tolerable).details(case, StageContext())

    curve = next(chart for chart in result.charts if chart.name == "risk_curve")
    points = zip(*curve.data["linkage rate"].values(), strict=False)
    safe = [x for x, rate, *_ in points if rate <= tolerable]
    assert result["threshold_safe"].value == (safe[0] if safe else None)


def test_the_safe_region_marks_tolerable_runs():
    surface = Chart(
        name="risk_surface",
        kind="heat",
        title="",
        data={"x": ["0.70", "0.90"], "y": ["k=2", "k=9"], "z": [[0.5, 0.1], [0.2, 0.05]]},
    )

    region = charts.safe_region(surface, 0.1)

    assert [[0, 1], [0, 1]] == region.data["z"]
    assert "Where no more than 0.1 of the records are linked" == region.title


# --- blocks --------------------------------------------------------------------------------------


def test_several_guessed_schemes_lose_fewer_true_pairs_than_one(shop):
    one = shop("perturbed", 800, 3)
    lost = {}
    for passes in (1, 3):
        setup = prepared_for(one)
        setup = attrs.evolve(setup, schemes=setup.schemes[:passes])
        evidence = setup.task().evidence(StageContext(), true_rows(one))
        lost[passes] = 1 - rates.recall(evidence, 0.9).block

    assert lost[3] < 0.5 * lost[1]


@pytest.mark.parametrize("beyond", ["cutoff", "sample", "divide"])
def test_smaller_blocks_bound_the_linkage_rate_from_below(shop, beyond):
    one = shop("perturbed", 300, 3)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)
    how = {"attribution": False, "blocking": {"sex": "exact"}, "threshold": 0.95}

    whole = Cvpl(**how).details(case, StageContext())
    part = Cvpl(**how, exact=40, beyond=beyond).details(case, StageContext())

    assert part["candidates"].value <= 41 < whole["candidates"].value
    assert part["linkage_rate"].value <= whole["linkage_rate"].value
    assert part["recall_block"].value < whole["recall_block"].value
    done = {"cutoff": "cut off", "sample": "sampled", "divide": "divided"}[beyond]
    assert (
        f"blocks of more than 40 candidates were {done}: rates and nulls are bounds from below, "
        "their differences are none"
    ) in part["linkage_rate"].assumptions


# --- what makes the figures weak -----------------------------------------------------------------


def test_a_saturated_rate_is_weak_and_has_no_excess(shop):
    one = shop("perturbed", 300, 3)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)

    result = Cvpl(attribution=False, threshold=0.1, blocking=()).details(case, StageContext())

    assert "weak" == result["validity"].value
    assert "resemble another record anyhow, more than 90%" in result["validity"].meaning
    assert "not assessable" == result["linkage_excess"].status
    assert "measured" == result["precision_at_1"].status


def test_blocks_that_lose_true_pairs_make_the_figures_weak(shop):
    one = shop("perturbed", 300, 3)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)

    result = Cvpl(attribution=False, blocking={"age": "exact"}).details(case, StageContext())

    lost = f"blocks lose {1 - result['recall_block'].value:.1%} of the true pairs"
    assert "weak" == result["validity"].value
    assert lost in result["validity"].meaning


def test_a_column_that_cannot_be_read_makes_all_figures_not_assessable(shop):
    one = shop("perturbed", 300, 3)
    frame = one.release.frame.astype({"town": object}).copy()
    frame.loc[frame.index[:250], "town"] = "??"
    case = AuditInput(release=attrs.evolve(one.release, frame=frame), original=one.original)

    result = Cvpl(attribution=False).details(case, StageContext())

    assert "not assessable" == result["validity"].value
    assert (
        "column 'town': 250 of 300 cells of the release cannot be read"
        in result["linkage_rate"].assumptions
    )


# --- bounds --------------------------------------------------------------------------------------


def test_a_sample_bounds_the_final_rate_from_above_where_geometry_says_nothing(shop, monkeypatch):
    monkeypatch.setattr(progressive, "SAMPLED", 300)
    setup = prepared_for(shop("perturbed", 1_000, 3), blocking=LADDER)
    schemes = ladder(setup.schemes[0], None)

    steps, _ = climb(setup, schemes, 0.999, StageContext(), tolerance=-1, seconds=None)

    final = steps[-1].lower
    for step in steps:
        assert step.lower <= final <= step.upper <= step.certain <= 1
    assert steps[0].upper < final + 0.15
    assert steps[0].certain > final + 0.15


def test_the_null_of_a_large_table_is_of_some_records_among_all_others(shop, monkeypatch):
    one = shop("perturbed", 600, 3)
    case = AuditInput(release=one.release, original=one.original, truth=one.owner)
    method = Cvpl(attribution=False, threshold=0.97)
    whole = method.details(case, StageContext())

    monkeypatch.setattr(auditor, "MOST_IN_NULL", 300)
    some = method.details(case, StageContext())

    assert whole["linkage_rate"].value == some["linkage_rate"].value
    assert whole["linkage_null"].value == pytest.approx(some["linkage_null"].value, abs=0.08)
    assert "the null is of 300 records, drawn at random" in some["linkage_null"].assumptions
    low, high = some["linkage_excess"].interval
    assert low <= some["linkage_excess"].value <= high
