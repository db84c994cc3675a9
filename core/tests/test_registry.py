"""Who offers what, and the message for everything that can be wrong with a plugin."""

import logging
import subprocess
import sys
import types

import importlib_metadata
import pytest

from anonloom import Partitioner, Registry, hookspecs
from anonloom._registry.registry import BrokenPlugin
from anonloom.api import Command, KnownPlugin, Method, hookimpl
from anonloom.errors import PluginError

KINDS = Registry.empty().kinds


class Cut(Partitioner):
    def partition(self, table, classes, guard, context):
        return classes


class Unfinished(Partitioner):
    pass


def method(name="cut", target=f"{__name__}:Cut"):
    return Method(name=name, target=target, summary="Cuts.")


def plugin(**content):
    """Return a hook module with these functions, each marked as a hook."""
    module = types.ModuleType("hooks")
    module.ANONLOOM_API = content.pop("api", 2)
    for name, answer in content.items():
        setattr(module, name, hookimpl(answer if callable(answer) else _constant(answer)))
    return module


def _constant(answer):
    def hook():
        return answer

    return hook


def partitioners(*methods):
    return plugin(anonloom_register_partitioners=list(methods))


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    # Tests are no package; targets name this very module.
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])


@pytest.fixture
def registry():
    return Registry.empty()


def broken_reason(registry, module):
    assert not registry.register(module, distribution="acme-anon", version="1.0")
    (broken,) = registry.broken
    return broken.reason


def refusal(call, *args, **options):
    with pytest.raises(PluginError) as caught:
        call(*args, **options)
    return str(caught.value)


def test_a_registered_method_is_listed_found_and_loaded(registry):
    assert registry.register(partitioners(method()), distribution="acme-anon", version="1.0")
    (entry,) = registry.methods("partitioner")
    assert ("cut", "partitioner", "acme-anon 1.0", False) == (
        entry.name,
        entry.kind,
        entry.owner,
        entry.local,
    )
    assert entry == registry.find("partitioner", "cut")
    assert registry.load("partitioner", "cut").__name__ == "Cut"


def test_methods_are_sorted_by_name(registry):
    registry.register(partitioners(method("b"), method("a")), distribution="x", version="1")
    assert ["a", "b"] == [entry.name for entry in registry.methods("partitioner")]


def test_an_empty_registry_offers_nothing(registry):
    assert dict.fromkeys(KINDS, ()) == {kind: registry.methods(kind) for kind in KINDS}


def test_the_name_of_a_class_is_the_one_it_is_registered_under(registry):
    registry.register(partitioners(method("slice")), distribution="x", version="1")
    cls = registry.load("partitioner", "slice")
    assert "slice" == registry.name_of(cls)
    assert "slice" == registry.entry_of(cls).name
    assert f"{__name__}:Unfinished" == registry.name_of(Unfinished)
    assert registry.entry_of(Unfinished) is None


# -- broken plugins ---------------------------------------------------------------------------


def test_a_module_that_does_not_say_its_api_version(registry):
    module = partitioners(method())
    del module.ANONLOOM_API
    assert "its hook module does not say ANONLOOM_API = 2" == broken_reason(registry, module)


def test_an_older_api_version(registry):
    module = plugin(api=0, anonloom_register_partitioners=[method()])
    expected = "it speaks plugin API 0, this core speaks 2: upgrade acme-anon"
    assert expected == broken_reason(registry, module)


def test_a_newer_api_version(registry):
    module = plugin(api=3, anonloom_register_partitioners=[method()])
    expected = "it speaks plugin API 3, this core speaks 2: upgrade anonloom-core"
    assert expected == broken_reason(registry, module)


def test_a_misspelt_hook(registry):
    module = plugin(anonloom_register_partitioner=[method()])
    assert (
        "unknown hook 'anonloom_register_partitioner'; "
        "did you mean 'anonloom_register_partitioners'?"
    ) == broken_reason(registry, module)


def test_a_hook_without_its_mark(registry):
    module = plugin()
    module.anonloom_register_partitioners = lambda: [method()]
    expected = "'anonloom_register_partitioners' is not marked with @hookimpl"
    assert expected == broken_reason(registry, module)


