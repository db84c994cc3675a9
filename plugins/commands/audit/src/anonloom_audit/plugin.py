"""What this package offers to Anonloom: the command `audit`."""

from anonloom.api import Command, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_commands() -> list[Command]:
    """Name the command."""
    return [
        Command(
            name="audit",
            target="anonloom_audit.command",
            summary="measure a release against its original",
        )
    ]
