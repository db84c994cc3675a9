"""What this package offers to Anonloom: the commands for recipients and publishers of seals."""

from anonloom.api import Command, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_commands() -> list[Command]:
    """Name the commands."""
    return [
        Command(
            name="verify",
            target="anonloom_seals.commands.verify",
            summary="verify the integrity of a release or of a proof",
        ),
        Command(
            name="prove",
            target="anonloom_seals.commands.prove",
            summary="prove a part of a sealed release",
        ),
    ]
