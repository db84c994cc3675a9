"""Every transport carries the same pipeline to the same release: one word is changed."""

import json

import pandas as pd
import pytest
import yaml

from anonloom import Pipeline
from anonloom.firstparty import FIRST_PARTY

TRANSPORTS = sorted(name for kind, name in FIRST_PARTY if kind == "transport")
ROWS = 60


def run(folder, transport):
    """Publish sixty people, a quarter erased on the way; return the release and the report."""
    people = pd.DataFrame(
        {
            "age": [20 + 7 * at % 50 for at in range(ROWS)],
            "town": [["Ulm", "Bonn", None][at % 3] for at in range(ROWS)],
            "illness": [["flu", "cold"][at % 2] for at in range(ROWS)],
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
    found = {finding["name"]: finding["value"] for finding in collection["findings"]}
    assert transport == collection["transport"]
    assert (45, 15, 0, ROWS) == tuple(
        found[name] for name in ("arrived", "erased", "lost", "anonymity_set")
    )
    assert not collection["simulated"]
    # What is promised is the transport's affair; it is never left out.
    assert 1 <= collection["guarantees"]["honest_senders_min"] <= 50
