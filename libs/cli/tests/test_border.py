"""No plugin ends a command: what leaves its code by SystemExit or the like is its bug."""

import argparse
import asyncio
import logging
import sys
import types
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor

import attrs
import pytest

from anonloom import Registry, Transport, param
from anonloom._registry.boundary import Border, left_by, put_around
from anonloom.api import Command, Method, hookimpl
from anonloom.errors import DataError, FaultyPluginError, PluginError
from anonloom.params import build, describe
from anonloom_cli import main
from anonloom_testing import toy_methods
from anonloom_testing.leaving_methods import LEAVING, PLACE, bug_message, leave

KINDS = Registry.empty().kinds


class Own(BaseException):
    """What a plugin may think of."""


#: Every entry that a run calls.
RUN = [
    *((kind, "__attrs_post_init__") for kind in KINDS if kind not in ("transport", "engine")),
    ("source", "load"),
    ("mechanism", "protect"),
    ("mechanism", "problem"),
    ("partitioner", "partition"),
    ("partitioner", "problem"),
    ("partitioner", "guard_use"),
    ("partitioner", "sound"),
    ("outliers", "handle"),
    ("outliers", "problem"),
    ("generalizer", "generalize"),
    ("generalizer", "truthful"),
    ("sampler", "sample"),
    ("sampler", "least_kept"),
    ("privacy", "admits"),
    ("privacy", "min_size"),
    ("privacy", "combinations"),
    ("privacy", "problem"),
    ("collector", "collect"),
    ("collector", "problem"),
    ("collector", "guarantees"),
    ("collector", "simulated"),
    ("auditor", "audit"),
    ("auditor", "problem"),
    ("integrity", "ready"),
    ("integrity", "seal"),
    ("reporter", "write"),
]


def test_the_pipeline_of_these_tests_publishes(acme_shop, capsys):
    assert (0, "") == (main(["run", "pipeline.yaml", "--quiet"]), capsys.readouterr().err)


@pytest.mark.parametrize(("kind", "entry"), RUN)
def test_a_method_that_exits_is_a_bug_of_it_and_nothing_is_published(
    acme_shop, capsys, kind, entry
):
    LEAVING[kind, entry] = SystemExit(0)
    assert 1 == main(["run", "pipeline.yaml", "--quiet"])
    assert f"anonloom: {bug_message(kind)}\n" == capsys.readouterr().err
    assert ["clinic.csv", "pipeline.yaml"] == acme_shop.file_names()


ERRORS = [
    SystemExit(),
    SystemExit(None),
    SystemExit(3),
    SystemExit("Alice Smith"),
    GeneratorExit(),
    asyncio.CancelledError(),
    BaseExceptionGroup("several", [SystemExit(0)]),
    Own("Alice Smith"),
]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_whatever_is_neither_an_error_nor_an_interruption_is_a_bug_of_the_method(
    acme_shop, capsys, error
):
    LEAVING["partitioner", "partition"] = error
    assert 1 == main(["run", "pipeline.yaml", "--quiet"])
    printed = capsys.readouterr()
    assert f"anonloom: {bug_message('partitioner', type(error).__name__)}\n" == printed.err
    assert ["clinic.csv", "pipeline.yaml"] == acme_shop.file_names()


def test_an_interruption_passes_as_it_is(acme_shop, capsys):
    LEAVING["partitioner", "partition"] = KeyboardInterrupt()
    assert 130 == main(["run", "pipeline.yaml", "--quiet"])
    assert "anonloom: interrupted\n" == capsys.readouterr().err


def test_an_ordinary_error_is_named_with_the_method_that_it_left(acme_shop, capsys):
    LEAVING["privacy", "admits"] = KeyError("Alice Smith")
    assert 1 == main(["run", "pipeline.yaml", "--quiet"])
    assert (
        f"anonloom: {bug_message('privacy', 'KeyError')}\n"
        "    run it again with --debug for the details, and look for personal data in them "
        "before you pass them on\n"
    ) == capsys.readouterr().err


@pytest.mark.parametrize("work", ["run", "publish"])
def test_from_python_it_is_an_error_of_the_plugin(acme_shop, work):
    pipeline = acme_shop.pipeline()
    LEAVING["auditor", "audit"] = SystemExit(0)
    with pytest.raises(PluginError) as refused:
        getattr(pipeline, work)()
    assert (bug_message("auditor"), 1) == (str(refused.value), refused.value.exit_code)
    assert ["clinic.csv", "pipeline.yaml"] == acme_shop.file_names()


