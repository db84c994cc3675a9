"""The command `anonloom`: finds the command's module and turns errors into exit codes.

Nothing but argparse is imported before a command is known: ``anonloom --help`` is asked for often
and must answer at once. A command is a module with ``configure(parser)`` and
``execute(arguments) -> int``; plugins add theirs through ``anonloom_register_commands``.
"""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from anonloom_cli.importing import keeping_everything

# As in `typing`, which takes longer to import than all that is needed here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, TextIO

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
    finally:
        if arguments is None:
            # The program ends: Python need not look for garbage once more in all of it.
            gc.freeze()


def complain(text: str) -> None:
    """Say what went wrong on standard error, if anybody can be told there."""
    _print_error(f"anonloom: {text}")


def _print_error(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _give_up(sys.stderr)


def give_up_output() -> None:
    """Throw away what standard output did not take."""
    _give_up(sys.stdout)


def _give_up(stream: "TextIO") -> None:
    # What is left in the buffer would be tried once more at exit, and fail: Python then ends with
    # 120, whatever a command returned.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


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
    if name and name not in COMMANDS:
        return _run_of_plugin(name, words)
    # A command that comes first is the only one that can be meant.
    first = bool(name) and words[0] == name
    parser, parsers = _parser({name: COMMANDS[name]} if first else COMMANDS)
    try:
        if name:
            with keeping_everything():
                module = import_module(COMMANDS[name][0])
            module.configure(parsers[name])
            parsers[name].set_defaults(execute=module.execute)
        options = parser.parse_args(words)
    except ParserExit as ended:
        return ended.status
    if not name:
        parser.print_help()
        return 2
    code: int = options.execute(options)
    return code


def _run_of_plugin(name: str, words: list[str]) -> int:
    """Run a command that a plugin brings, or say why there is none."""
    from anonloom import Registry
    from anonloom_cli.foreign import find_command, run_foreign, unknown_command

    with keeping_everything():
        registry = Registry.installed()
    entry = find_command(registry, name)
    if entry is None:
        complain(unknown_command(registry, name, COMMANDS))
        return 2
    target, summary = entry.command.target, entry.command.summary
    known = {} if words[0] == name else COMMANDS
    parser, parsers = _parser({**known, name: (target, summary)})
    try:
        return run_foreign(entry.label, target, parser, parsers[name], words)
    except ParserExit as ended:
        return ended.status


class ParserExit(Exception):
    """The command line was answered by argparse: by its help, or by what is wrong with it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Formatter(argparse.HelpFormatter):
    """As wide as the terminal, found out without `shutil`.

    argparse makes a formatter for every argument that is declared, and imports `shutil`, with all
    sorts of compression, to know its width.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


class _RawFormatter(_Formatter, argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of a description as they are."""


def _columns() -> int:
    """Return the width of the terminal as `shutil.get_terminal_size` does."""
    with suppress(KeyError, ValueError):
        if int(os.environ["COLUMNS"]) > 0:
            return int(os.environ["COLUMNS"])
    with suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]  # None has no fileno, as said above
    return 80


class _Parser(argparse.ArgumentParser):
    """Ends with an error of ours, so that nobody else's SystemExit is taken for its answer."""

    def __init__(self, **options: "Any") -> None:
        super().__init__(**{"formatter_class": _Formatter, **options})

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
        formatter_class=_RawFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    # With a name given, argparse does not format its usage to find one.
    below = parser.add_subparsers(title="commands", metavar="COMMAND", prog="anonloom")
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


def _explain(error: BaseException, debug: bool) -> int:
    """Say what went wrong on standard error and return the exit code."""
    from anonloom.errors import AnonloomError, SpecError, UsageError
    from anonloom.registry import left_by, strange

    if debug:
        import traceback

        _print_error("".join(traceback.format_exception(error)).rstrip("\n"))
    if isinstance(error, SpecError):
        count = len(error.problems)
        _print_error(f"{error}\n\n{count} problem{'s' if count > 1 else ''}")
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
