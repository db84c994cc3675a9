"""Progress: plain lines for logs, a bar that comes and goes on a terminal."""

import io

import pytest

from anonloom import Registry
from anonloom.api import hookimpl
from anonloom_cli import main, progress
from anonloom_runner.stage_log import StageLog


def test_lines_say_what_every_stage_left(clinic, registry, capsys):
    registry.observers.add(progress.Lines())
    clinic.pipeline("stages.partitioner.length=6").run()

    lines = [line.rpartition(" (")[0] for line in capsys.readouterr().err.splitlines()]
    assert [
        "source: 12 rows",
        "partitioner: 12 rows, 2 classes",
        "generalizer: 12 rows, 2 classes",
        "collector: 12 rows",
        "counting: 12 rows",
    ] == lines


def test_the_bar_shows_stages_and_is_gone_when_the_run_ends(clinic, registry):
    from rich.console import Console

    bar = progress.Bar()
    screen = io.StringIO()
    bar._progress.live.console = Console(file=screen, force_terminal=True, width=80)
    registry.observers.add(bar)
    clinic.pipeline().run()

    assert "partitioner (runs)" in screen.getvalue()
    assert bar._progress.finished
    assert not bar._progress.live.is_started


def test_lines_pass_on_what_a_stage_notes_before_it_is_done(clinic, registry, capsys):
    registry.observers.add(progress.Lines())
    clinic.pipeline("stages.partitioner.note='compiling kernels, once'").run()

    lines = capsys.readouterr().err.splitlines()
    noted = lines.index("partitioner: compiling kernels, once")
    assert lines[noted + 1].startswith("partitioner: 12 rows, ")


def test_the_bar_shows_what_a_stage_notes_until_the_stage_is_done(clinic, registry):
    from rich.console import Console

    bar = progress.Bar()
    screen = io.StringIO()
    bar._progress.live.console = Console(file=screen, force_terminal=True, width=100)
    # Drawn when told, so that nothing depends on the clock.
    bar._progress.live.auto_refresh = False
    shown = []

    class Watching:
        @hookimpl
        def anonloom_stage_noted(self):
            bar._progress.refresh()
            shown.append("compiling kernels, once" in screen.getvalue())

    registry.observers.add(bar)
    registry.observers.add(Watching())
    clinic.pipeline("stages.partitioner.note='compiling kernels, once'").run()

    assert [True] == shown
    assert "12 rows" in [task.fields["note"] for task in bar._progress.tasks]


def test_a_refused_run_takes_its_bar_away(clinic, registry):
    import pytest

    from anonloom.errors import PrivacyError

    bar = progress.Bar()
    registry.observers.add(bar)
    with pytest.raises(PrivacyError):
        clinic.pipeline("privacy.size.k=13").run()

    assert not bar._progress.live.is_started


def test_standard_error_that_is_no_terminal_gets_lines():
    assert isinstance(progress.observer(), progress.Lines)


def test_a_command_that_is_over_shows_nothing_of_the_next(clinic, registry, capsys, monkeypatch):
    monkeypatch.setattr(Registry, "_environment", registry)
    for refused in ((), ("--set", "privacy.size.k=13")):
        code = main(["run", str(clinic.file), "--replace", *refused])
        assert (3 if refused else 0) == code
    assert "source: 12 rows" in capsys.readouterr().err
    assert 0 == main(["run", str(clinic.file), "--replace", "--quiet"])
    assert "" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("observers", "watched"), [((), False), (("Lines",), False), (("Bar",), True)]
)
def test_a_stage_knows_whether_anybody_sees_its_progress(clinic, registry, observers, watched):
    for name in observers:
        registry.observers.add(getattr(progress, name)())
    pipeline = clinic.pipeline()
    journal = StageLog(registry, "run", 7)
    assert watched is registry.observers.hears("anonloom_stage_progress")
    registry.observers.run_started(run_id="run", pipeline="clinic", stages=())
    with journal.stage(pipeline.spec.collect) as (context, _):
        assert watched is context.watched
    with journal.aside(8).stage(pipeline.spec.collect) as (context, _):
        assert not context.watched
    registry.observers.run_finished(run_id="run", status="failed", seconds=0.0)
