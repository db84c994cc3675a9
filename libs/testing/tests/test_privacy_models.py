"""Privacy models that keep their promises, and those that break one."""

from kit_toy_tests import ToyTests

from anonloom_testing import PrivacyModelConformance, privacy_cases


#: The tables that matter to the broken toys; the good ones meet all of them.
class DistinctConformance(PrivacyModelConformance):
    params = {"l": 3, "of": "illness"}

    def reference(self, rows, everybody):
        return len({row["illness"] for row in rows} - {None}) >= 3


class AtLeastConformance(PrivacyModelConformance):
    params = {"k": 3}

    def reference(self, rows, everybody):
        return len({row.get("person", row["note"]) for row in rows}) >= 3


class DistanceConformance(PrivacyModelConformance):
    params = {"t": 0.3, "of": "illness"}


class NoReference(PrivacyModelConformance):
    params = {"k": 3}


class CountsMissing(privacy_cases.DistinctValues):
    def _counts(self, table, rows, starts, stops):
        codes = table.encode_column(self.of).codes
        return [len(set(codes[rows[a:b]].tolist())) for a, b in zip(starts, stops, strict=True)]


class FalselyMonotone(privacy_cases.AtLeast):
    @property
    def size_only(self):
        return False

    def admits(self, table, rows, starts, stops):
        return (stops - starts >= 3) & (stops - starts <= 6)


class FalseSize(privacy_cases.AtLeast):
    @property
    def min_size(self):
        return 5

    @property
    def size_only(self):
        return False


class FalselySizeOnly(privacy_cases.DistinctValues):
    @property
    def size_only(self):
        return True


class InCompany(privacy_cases.AtLeast):
    @property
    def size_only(self):
        return False

    def admits(self, table, rows, starts, stops):
        return super().admits(table, rows, starts, stops) & (len(starts) > 1)


class Speechless(privacy_cases.AtLeast):
    def would_pass(self, table, rows, starts, stops):
        return ""


class Complains(privacy_cases.AtLeast):
    def problem(self, schema):
        return "never"


class VerdictNumbers(privacy_cases.AtLeast):
    def admits(self, table, rows, starts, stops):
        return super().admits(table, rows, starts, stops).astype(int)


class TestToys(ToyTests):
    good = [
        (AtLeastConformance, privacy_cases.AtLeast),
        (DistinctConformance, privacy_cases.DistinctValues),
        (DistanceConformance, privacy_cases.WithinDistance),
    ]
    broken = [
        (DistinctConformance, CountsMissing, "check_agrees_with_the_reference"),
        (NoReference, FalselyMonotone, "check_claim_of_monotonicity"),
        (NoReference, FalseSize, "check_claim_of_size"),
        (DistinctConformance, FalselySizeOnly, "check_claim_of_size"),
        (NoReference, InCompany, "check_ranges_are_judged_alone"),
        (AtLeastConformance, Speechless, "check_says_what_would_pass"),
        (AtLeastConformance, Complains, "check_has_no_problem_with_its_table"),
        (AtLeastConformance, VerdictNumbers, "check_verdicts_fit"),
    ]
    on_tables = True
