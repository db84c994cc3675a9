"""What this distribution offers: the command `new`."""

from anonloom.api import Command, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_commands() -> list[Command]:
    """Name the command."""
    return [
        Command(
            name="new",
            target="anonloom_scaffold.new",
            summary="write the folder of a new plugin",
        )
    ]
