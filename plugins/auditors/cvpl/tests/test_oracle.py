"""Algorithm 1 and the metrics of section 5, pair by pair in plain loops, against the one pass."""

import attrs
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonloom import StageContext
from anonloom_cvpl.attacker import rows_behind
from anonloom_cvpl.auditor import Cvpl
from anonloom_cvpl.hashing import HashScheme
from anonloom_linkage.aligned_columns import align_columns

#: Single precision, of vectors that are not short.
NEAR = 3e-5
#: Scores nearer than this are one, and further than that are two; between them nobody knows.
SAME, APART = 1e-6, 1e-4
SHORT = 0.05


# --- the slow way --------------------------------------------------------------------------------


def share_a_bin(column, how, record, cell):
    """Whether a published cell reaches into the bin of a record's cell."""
    if column.open[cell]:
        return True
    if column.missing[record] or column.missing[cell]:
        return bool(column.missing[record] and column.missing[cell])
    if column.is_ordered:
        if how == "exact":
            return column.lo[cell] <= column.lo[record] <= column.hi[cell]
        unit = how * (86_400 if column.type == "time" else 1)
        low, own, high = (
            np.floor(x / unit) for x in (column.lo[cell], column.lo[record], column.hi[cell])
        )
        return low <= own <= high
    tree = column.axis.hierarchy
    level = 0 if how == "exact" else min(int(how), 1 if tree is None else tree.depth - 1)

    def group(leaf):
        if not level or leaf >= column.axis.value_count:
            return ("leaf", leaf)
        return ("node", 0 if tree is None else int(tree.ancestors[level][leaf]))

    leaves = np.flatnonzero(column.covers[[cell]].toarray()[0])
    own = np.flatnonzero(column.covers[[record]].toarray()[0])
    return bool({group(leaf) for leaf in leaves} & {group(leaf) for leaf in own})


def candidates_by_loops(shop, schemes, published):
    """For every scheme the set of pairs that share a block."""
    names = sorted({name for scheme in schemes for name in scheme})
    others = [shop.original if published == 0 else shop.release]
    columns = {c.name: c for c in align_columns(shop.original, others, names)}
    rows = len(others[0])
    return [
        {
            (i, j)
            for i in range(len(shop.original))
            for j in range(rows)
            if all(
                share_a_bin(
                    columns[name], how, columns[name].sides[0][i], columns[name].sides[1][j]
                )
                for name, how in scheme.items()
            )
        }
        for scheme in schemes
    ]


def projected_by_hand(setup, method, fit):
    """psi(phi(x)) of both tables in double precision."""
    vectors = setup.projection.vectors
    dense = [vectors.dense(0), vectors.dense(1)]
    fitted = np.vstack([dense[side] for side in {"joint": (0, 1), "source": (0,)}[fit]])
    mean = fitted.mean(axis=0)
    covariance = (fitted - mean).T @ (fitted - mean) / len(fitted)
    if method == "none":
        matrix, variances = np.eye(len(mean)), np.diag(covariance)
    elif method == "random":
        matrix = setup.projection.matrix
        variances = setup.projection.variances
    else:
        values, directions = np.linalg.eigh(covariance)
        values, directions = values[::-1].clip(0), directions[:, ::-1]
        shares = np.cumsum(values) / values.sum()
        kept = int(np.flatnonzero(shares >= 0.9 - 1e-9)[0]) + 1
        kept = min(max(kept, 3), int((values > 1e-9 * values[0]).sum()))
        # Between equal components nobody can choose.
        assume(kept == len(values) or values[kept - 1] - values[kept] > 1e-6 * values[0])
        matrix, variances = directions[:, :kept], values[:kept]
    return [(item - mean) @ matrix for item in dense], variances


def indicators_by_hand(setup):
    """Which values a row has, each column's shares adding to one; numbers cut at deciles."""
    sides = [[], []]
    for column in setup.columns:
        if column.is_ordered:
            own = np.sort(column.lo[column.sides[0]])
            own = own[~np.isnan(own)]
            edges = np.unique(
                [own[max(int(np.ceil(q / 10 * len(own))) - 1, 0)] for q in range(1, 10)]
            )
            bins = len(edges) + 2
        for side in (0, 1):
            rows = []
            for cell in column.sides[side]:
                if not column.is_ordered:
                    row = column.covers[[cell]].toarray()[0]
                elif column.missing[cell]:
                    row = np.eye(bins)[-1]
                else:
                    row = np.zeros(bins)
                    low = 0 if column.open[cell] else int((edges < column.lo[cell]).sum())
                    high = bins - 2 if column.open[cell] else int((edges < column.hi[cell]).sum())
                    row[low : high + 1] = 1
                rows.append(row / row.sum())
            sides[side].append(np.array(rows))
    return [np.hstack(side) for side in sides]


