"""What this distribution offers: the mechanism `copula`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_mechanisms() -> list[Method]:
    """Name the mechanism."""
    return [
        Method(
            name="copula",
            target="anonloom_synthesis.copula:Copula",
            summary="Draws synthetic rows from a Gaussian copula over all published columns.",
            paper="V. Khvatov, A. Neyman: CVPL: A Geometric Framework for Post-Hoc Linkage Risk "
            "Assessment in Protected Tabular Data, section 7.4, family C",
            # Persons only to count by how many of them a value is held.
            reads=frozenset({"quasi", "sensitive", "label", "other", "person"}),
        )
    ]
