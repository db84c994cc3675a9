"""What a command imports, seen in a process of its own: frames only where data are handled."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Libraries that take long to import, and that only work on data needs.
HEAVY = ("pandas", "pyarrow", "scipy", "sklearn", "numba", "matplotlib", "jinja2", "rich")

_THEN_SAY = """
import json, sys
print(json.dumps(sorted({heavy} & set(sys.modules))), file=sys.stderr)
"""

_COMMAND = """
import sys
from anonloom_cli import main
code = main(sys.argv[1:])
assert code == {code}, code
"""


def imported(code, *words, folder=ROOT):
    """Return what of the heavy libraries a fresh process has imported after some code."""
    # Tools that watch every process of the tests may import what they like.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-c", code + _THEN_SAY.format(heavy=set(HEAVY)), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=kept,
    )
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


def of_command(*words, code=0, folder=ROOT):
    return imported(_COMMAND.format(code=code), *words, folder=folder)


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["plugins"],
        ["plugins", "list", "--kind", "auditor"],
        ["plugins", "show", "mondrian"],
        ["check", "examples/quickstart.yaml"],
        ["check", "examples/quickstart.yaml", "--set", "engine=local"],
        ["plan", "examples/quickstart.yaml"],
        ["run", "--help"],
    ],
    ids=" ".join,
)
def test_a_command_without_data_imports_no_frames(words):
    assert [] == of_command(*words)


def test_a_file_that_is_wrong_is_told_without_frames():
    # The parameters of a method are checked by its class.
    assert [] == of_command(
        "check", "examples/quickstart.yaml", "--set", "privacy.k-anonymity.k=0", code=2
    )


def test_the_header_of_a_compressed_file_is_read_without_frames(tmp_path):
    import gzip

    data = (ROOT / "examples" / "data" / "clinic.csv").read_bytes()
    (tmp_path / "clinic.csv.gz").write_bytes(gzip.compress(data))
    setting = f"data.with.path={tmp_path / 'clinic.csv.gz'}"
    assert [] == of_command("check", "examples/quickstart.yaml", "--set", setting)


def test_a_new_plugin_is_written_without_frames(tmp_path):
    assert [] == of_command("new", "partitioner", "halving", folder=tmp_path)
    assert (tmp_path / "halving" / "pyproject.toml").is_file()


_ALL_METHODS = """
import sys
from anonloom import Registry
from anonloom.params import describe
registry = Registry.installed()
for entry in registry.entries:
    describe(registry.load_entry(entry), registry.name_of)
assert len(registry.entries) > 40
"""


def test_no_method_imports_frames_when_its_parameters_are_checked():
    assert [] == imported(_ALL_METHODS)


def test_the_schema_of_all_methods_is_made_without_frames():
    assert [] == of_command("schema")


def test_a_run_imports_what_its_pipeline_uses(tmp_path):
    # Nothing here counts or compares in a way that needs more than frames, and a page is written.
    audit = "audit=[{auditor: utility, with: {proxies: false}}, {auditor: disclosure}]"
    words = ["--set", audit, "--quiet"]
    run = of_command("run", "examples/quickstart.yaml", "--to", tmp_path / "out", *words)
    assert ["jinja2", "pandas", "pyarrow"] == run


def test_an_auditor_that_needs_more_gets_it(tmp_path):
    settings = ["--set", "audit=[{auditor: cvpl}]", "--quiet"]
    run = of_command("run", "examples/quickstart.yaml", "--to", tmp_path / "out", *settings)
    assert {"pandas", "pyarrow", "scipy"} <= set(run)
    assert "sklearn" not in run
    assert (tmp_path / "out" / "public" / "release.csv").is_file()