def similarity_by_hand(setup, kind, method, fit, published):
    """(records x rows) similarities, and which records and rows are too short to be sure of."""
    if kind == "jaccard":
        x, y = (indicators_by_hand(setup)[side] for side in (0, published))
        common = x @ y.T
        total = len(setup.columns)
        return common / (2 * total - common), np.zeros(len(x), bool)
    sides, variances = projected_by_hand(setup, method, fit)
    if kind == "whitened":
        assume(variances.min() > 1e-4 * variances.max())
        sides = [side / np.sqrt(variances) for side in sides]
    x, y = sides[0], sides[published]
    if kind == "rbf":
        squared = np.array([[((a - b) ** 2).sum() for b in y] for a in x]).reshape(len(x), len(y))
        return np.exp(-squared / (2 * variances.sum())), np.zeros(len(x), bool)
    lengths = [np.sqrt((side**2).sum(axis=1)) for side in (x, y)]
    result = np.zeros((len(x), len(y)))
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            if lengths[0][i] > 1e-5 and lengths[1][j] > 1e-5:
                result[i, j] = a @ b / (lengths[0][i] * lengths[1][j])
    assume(not ((lengths[1] < SHORT) & (lengths[1] > 1e-9)).any())
    return result, lengths[0] < SHORT


@attrs.frozen
class Known:
    """What the loops know of one record; `unsure` where rounding decides."""

    best: float
    rows: set
    true: float | None
    wrong: float
    hit: float | None
    candidates: int
    unsure: bool


def known_by_loops(similarity, pairs, truth, among=None):
    """Algorithm 1 for every record."""
    results = []
    for i in range(similarity.shape[0]):
        meets = sorted({j for scheme in pairs for (k, j) in scheme if k == i})
        meets = [j for j in meets if among is None or j in among]
        best = max((similarity[i, j] for j in meets), default=-np.inf)
        near = [j for j in meets if similarity[i, j] >= best - SAME]
        unsure = any(SAME < best - similarity[i, j] < APART for j in meets)
        own = truth[i]
        true = similarity[i, own] if own in meets else None
        wrong = max((similarity[i, j] for j in meets if j != own), default=-np.inf)
        hit = None if own < 0 else (1 / len(near) if own in near else 0.0)
        results.append(Known(best, set(near), true, wrong, hit, len(meets), unsure))
    return results


def check(evidence, known, short):
    assert len(known) == len(evidence)
    for i, item in enumerate(known):
        assert item.candidates == evidence.candidates[i]
        assert (item.hit is None) == np.isnan(evidence.hit[i])
        assert (item.true is None) == np.isnan(evidence.true[i])
        if not item.candidates:
            assert (-np.inf, -1, -np.inf) == (evidence.best[i], evidence.row[i], evidence.wrong[i])
        if short[i]:
            continue
        assert item.best == pytest.approx(evidence.best[i], abs=NEAR)
        assert item.wrong == pytest.approx(evidence.wrong[i], abs=NEAR)
        if item.true is not None:
            assert item.true == pytest.approx(evidence.true[i], abs=NEAR)
        if item.unsure:
            continue
        if item.candidates:
            assert evidence.row[i] in item.rows
        if item.hit is not None:
            assert item.hit == pytest.approx(evidence.hit[i])


def prepared_by(shop, run, **how):
    configuration = Cvpl(**how).configuration
    return configuration.prepare(shop.original, [shop.release], run)


# --- comparisons ---------------------------------------------------------------------------------

KINDS = st.sampled_from(
    ["as it is", "perturbed", "in classes", "sampled", "rows suppressed", "synthetic"]
)
SCHEMES = st.sampled_from(
    [
        [{}],
        [{"age": 10, "town": 1}],
        [{"sex": "exact"}],
        [{"town": "exact", "at": 7}],
        [{"age": "exact"}],
        [{"age": 5, "sex": "exact", "town": 0}],
    ]
)
DRAWN = {
    "kind": KINDS,
    "rows": st.integers(3, 24),
    "seed": st.integers(0, 10**6),
    "missing": st.booleans(),
}


