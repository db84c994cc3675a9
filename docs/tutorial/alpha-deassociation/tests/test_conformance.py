"""The methods keep the promises of their kinds."""

from collections import Counter

from anonloom_alpha_deassociation.generalizer import Rounded
from anonloom_alpha_deassociation.privacy import AlphaDeassociation
from anonloom_testing import GeneralizerConformance, PrivacyModelConformance
from anonloom_testing.oracle import Row


class TestAlphaDeassociation(PrivacyModelConformance):
    """Every check of `anonloom plugins check alpha-deassociation`, as a test of its own."""

    method = AlphaDeassociation
    params = {"alpha": 0.4, "of": "illness"}

    def reference(self, rows: list[Row], everybody: list[Row]) -> bool:
        """Say slowly and obviously whether these rows may be published as one class."""
        # Where no column names the person, every row is one.
        known = {
            (row.get("person", index), row["illness"])
            for index, row in enumerate(rows)
            if row["illness"] is not None
        }
        persons = {person for person, _ in known}
        most = max(Counter(illness for _, illness in known).values(), default=0)
        return most > 0 and most / len(persons) <= 0.4


class TestRounded(GeneralizerConformance):
    """Every check of `anonloom plugins check rounded`, as a test of its own."""

    method = Rounded


class TestFinelyRounded(GeneralizerConformance):
    """The same with a grid that is finer than the values, or nearly so."""

    method = Rounded
    params = {"steps": 70}
