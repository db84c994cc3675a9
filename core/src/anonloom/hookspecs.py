"""Every hook, in the order in which it fires: the whole plugin contract in one file.

Hooks are of two sorts, never mixed. *Registration* hooks name what a plugin offers and return a
list. *Observation* hooks are told what happens during a run and return nothing. A plugin marks its
functions with ``anonloom.api.hookimpl``, says ``ANONLOOM_API = 2``, and may leave out arguments of
an observation hook that it does not need.
"""

from anonloom.api import Command, Kind, KnownPlugin, Method, hookspec

# ---------------------------------------------------------------------------------------------
# Registration: what a plugin offers. The specification of the hook of every kind is made from its
# `Kind`; those of core's kinds are written out here, and a test compares.


@hookspec
def anonloom_register_kinds() -> list[Kind]:  # type: ignore[empty-body]  # pluggy never calls a specification
    """Name the kinds of method that the plugin adds, each with a hook of its own.

    Returns
    -------
    list of Kind
        One per kind. Key, name, hook and base are unique among all kinds; core's own come first,
        through this hook, too.

    When it is called
        Once, when the registry is first read, for all plugins before any other hook, so that the
        methods of a kind may come from plugins of other authors.
    What it must not do
        Import the module that holds the base class or the kit.
    """


@hookspec
def anonloom_register_sources() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the sources: where tables come from.

    Returns
    -------
    list of Method
        One per source; each target is a `Source`. Names are unique among all sources.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Open a file or a connection, or import the module that holds the method.
    """


@hookspec
def anonloom_register_mechanisms() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the mechanisms: protection of a whole table by perturbing, synthesizing or dropping.

    Returns
    -------
    list of Method
        One per mechanism; each target is a `Mechanism`. Names are unique among all mechanisms.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Import numpy, or the module that holds the method.
    """


@hookspec
def anonloom_register_partitioners() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the partitioners: how rows are divided into classes.

    Returns
    -------
    list of Method
        One per partitioner; each target is a `Partitioner`. Names are unique among all
        partitioners.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Import numpy, or the module that holds the method.
    """


@hookspec
def anonloom_register_outlier_handlers() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the outlier handlers: what happens to rows that fit their class badly.

    Returns
    -------
    list of Method
        One per outlier handler; each target is an `OutlierHandler`. Names are unique among all
        outlier handlers.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Import numpy, or the module that holds the method.
    """


@hookspec
def anonloom_register_generalizers() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the generalizers: how the rows of a class are made to look alike.

    Returns
    -------
    list of Method
        One per generalizer; each target is a `Generalizer`. Names are unique among all
        generalizers.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Import numpy, or the module that holds the method.
    """


@hookspec
def anonloom_register_samplers() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the samplers: which rows of each class are published.

    Returns
    -------
    list of Method
        One per sampler; each target is a `Sampler`. Names are unique among all samplers.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Import numpy, or the module that holds the method.
    """


@hookspec
def anonloom_register_privacy_models() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the privacy models: which classes may be published.

    Returns
    -------
    list of Method
        One per privacy model; each target is a `PrivacyModel`. Names are unique among all privacy
        models.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Import numpy, or the module that holds the method.
    """


@hookspec
def anonloom_register_transports() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the transports: how messages travel from their senders to the servers.

    Returns
    -------
    list of Method
        One per transport; each target is a `Transport`. Names are unique among all transports.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Open a socket, draw randomness, or import the module that holds the method.
    """


@hookspec
def anonloom_register_collectors() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the collectors: how rows reach the one who runs the stages.

    Returns
    -------
    list of Method
        One per collector; each target is a `Collector`. Names are unique among all collectors.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Open a socket, draw randomness, or import the module that holds the method.
    """


@hookspec
def anonloom_register_auditors() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the auditors: what is measured on a release before it is published.

    Returns
    -------
    list of Method
        One per auditor; each target is an `Auditor`. Names are unique among all auditors.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Import numpy, or the module that holds the method.
    """


@hookspec
def anonloom_register_integrity_schemes() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the integrity schemes: how a reader notices that a release was changed.

    Returns
    -------
    list of Method
        One per integrity scheme; each target is an `IntegrityScheme`. Names are unique among all
        integrity schemes.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Read or make keys, or import the module that holds the method.
    """


@hookspec
def anonloom_register_reporters() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the reporters: how an outcome is shown to people.

    Returns
    -------
    list of Method
        One per reporter; each target is a `Reporter`. Names are unique among all reporters.

    When it is called
        Once, when the registry is first read. Never during a run.
    What it must not do
        Import a plotting or templating package, or the module that holds the method.
    """


@hookspec
def anonloom_register_engines() -> list[Method]:  # type: ignore[empty-body]  # see above
    """Name the engines: what runs a pipeline that was read and checked.

    Returns
    -------
    list of Method
        One per engine; each target is an `Engine`. Names are unique among all engines.

    When it is called
        Once, when the registry is first read. Never during a run. One of all engines that are
        installed says ``default=True``; it runs the pipelines that name none.
    What it must not do
        Open a socket, start a process, or import the module that holds the method.
    """


