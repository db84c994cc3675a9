"""What holds of every table, every release and every attacker, by definition or by a theorem."""

import attrs
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonloom import Release, StageContext, Table
from anonloom_cvpl import evidence as evidence_module
from anonloom_cvpl import rates
from anonloom_cvpl.attacker import rows_behind
from anonloom_cvpl.auditor import Cvpl
from anonloom_cvpl.evidence import LinkageTask
from anonloom_cvpl.pairs import lucky_pairs
from anonloom_cvpl.rates import THRESHOLDS
from anonloom_linkage import top2_search, vectors
from anonloom_linkage.blocking import scheme

KINDS = st.sampled_from(
    ["as it is", "perturbed", "in classes", "sampled", "rows suppressed", "synthetic"]
)
BLOCKINGS = st.sampled_from([{}, {"age": 10, "town": 1}, {"sex": "exact", "at": 7}, None])
ATTACKERS = st.fixed_dictionaries(
    {
        "blocking": BLOCKINGS,
        "similarity": st.sampled_from(["cosine", "rbf", "whitened", "jaccard"]),
        "projection": st.sampled_from(["pca", "none", "random"]),
        "categories": st.sampled_from(["one-hot", "frequency", "hierarchical"]),
        "covering": st.sampled_from(["expected", "middle"]),
        "cyclic": st.booleans(),
        "scale_categories": st.booleans(),
        "fit": st.sampled_from(["joint", "source", "target"]),
    }
)
SHOPS = {
    "kind": KINDS,
    "rows": st.integers(2, 24),
    "seed": st.integers(0, 10**6),
    "missing": st.booleans(),
}
#: Thresholds that no similarity of a few values hits by chance, and all that an audit sweeps.
TAUS = np.sort(np.r_[np.linspace(-1, 1, 41) + 0.00314, THRESHOLDS])

quick = settings(deadline=None, max_examples=12)


def prepared_for(drawn, attacker, others=()):
    configuration = Cvpl(**attacker).configuration
    setup = configuration.prepare(drawn.original, [drawn.release, *others], StageContext())
    assume(setup is not None)
    return setup


def true_rows(drawn):
    if drawn.owner is None:
        return np.full(len(drawn.original), -1)
    return rows_behind(drawn.owner, len(drawn.original))


def gathered(drawn, attacker):
    return prepared_for(drawn, attacker).task().evidence(StageContext(), true_rows(drawn))


# --- rates ---------------------------------------------------------------------------------------


@quick
@given(attacker=ATTACKERS, **SHOPS)
def test_no_rate_rises_with_the_threshold(shop, attacker, kind, rows, seed, missing):
    result = gathered(shop(kind, rows, seed, missing), attacker)
    for rate in (rates.linkage_rate, rates.true_link_rate, rates.false_link_rate):
        assert (np.diff(rate(result, TAUS)) <= 0).all()


@quick
@given(attacker=ATTACKERS, **SHOPS)
def test_links_are_false_ones_and_true_ones(shop, attacker, kind, rows, seed, missing):
    """max(FLR, R_total) <= LR <= FLR + R_total, all over every record of the original."""
    result = gathered(shop(kind, rows, seed, missing), attacker)
    linked, false = (rate(result, TAUS) for rate in (rates.linkage_rate, rates.false_link_rate))
    for index, tau in enumerate(TAUS):
        total = float((result.true >= tau).sum()) / rows
        assert max(false[index], total) <= linked[index] <= false[index] + total + 1e-12


@quick
@given(attacker=ATTACKERS, **SHOPS)
def test_recall_is_what_blocking_and_threshold_leave(shop, attacker, kind, rows, seed, missing):
    drawn = shop(kind, rows, seed, missing)
    result = gathered(drawn, attacker)
    matched = int((true_rows(drawn) >= 0).sum())
    for tau in TAUS[::7]:
        parts = rates.recall(result, tau)
        assert parts.block * parts.match == pytest.approx(parts.total)
        assert parts.total <= parts.block <= 1
        assert int((result.true >= tau).sum()) / max(matched, 1) == parts.total
    assert rates.precision_at_1(result) <= rates.recall(result, 0.9).block + 1e-12
    assert rates.chance_at_1(result).sum() / max(matched, 1) <= rates.recall(result, 0.9).block


