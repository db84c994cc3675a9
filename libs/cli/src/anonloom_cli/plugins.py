"""`anonloom plugins`: what is installed, what a method takes, whether it keeps its promise."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from anonloom import Registry
from anonloom.errors import PluginError, UsageError, comma_list, did_you_mean
from anonloom.registry import Entry


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    below = parser.add_subparsers(dest="action", metavar="ACTION", prog=parser.prog)
    shown = below.add_parser("list", help="list methods, commands and broken plugins (the default)")
    shown.add_argument("--kind", help="only this kind")
    for action, summary in (
        ("show", "show what a method is and which parameters it takes"),
        ("check", "run the conformance checks of a method"),
    ):
        one = below.add_parser(action, help=summary)
        one.add_argument("name", metavar="NAME", help="the method, or distribution:method")
        one.add_argument("--kind", help="its kind, if methods of several kinds have this name")
    one.add_argument(
        "--with",
        dest="parameters",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter to check it with, such as k=5; repeatable; default: the class's example",
    )


def execute(arguments: argparse.Namespace) -> int:
    """List, show or check."""
    registry = Registry.installed()
    if arguments.action == "show":
        for entry in _called(registry, arguments.name, arguments.kind):
            for line in show(registry, entry):
                print(line)
        return 0
    if arguments.action == "check":
        return _check(registry, arguments.name, arguments.kind, _given(arguments.parameters))
    for line in listing(registry, _key(registry, getattr(arguments, "kind", None))):
        print(line)
    return 0


def _key(registry: Registry, word: str | None) -> str | None:
    if word is None:
        return None
    kind = registry.kinds.find(word)
    if kind is None:
        guess = did_you_mean(word, registry.kinds) or f"kinds are: {comma_list(registry.kinds)}"
        raise UsageError(f"there is no kind {word!r}", hint=guess)
    return kind.key


def _called(registry: Registry, name: str, kind: str | None) -> list[Entry]:
    """Return every method of this name, whatever its kind."""
    keys = [key for key in (_key(registry, kind),) if key] or list(registry.kinds)
    results = []
    plain = name.rpartition(":")[2]
    for key in keys:
        if any(entry.name == plain for entry in registry.methods(key)):
            results.append(registry.find(key, name))
    if results:
        return results
    if len(keys) == 1:
        registry.find(keys[0], name)
    names = {entry.name for key in keys for entry in registry.methods(key)}
    hints = [did_you_mean(name, names), *(f"not loaded: {broken}" for broken in registry.broken)]
    hint = "\n".join(filter(None, hints)) or "see 'anonloom plugins'"
    raise PluginError(f"no method is named {name!r}", hint=hint)


def listing(registry: Registry, kind: str | None = None) -> Iterator[str]:
    """Return the lines of the list."""
    entries = [entry for entry in registry.entries if kind in (None, entry.kind)]
    names = max((len(entry.name) for entry in entries), default=0)
    owners = max((len(entry.owner) for entry in entries), default=0)
    for key, each in registry.kinds.items():
        methods = [entry for entry in entries if entry.kind == key]
        if methods:
            yield f"{each.plural}"
        for entry in methods:
            yield f"  {entry.name:<{names}}  {entry.owner:<{owners}}  {entry.method.summary}"
    if kind is None and registry.commands:
        yield "commands"
        for offered in registry.commands:
            owner = f"{offered.distribution} {offered.version}".rstrip()
            yield f"  {offered.command.name}  {owner}  {offered.command.summary}"
    if registry.broken:
        yield "not loaded"
        yield from (f"  {broken}" for broken in registry.broken)


def show(registry: Registry, entry: Entry) -> Iterator[str]:
    """Return what there is to say about a method."""
    from anonloom.params import describe

    cls = registry.load_entry(entry)
    yield f"{entry.of.name} {entry.name} ({entry.owner})"
    yield f"  {entry.method.summary}"
    if entry.method.paper:
        yield f"  paper: {entry.method.paper}"
    yield f"  reads: {comma_list(sorted(entry.method.reads))}"
    parameters = describe(cls, registry.name_of)
    yield "  parameters" if parameters else "  no parameters"
    for parameter in (below for each in parameters for below in each.with_members()):
        default = "required" if parameter.required else f"default {_written(parameter.default)}"
        private = ", private" if parameter.private else ""
        yield f"    {parameter.name}: {parameter.words}; {default}{private}"
        yield f"      {parameter.help}"


def _written(value: object) -> str:
    import json

    return json.dumps(value)


def _given(parameters: list[str]) -> dict[str, object]:
    """Read ``name=value``, where the value is YAML."""
    given: dict[str, object] = {}
    for text in parameters:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--with must read name=value. Got {text!r} instead.")
        # Imported here: listing plugins reads no YAML.
        from anonloom.spec import read_plain

        given[name.strip()] = read_plain(value, "--with") if value.strip() else None
    return given


def _check(registry: Registry, name: str, kind: str | None, parameters: dict[str, object]) -> int:
    failed, lacking = 0, 0
    for entry in _called(registry, name, kind):
        # The kit is imported here: it brings numpy and pandas, and listing plugins must not.
        kit = registry.kit(entry.kind)
        attributes: dict[str, object] = {
            "method": registry.load_entry(entry),
            "params": parameters,
            "registry": registry,
        }
        print(f"{entry.of.name} {entry.name} ({entry.owner})")
        counts: dict[str, int] = {}
        with _status_line() as show_progress:
            if show_progress is not None:
                attributes["on_progress"] = staticmethod(show_progress)
            subject: Any = type(f"{kit.__name__}Of{entry.name}", (kit,), attributes)()
            results = subject.results()
        for result in results:
            counts[result.status] = counts.get(result.status, 0) + 1
            print(f"  {result.status:<8}  {result.check}")
            if result.detail:
                print("\n".join(f"            {line}" for line in result.detail.splitlines()))
            failed += result.status == "failed"
            lacking += result.status == "incomplete"
        print(f"  {', '.join(f'{count} {status}' for status, count in counts.items())}")
    if failed:
        raise PluginError(f"{name!r} fails {failed} check{'s' if failed > 1 else ''}")
    if lacking:
        raise PluginError(
            f"{name!r} is not checked whole: {lacking} "
            f"{'checks lack' if lacking > 1 else 'check lacks'} something that only the plugin's "
            "own tests can give",
            hint="Run the plugin's tests: pytest, in its folder.",
        )
    return 0


@contextlib.contextmanager
def _status_line() -> Iterator[Callable[[str], None] | None]:
    """Give a function that shows what is running on one line of a terminal; None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    # The kit redirects the streams while a method runs, to hear what it prints.
    terminal = sys.stderr
    try:
        yield lambda text: print(f"\r\033[K  {text[:100]}", end="", flush=True, file=terminal)
    finally:
        print("\r\033[K", end="", flush=True, file=terminal)
