"""What this distribution offers: a privacy model and a generalizer."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_privacy_models() -> list[Method]:
    """Name the privacy model."""
    return [
        Method(
            name="alpha-deassociation",
            target="anonloom_alpha_deassociation.privacy:AlphaDeassociation",
            summary="Admits classes in which no sensitive value has a share above alpha.",
            paper="R. C.-W. Wong, J. Li, A. W.-C. Fu, K. Wang: (alpha, k)-Anonymity: An "
            "Enhanced k-Anonymity Model for Privacy-Preserving Data Publishing, KDD 2006",
            reads=frozenset({"quasi", "sensitive"}),
        )
    ]


@hookimpl
def anonloom_register_generalizers() -> list[Method]:
    """Name the generalizer."""
    return [
        Method(
            name="rounded",
            target="anonloom_alpha_deassociation.generalizer:Rounded",
            summary="Publishes numbers as intervals that end on round numbers.",
            paper="",
            reads=frozenset({"quasi"}),
        )
    ]