def test_a_hook_wrapper(registry):
    module = plugin()

    @hookimpl(wrapper=True)
    def anonloom_run_started():
        yield

    module.anonloom_run_started = anonloom_run_started
    expected = "'anonloom_run_started' is a hook wrapper, which Anonloom does not use"
    assert expected == broken_reason(registry, module)


def test_a_hook_with_an_argument_that_does_not_exist(registry):
    module = plugin(anonloom_run_started=lambda run: None)
    assert (
        "Argument(s) {'run'} are declared in the hookimpl but can not be found in the hookspec"
    ) == broken_reason(registry, module)


def test_a_hook_that_returns_none(registry):
    assert (
        "anonloom_register_partitioners returned None instead of a list of Method; "
        "is a return missing?"
    ) == broken_reason(registry, plugin(anonloom_register_partitioners=None))


def test_a_hook_that_returns_no_list(registry):
    module = plugin(anonloom_register_partitioners=lambda: {"cut": method()})
    expected = "anonloom_register_partitioners returned a dict instead of a list of Method"
    assert expected == broken_reason(registry, module)


def test_a_hook_that_returns_a_bare_method(registry):
    # A descriptor is a tuple, which must not make it pass for a list of descriptors.
    module = plugin(anonloom_register_partitioners=method)
    expected = "anonloom_register_partitioners returned a Method instead of a list of Method"
    assert expected == broken_reason(registry, module)


def test_a_hook_that_returns_classes(registry):
    assert (
        "anonloom_register_partitioners returned a list that holds ABCMeta; "
        "every element must be a Method"
    ) == broken_reason(registry, plugin(anonloom_register_partitioners=[Cut]))


def test_a_hook_that_raises(registry):
    def hook():
        raise RuntimeError("no licence")

    assert "anonloom_register_partitioners failed: RuntimeError: no licence" == broken_reason(
        registry, plugin(anonloom_register_partitioners=hook)
    )


def test_one_name_twice_in_one_plugin(registry):
    expected = "it names the partitioner 'cut' twice"
    assert expected == broken_reason(registry, partitioners(method(), method()))


def test_one_module_behind_two_entry_points(registry):
    module = partitioners(method())
    assert registry.register(module, distribution="a", version="1")
    assert "its hook module is already in use by another entry point" == broken_reason(
        registry, module
    )


def test_nothing_of_a_broken_plugin_stays(registry):
    heard = []

    def hook(run_id):
        heard.append(run_id)

    module = plugin(anonloom_run_started=hook, anonloom_register_partitioners=None)
    broken_reason(registry, module)
    registry.observers.run_started(run_id="r", pipeline="p", stages=())
    assert ([], ()) == (heard, registry.methods("partitioner"))


def test_a_broken_plugin_does_not_hurt_others(registry):
    registry.register(plugin(anonloom_register_partitioners=None), distribution="bad", version="1")
    registry.register(partitioners(method()), distribution="good", version="1")
    assert "good 1" == registry.find("partitioner", "cut").owner


# -- names that lead nowhere ------------------------------------------------------------------


def test_an_unknown_name_gets_a_guess_what_is_installed_and_what_is_broken(registry):
    registry.register(partitioners(method(), method("grow")), distribution="good", version="1")
    registry.register(plugin(api=0), distribution="acme-anon", version="0.2")
    assert """\
no partitioner is named 'cutt'
    did you mean 'cut'?
    installed: cut, grow
    not loaded: acme-anon 0.2 (it speaks plugin API 0, this core speaks 2: upgrade acme-anon)""" == refusal(
        registry.find, "partitioner", "cutt"
    )


def test_an_unknown_name_where_nothing_is_installed(registry):
    expected = "no sampler is named 'x'\n    installed: none"
    assert expected == refusal(registry.find, "sampler", "x")


def test_a_name_of_another_kind(registry):
    registry.register(partitioners(method()), distribution="good", version="1")
    expected = "'cut' is a partitioner, not a sampler\n    installed: none"
    assert expected == refusal(registry.find, "sampler", "cut")


