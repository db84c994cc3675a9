"""What an experiment makes public: no seed, no private parameter, no path."""

import json

import pytest

from anonloom.errors import UsageError
from anonloom_experiments.grid import Recipe, first_reason, run_grid
from anonloom_testing.clinic import public_bytes


def run(clinic, **options):
    return run_grid(Recipe(clinic.file), clinic.registry, clinic.out, **options)


def test_seeds_that_are_varied_are_numbered_in_all_that_is_public(clinic):
    clinic.write(
        clinic.file.read_text() + "vary:\n  seed: [812100457301, 812100457302, 812100457303]\n"
    )
    report = run(clinic)

    labels = [f"seed=<private {number}>" for number in (1, 2, 3)]
    assert labels == [item["label"] for item in report["runs"]]
    assert ["<private 1>", "<private 2>", "<private 3>"] == [
        item["parameters"]["seed"] for item in report["runs"]
    ]
    assert ["001-seed=-private-1", "002-seed=-private-2", "003-seed=-private-3"] == sorted(
        path.name for path in (clinic.out / "runs").iterdir()
    )
    assert b"8121004573" not in public_bytes(clinic.out)
    results = [json.loads(path.read_text()) for path in clinic.out.glob("private/results/*")]
    assert [812100457301, 812100457302, 812100457303] == sorted(
        result["parameters"]["seed"] for result in results
    )


def test_private_parameters_that_are_varied_are_numbered_too(clinic):
    (clinic.folder / "smith.csv").write_bytes((clinic.folder / "clinic.csv").read_bytes())
    clinic.write(
        clinic.file.read_text()
        + "vary:\n"
        + "  - {label: one, set: {data.with.path: smith.csv}}\n"
        + "  - {label: two, set: {data.with: {path: smith.csv, separator: ','}, seed: 8121}}\n"
    )
    report = run(clinic)

    assert [
        {"data.with.path": "<private 1>"},
        {"data.with": {"path": "<private 1>", "separator": ","}, "seed": "<private 1>"},
    ] == [item["parameters"] for item in report["runs"]]
    assert b"smith" not in public_bytes(clinic.out)
    assert b"8121" not in public_bytes(clinic.out)


def test_where_other_releases_are_is_private(clinic):
    for name in ("jones.csv", "miller.csv"):
        (clinic.folder / name).write_text('age,sex\n"[20, 40]",f\n')
    clinic.change("data:\n", "data:\n  other_releases: [jones.csv]\n")
    clinic.change("  - counting\n", "  - needs-others\n")
    clinic.pipeline().publish(to=clinic.folder / "single")
    assert b"jones" not in public_bytes(clinic.folder / "single")

    clinic.write(
        clinic.file.read_text()
        + "vary:\n  data.other_releases: [[jones.csv], [jones.csv, miller.csv]]\n"
    )
    report = run(clinic)
    assert [1, 2] == [item["findings"]["needs-others.others"] for item in report["runs"]]
    assert ["<private 1>", "<private 2>"] == [
        item["parameters"]["data.other_releases"] for item in report["runs"]
    ]
    assert b"jones" not in public_bytes(clinic.out)
    assert b"miller" not in public_bytes(clinic.out)


def test_the_message_of_a_failed_run_is_private(clinic):
    """It names the path of the data, or rows and columns of it."""
    clinic.write(clinic.file.read_text() + "vary:\n  data.with.path: [absent.csv, gone.csv]\n")
    report = run(clinic)

    assert ["failed with exit code 4; private/results says why"] * 2 == [
        item["message"] for item in report["runs"]
    ]
    assert b"absent" not in public_bytes(clinic.out)
    why = first_reason(clinic.pipeline().spec, clinic.out)
    assert f"{clinic.folder / 'absent.csv'}: there is no such file" == why


def test_an_experiment_replaces_only_an_experiment(clinic):
    clinic.write(clinic.file.read_text() + "vary:\n  privacy.size.k: [2, 3]\n")
    (clinic.out / "private" / "results").mkdir(parents=True)
    (clinic.out / "private" / "results" / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError) as refused:
        run(clinic, replace=True)
    assert f"'{clinic.out}' is not an experiment of Anonloom and is left as it is" == (
        refused.value.what
    )
    assert (clinic.out / "private" / "results" / "thesis.tex").exists()
