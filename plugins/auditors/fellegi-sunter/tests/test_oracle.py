"""Everything that is counted, against plain Python that looks at every pair."""

import math
from collections import Counter
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import AuditInput, Release, StageContext
from anonloom_fellegi_sunter import linking
from anonloom_fellegi_sunter.auditor import FellegiSunter
from anonloom_fellegi_sunter.model import CLIP, Counts, Estimate, Evidence
from anonloom_testing import tables
from anonloom_testing.auditor import in_classes, publish_suppressed
from anonloom_testing.oracle import covers, interval_ends, set_members
from anonloom_testing.strategies import samples
from anonloom_testing.tables import plain

FORMS = {"as it is": Release.as_it_is, "in classes": in_classes, "suppressed": publish_suppressed}


def place(value, kind):
    """Return a number, or the seconds or days of a moment; None if it is no single value."""
    try:
        if kind == "number":
            return float(value)
        moment = datetime.fromisoformat(str(value))
    except (TypeError, ValueError):
        return None
    seconds = (moment - datetime(1970, 1, 1)).total_seconds()
    return seconds if kind == "time" else seconds / 86_400


def agreement(value, cell, column, sample, tolerance):
    """Return True, False, or None for a cell that says nothing."""
    incomplete = any(row[column.name] is None for row in sample.rows)
    if cell == "*" or (cell is None and not incomplete):
        return None
    if column.type == "category" or cell is None or value is None:
        return covers(cell, value, sample.above.get(column.name))
    near = place(cell, column.type)
    if near is not None:
        return abs(place(value, column.type) - near) <= tolerance
    # A set of numbers is read as the interval that it spans.
    ends = set_members(cell) or interval_ends(cell)
    if ends:
        places = [place(end, column.type) for end in ends]
        return min(places) <= place(value, column.type) <= max(places)
    return covers(cell, value, sample.above.get(column.name))


def levels_of_pairs(sample, cells, tolerance=0.0):
    """Return the agreement of every record with every row, column by column."""
    columns = [column for column in sample.schema if column.role in ("quasi", "label", "other")]
    return [
        [
            tuple(agreement(row[c.name], cell_row[c.name], c, sample, tolerance) for c in columns)
            for cell_row in cells
        ]
        for row in sample.rows
    ]


def weight_of(levels, estimate, places):
    """Sum the logarithms of the columns that say something."""
    total = 0.0
    for index, level in enumerate(levels):
        if places[index] is None or level is None:
            continue
        m, u = estimate.m[places[index]], estimate.u[places[index]]
        total += math.log2(m / u) if level else math.log2((1 - m) / (1 - u))
    return round(total, 9)


def best_of(weights, row, skipped=()):
    """Return the best weight, its first candidate and all of them."""
    there = [w for j, w in enumerate(weights[row]) if j not in skipped]
    if not there:
        return -math.inf, -1, []
    most = max(there)
    ties = [
        j
        for j, w in enumerate(weights[row])
        if j not in skipped and math.isclose(w, most, abs_tol=2e-9)
    ]
    return most, ties[0], ties