@quick
@given(attacker=ATTACKERS, **SHOPS)
def test_one_pass_answers_for_every_threshold(shop, attacker, kind, rows, seed, missing):
    """Algorithm 1, run again for every threshold over all pairs, counts the same records."""
    drawn = shop(kind, rows, seed, missing)
    setup = prepared_for(drawn, attacker)
    task = setup.task()
    truth = true_rows(drawn)
    result = task.evidence(StageContext(), truth)
    space = setup.space
    x, y = space.records_of(0, None), space.candidates_of(1, None)
    meets = np.zeros((len(x), len(y)), bool)
    for blocks in task.blocks()[0]:
        for index in range(len(blocks)):
            members = blocks.records.members[slice(*blocks.records.starts[index : index + 2])]
            among = blocks.candidates.members[slice(*blocks.candidates.starts[index : index + 2])]
            meets[np.ix_(members, among)] = True
    similar = np.array([space.similarity_of(score, x) for score in (x @ y.T).T]).T.reshape(
        meets.shape
    )
    own = np.zeros(meets.shape, bool)
    own[np.flatnonzero(truth >= 0), truth[truth >= 0]] = True
    sweep = TAUS[[not (np.abs(similar - tau) < 1e-5).any() for tau in TAUS]]
    for rate, counted in (
        (rates.linkage_rate, meets),
        (rates.false_link_rate, meets & ~own),
        (lambda e, taus: rates.true_link_rate(e, taus) * e.shares_block.sum() / rows, meets & own),
    ):
        again = [float((counted & (similar >= tau)).any(axis=1).mean()) for tau in sweep]
        np.testing.assert_allclose(rate(result, sweep), again, atol=1e-12)


@quick
@given(attacker=ATTACKERS, alpha=st.floats(0, 1), **SHOPS)
def test_the_calibrated_threshold_is_the_least_that_keeps_false_links_rare(
    shop, attacker, alpha, kind, rows, seed, missing
):
    wrong = gathered(shop(kind, rows, seed, missing), attacker).wrong
    tau = rates.calibrated_threshold(wrong, alpha)
    assert (wrong >= tau).mean() <= alpha + 1e-9
    below = wrong[wrong < tau]
    if np.isfinite(below).any() and tau > -1:
        assert (wrong >= below.max()).mean() > alpha


@quick
@given(attacker=ATTACKERS, **SHOPS)
def test_integrated_risk_is_the_integral_of_the_curve(shop, attacker, kind, rows, seed, missing):
    result = gathered(shop(kind, rows, seed, missing), attacker)
    steps = 4_000
    middles = 0.7 + (np.arange(steps) + 0.5) * (0.29 / steps)
    numeric = rates.linkage_rate(result, middles).sum() * 0.29 / steps
    assert numeric == pytest.approx(rates.integrated_rate(result, 0.7, 0.99), abs=0.29 / steps)


# --- relaxation ----------------------------------------------------------------------------------


@quick
@given(
    finer=st.sampled_from(
        [
            ({"age": 10, "town": 1, "sex": "exact"}, {"age": 10, "town": 1}),
            ({"age": 10, "town": 1}, {"town": 1}),
            ({"age": 5}, {"age": 10}),
            ({"age": "exact"}, {"age": 2}),
            ({"at": 7, "sex": "exact"}, {"at": 14, "sex": "exact"}),
            ({"town": "exact"}, {"town": 1}),
            ({"town": 1}, {}),
        ]
    ),
    attacker=ATTACKERS,
    **SHOPS,
)
def test_coarser_blocks_only_link_more(shop, finer, attacker, kind, rows, seed, missing):
    """Theorem 4.4: fewer keys, wider bins, higher levels; the space stays as it is."""
    drawn = shop(kind, rows, seed, missing)
    setup = prepared_for(drawn, attacker | {"blocking": {}, "columns": None})
    fine, coarse = (scheme(setup.columns, keys) for keys in finer)
    truth = true_rows(drawn)
    less, more = (
        LinkageTask(setup.space, (item,)).evidence(StageContext(), truth) for item in (fine, coarse)
    )
    assert (less.best <= more.best + 1e-6).all()
    assert (less.candidates <= more.candidates).all()
    assert (less.shares_block <= more.shares_block).all()
    sweep = TAUS[[not (np.abs(more.best - tau) < 1e-5).any() for tau in TAUS]]
    assert (rates.linkage_rate(less, sweep) <= rates.linkage_rate(more, sweep)).all()


