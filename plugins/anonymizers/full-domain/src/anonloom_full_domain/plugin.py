"""What this distribution offers: the partitioners `full-domain` and `local-recoding`."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_partitioners() -> list[Method]:
    """Name the partitioners."""
    return [
        Method(
            name="full-domain",
            target="anonloom_full_domain.full_domain:FullDomain",
            summary="Recodes every column to one level of its hierarchy; of all combinations of "
            "levels, the one that loses least.",
            paper="P. Samarati: Protecting Respondents' Identities in Microdata Release. IEEE "
            "TKDE 13(6), 2001; F. Kohlmayer, F. Prasser, C. Eckert, A. Kemper, K. A. Kuhn: "
            "Flash: Efficient, Stable and Optimal K-Anonymity. PASSAT 2012",
            reads=frozenset({"quasi"}),
        ),
        Method(
            name="local-recoding",
            target="anonloom_full_domain.local_recoding:LocalRecoding",
            summary="Publishes admitted cells of full-domain recodings, the least loss first, "
            "and goes on with the rows that are left.",
            paper="F. Prasser, J. Eicher, H. Spengler, R. Bild, K. A. Kuhn: Flexible Data "
            "Anonymization Using ARX. Software: Practice and Experience 50(7), 2020",
            reads=frozenset({"quasi"}),
        ),
    ]
