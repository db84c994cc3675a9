"""Every transport carries the same pipeline to the same release: one word is changed."""

import json
from importlib.metadata import version

import pandas as pd
import pytest
import yaml

from anonloom import Pipeline
from anonloom_catalog import first_party_folders

TRANSPORTS = sorted(name for kind, name in first_party_folders() if kind == "transport")
ROWS = 60


def run(folder, transport):
    """Publish sixty people, a quarter erased on the way; return the release and the report."""
    people = pd.DataFrame(
        {
            "age": [20 + 7 * index % 50 for index in range(ROWS)],
            "town": [["Ulm", "Bonn", None][index % 3] for index in range(ROWS)],
            "illness": [["flu", "cold"][index % 2] for index in range(ROWS)],
        }
    )
    people.to_csv(folder / "people.csv", index=False)
    spec = {
        "version": 1,
        "name": "people",
        "seed": 5,
        "data": {
            "source": "csv",
            "with": {"path": "people.csv"},
            "columns": {
                "age": {"role": "quasi", "type": "number"},
                "town": {"role": "quasi"},
                "illness": {"role": "sensitive"},
            },
        },
        "privacy": [{"k-anonymity": {"k": 4}}],
        "collect": {
            "collector": "delivery",
            "with": {"transport": transport, "min_batch": 50, "erase": 0.25},
        },
        "stages": [{"partitioner": "mondrian"}, {"generalizer": "hierarchy"}],
        "publish": {"to": transport, "reporters": []},
    }
    file = folder / f"{transport}.yaml"
    file.write_text(yaml.safe_dump(spec))
    Pipeline.load(file).publish()
    public = folder / transport / "public"
    return (public / "release.csv").read_text(), json.loads((public / "report.json").read_text())


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_release_does_not_depend_on_what_carried_the_rows(tmp_path, transport):
    release, report = run(tmp_path, transport)
    expected, _ = run(tmp_path, "direct") if transport != "direct" else (release, report)
    assert expected == release

    collection = report["collection"]
    results = {finding["name"]: finding["value"] for finding in collection["findings"]}
    assert transport == collection["transport"]
    assert (45, 15, 0, ROWS) == tuple(
        results[name] for name in ("arrived", "erased", "lost", "anonymity_set")
    )
    assert (False, "system", "one-process") == tuple(
        collection[name] for name in ("simulated", "entropy", "parties")
    )
    # What is promised is the transport's affair; it is never left out, and nobody got it here.
    assert {} == collection["guarantees"]
    assert 1 <= collection["guarantees_if_deployed"]["honest_senders_min"] <= 50


PLAYED = (
    "One process played all senders and servers and saw every record: this protects nobody from "
    "whoever ran it. What the transport guarantees holds where each party runs on a machine of its "
    "own."
)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_what_one_process_played_guarantees_nothing_on_any_surface(tmp_path, transport):
    _, report = run(tmp_path, transport)
    public = tmp_path / transport / "public"
    manifest = json.loads((public / "manifest.json").read_text())
    collection = report["collection"]
    for name in ("simulated", "entropy", "parties", "guarantees", "guarantees_if_deployed"):
        assert collection[name] == manifest[name]
    assert {} == manifest["guarantees"]
    assert ("amber", PLAYED) == (report["verdict"]["tone"], report["verdict"]["reasons"][0])
    assert PLAYED in " ".join((public / "report.txt").read_text().split())


def test_versions_of_the_transport_and_of_its_libraries_are_in_the_manifest(tmp_path):
    run(tmp_path, "mixnet")
    manifest = json.loads((tmp_path / "mixnet" / "public" / "manifest.json").read_text())
    named = ("anonloom-mixnet", "anonloom-transport", "cryptography")
    assert {name: version(name) for name in named} == {
        name: manifest["versions"].get(name) for name in named
    }