def catalogue():
    known = KnownPlugin(
        distribution="anonloom-mondrian",
        install="pip install ./plugins/anonymizers/mondrian",
        methods=[("anonloom_register_partitioners", "mondrian")],
    )
    return plugin(anonloom_register_known_plugins=lambda: [known])


def test_a_method_of_ours_that_is_not_installed(registry):
    registry.register(catalogue(), distribution="anonloom-catalog", version="1")
    assert (
        "partitioner 'mondrian' is provided by anonloom-mondrian, which is not installed\n"
        "    pip install ./plugins/anonymizers/mondrian"
    ) == refusal(registry.find, "partitioner", "mondrian")


def test_a_method_of_ours_that_is_installed_and_broken(registry):
    registry.register(catalogue(), distribution="anonloom-catalog", version="1")
    registry.register(plugin(api=0), distribution="anonloom-mondrian", version="0.0.1")
    assert (
        "partitioner 'mondrian' is provided by anonloom-mondrian, which could not be loaded\n"
        "    it speaks plugin API 0, this core speaks 2: upgrade anonloom-mondrian"
    ) == refusal(registry.find, "partitioner", "mondrian")


def test_two_plugins_with_one_name_name_both_and_a_qualified_name_picks_one(registry):
    registry.register(partitioners(method()), distribution="acme-anon", version="1.0")
    registry.register(partitioners(method()), distribution="anonloom-cut", version="0.3")
    assert (
        "partitioner 'cut' is provided by acme-anon 1.0 and anonloom-cut 0.3\n"
        "    write 'acme-anon:cut' or 'anonloom-cut:cut', or uninstall one"
    ) == refusal(registry.find, "partitioner", "cut")
    assert "acme-anon 1.0" == registry.find("partitioner", "acme-anon:cut").owner
    # Package indexes take '-', '_' and '.' for the same, and so do we.
    assert "acme-anon 1.0" == registry.find("partitioner", "Acme_Anon:cut").owner


# -- classes that cannot be used --------------------------------------------------------------


def load_refusal(registry, target):
    registry.register(partitioners(method(target=target)), distribution="acme", version="1")
    return refusal(registry.load, "partitioner", "cut")


def test_a_module_that_cannot_be_imported(registry):
    assert (
        "partitioner 'cut' of acme 1 cannot be imported\n"
        "    ModuleNotFoundError: No module named 'nowhere'"
    ) == load_refusal(registry, "nowhere:Cut")


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("anonloom.data.loss", "from anonloom_loss import gcp, class_losses, ...; pip install anonloom-loss"),
        ("anonloom.run", "anonloom_runner has what a run is made of; merge_until_admitted is in anonloom_loss"),
        ("anonloom.cli", "anonloom_cli has what commands are made of"),
        ("anonloom.testing", "from anonloom_testing import PartitionerConformance, ...; pip install anonloom-testing"),
        ("anonloom.data.line", "from anonloom_columns import OrderedColumn; pip install anonloom-columns"),
        ("anonloom.data.points", "from anonloom_columns import collapse, combined_key; pip install anonloom-columns"),
        ("anonloom.data.visible", "from anonloom_columns import Visible, place_texts; pip install anonloom-columns"),
        ("anonloom.data.old", "from anonloom import Table, Schema, Column, Classes, Release, AuditInput; the rest is in anonloom.data"),
    ],
)  # fmt: skip
def test_a_module_that_was_core_s_is_followed_by_the_line_that_replaces_it(registry, module, line):
    assert (
        "partitioner 'cut' of acme 1 cannot be imported\n"
        f"    ModuleNotFoundError: No module named '{module}'\n"
        f"    {line}"
    ) == load_refusal(registry, f"{module}:Cut")


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("anonloom.registry", "from anonloom import Registry; the rest is in anonloom.registry"),
        ("anonloom.spec", "from anonloom import Pipeline; the rest is in anonloom.spec"),
        ("anonloom.sources", "from anonloom_tables import Csv, Parquet, ...; pip install anonloom-tables; Frame is in anonloom.sources"),
    ],
)  # fmt: skip
def test_a_module_of_what_is_one_module_now_is_followed_by_where_its_names_are(
    registry, package, line
):
    assert (
        "partitioner 'cut' of acme 1 cannot be imported\n"
        f"    ModuleNotFoundError: No module named '{package}.model'; '{package}' is not a package\n"
        f"    {line}"
    ) == load_refusal(registry, f"{package}.model:Cut")


