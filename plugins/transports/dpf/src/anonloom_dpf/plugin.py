"""What this package offers to Anonloom."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_transports() -> list[Method]:
    """Name the transport."""
    return [
        Method(
            name="dpf",
            target="anonloom_dpf.transport:Dpf",
            summary="Anonymous writing: tables of which every server sees a share only.",
            paper="E. Boyle, N. Gilboa, Y. Ishai: Function Secret Sharing. EUROCRYPT 2015; "
            "Function Secret Sharing: Improvements and Extensions. CCS 2016",
        )
    ]
