"""Every run of an experiment has its verdict."""

import pandas as pd

from anonloom_experiments import Recipe, run_grid


def test_every_run_of_an_experiment_has_its_verdict(clinic):
    clinic.change("publish:", "vary:\n  privacy.size.k: [3, 500]\npublish:")
    report = run_grid(Recipe(clinic.file), clinic.registry, clinic.out)
    first, second = report["runs"]
    assert "green" == first["verdict"]["tone"]
    assert {
        "tone": "refused",
        "reasons": [second["message"]],
        "covers": [],
        "does_not_cover": [],
    } == second["verdict"]
    table = pd.read_csv(clinic.out / "public" / "grid.csv")
    assert ["green", "refused"] == table["verdict"].tolist()
