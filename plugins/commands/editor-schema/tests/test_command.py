"""The command prints a schema that a validator reads, of what is installed."""

import json

import jsonschema

from anonloom_cli import main


def schema(capsys):
    assert 0 == main(["schema"])
    return json.loads(capsys.readouterr().out)


def test_what_is_printed_is_a_json_schema(capsys):
    jsonschema.Draft202012Validator.check_schema(schema(capsys))


def test_a_pipeline_of_core_fits_and_a_misspelt_section_does_not(capsys):
    pipeline = {
        "version": 1,
        "data": {
            "source": "csv",
            "with": {"path": "a.csv"},
            "columns": {"age": {"role": "quasi", "type": "number"}},
        },
        "privacy": "none",
        "stages": [],
        "publish": {"to": "out"},
    }
    validator = jsonschema.Draft202012Validator(schema(capsys))
    assert [] == list(validator.iter_errors(pipeline))
    assert [] != list(validator.iter_errors(pipeline | {"privcay": []}))
