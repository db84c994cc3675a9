"""Stages as several parties run them: seeds of their own, and only one account of what happened."""

import attrs
import numpy as np
import pytest

from anonloom import Finding, Guard, Sampler, StageContext
from anonloom.api import hookimpl
from anonloom.errors import PluginError
from anonloom_runner.stage_log import StageLog
from anonloom_runner.stages import PipelineStages


class Listener:
    """Writes down which stages it hears of."""

    def __init__(self):
        self.heard = []

    @hookimpl
    def anonloom_stage_started(self, stage):
        self.heard.append(f"{stage} started")

    @hookimpl
    def anonloom_stage_finished(self, stage, rows, classes, suppressed):
        self.heard.append((stage, rows, classes, suppressed))

    @hookimpl
    def anonloom_stage_progress(self, stage, done, total):
        self.heard.append((stage, done, total))

    @hookimpl
    def anonloom_stage_noted(self, stage, text):
        self.heard.append((stage, text))


@attrs.frozen
class Step:
    """A stage of a method that was never registered, in the place of one that was."""

    id: str
    entry: object
    method: object


@attrs.frozen(kw_only=True)
class Tossing(Sampler):
    """Keeps each row with the toss of a coin, and remembers what it was given."""

    def sample(self, classes, context):
        Tossing.given = classes
        context.find(
            Finding(name="coin", value=float(context.rng.random()), meaning="The first coin.")
        )
        return context.rng.random(len(classes.rows)) < 0.5

    def least_kept(self, sizes):
        return np.zeros_like(sizes)


@pytest.fixture
def listener(registry):
    result = Listener()
    registry.observers.add(result)
    return result


@pytest.fixture
def stages(clinic, registry):
    """The clinic's stages with a sampler at the end."""
    clinic.change(
        "  - generalizer: as-declared\n", "  - generalizer: as-declared\n  - sampler: first-half\n"
    )
    spec = clinic.pipeline("stages.partitioner.note=working").spec
    return PipelineStages(spec.stages, StageLog(registry, "run", 7), spec.privacy)


@pytest.fixture
def tossing(stages):
    """The same with a sampler that draws."""
    *others, last = stages.steps
    return PipelineStages(
        [*others, Step(last.id, last.entry, Tossing())], stages.journal, stages.privacy
    )


@pytest.fixture
def table(clinic):
    spec = clinic.pipeline().spec
    return spec.data.source.method.load(spec.data.schema, StageContext())


def run_all(stages, table):
    prepared = stages.prepare(table)
    classes = stages.partition(prepared, Guard(()))
    return stages.generalize(prepared, classes)


# --- seeds ----------------------------------------------------------------------------------------

LABELS = np.repeat(np.arange(8), 8)


def test_another_seed_draws_other_rows_and_the_same_seed_the_same(tossing):
    first = tossing.with_seed(1).sample_mask(LABELS)
    other = tossing.with_seed(2).sample_mask(LABELS)
    assert first.tolist() == tossing.with_seed(1).sample_mask(LABELS).tolist()
    assert first.tolist() != other.tolist()


def test_every_party_with_a_seed_draws_the_same(tossing):
    own = tossing.with_seed(5).sample_mask(LABELS)
    assert own.tolist() == tossing.for_server(5).sample_mask(LABELS).tolist()
    assert own.tolist() != tossing.for_server(6).sample_mask(LABELS).tolist()


def test_the_account_of_a_run_goes_on_with_another_seed(tossing):
    journal = tossing.journal
    tossing.with_seed(5).sample_mask(LABELS)
    # Whoever holds the journal of the run has all findings and times, whatever the seed.
    assert 0 <= journal.findings["sampler"]["coin"].value < 1
    assert {"sampler"} == set(journal.seconds)
    assert 7 == journal.seed


# --- servers --------------------------------------------------------------------------------------


def test_what_another_party_does_is_told_to_nobody(stages, table, listener):
    other = stages.for_server(7)
    release = run_all(other, table)
    other.run(table, Guard(()))
    assert [] == listener.heard
    assert ({}, {}) == (stages.journal.findings, stages.journal.seconds)
    own = run_all(stages, table)
    assert own.frame.equals(release.frame)
    assert ("partitioner", "working") in listener.heard
    assert ("generalizer", 12, 3, 0) in listener.heard


def test_another_party_still_keeps_its_own_account(stages, table):
    other = stages.for_server(7)
    run_all(other, table)
    assert {"partitioner", "generalizer"} == set(other.journal.findings)


def test_a_journal_aside_has_the_settings_of_the_run(registry, listener):
    journal = StageLog(registry, "run", 7, workers=3)
    aside = journal.aside(9)
    assert ("run", 9, 3) == (aside.run_id, aside.seed, aside.workers)
    assert aside.registry is journal.registry
    assert aside.findings is not journal.findings
    assert aside.observers is not registry.observers


