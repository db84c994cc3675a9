"""What this plugin offers: the auditor `distance`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="distance",
            target="anonloom_distance.auditor:Distance",
            summary="How near published records lie to original ones: DCR, NNDR, identifiability.",
            paper="Lowe, Distinctive image features from scale-invariant keypoints, IJCV 2004 "
            "(NNDR); Yoon et al., Anonymization through data synthesis using generative "
            "adversarial networks, IEEE JBHI 2020 (identifiability)",
            reads={"quasi", "sensitive", "label", "other"},
        )
    ]
