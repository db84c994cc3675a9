"""The catalogue is data that core can read, and costs nothing until a method is missing."""

import subprocess
import sys
from importlib.metadata import distribution

import pytest

from anonloom import Registry
from anonloom.errors import SpecError
from anonloom.spec import load_pipeline
from anonloom_catalog import known_plugins, plugin


def test_the_hook_gives_what_the_lists_hold():
    assert known_plugins() == plugin.anonloom_register_known_plugins()
    by_name = {known.distribution: known for known in known_plugins()}
    assert ("anonloom_register_partitioners", "mondrian") in by_name["anonloom-mondrian"].methods
    assert "pip install ./docs/tutorial/median-cut" == by_name["anonloom-median-cut"].install


def test_a_registry_reads_it_when_it_is_asked():
    registry = Registry.empty()
    assert registry.register(plugin, distribution="anonloom-catalog")
    assert tuple(known_plugins()) == registry.known_plugins() == registry.known_plugins()


PIPELINE = """\
version: 1
data:
  source: SOURCE
  with: {path: people.FORMAT}
  columns:
    age: {role: quasi, type: number}
privacy: none
stages: []
"""


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_core_alone_names_the_package_that_reads_files(tmp_path, name):
    registry = Registry.empty()
    core = distribution("anonloom-core")
    for point in core.entry_points.select(group="anonloom"):
        assert registry.register(point.load(), distribution="anonloom-core", version=core.version)
    assert registry.register(plugin, distribution="anonloom-catalog")
    file = tmp_path / "pipeline.yaml"
    file.write_text(PIPELINE.replace("SOURCE", name).replace("FORMAT", name), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_pipeline(file, registry)
    assert (
        f"pipeline.yaml:3:11: data.source: source '{name}' is provided by anonloom-tables, "
        "which is not installed\n"
        f"    source: {name}\n"
        "            ^\n"
        "    pip install ./libs/tables"
    ) == str(caught.value).replace(f"{tmp_path}/", "")


def test_the_lists_are_not_read_before():
    code = "import sys; from anonloom import Registry; Registry.installed(); print('anonloom_catalog.plugin' in sys.modules, 'json' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "True False\n" == answer.stdout
