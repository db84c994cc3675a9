"""Commands and runners of plugins: inside the border, held to what they answer, or missing."""

import argparse
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from anonloom import Registry
from anonloom.errors import FaultyPluginError, PluginError, did_you_mean
from anonloom.registry import Border, CommandEntry
from anonloom_cli.importing import keeping_everything

if TYPE_CHECKING:
    from anonloom import Pipeline

_HOOK = "anonloom_register_commands"

#: What `ArgumentParser.exit` runs: nobody else may end a command with SystemExit.
_ARGPARSE = argparse.ArgumentParser.exit.__code__


def run_foreign(
    whose: str,
    module: str,
    parser: argparse.ArgumentParser,
    below: argparse.ArgumentParser,
    words: list[str],
) -> int:
    """Run a command of a plugin and return its exit code.

    Parameters
    ----------
    whose : str
        The command as messages name it.
    module : str
        Its module, with ``configure(parser)`` and ``execute(arguments) -> int``.
    parser, below : argparse.ArgumentParser
        What reads the command line, and the part of it that the command configures.

    Raises
    ------
    FaultyPluginError
        When the command ends by SystemExit that no parser of argparse raised, or by something else
        that no code may end by, or when it returns no exit code.
    PluginError
        When it cannot be imported.
    """
    command = _import_inside(whose, module)
    try:
        with Border(whose):
            command.configure(below)
            code: object = command.execute(parser.parse_args(words))
    except FaultyPluginError as error:
        status = _argparse_status(error.__cause__)
        if status is None:
            raise
        return status
    return _check_code(whose, code)


def run_experiment(registry: Registry, arguments: argparse.Namespace, pipeline: "Pipeline") -> int:
    """Let the plugin that is installed for it run all runs of a file, and return its exit code.

    Raises
    ------
    FaultyPluginError
        When it ends by something that no code may end by, or returns no exit code.
    PluginError
        When there is none, or it cannot be imported.
    """
    entry = registry.experiment_runner("vary")
    runner = _import_inside(entry.label, entry.command.target)
    with Border(entry.label):
        code: object = runner.execute(arguments, pipeline)
    return _check_code(entry.label, code)


def _import_inside(whose: str, module: str) -> ModuleType:
    try:
        with Border(whose), keeping_everything():
            return import_module(module)
    except ImportError as error:
        raise PluginError(
            f"{whose} cannot be imported", hint=f"{type(error).__name__}: {error}"
        ) from error


def _check_code(whose: str, code: object) -> int:
    # None, and numbers that end a process with 0 because only their last byte counts, would pass
    # for success.
    if type(code) is not int or not 0 <= code <= 255:
        result = f"{code}" if type(code) is int else type(code).__name__
        raise FaultyPluginError(
            f"this is a bug of {whose}: it must return an exit code, a number from 0 to 255. "
            f"Got {result} instead."
        )
    return code


def _argparse_status(error: BaseException | None) -> int | None:
    """Return the status with which a parser that the command made itself ended, if one did."""
    if not isinstance(error, SystemExit) or not isinstance(error.code, int):
        return None
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    by_argparse = last is not None and last.tb_frame.f_code is _ARGPARSE
    return error.code if by_argparse and 0 <= error.code <= 255 else None


def find_command(registry: Registry, name: str) -> CommandEntry | None:
    """Return the plugin's command of this name, if one that may bear it is installed.

    A command that is known as one package's is nobody else's: no other plugin may become
    ``anonloom verify``.

    Raises
    ------
    PluginError
        If several packages offer it, or catalogues disagree on whose it is.
    """
    owners = command_packages(registry).get(name, ())
    offered = [
        entry
        for entry in registry.commands
        if entry.command.name == name and (not owners or entry.distribution in owners)
    ]
    if len(offered) > 1 or (offered and len(owners) > 1):
        several = sorted({*owners, *(entry.distribution for entry in offered)})
        raise PluginError(
            f"the command {name!r} is claimed by {' and '.join(several)}",
            hint="uninstall all but one of them",
        )
    return offered[0] if offered else None


def unknown_command(registry: Registry, name: str, commands: Iterable[str]) -> str:
    """Say that there is no such command, and which package brings it or what was meant.

    Parameters
    ----------
    name : str
        What was asked for.
    commands : iterable of str
        The commands that no plugin brings.
    """
    packages = command_packages(registry)
    if name not in packages:
        installed = [entry.command.name for entry in registry.commands]
        guess = did_you_mean(name, [*commands, *installed, *packages]) or "see 'anonloom --help'"
        return f"there is no command {name!r}; {guess}"
    package = packages[name][0]
    for broken in registry.broken:
        if broken.distribution == package:
            return f"the command {name!r} is missing: {broken} could not be loaded"
    install = next(
        item.install for item in registry.known_plugins() if item.distribution == package
    )
    return f"the command {name!r} is part of {package}, which is not installed\n    {install}"


def command_packages(registry: Registry) -> dict[str, tuple[str, ...]]:
    """Return the packages that catalogues name for each command, installed or not."""
    results: dict[str, tuple[str, ...]] = {}
    for plugin in registry.known_plugins():
        for hook, name in plugin.methods:
            if hook == _HOOK and plugin.distribution not in results.get(name, ()):
                results[name] = (*results.get(name, ()), plugin.distribution)
    return results