@quick
@given(attacker=ATTACKERS, **SHOPS)
def test_an_ensemble_of_schemes_links_what_any_of_them_links(
    shop, attacker, kind, rows, seed, missing
):
    drawn = shop(kind, rows, seed, missing)
    setup = prepared_for(drawn, attacker | {"blocking": {}})
    keys = ({"age": 10, "town": 1}, {"sex": "exact", "at": 7}, {"town": "exact"})
    schemes = tuple(scheme(setup.columns, key) for key in keys)
    each = [LinkageTask(setup.space, (item,)).evidence(StageContext()) for item in schemes]
    union = LinkageTask(setup.space, schemes).evidence(StageContext())
    best = np.max([item.best for item in each], axis=0)
    np.testing.assert_allclose(union.best, best, atol=1e-6)
    most = np.max([item.candidates for item in each], axis=0)
    assert (most <= union.candidates).all()
    assert (union.candidates <= np.sum([item.candidates for item in each], axis=0)).all()


@quick
@given(attacker=ATTACKERS, **SHOPS)
def test_drawing_a_candidate_links_no_more_than_the_best_one(
    shop, attacker, kind, rows, seed, missing
):
    task = prepared_for(shop(kind, rows, seed, missing), attacker).task()
    result = task.evidence(StageContext())
    lucky = lucky_pairs(task, StageContext(seed=seed).rng)
    assert (lucky <= result.best + 1e-6).all()
    assert ((result.candidates > 0) == np.isfinite(lucky)).all()


@quick
@given(attacker=ATTACKERS, **SHOPS)
def test_an_approximate_search_links_no_more(shop, attacker, kind, rows, seed, missing):
    pytest.importorskip("faiss", reason="faiss-cpu, of the extra `approximate`, is not here")
    drawn = shop(kind, rows, seed, missing)
    exact = gathered(drawn, attacker)
    rough = gathered(drawn, attacker | {"exact": 4})
    assert (rough.best <= exact.best + 1e-5).all()
    assert (rough.wrong <= exact.wrong + 1e-5).all()
    np.testing.assert_allclose(rough.true, exact.true, atol=1e-6)
    assert exact.candidates.tolist() == rough.candidates.tolist()


# --- the table against itself --------------------------------------------------------------------


@quick
@given(attacker=ATTACKERS, rows=st.integers(2, 24), seed=st.integers(0, 999), missing=st.booleans())
def test_everybody_is_linked_to_an_unchanged_table(shop, attacker, rows, seed, missing):
    """LR(D, D) = 1 but for zero vectors, and P@1 = 1 where nobody is as similar as oneself."""
    drawn = shop("as it is", rows, seed, missing)
    setup = prepared_for(drawn, attacker)
    result = setup.task().evidence(StageContext(), np.arange(rows))
    zero = ~setup.space.records_of(0, None).any(axis=1)
    if attacker["similarity"] == "rbf":
        zero[:] = False
    assert (result.best[~zero] >= 1 - 1e-4).all()
    assert (result.best[zero] <= 1e-6).all()
    assert result.shares_block.all()
    alone = ~zero & (result.wrong < 1 - 1e-4)
    assert np.ones(alone.sum()).tolist() == result.hit[alone].tolist()
    assert result.row[alone].tolist() == np.flatnonzero(alone).tolist()


@quick
@given(attacker=ATTACKERS, **SHOPS)
def test_left_out_records_are_linked_no_more_than_if_they_were_there(
    shop, attacker, kind, rows, seed, missing
):
    setup = prepared_for(shop(kind, rows, seed, missing), attacker)
    left_out = setup.null_task(rows, StageContext().rng).evidence(StageContext(), np.arange(rows))
    assert (left_out.wrong <= left_out.best).all()
    for tau in TAUS:
        assert (left_out.wrong >= tau).mean() <= (left_out.best >= tau).mean()


