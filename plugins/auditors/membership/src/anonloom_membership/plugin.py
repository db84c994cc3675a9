"""What this distribution offers: the auditor `membership`, and the command `shadow`."""

from anonloom.api import Command, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="membership",
            target="anonloom_membership.auditor:Membership",
            summary="Whether a release tells who is in the table at all.",
            paper="van Breugel, Sun, Qian and van der Schaar, Membership inference attacks "
            "against synthetic data through overfitting detection, AISTATS 2023; "
            "Elkan and Noto, Learning classifiers from only positive and unlabeled data, KDD 2008",
            reads={"quasi", "sensitive", "label", "other"},
        )
    ]


@hookimpl
def anonloom_register_commands() -> list[Command]:
    """Name the command."""
    return [
        Command(
            name="shadow",
            target="anonloom_membership.commands.shadow",
            summary="run a pipeline with and without people, and tell its releases apart",
        )
    ]
