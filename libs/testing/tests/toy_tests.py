"""What the kit must say of toys of any kind: good ones pass, each broken one fails one check."""

from anonloom_testing import tables
from anonloom_testing.cell_leaks import LEAK_CHECKS
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.purity import PURITY_CHECKS

#: Tables that suffice to show what a toy breaks.
FEW = (tables.clinic, tables.one_row, tables.missing_values, tables.incomplete_rows)


class ToyTests:
    """The tests of one kind.

    Attributes
    ----------
    good
        Conformance classes, and for each a toy that keeps every promise.
    broken
        Conformance classes, toys, and the one check that each toy breaks.
    on_tables
        Whether the kind's checks use tables, so that few of them save time.
    elsewhere
        Checks that other tests break.
    inapplicable
        How many checks may not concern a good toy: a kind of several sorts asks each for its own.
    shared
        Checks that this kind shares with others, whose toys break them.
    """

    good = ()
    broken = ()
    on_tables = False
    elsewhere = frozenset()
    inapplicable = 3
    shared = (*DECLARATION_CHECKS, *PURITY_CHECKS, *LEAK_CHECKS)

    def pytest_generate_tests(self, metafunc):
        """Make one test of every toy."""
        if "check" in metafunc.fixturenames:
            names = [toy.__name__ for _, toy, _ in self.broken]
            metafunc.parametrize(("conformance", "toy", "check"), self.broken, ids=names)
        elif "toy" in metafunc.fixturenames:
            names = [toy.__name__ for _, toy in self.good]
            metafunc.parametrize(("conformance", "toy"), self.good, ids=names)

    def test_good_toys_pass_every_check(self, judged, conformance, toy):
        results = judged(conformance, toy)

        assert {} == results.failed
        passed = [result for result in results if result.status == "passed"]
        assert len(passed) >= len(results) - self.inapplicable

    def test_each_broken_toy_fails_exactly_the_check_that_it_breaks(
        self, judged, conformance, toy, check
    ):
        result = judged(conformance, toy, **({"tables": FEW} if self.on_tables else {})).failed

        assert [check] == list(result), result

    def test_every_check_is_broken_by_some_toy(self):
        """None of the checks passes whatever happens."""
        conformance, _ = self.good[0]
        own = {check.__name__ for check in conformance.checks if check not in self.shared}

        assert set() == own - self.elsewhere - {check for _, _, check in self.broken}
