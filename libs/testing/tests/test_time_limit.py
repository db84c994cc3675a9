"""The kit says which check on which table took too long, and where a method raised."""

import contextlib
import os
import re
import time

import attrs
import pytest

from anonloom import Partitioner
from anonloom_testing import PartitionerConformance, PrivacyModelConformance
from anonloom_testing.privacy_cases import AtLeast
from anonloom_testing.time_limit import TimeLimitExceeded, time_limit

needs_alarm = pytest.mark.skipif(os.name == "nt", reason="Windows has no alarm")


@attrs.frozen(kw_only=True)
class Sleeper(Partitioner):
    def partition(self, table, classes, guard, context):
        time.sleep(600)
        return classes


@attrs.frozen(kw_only=True)
class Raiser(Partitioner):
    def partition(self, table, classes, guard, context):
        raise IndexError("out of range")


class SleeperSubject(PartitionerConformance):
    __test__ = False
    method = Sleeper
    # Long enough to make the table on a busy machine; the method sleeps for much longer.
    seconds = 5


class RaiserSubject(PartitionerConformance):
    __test__ = False
    method = Raiser


def result_of(subject, check):
    (result,) = [r for r in subject().results() if r.check == check]
    return result


@needs_alarm
def test_a_check_that_takes_too_long_is_stopped_and_names_its_table():
    named = r"took more than 5 s and was stopped on the table 'clinic \(k = 3\)'\nat .*test_time_limit\.py, line \d+, in partition: time\.sleep\(600\)"
    result = SleeperSubject()._result(
        next(c for c in SleeperSubject.checks if c.__name__ == "check_prints_nothing")
    )
    assert "failed" == result.status
    assert re.fullmatch(f"check_prints_nothing {named}", result.detail)


@needs_alarm
def test_the_method_cannot_swallow_the_limit():
    with pytest.raises(TimeLimitExceeded), time_limit(0.05), contextlib.suppress(Exception):
        time.sleep(5)


@needs_alarm
def test_no_alarm_is_left_behind():
    with time_limit(0.05):
        pass
    time.sleep(0.1)


def test_an_exception_is_shown_with_its_line():
    result = result_of(RaiserSubject, "check_copes_with_every_table")
    line = r'[^\n]+: IndexError: out of range\n  at .*test_time_limit\.py, line \d+, in partition: raise IndexError\("out of range"\)'
    assert "failed" == result.status
    assert re.match(rf"the method raised:\n{line}", result.detail)


def test_progress_names_checks_and_tables():
    told = []

    class Told(PrivacyModelConformance):
        __test__ = False
        method = AtLeast
        params = {"k": 2}
        on_progress = staticmethod(told.append)

    Told().results()
    assert "check_prints_nothing" in told
    assert any(re.fullmatch(r"check_\w+ on \w.*", line) for line in told)


def test_a_model_without_a_reference_does_not_pass():
    class NoReference(PrivacyModelConformance):
        __test__ = False
        method = AtLeast
        params = {"k": 2}

    result = result_of(NoReference, "check_agrees_with_the_reference")
    assert ("incomplete", "no reference: the subclass in the plugin's tests gives one") == (
        result.status,
        result.detail,
    )
    assert not result.good