# --- what must not matter ------------------------------------------------------------------------

STEADY = st.fixed_dictionaries(
    {
        "blocking": st.sampled_from([{}, {"age": 10, "town": 1}, {"sex": "exact"}]),
        "similarity": st.sampled_from(["cosine", "rbf", "jaccard"]),
        "projection": st.sampled_from(["pca", "none"]),
        "categories": st.sampled_from(["one-hot", "hierarchical", "frequency"]),
    }
)


def cut_is_clear(setup):
    """Between equal components PCA may choose any: then nothing can be compared."""
    if setup.configuration.projection_spec.method != "pca":
        return True
    _, covariance = setup.projection.vectors.moments(0, 1)
    values = np.linalg.eigvalsh(covariance)[::-1]
    kept = setup.projection.components
    return kept == len(values) or values[kept - 1] - values[kept] > 1e-6 * values[0]


def directed(setup):
    """Records that are long enough to have a direction that rounding does not turn."""
    if setup.configuration.similarity != "cosine":
        return np.ones(setup.projection.vectors.rows(0), bool)
    short = [np.linalg.norm(setup.projection.of(side), axis=1) < 0.05 for side in (0, 1)]
    assume(not short[1].any())
    return ~short[0]


def check_same(one, other, fit):
    for name in ("best", "true", "wrong"):
        np.testing.assert_allclose(
            getattr(one, name)[fit], getattr(other, name)[fit], atol=3e-5, err_msg=name
        )
    assert one.candidates.tolist() == other.candidates.tolist()
    clear = fit & (one.wrong < one.best - 1e-4)
    assert (
        one.hit[clear & one.has_true_row].tolist() == other.hit[clear & other.has_true_row].tolist()
    )


@quick
@given(attacker=STEADY, **SHOPS)
def test_the_order_of_the_rows_does_not_matter(shop, attacker, kind, rows, seed, missing):
    drawn = shop(kind, rows, seed, missing)
    setup = prepared_for(drawn, attacker)
    assume(cut_is_clear(setup))
    rng = np.random.default_rng(seed)
    records, published = rng.permutation(rows), rng.permutation(len(drawn.release))
    moved = attrs.evolve(
        drawn,
        original=Table.build(
            drawn.original.frame.take(records).reset_index(drop=True), drawn.original.schema
        ),
        release=drawn.release.take(published),
    )
    truth = true_rows(drawn)
    place = np.argsort(published)
    result = setup.task().evidence(StageContext(), truth)
    again = (
        prepared_for(moved, attacker)
        .task()
        .evidence(StageContext(), np.where(truth >= 0, place[truth], -1)[records])
    )
    back = np.argsort(records)
    again = attrs.evolve(
        again, **{name: getattr(again, name)[back] for name in attrs.asdict(again, recurse=False)}
    )
    check_same(result, again, directed(setup))


@quick
@given(attacker=STEADY, **SHOPS)
def test_the_names_of_categories_do_not_matter(shop, shoppers, attacker, kind, rows, seed, missing):
    """Other names in a hierarchy of the same shape, in the same order."""
    rng = np.random.default_rng([seed, rows])
    frame = shoppers.frame(rows, rng, missing)
    renamed = frame.replace(
        {"town": dict(zip("abcde", "klmno", strict=True)), "shop": {"x": "q", "y": "p", "z": "r"}}
    )
    towns = {"up": ["k", "l"], "down": ["m", "n", "o"]}
    schemas = (shoppers.schema(), shoppers.schema(towns))
    assume(kind != "synthetic" and kind != "perturbed")  # they draw names of their own
    state = rng.bit_generator.state
    results = []
    for item, schema in zip((frame, renamed), schemas, strict=True):
        rng.bit_generator.state = state
        table = Table.build(item, schema)
        release = shoppers.published(kind, table, item, rng)
        truth = rows_behind(release.rows_in(table), rows)
        configuration = Cvpl(**attacker).configuration
        setup = configuration.prepare(table, [release], StageContext())
        assume(setup is not None and cut_is_clear(setup))
        results.append((setup, setup.task().evidence(StageContext(), truth)))
    check_same(results[0][1], results[1][1], directed(results[0][0]))


