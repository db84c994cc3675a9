"""Running the kit: registration, parameters, expected failures, with pytest and without."""

import subprocess
import sys

import attrs
import pytest

from anonloom import Partitioner, Registry, param
from anonloom_testing import PartitionerConformance, SamplerConformance, run_checks, tables
from anonloom_testing.one_class_registry import registry_with


@attrs.frozen(kw_only=True)
class Keeps(Partitioner):
    """Keeps the given classes that the guard admits."""

    def partition(self, table, classes, guard, context):
        return classes.suppress(~guard.admits_classes(table, classes))


class Prints(Keeps):
    def partition(self, table, classes, guard, context):
        print("keeping")
        return super().partition(table, classes, guard, context)


@attrs.frozen(kw_only=True)
class Demanding(Keeps):
    depth: int = param(help="How deep.")


class WithExample(Demanding):
    example = {"depth": 2}


class Quick(PartitionerConformance):
    tables = (tables.clinic,)


def test_a_method_that_no_plugin_registers_is_blamed_for_that(judged):
    assert {
        "check_method_is_registered": f"no plugin registers {Keeps.__module__}:Keeps as a "
        "partitioner: is it installed, and does anonloom_register_partitioners name it?"
    } == judged(Quick, Keeps, registry=Registry.empty()).failed


def test_a_class_of_another_kind_is_blamed_for_that(judged):
    checks = SamplerConformance.checks[:1]

    result = judged(SamplerConformance, Keeps, registry=Registry.empty(), checks=checks)

    assert {"check_method_is_registered": "Keeps is a partitioner, not a sampler"} == result.failed


def test_a_heavy_hook_module_is_blamed_for_what_it_imports(judged, tmp_path, monkeypatch):
    (tmp_path / "heavy_hooks.py").write_text("import numpy\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert {
        "check_hook_module_is_light": "heavy_hooks imports numpy: a hook module imports "
        "anonloom.api only, and names its methods by text"
    } == judged(Quick, Keeps, hook_module="heavy_hooks").failed


def test_an_expected_failure_is_expected_and_a_mended_one_is_not(judged):
    """A reason turns a failure into an expected one; without a failure the reason is the failure."""
    reason = {"check_prints_nothing": "it is a talking method"}
    talking = judged(Quick, Prints, expected_failures=reason)
    silent = judged(Quick, Keeps, expected_failures=reason)

    expected = [result for result in talking if result.status == "expected"]
    assert [("check_prints_nothing", "it is a talking method")] == [
        (result.check, result.detail) for result in expected
    ]
    assert {} == talking.failed
    assert {
        "check_prints_nothing": "check_prints_nothing passes; take it out of expected_failures "
        "(it is a talking method)"
    } == silent.failed


@pytest.mark.parametrize(
    ("cls", "params", "status", "detail"),
    [
        (
            Demanding,
            {},
            "skipped",
            "Demanding needs the parameter 'depth': give params in the test, or the class an "
            "example",
        ),
        (Demanding, {"depth": 1}, "passed", ""),
        (WithExample, {}, "passed", ""),
    ],
)
def test_required_parameters_come_from_the_caller_or_from_the_example(cls, params, status, detail):
    results = run_checks("partitioner", "toy", registry_with("partitioner", cls), params)

    lost = next(result for result in results if result.check == "check_no_row_is_lost")
    assert (status, detail) == (lost.status, lost.detail)
    assert all(result.good for result in results)


def test_every_result_says_what_was_promised(judged):
    promises = {result.check: result.promise for result in judged(Quick, Keeps)}

    assert (
        "Every row that was given ends in a class or in `suppressed`."
        == (promises["check_no_row_is_lost"])
    )
    assert all(promises.values())


def test_the_kit_can_be_imported_without_pytest():
    code = "import sys, anonloom_testing as kit; kit.run_checks; print('pytest' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False" == done.stdout.strip()


class TestUnderPytest(Quick):
    """The same checks as tests, as a plugin runs them."""

    method = Keeps
    hook_module = "anonloom._registry.builtin"
    registry = registry_with("partitioner", Keeps)


class TestExpectedFailureUnderPytest(Quick):
    method = Prints
    hook_module = "anonloom._registry.builtin"
    registry = registry_with("partitioner", Prints)
    expected_failures = {"check_prints_nothing": "it is a talking method"}
