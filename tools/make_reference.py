#!/usr/bin/env python3
"""The reference pages, written from the code: hooks, pipeline files, methods, commands, errors.

    python tools/make_reference.py           # write docs/reference/
    python tools/make_reference.py --check   # exit 1 if a page is not what would be written

The pages say nothing that depends on the machine: only methods of this repository are listed, and
neither versions nor the width of a terminal show.
"""

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path

from check_workspace import members
from error_messages import CLASSES, messages_of
from module_table import modules_page
from package_table import packages_page
from pipeline_mistakes import mistakes
from pipeline_reference import pipeline_page
from reference_table import NOTE, parameters, table

from anonloom import Registry, hookspecs
from anonloom._registry.loading import Entry
from anonloom.api import Kind
from anonloom_catalog import first_party_folders
from anonloom_cli import COMMANDS

KINDS = Registry.empty().kinds
# (kind's key, method's name) -> folder.
FIRST_PARTY = first_party_folders()
ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "reference"
CORE = ROOT / "core" / "src" / "anonloom"

_HOOKS = """\
A plugin is a module that the entry-point group `anonloom` names. It marks its functions with
`hookimpl` and says `ANONLOOM_API = 2`. Hooks are of two sorts. *Registration* hooks name what a
plugin offers and return a list. *Observation* hooks are told what happens during a run and return
nothing; they get ids, counts, timings and parameters, never a table, and an exception in one is
logged and does not stop the run. An implementation may leave out arguments that it does not need.
A function whose name begins with `anonloom_` and is no hook is an error.

A whole hook module, as `mondrian` has it:
"""

_OBSERVER = """\
An observer is a function of the same module:

```python
from anonloom.api import hookimpl


@hookimpl
def anonloom_stage_finished(stage, seconds, rows):
    with open("stages.log", "a") as log:
        log.write(f"{stage}\\t{rows}\\t{seconds:.3f}\\n")
```
"""

_METHODS = """\
The methods of this repository, by kind, in the order in which a run meets them. `anonloom
plugins` lists what is installed where you are, and `anonloom plugins show NAME` says the same as
this page. *Reads* are the roles of the columns that a method sees; it gets a table that holds no
others."""

_COMMANDS = """\
Every command takes `--help`, and `--debug` to show the traceback of an error. `anonloom
--version` prints the version. Messages go to standard error, results to standard output."""

_ERRORS = """\
Every message says where, what and, on indented lines, what would help. Messages hold names,
counts and parameters, never a cell of a table.

## Exit codes
"""

_EXIT_CODES = (
    ("0", "Done. Where that could not be printed, standard error says so."),
    (
        "1",
        "A bug, of core or of the plugin that the message names, with its place in the code; "
        "`--debug` shows the traceback. Nothing was published.",
    ),
    ("2", "The pipeline file, the command line or a plugin is wrong. Nothing was published."),
    ("3", "Privacy, suppression or `fail_if`: the release would break a promise of its pipeline."),
    ("4", "The data cannot be used as they are."),
    (
        "5",
        "Integrity or transport: a release is not what was published or could not be checked, a "
        "message was not carried.",
    ),
    ("130", "Interrupted with Ctrl-C. Nothing half written is left."),
    ("141", "The reader of the output, such as `head`, closed it."),
)

_MISTAKES = """\
Each of these files holds one mistake; the message shows the line. A file with several mistakes
gets all of their messages at once. They are the bank of wrong files of core's tests
(`core/tests/specs/bad/`), with methods of this repository in place of the tests' own."""

_OTHERS = """\
What stands between « and » is filled in. Messages that only put a column or a file before another
message are left out."""


def hooks_page() -> Iterator[str]:
    """Return the lines of the page on hooks."""
    example = ROOT / "plugins/anonymizers/mondrian/src/anonloom_mondrian/plugin.py"
    yield from (NOTE, "", "# Hooks", "", _HOOKS, "```python")
    yield from (example.read_text(encoding="utf-8").rstrip(), "```", "", _OBSERVER)
    tree = ast.parse(inspect.getsource(hookspecs))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for observing, group in groupby(functions, lambda f: "_register_" not in f.name):
        yield from (f"## {'Observation' if observing else 'Registration'}", "")
        for function in group:
            yield from _hook(function)


def signature(function: ast.FunctionDef) -> str:
    """Return name, arguments and result as they are written."""
    result = ast.unparse(function.returns) if function.returns else "None"
    return f"{function.name}({ast.unparse(function.args)}) -> {result}"


def _hook(function: ast.FunctionDef) -> Iterator[str]:
    yield from (f"### `{signature(function)}`", "")
    summary, *sections = (ast.get_docstring(function) or "").split("\n\n")
    yield from (_flowed(summary), "")
    for title, body in _titled(sections):
        if title in ("Parameters", "Returns"):
            yield from (f"{title}:", "", *_entries(body), "")
        else:
            yield from (f"**{title}.** {_flowed(body)}", "")