@pytest.mark.parametrize(
    ("similarity", "projection", "fit"),
    [
        ("cosine", "pca", "joint"),
        ("cosine", "none", "source"),
        ("cosine", "random", "joint"),
        ("rbf", "pca", "joint"),
        ("rbf", "none", "joint"),
        ("whitened", "pca", "joint"),
        ("jaccard", "pca", "joint"),
    ],
)
@settings(deadline=None, max_examples=15)
@given(blocking=SCHEMES, columns=st.sampled_from([None, ("age", "spent", "shop")]), **DRAWN)
def test_the_one_pass_knows_what_the_loops_know(
    shop, similarity, projection, fit, blocking, columns, kind, rows, seed, missing
):
    drawn = shop(kind, rows, seed, missing)
    how = {"columns": columns, "blocking": blocking[0], "similarity": similarity}
    setup = prepared_by(drawn, StageContext(), projection=projection, fit=fit, **how)
    assume(setup is not None)
    truth = np.full(rows, -1)
    if drawn.owner is not None:
        truth = rows_behind(drawn.owner, rows)
    similar, short = similarity_by_hand(setup, similarity, projection, fit, 1)
    known = known_by_loops(similar, candidates_by_loops(drawn, blocking, 1), truth)
    check(setup.task().evidence(StageContext(), truth), known, short)


@settings(deadline=None, max_examples=15)
@given(blocking=SCHEMES, share=st.floats(0, 1), **DRAWN)
def test_the_original_against_itself_knows_what_the_loops_know(
    shop, blocking, share, kind, rows, seed, missing
):
    drawn = shop(kind, rows, seed, missing)
    setup = prepared_by(drawn, StageContext(), blocking=blocking[0])
    assume(setup is not None)
    size = int(share * rows) + 1
    task = setup.null_task(size, StageContext().rng)
    assert (None if size + 1 >= rows else size) == (
        None if task.among is None else len(set(task.among.tolist()))
    )
    among = None if task.among is None else set(task.among.tolist())
    everyone = np.arange(rows)
    similar, short = similarity_by_hand(setup, "cosine", "pca", "joint", 0)
    known = known_by_loops(similar, candidates_by_loops(drawn, blocking, 0), everyone, among)
    check(task.evidence(StageContext(), everyone), known, short)


