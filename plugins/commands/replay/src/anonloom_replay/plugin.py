"""What this package offers to Anonloom: the command `apply`."""

from anonloom.api import Command, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_commands() -> list[Command]:
    """Name the command."""
    return [
        Command(
            name="apply",
            target="anonloom_replay.command",
            summary="replay a transformation on new rows",
        )
    ]
