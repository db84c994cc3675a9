"""What the runner offers to core."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_engines() -> list[Method]:
    """Name the engines."""
    return [
        Method(
            name="local",
            target="anonloom_runner.engine:LocalEngine",
            summary="Runs a pipeline in this process, on a table that fits into memory.",
            reads=frozenset(ROLES),
            default=True,
        ),
    ]
