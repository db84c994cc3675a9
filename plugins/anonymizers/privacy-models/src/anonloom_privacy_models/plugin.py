"""What this distribution offers: the privacy models k-anonymity, l-diversity and t-closeness."""

from anonloom.api import Method, hookimpl

ANONLOOM_API = 2


@hookimpl
def anonloom_register_privacy_models() -> list[Method]:
    """Name the models."""
    return [
        Method(
            name="k-anonymity",
            target="anonloom_privacy_models.k_anonymity:KAnonymity",
            summary="Every class holds at least k persons.",
            paper="L. Sweeney: k-Anonymity: A Model for Protecting Privacy. International Journal "
            "on Uncertainty, Fuzziness and Knowledge-based Systems 10(5), 2002",
            reads=frozenset({"quasi", "person"}),
        ),
        Method(
            name="l-diversity",
            target="anonloom_privacy_models.l_diversity:LDiversity",
            summary="Every class has l well represented values of a sensitive column.",
            paper="A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam: l-Diversity: "
            "Privacy Beyond k-Anonymity. ICDE 2006",
            reads=frozenset({"sensitive", "person"}),
        ),
        Method(
            name="t-closeness",
            target="anonloom_privacy_models.t_closeness:TCloseness",
            summary="Every class has nearly the distribution of a sensitive column in the table.",
            paper="N. Li, T. Li, S. Venkatasubramanian: t-Closeness: Privacy Beyond k-Anonymity "
            "and l-Diversity. ICDE 2007",
            reads=frozenset({"sensitive", "person"}),
        ),
    ]
