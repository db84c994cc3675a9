"""What this distribution offers: the collector `anonify`."""

from anonloom.api import ROLES, Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_collectors() -> list[Method]:
    """Name the collector."""
    return [
        Method(
            name="anonify",
            target="anonloom_anonify.collector:Anonify",
            summary="Donors register, are put into classes and donate answers; no server sees a "
            "person's row.",
            paper="S. A. Gaballah, L. Abdullah, M. Alishahi, T. H. L. Nguyen, E. Zimmer, M. "
            "Muehlhaeuser, K. Marky: Anonify: Decentralized Dual-level Anonymity for Medical Data "
            "Donation. Proceedings on Privacy Enhancing Technologies 2024(3)",
            reads=ROLES,
        )
    ]
