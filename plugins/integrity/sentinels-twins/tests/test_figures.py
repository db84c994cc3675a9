"""The figures: formula and simulation agree, and the paper's numbers are on them."""

import attrs
import numpy as np
import pytest

from anonloom_sentinels_twins import figures
from anonloom_sentinels_twins.comparison import Comparison, Plan, by_chance, largest
from anonloom_sentinels_twins.figures import Figure
from anonloom_sentinels_twins.simulation import Share

ZIPF = (0.48, 0.24, 0.16, 0.12)
PLAN = Plan(classes=ZIPF, workers=10, lazy=4, omission=0.2, budget=50, jobs=1000, runs=3000)
MAKERS = [
    figures.classes,
    figures.replicas,
    figures.extremes,
    figures.crossover,
    figures.collusion,
]


def made(maker, plan=PLAN, seed=1):
    return maker(plan, np.random.default_rng(seed))


def value(figure: Figure, name):
    return next(item.value for item in figure.items if item.name == name)


def chart(figure: Figure, name):
    return next(item for item in figure.items if item.name == name)


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_formula_and_simulation_agree_within_sampling_error(maker):
    compared = made(maker).comparisons
    assert len(compared) >= 4
    assert largest(compared) < by_chance(len(compared)) + 0.5


@pytest.mark.parametrize("seed", range(3))
def test_they_agree_for_other_campaigns_too(seed):
    rng = np.random.default_rng([7, seed])
    shares = rng.dirichlet(np.ones(int(rng.integers(2, 7))))
    workers = int(rng.integers(3, 20))
    plan = Plan(
        classes=tuple(sorted(shares.tolist(), reverse=True)),
        workers=workers,
        lazy=int(rng.integers(1, workers)),
        omission=float(rng.uniform(0.05, 0.9)),
        budget=int(rng.integers(12, 60)),
        jobs=1000,
        runs=1000,
    )
    compared = [point for maker in MAKERS for point in made(maker, plan, seed).comparisons]
    assert largest(compared) < by_chance(len(compared)) + 0.5


def test_a_wrong_formula_would_be_noticed():
    assert Comparison(0.05, Share(80, 1000)).deviation == pytest.approx(4.0, abs=0.3)
    assert 0.0 == pytest.approx(Comparison(0.08, Share(80, 1000)).deviation, abs=0.1)
    # One campaign where a thousandth of one was expected: rare, not dozens of standard errors.
    assert Comparison(1e-6, Share(1, 1000)).deviation == pytest.approx(3.09, abs=0.01)
    assert 0.0 == Comparison(0.0, Share(0, 1000)).deviation
    assert Comparison(0.0, Share(1, 1000)).deviation > 30


def test_figure_8_reciprocals_give_40_percent_and_the_reversed_distribution_48():
    figure = made(figures.classes)
    assert [0.48, 0.40, 0.48, 0.25] == pytest.approx(
        [value(figure, f"guessed_{way}") for way in ("like_data", "inverse", "reversed", "uniform")]
    )


def test_figure_9_a_copies_of_one_job_stay_above_the_most_frequent_class():
    figure = made(figures.replicas)
    assert 0.0137 == pytest.approx(value(figure, "twins_undetected"), abs=5e-5)
    assert 0.4811 == pytest.approx(value(figure, "replicas_undetected"), abs=5e-5)


def test_figure_9_b_a_few_sentinels_close_the_gap_of_twins():
    figure = made(figures.extremes)
    assert 0.5960 == pytest.approx(value(figure, "extreme_twins"), abs=5e-5)
    assert value(figure, "extreme_with_sentinels") < 0.001
    lines = chart(figure, "figure_9b").data
    assert 1.0 == lines["twins only, formula"]["y"][-1]
    assert (1 / 4) ** 5 == pytest.approx(lines["with 5 sentinels, formula"]["y"][-1])


def test_figure_9_c_the_lines_cross_at_0_598_and_the_simulation_does_not_object():
    figure = made(figures.crossover)
    crossing = next(item for item in figure.items if item.name == "crossing")
    assert 0.598 == pytest.approx(crossing.value, abs=5e-4)
    low, high = crossing.interval
    assert 0.45 < low < crossing.value < high < 0.75
    assert 0.625 == value(figure, "crossing_if_little")
    assert 2.5 == value(figure, "crossing_as_printed")
    assert "twins" == value(figure, "better_control")


def test_sentinels_are_better_where_one_class_has_nearly_everything():
    plan = Plan(classes=(0.9, 0.1), workers=10, lazy=4, omission=0.2, budget=50, jobs=1000, runs=50)
    figure = made(figures.crossover, plan)
    assert "sentinels" == value(figure, "better_control")
    assert 0.732 == pytest.approx(value(figure, "crossing"), abs=5e-4)


def test_collusion_costs_and_declaring_it_gives_part_of_that_back():
    figure = made(figures.collusion)
    alone, colluding, declared = (
        value(figure, f"undetected_{how}") for how in ("alone", "colluding", "declared")
    )
    assert alone < declared < colluding
    assert 0.0577 == pytest.approx(colluding, abs=5e-5)


def test_every_line_has_its_simulated_points_with_an_interval():
    plan = attrs.evolve(PLAN, runs=50)
    for maker in MAKERS[1:]:
        data = made(maker, plan).items[-1].data
        lines = [name.removesuffix(", formula") for name in data if name.endswith(", formula")]
        assert len(lines) >= 2
        for name in lines:
            points = data[f"{name}, simulated"]
            for low, middle, high in zip(points["low"], points["y"], points["high"], strict=True):
                assert 0 <= low <= middle <= high <= 1


def test_of_many_classes_the_most_frequent_are_drawn():
    shares = tuple((np.ones(30) / 30).tolist())
    plan = Plan(classes=shares, workers=4, lazy=1, omission=0.5, budget=9, jobs=100, runs=20)
    figure = made(figures.classes, plan)
    assert 12 == len(chart(figure, "figure_8").data["labels"])
    assert "12 most frequent of 30 classes" in chart(figure, "figure_8").meaning
