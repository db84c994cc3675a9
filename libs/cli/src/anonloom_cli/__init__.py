"""The command `anonloom`: finds the command's module and turns errors into exit codes.

Nothing but argparse is imported before a command is known: ``anonloom --help`` is asked for often
and must answer at once. A command is a module with ``configure(parser)`` and
``execute(arguments) -> int``; plugins add theirs through ``anonloom_register_commands``.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

# As in `typing`, which takes longer to import than all that is needed here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from _typeshed import SupportsWrite

__all__ = [
    "COMMANDS",
    "main",
]

#: Name -> module and one line for ``--help``.
COMMANDS: dict[str, tuple[str, str]] = {
    "check": ("anonloom_cli.check", "check a pipeline file and say everything that is wrong"),
    "plan": ("anonloom_cli.plan", "show what a pipeline would do, without doing it"),
    "run": ("anonloom_cli.run", "run a pipeline and publish its release"),
    "plugins": ("anonloom_cli.plugins", "list, show and check what is installed"),
}

_EPILOG = """\
Plugins add commands: see 'anonloom plugins'.

exit codes: 0 done, 2 pipeline or usage, 3 privacy, suppression or fail_if, 4 data,
5 integrity or transport, 1 a bug
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    _prepare_streams()
    if any("\0" in word for word in words):
        # No shell can give one; a program that calls this can.
        complain("an argument holds a NUL character, which nothing can be named by")
        return 2
    try:
        code = _run(words)
        # Output that is still in the buffer can meet a closed pipe, too.
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough.
        give_up_output()
        return 141
    except BaseException as error:
        # SystemExit is no way out of a command: whoever raises it, nothing is known to be done.
        return _explain(error, debug)


def complain(text: str) -> None:
    """Say what went wrong on standard error, if anybody can be told there."""
    with suppress(OSError, ValueError):
        print(f"anonloom: {text}", file=sys.stderr, flush=True)


def give_up_output() -> None:
    """Throw away what standard output did not take; Python would complain once more at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _prepare_streams() -> None:
    """Make both outputs usable: closed ones swallow, narrow ones escape what they cannot show."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif getattr(stream, "errors", "") == "strict":
            # UTF-8 cannot show everything either: a path may hold any bytes.
            stream.reconfigure(errors="backslashreplace")


def _run(words: list[str]) -> int:
    name = next((word for word in words if not word.startswith("-")), "")
    commands, owners = dict(COMMANDS), dict[str, str]()
    if name and name not in commands:
        added, owners = _commands_of_plugins()
        commands |= added
    parser, parsers = _parser(commands)
    try:
        if name in owners:
            from anonloom_cli.foreign import run_foreign

            return run_foreign(owners[name], commands[name][0], parser, parsers[name], words)
        if name in commands:
            module = import_module(commands[name][0])
            module.configure(parsers[name])
            parsers[name].set_defaults(execute=module.execute)
        elif name:
            from anonloom_cli.foreign import unknown_command

            parser.exit(2, f"anonloom: {unknown_command(name, commands)}\n")
        options = parser.parse_args(words)
    except ParserExit as ended:
        return ended.status
    if not name:
        parser.print_help()
        return 2
    code: int = options.execute(options)
    return code


class ParserExit(Exception):
    """The command line was answered by argparse: by its help, or by what is wrong with it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Parser(argparse.ArgumentParser):
    """Ends with an error of ours, so that nobody else's SystemExit is taken for its answer."""

    def exit(self, status: int = 0, message: str | None = None) -> "NoReturn":
        if message:
            self._print_message(message, sys.stderr)
        raise ParserExit(status)

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        if file is not None and file is sys.stdout:
            # argparse would take no notice of an output that is full.
            file.write(message)
        else:
            super()._print_message(message, file)


def _parser(
    commands: dict[str, tuple[str, str]],
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    parser: argparse.ArgumentParser = _Parser(
        prog="anonloom",
        description="Publish personal tables safely: pipelines of privacy methods.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    below = parser.add_subparsers(title="commands", metavar="COMMAND")
    parsers = {}
    for name, (_, summary) in commands.items():
        parsers[name] = below.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        parsers[name].add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return parser, parsers


class _Version(argparse.Action):
    """Prints the version of core."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from anonloom import __version__

        print(f"anonloom {__version__}")
        parser.exit(0)


def _commands_of_plugins() -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Return the commands that plugins add, and whose each of them is."""
    from anonloom import Registry
    from anonloom_cli.foreign import command_packages

    # A command of core, or one that is known as another package's, cannot be replaced: no other
    # plugin may become `anonloom verify`.
    registry = Registry.installed()
    packages = command_packages(registry)
    added = [
        item
        for item in registry.commands
        if item.command.name not in COMMANDS
        and packages.get(item.command.name, item.distribution) == item.distribution
    ]
    return (
        {item.command.name: (item.command.target, item.command.summary) for item in added},
        {item.command.name: item.label for item in added},
    )


def _explain(error: BaseException, debug: bool) -> int:
    """Say what went wrong on standard error and return the exit code."""
    from anonloom.errors import AnonloomError, SpecError, UsageError
    from anonloom.registry import left_by, strange

    if debug:
        import traceback

        with suppress(OSError, ValueError):
            traceback.print_exception(error)
    if isinstance(error, SpecError):
        count = len(error.problems)
        with suppress(OSError, ValueError):
            print(f"{error}\n\n{count} problem{'s' if count > 1 else ''}", file=sys.stderr)
        return error.exit_code
    if isinstance(error, AnonloomError):
        complain(str(error))
        return error.exit_code
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:
            # It may have been standard output, which Python would try once more at exit.
            give_up_output()
        # What the machine does not allow is no bug; a path and the system's words are no cells.
        where = f"'{os.fspath(error.filename)}'" if error.filename else "a file or the output"
        complain(f"{where} cannot be used: {error.strerror}")
        return UsageError.exit_code
    if isinstance(error, MemoryError):
        complain("there is not enough memory for this")
        return UsageError.exit_code
    # Neither the text of a strange error nor its traceback: both may hold a cell of the table.
    whose = f" of {left_by(error)}" if left_by(error) else ""
    complain(
        f"this is a bug{whose}: {strange(error)}\n"
        "    run it again with --debug for the details, and look for personal data in them "
        "before you pass them on"
    )
    return 1
