"""What this plugin offers: the auditor `learning`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="learning",
            target="anonloom_learning.auditor:LearningAuditor",
            summary="How well eight classifiers learn a label from the original and the release.",
            paper="Anonify: decentralized dual-level anonymity for medical data donation, "
            "section 6.2.3; Nadeau and Bengio, Inference for the generalization error, "
            "Machine Learning 2003 (intervals)",
            reads={"quasi", "sensitive", "label", "other", "person"},
        )
    ]
