"""Findings with their words: one place that turns numbers into statements."""

import attrs

from anonloom import Finding
from anonloom.findings import Better, Status


@attrs.frozen
class Says:
    """Makes the findings of one audit.

    Attributes
    ----------
    assuming
        What holds for all of them.
    unfit
        Why nothing can be said, or nothing: then every figure is `not assessable`, because a
        figure of zero would read as safety.
    """

    assuming: tuple[str, ...] = ()
    unfit: str = ""

    def __call__(
        self,
        name: str,
        value: float | int | str | None,
        meaning: str,
        better: Better = "lower",
        *,
        interval: tuple[float, float] | None = None,
        lacking: str = "",
        status: Status = "measured",
        assumptions: tuple[str, ...] = (),
    ) -> Finding:
        """Make a finding; `lacking` says which evidence there is none of."""
        reason = self.unfit or lacking
        if reason or value is None:
            value, interval, status = None, None, "not assessable"
        return Finding(
            name=name,
            value=value,
            meaning=meaning,
            better=better,
            status=status,
            interval=interval,
            assumptions=(*((reason,) if reason else ()), *self.assuming, *assumptions),
        )

    def always(self, name: str, value: float | int | str, meaning: str) -> Finding:
        """Make a finding about the audit itself, which holds even where nothing can be said."""
        return Finding(name=name, value=value, meaning=meaning)
