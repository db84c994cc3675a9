"""The command `apply`, as a user meets it, and files that are odd."""

import json
import sys

import pytest

from anonloom_cli import main

ODD_NUMBERS = [["x"], [[]], [{}], [True, "1"], "text", {"a": 1}, None, [1e999], [10**400]]
ODD_WORDS = [[1], [[]], [{}], [True], "fm", {"f": 0}, None]


def test_apply_replays_a_transformation(shop, capsys):
    main(["run", "pipeline.yaml", "--quiet"])
    capsys.readouterr()
    arguments = ["apply", "out/private/transformation.json", "clinic.csv", "--to", "again"]

    assert 0 == main(arguments)
    assert capsys.readouterr().out.endswith("release: again/public\n")
    assert 2 == main(arguments)


@pytest.mark.parametrize("share", ["7", "-0.1", "nan", "half"])
def test_apply_takes_a_share_from_0_to_1(shop, capsys, share):
    given = f"--suppress-at-most={share}"
    assert 2 == main(["apply", "t.json", "clinic.csv", "--to", "again", given])
    assert capsys.readouterr().err.endswith(
        "anonloom apply: error: argument --suppress-at-most: must be a number from 0 to 1. "
        f"Got '{share}' instead.\n"
    )


@pytest.mark.parametrize(
    ("column", "values"),
    [*(("age", values) for values in ODD_NUMBERS), *(("sex", values) for values in ODD_WORDS)],
)
def test_apply_with_odd_values_of_a_region(anonloom, shop, column, values):
    assert 0 == anonloom("run", "pipeline.yaml", "--quiet")[0]
    path = shop.out / "private" / "transformation.json"
    data = json.loads(path.read_text())
    good = data["regions"][column]["values"]
    data["regions"][column]["values"] = (
        values + good[len(values) :] if isinstance(values, list) else values
    )
    path.write_text(json.dumps(data))
    code, out, err = anonloom("apply", "out/private/transformation.json", "clinic.csv", "--to", "o")
    assert (4, "") == (code, out)
    assert err.startswith(
        "anonloom: out/private/transformation.json: the transformation is damaged ("
    )
    assert not (shop.folder / "o").exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("lo", "text"),
        ("lo", {"a": 1}),
        ("level", []),
        ("level", [0]),
        ("level", "text"),
        ("level", [-2, 0, 0]),
        ("members", [[0]]),
        ("members", "text"),
        ("members", [0, 0, 0]),
    ],
)
def test_apply_with_odd_places_of_a_region(anonloom, shop, key, value):
    assert 0 == anonloom("run", "pipeline.yaml", "--quiet")[0]
    path = shop.out / "private" / "transformation.json"
    data = json.loads(path.read_text())
    data["regions"]["age"][key] = value
    path.write_text(json.dumps(data))
    code, _, err = anonloom("apply", "out/private/transformation.json", "clinic.csv", "--to", "o")
    assert (4, 1) == (code, len(err.splitlines()))
    assert err.startswith(
        "anonloom: out/private/transformation.json: the transformation is damaged ("
    )


def test_apply_with_a_level_that_the_hierarchy_lacks(anonloom, shop):
    shop.change(
        "sex: {role: quasi}", "sex: {role: quasi, hierarchy: {build: tree, tree: {any: [f, m]}}}"
    )
    assert 0 == anonloom("run", "pipeline.yaml", "--quiet")[0]
    path = shop.out / "private" / "transformation.json"
    data = json.loads(path.read_text())
    region = data["regions"]["sex"]
    region["level"] = [99 for _ in region["least"]]
    path.write_text(json.dumps(data))
    assert (
        4,
        "",
        "anonloom: the transformation is damaged: the hierarchy of column 'sex' has 3 levels, and "
        "a region has a higher one\n",
    ) == anonloom("apply", "out/private/transformation.json", "clinic.csv", "--to", "o")


def test_apply_with_a_region_of_nodes_that_begins_with_a_missing_value(anonloom, shop):
    shop.change(
        "sex: {role: quasi}",
        "sex: {role: quasi, hierarchy: {build: tree, tree: {any: [f, m]}}, missing: own}",
    )
    assert 0 == anonloom("run", "pipeline.yaml", "--quiet")[0]
    path = shop.out / "private" / "transformation.json"
    data = json.loads(path.read_text())
    region = data["regions"]["sex"]
    assert [("f", 0, 1)] * 3 == [
        (region["values"][0], *ends) for ends in zip(region["least"], region["most"], strict=True)
    ]
    region.update(level=[1, 1, 1], values=[None, *region["values"][1:]])
    path.write_text(json.dumps(data))
    words = ("apply", "out/private/transformation.json", "clinic.csv", "--to", "o")
    code, _, err = anonloom(*words, "--suppress-at-most", "1")
    assert (0, "") == (code, err)


@pytest.mark.skipif(sys.platform != "linux", reason="these files are Linux's own")
@pytest.mark.parametrize("file", ["/proc/kmsg", "/proc/self/maps"])
def test_files_of_the_system_are_not_waited_for(anonloom, file):
    """The first one answers only when the system has something to say."""
    no_json = f"anonloom: {file}: cannot be read as JSON\n"
    assert (4, "", no_json) == anonloom("apply", file, "clinic.csv", "--to", "o")
