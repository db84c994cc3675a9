"""The page of the reference that says where things are: every module and what it holds."""

import ast
from collections.abc import Iterator
from pathlib import Path

from check_workspace import ROOT, Member, members
from reference_table import NOTE, table

_MODULES = """\
Where to look first: every module of core, the libraries and the plugins, in the words of its own
first line. [Packages](packages.md) says what each package is for,
[how it flows](../how-it-flows.md) in which order a run passes through them."""


def modules_page() -> Iterator[str]:
    """Return the lines of the page on modules."""
    yield from (NOTE, "", "# Where things are", "", _MODULES, "")
    for member in members():
        if member.is_tutorial:
            continue
        rows = [
            (f"`{path.relative_to(ROOT / member.path / 'src').as_posix()}`", first_line(path))
            for path in _modules(member)
        ]
        yield from (f"## {member.path}", "", *table(("module", "holds"), rows), "")


def _modules(member: Member) -> list[Path]:
    files = (ROOT / member.path / "src").rglob("*.py")
    return sorted(file for file in files if "templates" not in file.parts)


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring, with code in Markdown's quotes."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    # A sentence may go on in the next line.
    return " ".join(text.split("\n\n")[0].split()).replace("``", "`")
