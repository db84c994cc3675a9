"""What this distribution offers: the partitioner `kl-tree`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_partitioners() -> list[Method]:
    """Name the partitioner."""
    return [
        Method(
            name="kl-tree",
            target="anonloom_tada.kl_tree:KLTree",
            summary="Grows a decision tree for the label whose leaves the guard admits.",
            paper="S. De Capitani di Vimercati, S. Foresti, S. Paraboschi, P. Samarati: Data "
            "Privacy and Computation Integrity in Machine Learning Scenarios: Some Issues and "
            "Approaches, section 2 (TA_DA)",
            reads=frozenset({"quasi", "label"}),
        )
    ]
