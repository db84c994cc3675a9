"""Which windows of an order the guard is asked about, and how."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonloom import Column, Guard, Schema, Table
from anonloom_kernels import admissible_windows
from anonloom_kernels.admissible_windows import by_size_alone, windows_of
from anonloom_testing.privacy_cases import AtLeast, DistinctValues, WithinDistance, half_of


def sick_table(illnesses, persons=None):
    frame = pd.DataFrame({"illness": list(illnesses), "person": persons or 0})
    columns = [Column(name="illness", role="sensitive")]
    if persons is not None:
        columns.append(Column(name="person", role="person"))
    return Table.build(frame, Schema(columns))


class Asked(Guard):
    """A guard that writes down what it is asked about, and admits what the other one admits."""

    def admits(self, table, rows, starts, stops):
        self.__dict__.setdefault("asked", []).append(list(zip(starts, stops, strict=True)))
        return super().admits(table, rows, starts, stops)


def bounds_of(sizes):
    return np.append(0, np.cumsum(sizes)).astype(np.int64)


def admitted_windows(found, bounds):
    """All windows that a dynamic programme would take, as pairs of ends."""
    taken = set(zip(found.starts.tolist(), found.stops.tolist(), strict=True))
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        for stop in range(begin + 1, end + 1):
            for size in range(found.least, min(found.most, stop - begin) + 1):
                column = found.column[size]
                if column >= 0 and found.admitted[stop - 1, column]:
                    taken.add((stop - size, stop))
    return taken


# --- sizes alone ---------------------------------------------------------------------------------


def test_sizes_alone_are_not_asked_about_row_by_row():
    guard = Asked([AtLeast(k=3)])
    table = sick_table("xyzxyzx")

    result = windows_of(table, np.arange(7), bounds_of([7]), guard)

    assert (3, 5) == (result.least, result.most)
    assert [False, False, False, True, True, True] == result.by_size.tolist()
    assert 0 == result.admitted.size
    assert [] == result.starts.tolist()
    assert "asked" not in guard.__dict__


def test_a_sampler_raises_the_sizes():
    result = by_size_alone(Guard([AtLeast(k=3)], half_of))

    assert (6, 11) == (result.least, result.most)
    assert [size >= 6 for size in range(12)] == result.by_size.tolist()


def uneven(sizes):
    """Keep fewer rows of some larger classes: 3 of 3, 2 of 4, 5 of 5 and more."""
    sizes = np.asarray(sizes, np.int64)
    return np.where(sizes == 4, 2, sizes)


def test_a_sampler_that_keeps_less_of_more_is_asked_about_every_window():
    guard = Guard([AtLeast(k=3)], uneven)
    bounds = bounds_of([9])

    result = windows_of(sick_table("x" * 9), np.arange(9), bounds, guard)

    assert [False] * 3 + [True, False, True] == result.by_size.tolist()
    sizes = {stop - start for start, stop in admitted_windows(result, bounds)}
    assert {3, 5, 6, 7, 8, 9} == sizes


def test_persons_are_counted_although_sizes_are_all_that_is_demanded():
    table = sick_table("xxxxxx", persons=[1, 1, 1, 2, 3, 3])
    bounds = bounds_of([6])

    result = windows_of(table, np.arange(6), bounds, Guard([AtLeast(k=2)]))

    two = {(start, stop) for start, stop in admitted_windows(result, bounds) if stop - start == 2}
    assert {(2, 4), (3, 5)} == two


# --- more than sizes -----------------------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(1, 70), min_size=1, max_size=4),
    k=st.integers(1, 40),
    data=st.data(),
    model=st.sampled_from([DistinctValues(l=2, of="illness"), WithinDistance(t=0.3, of="illness")]),
)
@settings(deadline=None, max_examples=60)
def test_every_window_is_inside_a_block_and_admitted(sizes, k, data, model):
    """Also windows of sizes between those asked about, and the rows of an order that is no range."""
    total = sum(sizes)
    illness = data.draw(st.lists(st.sampled_from("xyz"), min_size=total, max_size=total))
    table, bounds = sick_table(illness), bounds_of(sizes)
    order = np.array(data.draw(st.permutations(range(total))))
    guard = Guard([AtLeast(k=k), model])

    result = windows_of(table, order, bounds, guard)

    taken = sorted(admitted_windows(result, bounds))
    block = np.repeat(np.arange(len(sizes)), sizes)
    assert all(block[start] == block[stop - 1] for start, stop in taken)
    ends = np.array(taken, np.int64).reshape(-1, 2)
    assert guard.admits(table, order, ends[:, 0], ends[:, 1]).all()
    assert result.stops.tolist() == sorted(result.stops.tolist())
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        whole = guard.admits(table, order, np.array([begin]), np.array([end]))[0]
        assert whole == ((begin, end) in taken)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 16])
def test_up_to_16_sizes_every_short_window_is_asked_about(k):
    table, bounds = sick_table("xy" * 40), bounds_of([50, 30])
    guard = Guard([AtLeast(k=k), DistinctValues(l=1, of="illness")])

    taken = admitted_windows(windows_of(table, np.arange(80), bounds, guard), bounds)

    expected = {
        (start, start + size)
        for begin, end in ((0, 50), (50, 80))
        for size in range(k, 2 * k)
        for start in range(begin, end - size + 1)
    }
    assert expected <= taken


@pytest.mark.parametrize("k", [17, 50, 400])
def test_of_more_sizes_few_are_asked_about(k):
    table = sick_table("xy" * 1000)
    guard = Guard([AtLeast(k=k), DistinctValues(l=2, of="illness")])

    result = windows_of(table, np.arange(2000), bounds_of([2000]), guard)

    sizes = np.flatnonzero(result.column >= 0)
    assert len(sizes) == result.admitted.shape[1] <= 16
    assert [k, k + 1, 2 * k - 1] == [sizes[0], sizes[1], sizes[-1]]
    # Small ones are asked about more closely than large ones.
    assert (sizes < 1.5 * k).sum() > (sizes >= 1.5 * k).sum()


@pytest.mark.parametrize("k", [1, 3, 7, 10])
def test_long_windows_cover_every_size_up_to_an_eighth(k):
    """Whatever classes of 2k rows or more there are, a window an eighth larger on each side fits."""
    table, bounds = sick_table("x" * 200), bounds_of([200])
    guard = Guard([AtLeast(k=k), DistinctValues(l=1, of="illness")])

    taken = sorted(admitted_windows(windows_of(table, np.arange(200), bounds, guard), bounds))

    for size in range(2 * k, 150):
        for start in range(0, 200 - size, 7):
            inside = [b - a for a, b in taken if a <= start and start + size <= b]
            assert min(inside) <= size + 2 * max(1, size // 8) + 1


def test_rows_are_judged_in_bounded_parts_and_all_of_them(monkeypatch):
    """Also when the rows of all windows are a whole multiple of a part."""
    table, bounds = sick_table("xy" * 16), bounds_of([32])
    expected = None
    for rows in (10**6, 1, 4, 32, 64, 97):
        monkeypatch.setattr(admissible_windows, "_ROWS", rows)
        guard = Asked([AtLeast(k=2), DistinctValues(l=2, of="illness")])

        result = admitted_windows(windows_of(table, np.arange(32), bounds, guard), bounds)

        expected = result if expected is None else expected
        assert expected == result
        for part in guard.__dict__["asked"]:
            # One window may be larger than a part.
            assert sum(b - a for a, b in part) < rows + max(b - a for a, b in part)


def test_very_many_blocks_are_no_trouble():
    table = sick_table("xxyxy" * 40_000)
    bounds = bounds_of([10] * 20_000)

    starts, stops = admissible_windows._long(bounds, 5)

    assert 200_000 == len(table)
    assert (starts // 10 == (stops - 1) // 10).all()
    assert set(range(20_000)) == set((starts // 10).tolist())