@quick
@given(bits=st.integers(1, 4), **SHOPS)
def test_the_names_of_blocks_do_not_matter(shop, bits, kind, rows, seed, missing):
    drawn = shop(kind, rows, seed, missing)
    setup = prepared_for(drawn, {"hash_bits": bits, "hash_tables": 1})
    (one,) = setup.schemes
    names = np.random.default_rng(seed).permutation(2**bits) * 1000 + 7
    other = attrs.evolve(one, codes=tuple(names[codes] for codes in one.codes))
    truth = true_rows(drawn)
    first, second = (
        LinkageTask(setup.space, (made,)).evidence(StageContext(), truth) for made in (one, other)
    )
    for name in ("best", "row", "true", "wrong", "hit", "candidates"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


@pytest.mark.parametrize("similarity", ["cosine", "rbf", "jaccard"])
def test_pieces_and_threads_do_not_matter(shop, monkeypatch, similarity):
    drawn = shop("perturbed", 700, 3, missing=True)
    attacker = {"blocking": {"sex": "exact"}, "similarity": similarity}
    truth = true_rows(drawn)

    def again(workers):
        context = StageContext(workers=workers)
        setup = Cvpl(**attacker).configuration.prepare(drawn.original, [drawn.release], context)
        return setup.task().evidence(context, truth)

    whole = again(1)
    monkeypatch.setattr(top2_search, "PIECE", 1 << 12)
    monkeypatch.setattr(top2_search, "WORTH_THREADS", 0)
    monkeypatch.setattr(vectors, "CHUNK", 37)
    monkeypatch.setattr(evidence_module, "CHUNK", 11)
    for workers in (1, 3):
        pieces = again(workers)
        for name in ("best", "true", "wrong", "hit"):
            np.testing.assert_allclose(
                getattr(pieces, name), getattr(whole, name), atol=1e-6, err_msg=name
            )
        assert whole.candidates.tolist() == pieces.candidates.tolist()


# --- Proposition 4.1 -----------------------------------------------------------------------------


@quick
@given(rows=st.integers(8, 20), seed=st.integers(0, 999))
def test_fellegi_sunter_is_a_special_case(shop, rows, seed):
    """Identity projection, 0/1 features and log-odds weights: the score is the FS weight less c.

    The space of jaccard is such a one: its dot product counts the columns that agree.
    """
    drawn = shop("perturbed", rows, seed)
    names = ("town", "sex", "shop")
    setup = prepared_for(drawn, {"similarity": "jaccard", "columns": names, "blocking": {}})
    rng = np.random.default_rng(seed)
    m, u = rng.uniform(0.6, 0.99, len(names)), rng.uniform(0.05, 0.5, len(names))
    weights = np.log(m / u) - np.log((1 - m) / (1 - u))
    constant = np.log((1 - m) / (1 - u)).sum()
    spans = setup.space.vectors.spans
    scale = np.concatenate(
        [np.full(s.stop - s.start, w) for s, w in zip(spans, weights, strict=True)]
    )
    x = setup.space.records_of(0, None) * scale.astype(np.float32)
    y = setup.space.candidates_of(1, None)
    frames = [drawn.original.frame, drawn.release.frame]
    agree = np.stack(
        [
            frames[0][name].astype(str).to_numpy()[:, None]
            == frames[1][name].astype(str).to_numpy()
            for name in names
        ],
        axis=2,
    )
    # A value that the original lacks says nothing, and agrees with everybody a little.
    known = np.array([not c.unread[1] for c in setup.columns])
    assume(known.all())
    ratio = np.where(agree, np.log(m / u), np.log((1 - m) / (1 - u))).sum(axis=2)
    np.testing.assert_allclose(x @ y.T + constant, ratio, atol=1e-4)


def test_release_as_it_is_links_like_the_table_itself(shop):
    """A release of single values and the raw table are the same candidates."""
    table = shop("as it is", 60, 5).original
    configuration = Cvpl(blocking={"age": 10}).configuration
    setup = configuration.prepare(table, [Release.as_it_is(table), table], StageContext())
    one, other = (setup.task(published=side).evidence(StageContext()) for side in (1, 2))
    assert one.best.tolist() == other.best.tolist()
    assert one.candidates.tolist() == other.candidates.tolist()
