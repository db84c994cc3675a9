"""What this plugin offers: the reporter `page`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_reporters() -> list[Method]:
    """Name the reporter."""
    return [
        Method(
            name="page",
            target="anonloom_page.reporter:Page",
            summary="One self-contained HTML page: what was done, what holds, what was found.",
            reads=set(),
            default=True,
        )
    ]
