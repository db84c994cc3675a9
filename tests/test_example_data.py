"""The tables and hierarchies of the examples: reproducible, and every value has its place."""

import csv
import importlib.util
import io
from pathlib import Path

import pytest
import yaml

EXAMPLES = Path(__file__).parents[1] / "examples"
HIERARCHIES = sorted(
    path for path in (EXAMPLES / "hierarchies").rglob("*") if path.suffix in (".csv", ".yaml")
)

# Values per column of Adult, missing values aside; 'Never-worked' occurs in incomplete rows only.
ADULT = {
    "age": {str(age) for age in range(17, 91)},
    "education": set(
        "10th 11th 12th 1st-4th 5th-6th 7th-8th 9th Assoc-acdm Assoc-voc Bachelors Doctorate "
        "HS-grad Masters Preschool Prof-school Some-college".split()
    ),
    "hours-per-week": {str(hours) for hours in range(1, 100)},
    "marital-status": set(
        "Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent Never-married "
        "Separated Widowed".split()
    ),
    "native-country": set(
        "Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador El-Salvador England France "
        "Germany Greece Guatemala Haiti Holand-Netherlands Honduras Hong Hungary India Iran "
        "Ireland Italy Jamaica Japan Laos Mexico Nicaragua Outlying-US(Guam-USVI-etc) Peru "
        "Philippines Poland Portugal Puerto-Rico Scotland South Taiwan Thailand Trinadad&Tobago "
        "United-States Vietnam Yugoslavia".split()
    ),
    "occupation": set(
        "Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing Handlers-cleaners "
        "Machine-op-inspct Other-service Priv-house-serv Prof-specialty Protective-serv Sales "
        "Tech-support Transport-moving".split()
    ),
    "race": {"Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"},
    "relationship": set("Husband Not-in-family Other-relative Own-child Unmarried Wife".split()),
    "sex": {"Female", "Male"},
    "workclass": set(
        "Federal-gov Local-gov Never-worked Private Self-emp-inc Self-emp-not-inc State-gov "
        "Without-pay".split()
    ),
}


def paths(file: Path) -> list[list[str]]:
    """Every leaf with its ancestors, leaf first, without the root; read without Anonloom."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".csv":
        rows = [line.split(";") for line in text.splitlines()]
        assert {"*"} == {row[-1] for row in rows}
        assert 1 == len({len(row) for row in rows})
        return [row[:-1] for row in rows]

    def descend(node, above):
        if isinstance(node, dict):
            return [path for name, child in node.items() for path in descend(child, [name, *above])]
        return [[leaf, *above] for leaf in node]

    return descend(yaml.safe_load(text), [])


def clinic() -> list[dict[str, str]]:
    text = (EXAMPLES / "data/clinic.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("file", HIERARCHIES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_every_leaf_stands_once_and_every_label_means_one_group(file):
    result = paths(file)
    leaves = [path[0] for path in result]
    assert len(leaves) == len(set(leaves))
    parent = {}
    for path in result:
        assert len(path) == len(set(path))
        for label, above in zip(path, [*path[1:], "*"], strict=True):
            assert above == parent.setdefault(label, above)


def test_the_hierarchies_of_adult_cover_exactly_its_values():
    results = {
        file.stem: {path[0] for path in paths(file)}
        for file in HIERARCHIES
        if file.parent.name == "adult"
    }
    assert ADULT == results


def test_ages_are_grouped_by_5_10_and_20_years():
    by_leaf = {path[0]: path[1:] for path in paths(EXAMPLES / "hierarchies/adult/age.csv")}
    assert ["35-39", "30-39", "20-39"] == by_leaf["37"]
    assert ["90-94", "90-99", "80-99"] == by_leaf["90"]


@pytest.mark.parametrize("column", ["job", "diagnosis"])
def test_the_hierarchies_of_the_clinic_cover_its_values(column):
    file = next(f for f in HIERARCHIES if f.parent.name == "clinic" and f.stem == column)
    assert {row[column] for row in clinic()} <= {path[0] for path in paths(file)}


@pytest.mark.parametrize("name", ["clinic", "clinic_earlier"])
def test_the_clinic_is_what_its_program_writes(name):
    place = EXAMPLES / f"data/make_{name}.py"
    spec = importlib.util.spec_from_file_location(place.stem, place)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    out = io.StringIO()
    program.write(out)
    table = place.with_name(f"{name.replace('_', '-')}.csv")
    assert table.read_text(encoding="utf-8") == out.getvalue()


def test_the_clinic_has_what_the_quickstart_needs():
    rows = clinic()
    assert 1200 == len(rows)
    assert 1200 == len({row["patient"] for row in rows})
    assert {5} == {len(row["zip"]) for row in rows}
    assert any(row["zip"].startswith("0") for row in rows)
    assert not any(value == "" for row in rows for value in row.values())
