"""What this plugin offers: the auditor `disclosure`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    """Name the auditor."""
    return [
        Method(
            name="disclosure",
            target="anonloom_disclosure.auditor:Disclosure",
            summary="Who could be found in a release, and what could be inferred about them.",
            paper="El Emam, Guide to the De-Identification of Personal Health Information, 2013; "
            "Machanavajjhala et al., l-Diversity, TKDD 2007; "
            "Li et al., t-Closeness, ICDE 2007; "
            "Cao and Karras, Publishing microdata with a robust privacy guarantee, PVLDB 2012; "
            "Brickell and Shmatikov, The cost of privacy, KDD 2008; "
            "Abdelwahab Gaballah et al., Anonify, sections 3.3 and 6.3",
            reads={"quasi", "sensitive", "person"},
        )
    ]