@given(
    sample=samples(max_rows=14),
    form=st.sampled_from(list(FORMS)),
    tolerance=st.sampled_from([0.0, 3.0]),
    others=st.sampled_from(["null", "independent"]),
    seed=st.integers(0, 3),
)
@settings(max_examples=60)
def test_patterns_weights_ties_and_links_are_those_of_all_pairs(
    sample, form, tolerance, others, seed
):
    table = sample.table()
    release = FORMS[form](table)
    order = np.random.default_rng(seed).permutation(len(table))
    release = release.take(order)
    numbers = [c.name for c in sample.schema if c.type != "category"]
    auditor = FellegiSunter(blocking=(), tolerance=dict.fromkeys(numbers, tolerance), others=others)
    seen = {}
    real = linking.fit

    def watched(counts, chance, prior, most, null=None):
        seen["counts"], seen["null"] = counts, null
        seen["model"] = real(counts, chance, prior, most, null)
        return seen["model"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "fit", watched)
        result = auditor.audit(AuditInput(release, table, truth=order), StageContext(seed=1))
    levels = levels_of_pairs(sample, plain(release.frame, sample.schema), tolerance)
    if "model" not in seen:
        # No column agrees anywhere.
        assert not any(level for row in levels for pair in row for level in pair)
        assert result["linkage_rate"].value is None
        return
    columns = len(levels[0][0])
    agreeing = [
        index for index in range(columns) if any(pair[index] for row in levels for pair in row)
    ]
    expected = Counter(tuple(pair[index] for index in agreeing) for row in levels for pair in row)
    counts = seen["counts"]
    stated, agree = counts.stated_matrix(), counts.agreement_matrix()
    actual = Counter()
    for index, count in enumerate(counts.count):
        pattern = tuple(
            None if not s else bool(a) for s, a in zip(stated[index], agree[index], strict=True)
        )
        actual[pattern] += int(count)
    assert expected == actual

    model = seen["model"]
    places = [None] * columns
    for index, column in enumerate(agreeing):
        places[column] = index if index in model.used else None
    weights = [[weight_of(pair, model.estimate, places) for pair in row] for row in levels]
    own = levels_of_pairs(sample, sample.rows, tolerance)
    own_weights = [[weight_of(pair, model.estimate, places) for pair in row] for row in own]
    odds = math.log2(model.estimate.prior / (1 - model.estimate.prior))
    n = len(table)
    links = [best_of(weights, index) for index in range(n)]
    null = [best_of(own_weights, index, (index,)) for index in range(n)]
    at_one = [
        sum(order[j] == index for j in ties) / len(ties) for index, (_, _, ties) in enumerate(links)
    ]
    for suffix, limit in (("", 0.0), ("_posterior", -odds)):
        rate, chance = (sum(item[0] > limit for item in some) / n for some in (links, null))
        assert rate == pytest.approx(result[f"linkage_rate{suffix}"].value)
        assert chance == pytest.approx(result[f"linkage_null{suffix}"].value)
        assert rate - chance == pytest.approx(result[f"linkage_excess{suffix}"].value)
    assert sum(at_one) / n == pytest.approx(result["precision_at_1"].value)


def slow_em(pairs, estimate, most, steps):
    """Take steps of EM pair by pair; a pair is a tuple of True, False and None."""
    m, u, prior = list(estimate.m), list(estimate.u), estimate.prior
    for _ in range(steps):
        shares = []
        for pair in pairs:
            match, other = prior, 1 - prior
            for index, level in enumerate(pair):
                if level is not None:
                    match *= m[index] if level else 1 - m[index]
                    other *= u[index] if level else 1 - u[index]
            shares.append(match / (match + other))
        for index in range(len(m)):
            stated = [
                (s, p[index]) for s, p in zip(shares, pairs, strict=True) if p[index] is not None
            ]
            matching = sum(s for s, _ in stated)
            m[index] = sum(s for s, level in stated if level) / matching
            u[index] = sum(1 - s for s, level in stated if level) / (len(stated) - matching)
            m[index], u[index] = (min(max(x, CLIP), 1 - CLIP) for x in (m[index], u[index]))
        prior = min(sum(shares) / len(pairs), most)
    return m, u, prior


@given(
    pairs=st.lists(
        st.tuples(*[st.sampled_from([True, False, False, None])] * 3), min_size=30, max_size=80
    ),
    steps=st.integers(1, 4),
)
@settings(max_examples=30)
def test_em_on_counts_is_em_on_pairs(pairs, steps):
    pairs = [*pairs, (True, True, True), (False, False, False)]
    masks = sorted({sum(1 << k for k in range(3) if p[k] is None) for p in pairs} | {0})
    table = np.zeros(len(masks) << 3, np.int64)
    for pair in pairs:
        mask = sum(1 << k for k in range(3) if pair[k] is None)
        table[(masks.index(mask) << 3) + sum(1 << k for k in range(3) if pair[k])] += 1
    counts = Counts.of(table, np.array(masks), 3)
    start = Estimate(np.array([0.9, 0.8, 0.7]), np.array([0.2, 0.3, 0.1]), 0.1)
    agreeing, spoken = counts.agreement_matrix(), counts.stated_matrix()
    evidence = Evidence(agreeing, spoken - agreeing, counts.count.astype(float), 0.3)
    m, u, prior = slow_em(pairs, start, 0.3, steps)

    result = start
    for _ in range(steps):
        result = evidence.run_em(result, 1)

    assert m == pytest.approx(result.m.tolist())
    assert u == pytest.approx(result.u.tolist())
    assert prior == pytest.approx(result.prior)


def test_only_pairs_of_one_block_are_compared():
    sample = tables.clinic(60)
    table = sample.table()
    release = Release.as_it_is(table)
    columns = {"age": 10, "sex": "exact"}

    def block(row):
        return row["age"] // 10, row["sex"]

    result = FellegiSunter(blocking=columns).audit(AuditInput(release, table), StageContext())

    sizes = Counter(block(row) for row in sample.rows)
    assert sum(size * size for size in sizes.values()) == result["comparisons"].value
    assert sum(size * size for size in sizes.values()) / 60 == result["candidates"].value
