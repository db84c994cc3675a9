"""The page of the reference that lists every package, what it brings and where it lies."""

from collections.abc import Iterator

from check_workspace import Member, members
from reference_table import NOTE, table

from anonloom import Registry

_PACKAGES = """\
Every package of this repository. Each can be installed alone, with core and the libraries that it
asks for: `pip install ./core ./libs/loss ./libs/tables ./libs/runner ./libs/cli ./libs/columns
./libs/kernels ./plugins/anonymizers/mondrian`."""


def packages_page() -> Iterator[str]:
    """Return the lines of the page on packages."""
    yield from (NOTE, "", "# Packages", "", _PACKAGES, "")
    listed = [member for member in members() if not member.is_tutorial]
    for title, group in (
        ("Core", [member for member in listed if member.is_core]),
        ("Libraries", [member for member in listed if member.is_library]),
        ("Plugins", [m for m in listed if not (m.is_core or m.is_library)]),
    ):
        rows = [(f"`{m.path}`", m.distribution, contents(m)) for m in group]
        yield from (f"## {title}", "", *table(("folder", "installs", "brings"), rows), "")


def contents(member: Member) -> str:
    """Say what a package brings: its methods and commands, or, of a library, what it is."""
    registry = Registry.installed()
    names: dict[str, list[str]] = {}
    for entry in registry.entries:
        if entry.distribution == member.distribution:
            names.setdefault(entry.kind, []).append(entry.name)
    commands = [
        entry.command.name
        for entry in registry.commands
        if entry.distribution == member.distribution
    ]
    parts = [f"{kind} {_quoted(methods)}" for kind, methods in names.items()]
    parts += [f"command {_quoted(commands)}"] if commands else []
    description = str(member.project["project"]["description"])
    return f"{description}. {'; '.join(parts)}" if parts else description


def _quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
