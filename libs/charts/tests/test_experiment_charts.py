"""Charts of a whole experiment: lines over the varied number, maps of columns and runs."""

from anonloom import Finding, Findings
from anonloom.kinds import GridRow
from anonloom_charts import column_heat, figure_over_parameter, numeric_parameter


def row(label: str, parameters: dict[str, object], **figures: float | None) -> GridRow:
    findings = [
        Finding(
            name=name.replace("__", "."),
            value=value,
            meaning=name,
            status="measured" if value is not None else "not assessable",
        )
        for name, value in figures.items()
    ]
    return GridRow(label, parameters, Findings.of(findings))


def test_runs_with_other_seeds_are_one_point_with_the_range_of_their_values() -> None:
    grid = [
        row("k=5, seed=1", {"k": 5, "seed": 1}, loss=0.1),
        row("k=5, seed=2", {"k": 5, "seed": 2}, loss=0.3),
        row("k=10, seed=1", {"k": 10, "seed": 1}, loss=0.5),
    ]
    chart = figure_over_parameter(grid, "loss", "Loss")
    assert chart is not None
    assert {
        "loss": {"x": [5.0, 10.0], "y": [0.2, 0.5], "low": [0.1, 0.5], "high": [0.3, 0.5]}
    } == chart.data


def test_figures_beside_another_are_lines_of_their_own() -> None:
    grid = [row(f"k={k}", {"k": k, "by": "a"}, loss=k / 10, noise=0.5) for k in (1, 2)]
    chart = figure_over_parameter(grid, "loss", "Loss", {"noise": "chance"})
    assert chart is not None
    assert {
        "by = a": {"x": [1.0, 2.0], "y": [0.1, 0.2]},
        "by = a, chance": {"x": [1.0, 2.0], "y": [0.5, 0.5]},
    } == chart.data


def test_figures_without_a_value_are_left_out() -> None:
    grid = [row("k=1", {"k": 1}, loss=None), row("k=2", {"k": 2}, loss=None)]
    assert figure_over_parameter(grid, "loss", "Loss") is None
    assert figure_over_parameter(grid, "absent", "Absent") is None


def test_a_parameter_that_is_no_number_in_some_run_has_no_line() -> None:
    grid = [row("a", {"k": 1, "fast": True}), row("b", {"k": "many", "fast": False})]
    assert numeric_parameter(grid) is None
    assert figure_over_parameter(grid, "loss", "Loss") is None


def test_a_map_has_the_mean_of_the_runs_that_repeat_each_other() -> None:
    grid = [
        row("k=1, seed=1", {"k": 1, "seed": 1}, ncp__age=0.2, ncp__job=None),
        row("k=1, seed=2", {"k": 1, "seed": 2}, ncp__age=0.4, ncp__job=None),
        row("k=2, seed=1", {"k": 2, "seed": 1}, ncp__age=0.5, gcp=1.0),
    ]
    chart = column_heat(grid, "ncp.", name="map", title="Loss", meaning="Of columns.")
    assert chart is not None
    assert ["age", "job"] == chart.data["x"]
    assert ["k=1", "k=2"] == chart.data["y"]
    assert [[0.3, None], [0.5, None]] == [
        [None if cell is None else round(cell, 9) for cell in cells] for cells in chart.data["z"]
    ]
    assert column_heat(grid[:1], "ncp.", name="map", title="", meaning="") is None
    assert column_heat(grid, "none.", name="map", title="", meaning="") is None