def test_observers_who_come_later_are_not_told_either(stages, table, registry):
    other = stages.for_server(7)
    late = Listener()
    registry.observers.add(late)
    run_all(other, table)
    assert [] == late.heard


# --- sampling -------------------------------------------------------------------------------------


def test_the_sampler_gets_classes_and_suppressed_rows_as_the_last(tossing):
    tossing.sample_mask(np.array([1, -1, 0, 1, -1, 5]))
    given = Tossing.given
    assert [[2], [0, 3], [5], [1, 4]] == [
        given.members(index).tolist() for index in range(len(given))
    ]


def test_first_halves_are_drawn_from_each_class(stages):
    kept = stages.sample_mask(np.array([4, 4, 0, 4, 0, -1, -1, -1]))
    assert [0, 1, 2, 5, 6] == np.flatnonzero(kept).tolist()


def test_drawing_is_what_sampling_does(stages, table):
    release = run_all(stages, table)
    kept = stages.sample_mask(release.classes)
    collection = stages.run(table, Guard(()))
    assert release.origin[kept].tolist() == collection.release.origin.tolist()
    assert release.frame.equals(collection.sampling.before.frame)


def test_without_a_sampler_everything_is_kept(stages):
    without = PipelineStages(stages.steps[:-1], stages.journal)
    assert [True] * 3 == without.sample_mask(np.array([0, -1, 0])).tolist()
    assert [] == without.sample_mask(np.array([], np.int64)).tolist()


def test_nothing_can_be_drawn_from(stages):
    assert [] == stages.sample_mask(np.array([], np.int64)).tolist()


def test_a_sampler_that_breaks_its_promise_is_named(stages):
    class Short(Tossing):
        def sample(self, classes, context):
            return np.ones(1, bool)

    *others, last = stages.steps
    broken = PipelineStages([*others, Step(last.id, last.entry, Short())], stages.journal)
    with pytest.raises(PluginError) as caught:
        broken.sample_mask(LABELS)
    assert (
        "sampler 'first-half' of anonloom-core broke its promise: it must return a mask over 64 "
        "rows\n    Report it to its author; `anonloom plugins check first-half` shows more."
    ) == str(caught.value)


def test_what_was_drawn_from_is_noted_for_audits(stages, table):
    release = run_all(stages, table)
    assert release is stages.record_sampling(release).before
    without = PipelineStages(stages.steps[:-1], stages.journal)
    assert without.record_sampling(release).before is None


def test_who_was_drawn_elsewhere_is_known_by_rows_of_the_source(clinic, registry, table):
    clinic.change("  - partitioner: runs\n", "  - sampler: first-half\n  - partitioner: runs\n")
    spec = clinic.pipeline("stages.sampler.promise=false").spec
    stages = PipelineStages(spec.stages, StageLog(registry, "run", 7), spec.privacy)
    # A party that knows rows only by an order of its own.
    reordered = attrs.evolve(table, origin=np.arange(12)[::-1].copy())
    release = run_all(stages, reordered)
    presample = stages.run(reordered, Guard(())).sampling.presample
    assert [11, 10, 9, 8, 7, 6] == presample.kept.tolist()
    traced = attrs.evolve(release, origin=np.arange(6))
    presample = stages.record_sampling(traced, table.origin).presample
    assert (table.origin.tolist(), list(range(6))) == (
        presample.among.tolist(),
        presample.kept.tolist(),
    )
    assert stages.record_sampling(traced).presample is None
    untraced = attrs.evolve(release, origin=None)
    assert stages.record_sampling(untraced, table.origin).presample is None


# --- fingerprint ----------------------------------------------------------------------------------


def test_the_same_stages_have_the_same_fingerprint(stages, tossing):
    assert stages.fingerprint() == stages.for_server(99).fingerprint()
    other = PipelineStages(stages.steps, stages.journal.aside(1), stages.privacy)
    assert stages.fingerprint() == other.fingerprint()


@pytest.mark.parametrize("setting", ["stages.partitioner.length=5", "privacy.size.k=4"])
def test_other_parameters_are_another_fingerprint(clinic, stages, registry, setting):
    settings = ["stages.partitioner.note=working", setting]
    spec = clinic.pipeline(*settings).spec
    other = PipelineStages(spec.stages, stages.journal, spec.privacy)
    assert stages.fingerprint() != other.fingerprint()


def test_a_fingerprint_names_methods_with_their_versions(stages):
    for text in ('"runs"', '"size"', '"first-half"', '"length": 4', '"k": 3', "anonloom-core"):
        assert text in stages.fingerprint()
