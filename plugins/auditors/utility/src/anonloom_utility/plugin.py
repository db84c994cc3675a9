"""What this plugin offers: the auditor `utility`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="utility",
            target="anonloom_utility.auditor:Utility",
            summary="What a release still tells of the original: NCP, GCP, CAVG, DM, four proxies.",
            paper="Xu et al., Utility-based anonymization using local recoding, KDD 2006; "
            "Ghinita et al., Fast data anonymization with low information loss, VLDB 2007; "
            "LeFevre et al., Mondrian multidimensional k-anonymity, ICDE 2006; "
            "Bayardo and Agrawal, Data privacy through optimal k-anonymization, ICDE 2005",
            reads={"quasi", "sensitive", "label", "other"},
        )
    ]
