"""The base of all conformance classes: a subject, its checks, and two ways to run them.

Under pytest a plugin subclasses the class of its kind::

    class TestMedianCut(PartitionerConformance):
        method = MedianCut

Without pytest `run_checks` does the same for an installed method.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from anonloom import Registry
from anonloom.params import InvalidValue, build, params_of
from anonloom.registry import Entry
from anonloom_testing.observation import loaded_pytest
from anonloom_testing.results import CheckResult, MissingEvidence, NotApplicable
from anonloom_testing.time_limit import TimeLimitExceeded, place_of, time_limit

Check = Callable[[Any], None]


class Conformance:
    """What the kit needs to know of one method.

    Attributes
    ----------
    kind
        The kind's YAML key; set by the class of each kind.
    method
        The class to check.
    params
        Its parameters, as YAML or Python gives them. If there are none here, the class's own
        `example`, a mapping of parameters, is used; a method whose parameters all have defaults
        needs neither.
    expected_failures
        Checks that are known to fail, each with the reason. A check that is expected to fail and
        passes is a failure: the reason is gone, and so should be the entry.
    registry
        Where the method is registered; the environment's registry if None.
    hook_module
        The plugin's hook module; found through the registering distribution if empty.
    checks
        The checks of this kind, plain functions of a conformance object.
    seconds
        How long one check may take; a method that needs more is given more in its tests.
    on_progress
        Told which check is running, and on which table, before it begins.
    """

    kind: ClassVar[str]
    method: ClassVar[type]
    params: ClassVar[Mapping[str, object]] = {}
    expected_failures: ClassVar[Mapping[str, str]] = {}
    registry: ClassVar[Registry | None] = None
    hook_module: ClassVar[str] = ""
    checks: ClassVar[tuple[Check, ...]] = ()
    seconds: ClassVar[float] = 300.0
    on_progress: ClassVar[Callable[[str], None] | None] = None
    # One store per class: pytest makes a new object for every check, and the runs that the checks
    # look at are the expensive part.
    _kept: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        """Give every subclass a store of its own."""
        cls._kept = {}

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what `make` returns, made once per subject."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def build_method(self, **changes: object) -> Any:
        """Return the method, built from its parameters with these changes."""
        given = dict(self.params or getattr(self.method, "example", {}))
        try:
            params_of(self.method)
        except TypeError as error:  # another check says so
            raise NotApplicable(str(error)) from None
        try:
            return build(self.method, given | changes, load=self.where().load)
        except InvalidValue as invalid:
            if given:
                raise
            # Nobody said how to build it, which is no fault of the method.
            raise NotApplicable(
                f"{invalid}: give params in the test, or the class an example"
            ) from None

    def where(self) -> Registry:
        """Return the registry to look in."""
        return self.registry if self.registry is not None else Registry.installed()

    def entry(self) -> Entry | None:
        """Return the method's entry in the registry, if it has one."""
        target = f"{self.method.__module__}:{self.method.__qualname__}"
        entries = self.where().methods(self.kind)
        return next((entry for entry in entries if entry.method.target == target), None)

    def report_progress(self, table: str) -> None:
        """Say that the running check has come to a table."""
        self._kept["running"] = table
        self._tell(f"{self._kept.get('check', '')} on {table}")

    def _tell(self, text: str) -> None:
        # From the class: a plain function that is an attribute would be bound as a method.
        listener = type(self).on_progress
        if listener is not None:
            listener(text)

    def run_check(self, check: Check) -> None:
        """Run one check within the limit of time.

        Raises
        ------
        AssertionError
            When it takes too long; the text names the table on which it was.
        """
        self._kept["check"], self._kept["running"] = check.__name__, ""
        self._tell(check.__name__)
        try:
            with time_limit(self.seconds):
                check(self)
        except TimeLimitExceeded as error:
            table = self._kept["running"]
            on_table = f" on the table {table!r}" if table else ""
            place = place_of(error)
            raise AssertionError(
                f"{check.__name__} took more than {self.seconds:g} s and was stopped{on_table}"
                + (f"\nat {place}" if place else "")
            ) from None

    # --- under pytest ---------------------------------------------------------------------------

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Give every check a test of its own."""
        if "check" in metafunc.fixturenames:
            names = [check.__name__ for check in self.checks]
            metafunc.parametrize("check", self.checks, ids=names)

    def test_conforms(self, check: Check) -> None:
        """Hold the method to one promise of its kind."""
        pytest = loaded_pytest()
        reason = self.expected_failures.get(check.__name__)
        try:
            self.run_check(check)
        except MissingEvidence as missing:
            pytest.fail(str(missing))
        except NotApplicable as absent:
            pytest.skip(str(absent))
        except Exception:
            if reason is None:
                raise
            pytest.xfail(reason)
        if reason is not None:
            raise AssertionError(_not_failing(check.__name__, reason))

    def test_expected_failures_name_checks(self) -> None:
        """Every expected failure names a check of this kind and gives a reason."""
        names = {check.__name__ for check in self.checks}

        assert set() == set(self.expected_failures) - names
        assert all(reason.strip() for reason in self.expected_failures.values())

    # --- without pytest -------------------------------------------------------------------------

    def results(self) -> list[CheckResult]:
        """Run every check and return what each said."""
        return [self._result(check) for check in self.checks]

    def _result(self, check: Check) -> CheckResult:
        name, reason = check.__name__, self.expected_failures.get(check.__name__)
        promise = (check.__doc__ or "").strip().split("\n")[0]
        result = functools.partial(CheckResult, name, promise=promise)
        try:
            self.run_check(check)
        except MissingEvidence as missing:
            return result("incomplete", str(missing))
        except NotApplicable as absent:
            return result("skipped", str(absent))
        except AssertionError as error:
            message = str(error) or "an assertion failed"
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            place = place_of(error)
            message += f"\nat {place}" if place else ""
        else:
            return (
                result("passed") if reason is None else result("failed", _not_failing(name, reason))
            )
        return result("failed", message) if reason is None else result("expected", reason)


def _not_failing(name: str, reason: str) -> str:
    return f"{name} passes; take it out of expected_failures ({reason})"


def refuse_problems(problems: Iterable[str], promise: str) -> None:
    """Raise with the first few problems, if there are any."""
    results = list(problems)
    if results:
        more = f"\n... and {len(results) - 5} more" if len(results) > 5 else ""
        raise AssertionError(promise + ":\n" + "\n".join(results[:5]) + more)
