"""What this plugin offers to pipelines: who could infer what, and the table without it."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2

PAPER = (
    "Barbato, Ceselli, De Capitani di Vimercati, Foresti and Samarati, PriSM: a privacy-friendly "
    "support vector machine, ESORICS 2025"
)


@hookimpl
def anonloom_register_mechanisms() -> list[Method]:
    """Name the mechanism."""
    return [
        Method(
            name="prism-projection",
            target="anonloom_prism.mechanism:PrismProjection",
            summary="Publishes attributes that together give no critical value away.",
            paper=PAPER,
            # Every column passes through it, so that the table that follows is complete.
            reads=frozenset(ROLES),
        )
    ]


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditors."""
    return [
        Method(
            name="sensitive-correlations",
            target="anonloom_prism.auditor:SensitiveCorrelations",
            summary="Which sets of attributes give critical values of a sensitive one away.",
            paper=f"{PAPER}; Bergsma, A bias-correction for Cramer's V and Tschuprow's T, 2013",
            reads={"quasi", "sensitive", "label", "other"},
        ),
        Method(
            name="attribute-inference",
            target="anonloom_prism.inference:AttributeInference",
            summary="How well critical values are predicted from a release and a model's answers.",
            paper=PAPER,
            reads={"quasi", "sensitive", "label", "other", "person"},
        ),
    ]