@hookspec
def anonloom_register_commands() -> list[Command]:  # type: ignore[empty-body]  # see above
    """Name the commands that the plugin adds to ``anonloom``.

    Returns
    -------
    list of Command
        One per command; each target is a module with ``configure(parser)`` and
        ``execute(arguments) -> int``, which returns an exit code from 0 to 255. A name that core
        or one of its libraries uses is refused.

    When it is called
        Once, when the registry is first read, like every registration hook.
    What it must not do
        Import the command's module. The command itself must not end by ``SystemExit``, which is
        never taken for success: it returns its code, or raises an error. Only parsers of argparse
        may, those that it makes itself included.
    """


@hookspec
def anonloom_register_experiment_runners() -> list[Command]:  # type: ignore[empty-body]  # see above
    """Name what runs a pipeline file that asks for several runs.

    Returns
    -------
    list of Command
        One per runner; each name is the section of pipeline files that it runs, ``vary``, and each
        target a module with ``execute(arguments, pipeline) -> int``: the arguments of ``anonloom
        run`` and the checked `Pipeline`, whose ``spec.grid`` holds the runs. It returns an exit
        code from 0 to 255.

    When it is called
        Once, when the registry is first read. The runner itself is called by ``anonloom run``.
    What it must not do
        Import the runner's module. The runner itself must not end by ``SystemExit``.
    """


@hookspec
def anonloom_register_known_plugins() -> list[KnownPlugin]:  # type: ignore[empty-body]  # see above
    """Name plugins that exist, installed or not, so that a missing method can be named with them.

    Returns
    -------
    list of KnownPlugin
        One per plugin, with what it offers and the command that installs it.

    When it is called
        At most once, when a pipeline names a method that is not installed.
    What it must not do
        Ask a network or a package index.
    """


# ---------------------------------------------------------------------------------------------
# Observation: what happens during a run. Whatever an implementation raises, SystemExit included,
# does not stop the run; the observer is named once, as a warning.


@hookspec
def anonloom_run_started(run_id: str, pipeline: str, stages: tuple[str, ...]) -> None:
    """Hear that a run begins.

    Parameters
    ----------
    run_id : str
        The same in every hook of this run.
    pipeline : str
        The pipeline's name.
    stages : tuple of str
        The ids of everything that will be announced as a stage, in order.

    When it is called
        Once per run, after the pipeline was checked and before any data are read.
    What it must not do
        Write into the output folder: it does not exist yet.
    """


@hookspec
def anonloom_stage_started(
    run_id: str, stage: str, kind: str, method: str, parameters: dict[str, object]
) -> None:
    """Hear that a stage begins.

    Parameters
    ----------
    run_id, stage : str
        The run and the stage's id.
    kind, method : str
        The kind's YAML key and the method's name.
    parameters : dict
        The method's parameters, defaults included, as plain values; private ones are redacted.

    When it is called
        Before each stage, source and auditors included, in the order of the run.
    What it must not do
        Change `parameters`: other observers get the same object.
    """


@hookspec
def anonloom_stage_progress(run_id: str, stage: str, done: int, total: int | None) -> None:
    """Hear how far a stage is.

    Parameters
    ----------
    run_id, stage : str
        The run and the stage's id.
    done : int
        Units of work done since the stage began.
    total : int or None
        Units of work in all, if the method knows.

    When it is called
        Any number of times between the stage's start and its end; never if the method does not
        report.
    What it must not do
        Take long: it is called from the middle of the work.
    """


@hookspec
def anonloom_stage_noted(run_id: str, stage: str, text: str) -> None:
    """Hear what a stage tells whoever waits for it.

    Parameters
    ----------
    run_id, stage : str
        The run and the stage's id.
    text : str
        One sentence, such as that kernels are being compiled.

    When it is called
        Any number of times between the stage's start and its end; rarely.
    What it must not do
        Take long: it is called from the middle of the work.
    """


@hookspec
def anonloom_stage_finished(
    run_id: str,
    stage: str,
    seconds: float,
    rows: int,
    classes: int | None,
    suppressed: int,
) -> None:
    """Hear that a stage is done.

    Parameters
    ----------
    run_id, stage : str
        The run and the stage's id.
    seconds : float
        Wall time of the stage.
    rows : int
        Rows that are left, suppressed ones included.
    classes : int or None
        Classes that there are now; None while there are none.
    suppressed : int
        Rows that are suppressed now.

    When it is called
        After each stage that did not fail.
    What it must not do
        Publish the figures: they are exact counts of protected data.
    """


@hookspec
def anonloom_release_checked(run_id: str, model: str, holds: bool, classes: int, rows: int) -> None:
    """Hear what the independent check of the published table found for one privacy model.

    Parameters
    ----------
    run_id : str
        The run.
    model : str
        The privacy model's name.
    holds : bool
        Whether the published table keeps the model's promise.
    classes, rows : int
        How many published classes and rows break it; both zero if it holds.

    When it is called
        Once per privacy model, after the last stage and before anything is written.
    What it must not do
        Assume that a run whose models hold will be published: suppression and ``fail_if`` may
        still refuse it.
    """


@hookspec
def anonloom_run_finished(run_id: str, status: str, seconds: float) -> None:
    """Hear that a run is over.

    Parameters
    ----------
    run_id : str
        The run.
    status : str
        ``published``, ``dry-run``, ``refused``, ``failed`` or ``interrupted``.
    seconds : float
        Wall time of the run.

    When it is called
        Exactly once per run that was started, however it ended.
    What it must not do
        Raise in order to change the outcome: it is already decided.
    """