def test_a_class_that_is_not_there(registry):
    assert (
        f"partitioner 'cut' of acme 1 cannot be used: there is no class {__name__}:Missing"
    ) == load_refusal(registry, f"{__name__}:Missing")


def test_a_class_of_the_wrong_kind(registry):
    assert (
        "partitioner 'cut' of acme 1 cannot be used: Registry is not a partitioner\n"
        "    its class must derive from anonloom.kinds._partitioner.Partitioner"
    ) == load_refusal(registry, "anonloom._registry.registry:Registry")


def test_a_class_that_is_not_complete(registry):
    assert (
        "partitioner 'cut' of acme 1 cannot be used: Unfinished lacks partition"
    ) == load_refusal(registry, f"{__name__}:Unfinished")


# -- local code -------------------------------------------------------------------------------


CODE = """\
from anonloom import Partitioner

class Mine(Partitioner):
    def partition(self, table, classes, guard, run):
        return classes
"""


def test_local_code_needs_permission(registry):
    assert (
        "'./mine.py:Mine' is local code, which runs only with --allow-local-code\n"
        "    it is run as it is, with your rights: read it first"
    ) == refusal(registry.find, "partitioner", "./mine.py:Mine")


def test_local_code_is_relative_to_the_folder_and_marked(registry, tmp_path):
    (tmp_path / "mine.py").write_text(CODE)
    entry = registry.find("partitioner", "./mine.py:Mine", local=tmp_path)
    cls = registry.load("partitioner", "./mine.py:Mine", local=tmp_path)
    assert ("mine", True, str(tmp_path / "mine.py")) == (entry.name, entry.local, entry.owner)
    assert cls is registry.load("partitioner", "./mine.py:Mine", local=tmp_path)
    assert "mine" == registry.name_of(cls)


@pytest.mark.parametrize(
    ("cls", "name"),
    [("Mine", "mine"), ("MedianCut", "median-cut"), ("KMeans2", "k-means-2"), ("_1", "local-1")],
)
def test_local_code_is_named_after_its_class(registry, tmp_path, cls, name):
    (tmp_path / "mine.py").write_text(CODE)
    assert name == registry.find("partitioner", f"mine.py:{cls}", local=tmp_path).name


def test_local_code_that_is_not_there(registry, tmp_path):
    expected = f"there is no file './mine.py'\n    looked for {tmp_path / 'mine.py'}"
    assert expected == refusal(registry.find, "partitioner", "./mine.py:Mine", local=tmp_path)


def test_local_code_that_fails(registry, tmp_path):
    (tmp_path / "mine.py").write_text("1 / 0")
    assert (
        f"partitioner 'mine' of {tmp_path / 'mine.py'} cannot be imported\n"
        "    ZeroDivisionError: division by zero"
    ) == refusal(registry.load, "partitioner", "./mine.py:Mine", local=tmp_path)


# -- discovery --------------------------------------------------------------------------------


class Distribution(importlib_metadata.Distribution):
    def __init__(self, name, version):
        self.text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"

    def read_text(self, filename):
        return self.text if filename == "METADATA" else None

    def locate_file(self, path):
        raise AssertionError("not needed")


def entry_point(distribution, value):
    point = importlib_metadata.EntryPoint("x", value, "anonloom")
    return point._for(Distribution(distribution, "1.0"))


def test_entry_points_are_loaded_in_the_order_of_their_distributions(registry, monkeypatch):
    monkeypatch.setitem(sys.modules, "hooks_a", partitioners(method("a")))
    monkeypatch.setitem(sys.modules, "hooks_b", partitioners(method("b")))
    registry.discover([entry_point("b-anon", "hooks_b"), entry_point("a-anon", "hooks_a")])
    assert ["a-anon 1.0", "b-anon 1.0"] == [e.owner for e in registry.methods("partitioner")]


