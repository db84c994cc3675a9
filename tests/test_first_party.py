"""The catalogue names every method of this repository, with the package that brings it."""

import importlib.util
from pathlib import Path

import check_workspace
import make_catalog
import pytest

from anonloom import Registry
from anonloom.errors import PluginError
from anonloom_catalog import first_party_folders, known_plugins
from anonloom_catalog import plugin as catalogue

ROOT = Path(__file__).parent.parent


def test_the_catalogue_is_what_the_hook_modules_register():
    results = {}
    hook_modules = [*ROOT.glob("libs/*/src/*/plugin.py"), *ROOT.glob("plugins/*/*/src/*/plugin.py")]
    for file in sorted(hook_modules):
        spec = importlib.util.spec_from_file_location(f"hooks_of_{file.parent.name}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        registry = Registry.empty()
        assert registry.register(module, distribution=file.parent.name), registry.broken
        folder = file.parents[2].relative_to(ROOT).as_posix()
        results |= {(entry.kind, entry.name): folder for entry in registry.entries}
    assert results == first_party_folders()


def test_the_workspace_is_told_of_a_catalogue_that_is_old(tmp_path, monkeypatch, capsys):
    file = tmp_path / check_workspace.CATALOGUE
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    assert [
        f"{check_workspace.CATALOGUE}: is not what the tree says; run tools/make_catalog.py"
    ] == check_workspace._catalogue(tmp_path)
    monkeypatch.setattr(make_catalog, "ROOT", tmp_path)
    assert 0 == make_catalog.main()
    assert [] == check_workspace._catalogue(tmp_path)
    assert f"{check_workspace.CATALOGUE}\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (
            "partitioner",
            "mondrian",
            "partitioner 'mondrian' is provided by anonloom-mondrian, which is not installed\n"
            "    pip install ./plugins/anonymizers/mondrian",
        ),
        (
            "partitioner",
            "median-cut",
            "partitioner 'median-cut' is provided by anonloom-median-cut, which is not installed\n"
            "    pip install ./docs/tutorial/median-cut",
        ),
        (
            "generalizer",
            "rounded",
            "generalizer 'rounded' is provided by anonloom-alpha-deassociation, which is not "
            "installed\n    pip install ./docs/tutorial/alpha-deassociation",
        ),
    ],
)
def test_a_missing_method_is_named_with_its_package(kind, name, message):
    registry = Registry.empty()
    assert registry.register(catalogue, distribution="anonloom-catalog", version="0.1.0")
    with pytest.raises(PluginError) as caught:
        registry.find(kind, name)
    assert message == str(caught.value)


def test_every_folder_of_the_catalogue_exists_and_no_plugin_is_named_twice():
    names = [known.distribution for known in known_plugins()]
    assert sorted(set(names)) == sorted(names)
    for known in known_plugins():
        assert (ROOT / known.install.removeprefix("pip install ./")).is_dir()
