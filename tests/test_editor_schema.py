"""The JSON schema accepts what the check accepts, and refuses plain mistakes."""

import importlib.util
import json
import sys
import types
from pathlib import Path

import jsonschema
import pytest

from anonloom import Registry
from anonloom._spec.document import read
from anonloom.api import API_VERSION, Method, hookimpl
from anonloom.errors import SpecError
from anonloom_cli import main
from anonloom_editor_schema import plugin
from anonloom_editor_schema.schema import editor_schema

# The files that core's check is tested with.
FOLDER = Path(__file__).resolve().parents[1] / "core" / "tests" / "specs"
BAD = sorted((FOLDER / "bad").glob("*.yaml"))
# What only the check can see: order, references, combinations, spelling inside free values.
BEYOND = {
    "audit-column-not-published",
    "column-format-without-percent",
    "column-interval-of-category",
    "column-name-invisible",
    "column-namesakes-without-identifier",
    "column-publish-without-quasi",
    "column-two-persons",
    "columns-none-published",
    "data-unit-and-person",
    "hierarchy-for-other-type",
    "hierarchy-option-contradicts",
    "mechanism-column-unknown",
    "order-",
    "outliers-column-unsuited",
    "partitioner-column-unsuited",
    "privacy-column-unknown",
    "privacy-parameter-fraction",  # 5.0 is an integer in JSON schema
    "privacy-parameter-missing",  # an experiment may provide it
    "publish-bounds-",
    "publish-integrity-of-work",
    "publish-path-nul",
    "stage-id-repeated",
    "stage-local-code",
    "stage-method-other-owner",
    "stage-parameters-contradict",
    "suppression-keep-drop",
    "suppression-keep-identifier",
    "suppression-keep-sensitive",
    "suppression-keep-undeclared",
    "vary-",
}


def _load(name, path):
    # Tests are no package: the toys get a name under which their targets can be imported.
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def _registry():
    """Core's own methods, the toys of its tests, and the command."""
    registry = _load("anonloom_core_spec_tests", FOLDER / "conftest.py")._filled()
    assert registry.register(plugin, distribution="anonloom-editor-schema", version="0.1.0")
    return registry


@pytest.fixture
def folder():
    return FOLDER


@pytest.fixture
def toys():
    return _load("anonloom_core_spec_tests", FOLDER / "conftest.py")._toys()


@pytest.fixture
def registry():
    return _registry()


@pytest.fixture(scope="module")
def shared_registry():
    """For tests that only read."""
    return _registry()


@pytest.fixture(scope="module")
def validator(shared_registry):
    schema = editor_schema(shared_registry)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_whole_grammar_is_valid(validator, folder):
    assert [] == [e.message for e in validator.iter_errors(read(folder / "good.yaml").plain())]


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.stem)
def test_a_wrong_file_is_invalid_unless_only_the_check_can_tell(file, validator):
    try:
        document = read(file).plain()
    except SpecError:
        return  # not YAML: no editor gets as far as the schema
    if not any(file.stem.startswith(name) for name in BEYOND):
        assert not validator.is_valid(document)


def test_every_method_and_parameter_is_explained(registry):
    schema = editor_schema(registry)
    names = schema["$defs"]["partitioner"]["anyOf"][0]["anyOf"]
    assert {"const": "cut", "description": "A toy: cut."} == names[0]
    assert all("description" in section for section in schema["properties"].values())


def test_the_command_prints_the_schema_as_json(registry, monkeypatch, capsys):
    monkeypatch.setattr(Registry, "_environment", registry)
    assert 0 == main(["schema"])
    assert "Anonloom pipeline" == json.loads(capsys.readouterr().out)["title"]


def test_a_class_whose_import_exits_is_a_bug_of_its_plugin(registry, tmp_path, monkeypatch, capsys):
    (tmp_path / "acme_exits.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    method = Method(name="exits", target="acme_exits:Exits", summary="Leaves.")
    exits = types.SimpleNamespace(
        ANONLOOM_API=API_VERSION, anonloom_register_partitioners=hookimpl(lambda: [method])
    )
    assert registry.register(exits, distribution="exits", version="1")
    monkeypatch.setattr(Registry, "_environment", registry)
    assert 1 == main(["schema"])
    assert (
        "",
        "anonloom: this is a bug of partitioner 'exits' of exits 1: SystemExit in "
        f"{tmp_path / 'acme_exits.py'}:2\n",
    ) == capsys.readouterr()
