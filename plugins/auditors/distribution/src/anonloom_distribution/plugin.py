"""What this plugin offers: the auditor `distribution`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="distribution",
            target="anonloom_distribution.auditor:Distribution",
            summary="Means and counts of groups, distributions of columns and associations, "
            "original against release, beside what sampling alone would do.",
            paper="Anonify, section 6.2.2 (figures 7 to 9); Lin, Divergence measures based on the "
            "Shannon entropy, IEEE Transactions on Information Theory 1991; Bergsma, A "
            "bias-correction for Cramér's V and Tschuprow's T, Journal of the Korean Statistical "
            "Society 2013",
            reads={"quasi", "sensitive", "label", "other"},
        )
    ]
