"""What a check says: it passed, failed, was expected to fail, lacks something or does not apply."""

from typing import Literal

import attrs

Status = Literal["passed", "failed", "expected", "incomplete", "skipped"]


class NotApplicable(Exception):
    """A check has nothing to look at; the text says what it would need."""


class MissingEvidence(NotApplicable):
    """A check that matters cannot be made: whoever tests the method has to give something."""


@attrs.frozen
class CheckResult:
    """The outcome of one check.

    Attributes
    ----------
    check
        Name of the check, such as ``check_no_row_is_lost``.
    status
        ``passed``, ``failed``, ``expected`` (failed, and the plugin says why), ``incomplete`` (a
        promise of the kind was not looked at, because something is missing) or ``skipped`` (it does
        not concern this method).
    detail
        What went wrong, why the failure is expected, or what the check would have needed.
    promise
        One sentence: what the check holds the method to.
    """

    check: str
    status: Status
    detail: str = ""
    promise: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing has to be done about it."""
        return self.status not in ("failed", "incomplete")
