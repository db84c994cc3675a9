"""Estimates: what a round will cost, said before it begins.

Bytes follow from the sizes of what is sent. Time is that of operations which are counted, at the
rate of this machine: each kind of operation is tried for a moment, once per process. No rate of
another machine is ever used.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from statistics import median

import attrs

#: CPU seconds for which an operation is tried, and into how many tries they are cut.
_TRIED = 0.04
_TRIES = 5


@attrs.frozen
class Operation:
    """Something that is done many times in a round.

    Attributes
    ----------
    name
        What it is, with all that its cost depends on: two operations of one name are the same.
    measure
        Tries it; returns the CPU seconds that one of it takes.
    """

    name: str
    measure: Callable[[], float] = attrs.field(eq=False, repr=False)


#: How often a party does what.
Work = Counter[Operation]


@cache
def seconds_each(operation: Operation) -> float:
    """Return the CPU seconds of one operation on this machine, measured when first asked."""
    return operation.measure()


def seconds(work: Mapping[Operation, int]) -> float:
    """Return the CPU seconds that work takes on this machine."""
    return sum(count * seconds_each(operation) for operation, count in work.items())


def microbenchmark(
    prepare: Callable[[], Callable[[], object]], number: int = 1
) -> Callable[[], float]:
    """Return what measures an operation by doing it over and over for a moment.

    Parameters
    ----------
    prepare
        Makes ready, and returns what does it.
    number
        How many operations one call does.
    """

    def measure() -> float:
        act = prepare()
        act()  # the first call finds cold caches
        results: list[float] = []
        spent = 0.0
        while len(results) < _TRIES:
            calls, began, passed = 0, time.thread_time(), 0.0
            while passed < _TRIED / _TRIES:
                act()
                calls += 1
                passed = time.thread_time() - began
            results.append(passed / calls / number)
            spent += passed
            if spent > 2 * _TRIED:
                break  # one call is longer than a try
        return median(results)

    return measure


@attrs.frozen(kw_only=True)
class Estimate:
    """What a full round will cost; the sum of two is what both cost, one after the other.

    Attributes
    ----------
    upload_bytes
        What a sender sends, to all servers together.
    download_bytes
        What a sender receives at most: description, receipts, and all that is shown to senders.
    server_bytes
        What a server sends to the others at most, the mean of all servers.
    server_cpu, sender_cpu
        CPU seconds of the busiest server, and of a sender.
    server_memory
        Bytes that a server holds at the peak, beside the program.
    """

    upload_bytes: int
    download_bytes: int
    server_bytes: int
    server_cpu: float
    sender_cpu: float
    server_memory: int

    def __add__(self, other: "Estimate") -> "Estimate":
        if not isinstance(other, Estimate):
            return NotImplemented
        return Estimate(
            upload_bytes=self.upload_bytes + other.upload_bytes,
            download_bytes=self.download_bytes + other.download_bytes,
            server_bytes=self.server_bytes + other.server_bytes,
            server_cpu=self.server_cpu + other.server_cpu,
            sender_cpu=self.sender_cpu + other.sender_cpu,
            # A round is forgotten before the next one fills the memory.
            server_memory=max(self.server_memory, other.server_memory),
        )

    def sentences(self, sender: str = "sender") -> tuple[str, ...]:
        """Return the costs in words.

        Parameters
        ----------
        sender
            What whoever sends is called.
        """
        between = f"sends {size(self.server_bytes)} to the others, " if self.server_bytes else ""
        return (
            f"each {sender} sends {size(self.upload_bytes)}, receives {size(self.download_bytes)} "
            f"and computes for about {duration(self.sender_cpu)}",
            f"each server {between}computes for about {duration(self.server_cpu)} on one core like "
            f"this machine's, and holds about {size(self.server_memory)}",
        )


def size(number: int) -> str:
    """Write a number of bytes for people: `12.3 kB`."""
    if number < 1000:
        return f"{number} bytes"
    value, units = float(number), iter(("kB", "MB", "GB", "TB", "PB"))
    unit = ""
    # 999.95 would be written as 1000.0.
    while value >= 999.5 or not unit:
        value, unit = value / 1000, next(units)
    return f"{_three(value)} {unit}"


def duration(number: float) -> str:
    """Write seconds for people: `4 min`, `0.25 s`."""
    if number < 0.001:
        return "1 ms or less"
    if number < 0.9995:
        return f"{_three(1000 * number)} ms"
    for unit, length, limit in (("s", 1, 99.5), ("min", 60, 99.5), ("h", 3600, 48)):
        if number / length < limit:
            return f"{number / length:.2g} {unit}"
    return f"{number / 86400:,.0f} days"


def _three(value: float) -> str:
    """Write a number below 1,000 with three digits, or fewer where it has fewer."""
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text