@settings(deadline=None, max_examples=15)
@given(blocking=SCHEMES, **DRAWN)
def test_chosen_records_are_known_as_among_all(shop, blocking, kind, rows, seed, missing):
    drawn = shop(kind, rows, seed, missing)
    setup = prepared_by(drawn, StageContext(), blocking=blocking[0])
    assume(setup is not None)
    chosen = np.sort(np.random.default_rng(seed).permutation(rows)[: max(rows // 2, 1)])
    truth = np.full(rows, -1)
    if drawn.owner is not None:
        truth = rows_behind(drawn.owner, rows)
    task = setup.task()
    every = task.evidence(StageContext(), truth)
    some = attrs.evolve(task, chosen=chosen).evidence(StageContext(), truth[chosen])
    for name in ("best", "true", "wrong", "hit"):
        want, got = getattr(every, name)[chosen], getattr(some, name)
        np.testing.assert_allclose(got, want, atol=1e-6, err_msg=name)
    assert every.candidates[chosen].tolist() == some.candidates.tolist()
    assert every.row[chosen].tolist() == some.row.tolist()
    assert every.block[chosen].tolist() == some.block.tolist()


@settings(deadline=None, max_examples=15)
@given(blocking=SCHEMES, also=SCHEMES, **DRAWN)
def test_several_schemes_compare_their_union(shop, blocking, also, kind, rows, seed, missing):
    drawn = shop(kind, rows, seed, missing)
    columns = ("spent", "shop", "at")
    how = {"blocking": blocking[0], "also": tuple(also), "columns": columns}
    setup = prepared_by(drawn, StageContext(), **how)
    assume(setup is not None)
    truth = np.full(rows, -1)
    if drawn.owner is not None:
        truth = rows_behind(drawn.owner, rows)
    similar, short = similarity_by_hand(setup, "cosine", "pca", "joint", 1)
    known = known_by_loops(similar, candidates_by_loops(drawn, [*blocking, *also], 1), truth)
    check(setup.task().evidence(StageContext(), truth), known, short)


@settings(deadline=None, max_examples=15)
@given(bits=st.integers(1, 4), tables=st.integers(1, 3), **DRAWN)
def test_corners_of_hyperplanes_compare_what_lies_in_them(
    shop, bits, tables, kind, rows, seed, missing
):
    drawn = shop(kind, rows, seed, missing)
    setup = prepared_by(drawn, StageContext(seed=seed), hash_bits=bits, hash_tables=tables)
    assume(setup is not None)
    assert [HashScheme] * tables == [type(scheme) for scheme in setup.schemes]
    pairs = [
        {
            (i, j)
            for i in range(rows)
            for j in range(len(drawn.release))
            if scheme.codes[0][i] == scheme.codes[1][j]
        }
        for scheme in setup.schemes
    ]
    truth = np.full(rows, -1)
    if drawn.owner is not None:
        truth = rows_behind(drawn.owner, rows)
    similar, short = similarity_by_hand(setup, "cosine", "pca", "joint", 1)
    check(
        setup.task().evidence(StageContext(), truth),
        known_by_loops(similar, pairs, truth),
        short,
    )


@settings(deadline=None, max_examples=15)
@given(blocking=SCHEMES, **DRAWN)
def test_people_outside_the_release_are_known_as_if_they_were_the_original(
    shop, blocking, kind, rows, seed, missing
):
    """The control is attacked in the space that was fitted to the others."""
    drawn = shop(kind, rows, seed, missing)
    strangers = shop("as it is", 9, seed + 1, missing).original
    configuration = Cvpl(blocking=blocking[0]).configuration
    setup = configuration.prepare(drawn.original, [drawn.release, strangers], StageContext())
    assume(setup is not None)
    evidence = setup.task(published=1, attacked=2).evidence(StageContext())
    vectors = setup.projection.vectors
    x, y = (
        (vectors.dense(side) - setup.projection.offset) @ setup.projection.matrix for side in (2, 1)
    )
    columns = {
        c.name: c
        for c in align_columns(
            drawn.original, [drawn.release, strangers], ["age", "town", "sex", "at"]
        )
    }
    for i in range(len(strangers)):
        meets = [
            j
            for j in range(len(drawn.release))
            if all(
                share_a_bin(
                    columns[name], how, columns[name].sides[2][i], columns[name].sides[1][j]
                )
                for name, how in blocking[0].items()
            )
        ]
        assert len(meets) == evidence.candidates[i]
        lengths = [np.linalg.norm(x[i]), *(np.linalg.norm(y[j]) for j in meets)]
        if meets and min(lengths) > SHORT:
            want = max(
                x[i] @ y[j] / (lengths[0] * length)
                for j, length in zip(meets, lengths[1:], strict=True)
            )
            assert want == pytest.approx(evidence.best[i], abs=NEAR)


# --- phi from scratch ----------------------------------------------------------------------------


@settings(deadline=None, max_examples=12)
@given(
    kind=st.sampled_from(["as it is", "perturbed", "sampled", "synthetic"]),
    rows=st.integers(12, 24),
    seed=st.integers(0, 10**6),
)
def test_single_values_are_vectors_of_z_scores_and_indicators(shop, kind, rows, seed):
    """phi written out from the published cells: z-scores of both tables, unscaled 0/1."""
    drawn = shop(kind, rows, seed)
    setup = prepared_by(
        drawn, StageContext(), blocking=(), projection="none", clock=("hour", "weekday")
    )
    frames = [drawn.original.frame, drawn.release.frame]
    features = []
    for name in ("age", "spent"):
        both = [frame[name].astype(object).astype(float).to_numpy() for frame in frames]
        features.append([[item] for item in scaled(both)])
    for part in ("hour", "day_of_week"):
        both = [getattr(frame["at"].dt, part).to_numpy().astype(float) for frame in frames]
        features.append([[item] for item in scaled(both)])
    for name in ("town", "sex", "shop"):
        both = [frame[name].astype(str).to_numpy() for frame in frames]
        known = sorted(set(both[0]))
        # What the original lacks says nothing.
        assume(set(both[1]) <= set(known))
        features.append([[(item == value).astype(float) for value in known] for item in both])
    dense = [np.array([f for feature in features for f in feature[side]]).T for side in (0, 1)]
    mean = np.vstack(dense).mean(axis=0)
    x, y = dense[0] - mean, dense[1] - mean
    want = x @ y.T / np.linalg.norm(x, axis=1)[:, None] / np.linalg.norm(y, axis=1)
    evidence = setup.task().evidence(StageContext())
    np.testing.assert_allclose(evidence.best, want.max(axis=1), atol=NEAR)


def scaled(both):
    """Z-scores by the moments of both tables together; nothing where nothing varies."""
    together = np.concatenate(both)
    spread = together.std()
    return [(item - together.mean()) / spread if spread > 0 else item * 0 for item in both]