def test_a_method_made_in_python_is_held_to_the_same(acme_shop, acme):
    class Unregistered(toy_methods.RowCounter):
        def audit(self, case, context):
            leave("auditor", "audit")

    pipeline = acme_shop.pipeline()
    audits = tuple(attrs.evolve(use, method=Unregistered()) for use in pipeline.spec.audit)
    pipeline = attrs.evolve(pipeline, spec=attrs.evolve(pipeline.spec, audit=audits))
    LEAVING["auditor", "audit"] = SystemExit(0)
    with pytest.raises(FaultyPluginError) as refused:
        pipeline.run()
    assert bug_message("auditor") == str(refused.value)


# -- other commands ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kind", "entry"),
    [
        (["check", "pipeline.yaml"], "source", "columns"),
        (["plan", "pipeline.yaml"], "source", "columns"),
        (["plan", "pipeline.yaml"], "collector", "plan"),
        (["run", "pipeline.yaml", "--dry-run", "--quiet"], "reporter", "__attrs_post_init__"),
    ],
)
def test_every_command_that_asks_a_method_ends_with_1(acme_shop, capsys, words, kind, entry):
    LEAVING[kind, entry] = SystemExit(0)
    assert 1 == main(words)
    assert f"anonloom: {bug_message(kind)}" == capsys.readouterr().err.splitlines()[-1]


# -- parameters, imports, hooks ---------------------------------------------------------------


class Exits:
    """A check that exits wherever it is asked."""

    def __getattr__(self, name):
        sys.exit(0)

    def __call__(self, value):
        sys.exit(0)


@attrs.frozen(kw_only=True)
class Checked:
    size: int = param(help="A number.", default=attrs.Factory(lambda: sys.exit(0)), check=Exits())


@pytest.mark.parametrize("work", [lambda: build(Checked, {"size": 1}), lambda: describe(Checked)])
def test_checks_and_defaults_of_parameters_are_code_of_the_plugin(work):
    put_around(Checked, "partitioner 'checked' of acme 2.0")
    with pytest.raises(FaultyPluginError) as refused:
        work()
    assert str(refused.value).startswith(
        f"this is a bug of partitioner 'checked' of acme 2.0: SystemExit in {__file__}:"
    )