def test_a_hook_module_that_cannot_be_imported_is_remembered(registry, monkeypatch, tmp_path):
    (tmp_path / "hooks_exit.py").write_text("import sys; sys.exit('bye')")
    monkeypatch.syspath_prepend(tmp_path)
    registry.discover([entry_point("a", "nowhere.plugin"), entry_point("b", "hooks_exit")])
    assert (
        BrokenPlugin("a", "1.0", "ModuleNotFoundError: No module named 'nowhere'"),
        BrokenPlugin("b", "1.0", "SystemExit: bye"),
    ) == registry.broken
    assert "a 1.0 (ModuleNotFoundError: No module named 'nowhere')" == str(registry.broken[0])


def test_the_environment_is_read_once():
    assert Registry.installed() is Registry.installed()


def test_core_offers_its_own_methods_through_the_same_door():
    owners = {e.name: e.distribution for e in Registry.installed().methods("source")}
    assert "anonloom-core" == owners["frame"]


def test_reading_the_environment_imports_nothing_heavy():
    code = (
        "import sys; from anonloom._registry.registry import Registry; Registry.installed();"
        "print([m for m in ('attr', 'numpy', 'pandas', 'yaml', 'rich') if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "[]" == answer.stdout.strip()


def test_commands_are_collected(registry):
    command = Command(name="serve", target="acme.serve", summary="Serves.")
    registry.register(
        plugin(anonloom_register_commands=[command]), distribution="acme", version="1"
    )
    assert [(command, "acme", "1")] == [tuple(entry) for entry in registry.commands]


# -- observers --------------------------------------------------------------------------------


class Listener:
    def __init__(self):
        self.heard = []

    @hookimpl
    def anonloom_run_started(self, run_id, stages):
        self.heard.append(("started", run_id, stages))

    @hookimpl
    def anonloom_stage_progress(self, done, total):
        self.heard.append(("progress", done, total))


class Faulty:
    @hookimpl
    def anonloom_stage_progress(self):
        raise ValueError("observer is broken")


def test_an_observer_gets_the_arguments_that_it_asks_for(registry):
    listener = Listener()
    registry.observers.add(listener)
    registry.observers.run_started(run_id="r1", pipeline="p", stages=("a",))
    registry.observers.stage_progress(run_id="r1", stage="a", done=1, total=None)
    registry.observers.remove(listener)
    registry.observers.run_started(run_id="r2", pipeline="p", stages=())
    assert [("started", "r1", ("a",)), ("progress", 1, None)] == listener.heard


def test_a_failing_observer_is_logged_once_and_stops_neither_run_nor_others(registry, caplog):
    first, last = Listener(), Listener()
    for observer in (first, Faulty(), last):
        registry.observers.add(observer)
    with caplog.at_level(logging.WARNING, logger="anonloom"):
        for done in (1, 2):
            registry.observers.stage_progress(run_id="r", stage="a", done=done, total=2)
    assert [("progress", 1, 2), ("progress", 2, 2)] == first.heard == last.heard
    (record,) = caplog.records
    assert (
        "WARNING",
        f"the run goes on, but observer {__name__}:Faulty failed in "
        "anonloom_stage_progress: ValueError: observer is broken",
    ) == (record.levelname, record.getMessage())


def test_every_observation_hook_can_be_told(registry):
    heard = []
    names = [n for n in dir(hookspecs) if n.startswith("anonloom_") and "register" not in n]
    observer = types.SimpleNamespace()
    for name in names:
        setattr(observer, name, hookimpl(_telling(heard, name)))
    registry.observers.add(observer)
    observers = registry.observers
    observers.run_started(run_id="r", pipeline="p", stages=())
    observers.stage_started(run_id="r", stage="s", kind="partitioner", method="cut", parameters={})
    observers.stage_progress(run_id="r", stage="s", done=0, total=1)
    observers.stage_noted(run_id="r", stage="s", text="compiling")
    observers.stage_finished(run_id="r", stage="s", seconds=0.1, rows=3, classes=None, suppressed=0)
    observers.release_checked(run_id="r", model="m", holds=True, classes=0, rows=0)
    observers.run_finished(run_id="r", status="published", seconds=1.0)
    assert sorted(names) == sorted(heard)


def _telling(heard, name):
    def hook(run_id):
        heard.append(name)

    return hook