def _titled(sections: list[str]) -> Iterator[tuple[str, str]]:
    """Return title and body of every section, of numpydoc's and of our own two."""
    for section in sections:
        title, _, body = section.partition("\n")
        if body.startswith("---"):
            yield title, body.partition("\n")[2]
            continue
        for part in re.split(r"\n(?=\S)", section):
            title, _, body = part.partition("\n")
            yield title, body


def _entries(body: str) -> Iterator[str]:
    """Return the entries of a numpydoc section as a list."""
    for entry in re.split(r"\n(?=\S)", body):
        head, _, text = entry.partition("\n")
        names, _, type_ = head.partition(" : ")
        shown = ", ".join(f"`{name}`" for name in names.split(", ")) if type_ else names
        yield f"- {shown}{f' ({type_})' if type_ else ''}: {_flowed(text)}"


def _flowed(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")


def first_party(registry: Registry) -> dict[str, list[Entry]]:
    """Return core's methods and those of this repository, by kind."""
    return {
        key: [
            entry
            for entry in registry.methods(key)
            if entry.distribution == "anonloom-core" or _folder(entry)
        ]
        for key in KINDS
    }


def _folder(entry: Entry) -> str:
    """Return the folder that holds a method, or an empty text."""
    folder = FIRST_PARTY.get((entry.kind, entry.name), "")
    return folder if entry.distribution == f"anonloom-{folder.rpartition('/')[2]}" else ""


def methods_page() -> Iterator[str]:
    """Return the lines of the page on methods."""
    registry = Registry.installed()
    yield from (NOTE, "", "# Methods", "", _METHODS, "")
    for key, entries in first_party(registry).items():
        if entries:
            yield from (f"## {KINDS[key].plural.capitalize()}", "", _promise(KINDS[key]), "")
        for entry in entries:
            yield from _method(entry, registry)


def _promise(kind: Kind) -> str:
    """Return what the kind's base class promises."""
    module, _, name = kind.base.partition(":")
    text = inspect.getdoc(getattr(import_module(module), name)) or ""
    match = re.search(r"^Promise: (.*?)(?=\n\n|\Z)", text, re.M | re.S)
    message = _flowed(match[1]) if match else _flowed(text.partition("\n\n")[0])
    return f"Promise: {message}"


def _method(entry: Entry, registry: Registry) -> Iterator[str]:
    cls = registry.load_entry(entry)
    folder = _folder(entry)
    owner = f"[{entry.distribution}](../../{folder}/README.md)" if folder else "core"
    yield from (f"### `{entry.name}`", "", f"{entry.method.summary} From {owner}.", "")
    if entry.method.paper:
        yield from (f"Paper: {entry.method.paper}", "")
    facts = [f"Reads: {', '.join(sorted(entry.method.reads)) or 'nothing'}."]
    if entry.kind == "privacy":
        kept = "keeps" if getattr(cls, "monotone") else "can lose"  # noqa: B009  # any class
        facts.append(f"Merging admitted classes {kept} the property.")
    if entry.kind == "auditor":
        facts.append(f"Measures: {getattr(cls, 'measures', '')}.")
        facts.append(f"Needs: {', '.join(sorted(getattr(cls, 'needs', ()))) or 'nothing more'}.")
    yield from (" ".join(facts), "")
    lines = parameters(cls, registry.name_of)
    yield from (lines if len(lines) > 2 else ["No parameters."])
    yield ""


def all_commands() -> dict[str, tuple[str, str, str]]:
    """Return module, summary and distribution of every command of core and of this repository."""
    ours = {member.distribution for member in members()}
    added = {
        entry.command.name: (entry.command.target, entry.command.summary, entry.distribution)
        for entry in Registry.installed().commands
        if entry.distribution in ours
    }
    core = {name: (*facts, "anonloom-core") for name, facts in COMMANDS.items()}
    return core | dict(sorted(added.items()))


def commands_page() -> Iterator[str]:
    """Return the lines of the page on commands."""
    yield from (NOTE, "", "# Commands", "", _COMMANDS, "")
    for name, (module, summary, distribution) in all_commands().items():
        parser = argparse.ArgumentParser(prog=f"anonloom {name}", add_help=False)
        import_module(module).configure(parser)
        sentence = f"{summary[0].upper()}{summary[1:]}."
        if distribution != "anonloom-core":
            sentence += f" From {distribution}."
        yield from (f"## `anonloom {name}`", "", sentence, "")
        yield from _arguments(parser)


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    plain = [action for action in parser._actions if not _below(action)]
    words = [parser.prog, *map(_usage, plain)]
    below = [action for action in parser._actions if _below(action)]
    yield from (f"    {' '.join([*words, *('[ACTION]' for _ in below)])}", "")
    if plain:
        rows = ((f"`{_usage(action).strip('[]')}`", _help(action)) for action in plain)
        yield from (*table(("argument", "what it is for"), rows), "")
    for action in below:
        summaries = {each.dest: each.help or "" for each in action._choices_actions}  # type: ignore[attr-defined]  # argparse keeps them only there
        for name, inner in (action.choices or {}).items():  # type: ignore[attr-defined]  # parsers by name
            yield from (f"### `{parser.prog} {name}`", "", f"{_sentence(summaries[name])}", "")
            shown = argparse.ArgumentParser(
                prog=f"{parser.prog} {name}", parents=[], add_help=False
            )
            for each in inner._actions:
                if each.dest != "help":
                    shown._add_action(each)
            yield from _arguments(shown)


def _below(action: argparse.Action) -> bool:
    return isinstance(action, argparse._SubParsersAction)


def _usage(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else metavar
        return f"[{choices}]" if action.nargs == "?" else choices
    word = action.option_strings[-1]
    value = "" if action.nargs == 0 else f" {metavar}"
    return f"{word}{value}" if action.required else f"[{word}{value}]"


def _help(action: argparse.Action) -> str:
    text = _sentence(action.help or "")
    silent = action.nargs == 0 or action.default in (None, "", [], argparse.SUPPRESS)
    return text if silent else f"{text} Default: `{action.default}`."


def _sentence(text: str) -> str:
    # The name of a file or a folder stays as it is.
    named = re.match(r"\S*[./]", text)
    return f"{text if named else text[:1].upper() + text[1:]}." if text else ""


def errors_page() -> Iterator[str]:
    """Return the lines of the page on errors."""
    yield from (NOTE, "", "# Errors", "", _ERRORS, *table(("code", "meaning"), _EXIT_CODES), "")
    classes = [(f"`{c.__name__}`", str(c.exit_code), _summary(c)) for c in CLASSES.values()]
    yield "From Python the same are exceptions of `anonloom.errors`:"
    yield from ("", *table(("exception", "exit code", "meaning"), classes), "")
    yield from ("## Mistakes in a pipeline file (exit code 2)", "", _MISTAKES, "")
    for title, message in mistakes():
        yield from (f"### {title}", "", "```text", message, "```", "")
    yield from ("## All other messages", "", _OTHERS, "")
    # Of the libraries these are seen without a plugin; messages of others come up in plugins.
    packages = sorted({"libs/cli", "libs/seals", *FIRST_PARTY.values()})
    packages += sorted(
        f"plugins/commands/{path.name}" for path in (ROOT / "plugins" / "commands").iterdir()
    )
    folders = {"core": CORE} | {
        # By its file: a build leaves another folder of that name beside it.
        name.removeprefix("plugins/"): next((ROOT / name / "src").glob("*/__init__.py")).parent
        for name in packages
    }
    for owner, folder in folders.items():
        # The kit's failures are the affair of plugin authors, and name their check.
        messages = [
            message
            for message in messages_of(folder)
            if message.speaks and not message.file.startswith("testing/")
        ]
        rows = [
            (str(message.exit_code), _code(message.text), _code(message.hint), _code(message.file))
            for message in messages
        ]
        if rows:
            yield from (f"### {owner}", "")
            yield from (*table(("exit", "message", "hint", "module"), rows), "")


def _code(text: str) -> str:
    """Return a text as code, so that its stars and angles stay what they are."""
    text = " ".join(text.split())
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else ""


def _summary(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0].replace("``", "`")


PAGE_MAKERS: dict[str, Callable[[], Iterator[str]]] = {
    "hooks.md": hooks_page,
    "pipeline.md": pipeline_page,
    "methods.md": methods_page,
    "commands.md": commands_page,
    "errors.md": errors_page,
    "packages.md": packages_page,
    "modules.md": modules_page,
}


def stale(folder: Path = PAGES) -> list[str]:
    """Return the names of the pages that are not what would be written."""
    return [
        name
        for name, make in PAGE_MAKERS.items()
        if not (folder / name).is_file()
        or (folder / name).read_text(encoding="utf-8") != _text(make)
    ]


def _text(make: Callable[[], Iterator[str]]) -> str:
    return "\n".join(make()).rstrip() + "\n"


def main() -> int:
    """Write the pages, or compare them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if parser.parse_args().check:
        old = stale()
        if old:
            print(f"stale: {', '.join(old)}; run python tools/make_reference.py", file=sys.stderr)
        return 1 if old else 0
    PAGES.mkdir(parents=True, exist_ok=True)
    for name, make in PAGE_MAKERS.items():
        (PAGES / name).write_text(_text(make), encoding="utf-8")
    print(f"wrote {len(PAGE_MAKERS)} pages to {PAGES.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
