"""What this distribution offers: the command `schema`."""

from anonloom.api import Command, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_commands() -> list[Command]:
    """Name the command."""
    return [
        Command(
            name="schema",
            target="anonloom_editor_schema.command",
            summary="print a JSON schema of pipeline files, for editors",
        )
    ]
