"""What this distribution offers: the mechanism `perturb`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_mechanisms() -> list[Method]:
    """Name the mechanism."""
    return [
        Method(
            name="perturb",
            target="anonloom_perturbation.perturb:Perturb",
            summary="Adds noise to numbers, dates and times and swaps categories between rows.",
            paper="V. Khvatov, A. Neyman: CVPL: A Geometric Framework for Post-Hoc Linkage Risk "
            "Assessment in Protected Tabular Data, section 7.4, family B",
            reads=frozenset({"quasi", "sensitive", "label", "other"}),
        )
    ]
