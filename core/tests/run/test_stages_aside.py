"""Stages as several parties run them: seeds of their own, and only one account of what happened."""

import attrs
import numpy as np
import pytest

from anonloom import Finding, Guard, Sampler, StageContext
from anonloom._run.stage_log import Journal
from anonloom._run.stages import PipelineStages
from anonloom.api import hookimpl
from anonloom.errors import PluginError


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
    return PipelineStages(spec.stages, Journal(registry, "run", 7), spec.privacy)


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
    tossing.seeded(1)
    one = tossing.draw(LABELS)
    tossing.seeded(2)
    other = tossing.draw(LABELS)
    tossing.seeded(1)
    assert one.tolist() == tossing.draw(LABELS).tolist()
    assert one.tolist() != other.tolist()


def test_every_party_with_a_seed_draws_the_same(tossing):
    tossing.seeded(5)
    assert tossing.draw(LABELS).tolist() == tossing.aside(5).draw(LABELS).tolist()
    assert tossing.draw(LABELS).tolist() != tossing.aside(6).draw(LABELS).tolist()


def test_the_account_of_a_run_goes_on_with_another_seed(tossing):
    journal = tossing.journal
    tossing.seeded(5)
    tossing.draw(LABELS)
    # Whoever holds the journal of the run has all findings and times, whatever the seed.
    assert 0 <= journal.findings["sampler"]["coin"].value < 1
    assert {"sampler"} == set(journal.seconds)
    assert 7 == journal.seed


# --- aside ----------------------------------------------------------------------------------------


def test_what_another_party_does_is_told_to_nobody(stages, table, listener):
    other = stages.aside(7)
    release = run_all(other, table)
    other.sample(release)
    assert [] == listener.heard
    assert ({}, {}) == (stages.journal.findings, stages.journal.seconds)
    assert (None, None, None) == (stages.classes, stages.prepared, stages.before_sampling)
    own = run_all(stages, table)
    assert own.frame.equals(release.frame)
    assert ("partitioner", "working") in listener.heard
    assert ("generalizer", 12, 3, 0) in listener.heard


def test_another_party_still_keeps_its_own_account(stages, table):
    other = stages.aside(7)
    run_all(other, table)
    assert {"partitioner", "generalizer"} == set(other.journal.findings)


def test_a_journal_aside_has_the_settings_of_the_run(registry, listener):
    journal = Journal(registry, "run", 7, workers=3)
    aside = journal.aside(9)
    assert ("run", 9, 3) == (aside.run_id, aside.seed, aside.workers)
    assert aside.registry is journal.registry
    assert aside.findings is not journal.findings
    assert aside.observers is not registry.observers


def test_observers_who_come_later_are_not_told_either(stages, table, registry):
    other = stages.aside(7)
    late = Listener()
    registry.observers.add(late)
    run_all(other, table)
    assert [] == late.heard


# --- drawing --------------------------------------------------------------------------------------


def test_the_sampler_gets_classes_and_suppressed_rows_as_the_last(tossing):
    tossing.draw(np.array([1, -1, 0, 1, -1, 5]))
    given = Tossing.given
    assert [[2], [0, 3], [5], [1, 4]] == [
        given.members(index).tolist() for index in range(len(given))
    ]


def test_first_halves_are_drawn_from_each_class(stages):
    kept = stages.draw(np.array([4, 4, 0, 4, 0, -1, -1, -1]))
    assert [0, 1, 2, 5, 6] == np.flatnonzero(kept).tolist()


def test_drawing_is_what_sampling_does(stages, table):
    release = run_all(stages, table)
    kept = stages.draw(release.classes)
    sampled = stages.sample(release)
    assert release.origin[kept].tolist() == sampled.origin.tolist()


def test_without_a_sampler_everything_is_kept(stages):
    without = PipelineStages(stages.steps[:-1], stages.journal)
    assert [True] * 3 == without.draw(np.array([0, -1, 0])).tolist()
    assert [] == without.draw(np.array([], np.int64)).tolist()


def test_nothing_can_be_drawn_from(stages):
    assert [] == stages.draw(np.array([], np.int64)).tolist()


def test_a_sampler_that_breaks_its_promise_is_named(stages):
    class Short(Tossing):
        def sample(self, classes, context):
            return np.ones(1, bool)

    *others, last = stages.steps
    broken = PipelineStages([*others, Step(last.id, last.entry, Short())], stages.journal)
    with pytest.raises(PluginError) as caught:
        broken.draw(LABELS)
    assert (
        "sampler 'first-half' of anonloom-core broke its promise: it must return a mask over 64 "
        "rows\n    Report it to its author; `anonloom plugins check first-half` shows more."
    ) == str(caught.value)


def test_what_was_drawn_from_is_noted_for_audits(stages, table):
    release = run_all(stages, table)
    stages.drawn(release)
    assert release is stages.before_sampling
    without = PipelineStages(stages.steps[:-1], stages.journal)
    without.drawn(release)
    assert without.before_sampling is None


def test_who_was_drawn_elsewhere_is_known_by_rows_of_the_source(clinic, registry, table):
    clinic.change("  - partitioner: runs\n", "  - sampler: first-half\n  - partitioner: runs\n")
    spec = clinic.pipeline("stages.sampler.promise=false").spec
    stages = PipelineStages(spec.stages, Journal(registry, "run", 7), spec.privacy)
    # A party that knows rows only by an order of its own.
    release = run_all(stages, attrs.evolve(table, origin=np.arange(12)[::-1].copy()))
    assert [11, 10, 9, 8, 7, 6] == stages.presample.kept.tolist()
    stages.drawn(attrs.evolve(release, origin=np.arange(6)), table.origin)
    assert (table.origin.tolist(), list(range(6))) == (
        stages.presample.among.tolist(),
        stages.presample.kept.tolist(),
    )
    stages.drawn(attrs.evolve(release, origin=None), table.origin)
    assert stages.presample is None


# --- rules ----------------------------------------------------------------------------------------


def test_the_same_stages_have_the_same_rules(stages, tossing):
    assert stages.rules() == stages.aside(99).rules()
    other = PipelineStages(stages.steps, stages.journal.aside(1), stages.privacy)
    assert stages.rules() == other.rules()


@pytest.mark.parametrize("setting", ["stages.partitioner.length=5", "privacy.size.k=4"])
def test_other_parameters_are_other_rules(clinic, stages, registry, setting):
    settings = ["stages.partitioner.note=working", setting]
    spec = clinic.pipeline(*settings).spec
    other = PipelineStages(spec.stages, stages.journal, spec.privacy)
    assert stages.rules() != other.rules()


def test_rules_name_methods_with_their_versions(stages):
    for text in ('"runs"', '"size"', '"first-half"', '"length": 4', '"k": 3', "anonloom-core"):
        assert text in stages.rules()