def test_a_class_whose_import_exits(acme_shop, capsys, registry, monkeypatch):
    (acme_shop.folder / "acme_exits.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(acme_shop.folder)
    method = Method(name="exits", target="acme_exits:Exits", summary="Leaves.")
    plugin = types.SimpleNamespace(
        ANONLOOM_API=2, anonloom_register_partitioners=hookimpl(lambda: [method])
    )
    assert registry.register(plugin, distribution="exits", version="1")
    expected = (
        "anonloom: this is a bug of partitioner 'exits' of exits 1: SystemExit in "
        f"{acme_shop.folder / 'acme_exits.py'}:2\n"
    )
    acme_shop.change("acme-partitioner", "exits")
    for words in (["check", "pipeline.yaml"], ["plugins", "show", "exits"]):
        assert (1, ("", expected)) == (main(words), capsys.readouterr())


@pytest.mark.parametrize("error", [*ERRORS, ValueError("no")], ids=repr)
def test_a_registration_hook_that_exits_makes_a_broken_plugin(registry, error):
    def register():
        raise error

    plugin = types.SimpleNamespace(ANONLOOM_API=2, anonloom_register_samplers=hookimpl(register))
    assert not registry.register(plugin, distribution="acme", version="1")
    (broken,) = registry.broken
    words = f"{type(error).__name__}: {error}".rstrip(": ")
    assert f"anonloom_register_samplers failed: {words}" == broken.reason


def test_a_plugin_that_exits_when_it_is_looked_at_is_broken(registry):
    class Shy:
        def __getattr__(self, name):
            sys.exit("do not look")

    assert not registry.register(Shy(), distribution="shy")
    assert ["SystemExit: do not look"] == [broken.reason for broken in registry.broken]


# -- observers --------------------------------------------------------------------------------


class Leaver:
    """An observer that leaves every hook by an error."""

    def __init__(self, error):
        self.error = error

    @hookimpl
    def anonloom_run_started(self):
        raise self.error

    @hookimpl
    def anonloom_stage_finished(self):
        raise self.error

    @hookimpl
    def anonloom_run_finished(self):
        raise self.error


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_an_observer_cannot_stop_a_run_and_is_named_once(acme_shop, registry, caplog, error):
    leaving = Leaver(error)
    leaving.ANONLOOM_API = 2
    assert registry.register(leaving, distribution="watch", version="4")
    with caplog.at_level(logging.WARNING, logger="anonloom"):
        assert 0 == main(["run", "pipeline.yaml", "--quiet"])
    words = f"{type(error).__name__}: {error}".rstrip(": ")
    assert [
        (
            "WARNING",
            f"the run goes on, but observer watch 4 failed in anonloom_run_started: {words}",
        )
    ] == [(record.levelname, record.getMessage()) for record in caplog.records]


def test_an_observer_passes_an_interruption_on(acme_shop, registry):
    registry.observers.add(Leaver(KeyboardInterrupt()))
    assert 130 == main(["run", "pipeline.yaml", "--quiet"])


# -- commands of plugins ----------------------------------------------------------------------


@pytest.fixture
def serve(registry, monkeypatch):
    """Give a command of a plugin its code, and run it."""
    command = Command(name="serve", target="acme_serve", summary="Serves.")
    plugin = types.SimpleNamespace(
        ANONLOOM_API=2, anonloom_register_commands=hookimpl(lambda: [command])
    )
    assert registry.register(plugin, distribution="acme", version="2.0")
    monkeypatch.setattr(Registry, "_environment", registry)

    def run(execute=lambda arguments: 0, configure=lambda parser: None, words=()):
        module = types.ModuleType("acme_serve")
        module.execute, module.configure = execute, configure
        monkeypatch.setitem(sys.modules, "acme_serve", module)
        return main(["serve", *words])

    return run


def exits(*_):
    sys.exit(0)


EXITS = f"{__file__}:{exits.__code__.co_firstlineno + 1}"


@pytest.mark.parametrize(
    "how", [{"execute": exits}, {"configure": exits}], ids=["execute", "configure"]
)
def test_a_command_that_exits_has_not_succeeded(serve, capsys, how):
    assert 1 == serve(**how)
    assert (
        "",
        f"anonloom: this is a bug of command 'serve' of acme 2.0: SystemExit in {EXITS}\n",
    ) == capsys.readouterr()


def test_a_command_that_exits_while_its_arguments_are_read(serve, capsys):
    def configure(parser):
        parser.add_argument("--port", type=exits)

    assert 1 == serve(configure=configure, words=["--port", "80"])
    assert f"SystemExit in {EXITS}\n" in capsys.readouterr().err


@pytest.mark.parametrize(("code", "found"), [(None, "NoneType"), (256, "256"), (-1, "-1")])
def test_a_command_must_return_an_exit_code(serve, capsys, code, found):
    """Only the last byte of a number reaches the shell: 256 would be 0."""
    assert 1 == serve(lambda arguments: code)
    assert (
        "anonloom: this is a bug of command 'serve' of acme 2.0: it must return an exit code, a "
        f"number from 0 to 255. Got {found} instead.\n"
    ) == capsys.readouterr().err


@pytest.mark.parametrize(("words", "status"), [(["--help"], 0), (["--nonsense"], 2)])
def test_a_parser_that_a_command_makes_may_answer(serve, capsys, words, status):
    def execute(arguments):
        argparse.ArgumentParser(prog="serve").parse_args(words)

    assert status == serve(execute)


def test_the_parser_that_a_command_is_given_may_refuse_later(serve, capsys):
    def configure(parser):
        parser.set_defaults(parser=parser)

    assert 2 == serve(lambda arguments: arguments.parser.error("no such port"), configure)
    assert "anonloom serve: error: no such port" == capsys.readouterr().err.splitlines()[-1]


def test_help_of_a_command_of_a_plugin_is_no_failure(serve, capsys):
    assert (0, True) == (
        serve(words=["--help"]),
        "usage: anonloom serve" in capsys.readouterr().out,
    )


def test_a_command_that_cannot_be_imported(serve, capsys, monkeypatch):
    serve()
    monkeypatch.setitem(sys.modules, "acme_serve", None)
    assert 2 == main(["serve"])
    assert (
        "anonloom: command 'serve' of acme 2.0 cannot be imported\n"
        "    ModuleNotFoundError: import of acme_serve halted; None in sys.modules\n"
    ) == capsys.readouterr().err


# -- the border itself ------------------------------------------------------------------------


def test_a_border_lets_errors_and_interruptions_pass_and_marks_them():
    for error in (DataError("no rows"), KeyboardInterrupt(), ValueError("no")):
        with pytest.raises(type(error)) as raised, Border("method 'outer'"), Border("method 'x'"):
            raise error
        assert error is raised.value
        marked = "method 'x'" if isinstance(error, ValueError) else ""
        assert marked == left_by(error)


class ClientEngine(ABC):
    """What a library declares for plugins to fill in, as that of transports does."""

    __module__ = "acme_engines.base"

    @abstractmethod
    def post(self, message):
        """Send a message."""

    @property
    @abstractmethod
    def is_acknowledged(self):
        """Whether it arrived."""


class EngineTransport(Transport):
    """The library's own transport, which says how engines are made."""

    __module__ = "acme_engines.base"

    @abstractmethod
    def client(self, notice, pins, *, entropy, clock, invitation=b""):
        """Make the engine of a client."""

    def post_all(self, clients, messages):
        """Let all clients post."""
        yield from ()


class Talking(ClientEngine):
    def post(self, message):
        leave("client", "post")
        return []

    def deposit(self, secret, record):
        return []

    def decoy(self):
        return []

    def receive(self, envelope):
        return []

    def resend(self):
        return []

    @property
    def is_acknowledged(self):
        leave("client", "is_acknowledged")


class Line(EngineTransport):
    def identity(self, entropy):
        """Nobody asks."""

    def client(self, notice, pins, *, entropy, clock, invitation=b""):
        return Talking()

    def server(self, round, seat, *, entropy, clock, saved=None):
        """Nobody asks."""

    def guarantees(self, round):
        """Nobody asks."""

    def post_all(self, clients, messages):
        for _ in clients:
            yield []
            leave("transport", "post_all")


@pytest.fixture
def line():
    put_around(Line, "transport 'line' of acme 2.0")
    return Line()


def test_what_a_method_hands_out_is_inside_the_border(line, leaving):
    client = line.client(b"", (), entropy=None, clock=None)
    LEAVING["client", "post"] = LEAVING["client", "is_acknowledged"] = SystemExit(0)
    for work in (lambda: client.post(b""), lambda: client.is_acknowledged):
        with pytest.raises(FaultyPluginError) as refused:
            work()
        assert f"this is a bug of transport 'line' of acme 2.0: SystemExit in {PLACE}" == str(
            refused.value
        )


def test_what_a_method_yields_later_is_inside_the_border(line, leaving):
    assert [[], []] == list(line.post_all([None, None], []))
    answers = line.post_all([None], [])
    assert [] == next(answers)
    LEAVING["transport", "post_all"] = GeneratorExit()
    with pytest.raises(FaultyPluginError):
        next(answers)
    # Whoever has enough may leave a generator alone.
    begun = line.post_all([None], [])
    next(begun)
    begun.close()


def test_a_subclass_of_another_plugin_is_named_for_itself(leaving):
    class Longer(Line):
        pass

    put_around(Line, "transport 'line' of acme 2.0")
    put_around(Longer, "transport 'longer' of zeta 1.0")
    LEAVING["transport", "post_all"] = SystemExit(0)
    for cls, whose in ((Longer, "'longer' of zeta 1.0"), (Line, "'line' of acme 2.0")):
        with pytest.raises(FaultyPluginError) as refused:
            list(cls().post_all([None], []))
        assert f"this is a bug of transport {whose}: SystemExit in {PLACE}" == str(refused.value)


def test_a_method_that_exits_in_a_thread(line, leaving):
    LEAVING["client", "post"] = SystemExit(0)
    client = line.client(b"", (), entropy=None, clock=None)
    with ThreadPoolExecutor(1) as pool, pytest.raises(FaultyPluginError):
        pool.submit(client.post, b"").result()
