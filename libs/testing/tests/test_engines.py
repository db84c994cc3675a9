"""Engines that keep their promises, and those that break one."""

import attrs
import pytest

from anonloom.errors import PrivacyError
from anonloom_runner.engine import LocalEngine
from anonloom_testing import EngineConformance


class Plain(LocalEngine):
    """The local engine under another name."""


class Overwrites(LocalEngine):
    def publish(self, spec, registry, *, to, replace=False, workers=None):
        return super().publish(spec, registry, to=to, replace=to.exists(), workers=workers)


class WritesAlways(LocalEngine):
    def run(self, spec, registry, *, workers=None):
        return super().publish(spec, registry, to=spec.publish.to, replace=True)


class LeavesTraces(LocalEngine):
    def publish(self, spec, registry, *, to, replace=False, workers=None):
        try:
            return super().publish(spec, registry, to=to, replace=replace, workers=workers)
        except PrivacyError:
            (to.parent / "release.csv").write_text("almost")
            raise


class ForgetsPrivacy(LocalEngine):
    def publish(self, spec, registry, *, to, replace=False, workers=None):
        spec = attrs.evolve(spec, privacy=(), stages=(), audit=())
        return super().publish(spec, registry, to=to, replace=replace, workers=workers)


class IgnoresFigures(LocalEngine):
    def run(self, spec, registry, *, workers=None):
        return super().run(attrs.evolve(spec, audit=()), registry, workers=workers)


class TellsEverything(LocalEngine):
    def publish(self, spec, registry, *, to, replace=False, workers=None):
        outcome = super().publish(spec, registry, to=to, replace=replace, workers=workers)
        table = spec.data.source.method.path.read_text()
        (to / "public" / "table.csv").write_text(table)
        return outcome


class OwnSeed(LocalEngine):
    def publish(self, spec, registry, *, to, replace=False, workers=None):
        spec = attrs.evolve(spec, seed=None)
        return super().publish(spec, registry, to=to, replace=replace, workers=workers)


def test_an_engine_that_keeps_its_promises_passes(judged):
    results = judged(EngineConformance, Plain)
    assert {} == results.failed
    assert len(EngineConformance.checks) == len(results)


@pytest.mark.parametrize(
    ("engine", "check", "message"),
    [
        (
            Overwrites,
            "check_an_existing_folder_is_replaced_only_when_asked",
            "publishing over a release must raise UsageError",
        ),
        (WritesAlways, "check_run_writes_nothing", "run wrote files"),
        (
            LeavesTraces,
            "check_a_broken_promise_is_refused_and_nothing_is_written",
            "a refused run left files behind",
        ),
        (
            ForgetsPrivacy,
            "check_what_is_published_satisfies_the_declared_privacy",
            "a class of 1 rows was published; at least 3 may be",
        ),
        (
            IgnoresFigures,
            "check_a_broken_promise_is_refused_and_nothing_is_written",
            "audit=[{auditor: counting, fail_if: {rows: '> 0'}}] must raise PrivacyError",
        ),
        (
            TellsEverything,
            "check_undeclared_columns_are_not_published",
            "table.csv holds such a cell",
        ),
        (OwnSeed, "check_same_seed_same_release", "two runs with one seed differ"),
    ],
)
def test_an_engine_that_breaks_a_promise_is_told_which(judged, engine, check, message):
    assert message == judged(EngineConformance, engine).failed[check]
