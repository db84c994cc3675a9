"""What a check says: it passed, failed, was expected to fail, or does not apply."""

from typing import Literal

import attrs

Status = Literal["passed", "failed", "expected", "skipped"]


class NotApplicable(Exception):
    """A check has nothing to look at; the text says what it would need."""


@attrs.frozen
class CheckResult:
    """The outcome of one check.

    Attributes
    ----------
    check
        Name of the check, such as ``check_no_row_is_lost``.
    status
        ``passed``, ``failed``, ``expected`` (failed, and the plugin says why) or ``skipped``.
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
        return self.status != "failed"
