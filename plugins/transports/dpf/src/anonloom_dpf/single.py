"""Single slot: every message at one random place of one large table, as the paper has it.

Section 4.1 of Anonify. Two messages at the same place garble each other (nothing is overwritten:
the slot holds their XOR), and both are lost. With R messages in N slots a message is alone with
probability ``(1 - 1/N)^(R-1)``, about ``e^(-R/N)``; the paper's formula, the expansion
``1 - R/N + (R/N)^2 / 2``, promises 0.8 points too much at N = 2.7 R and is good from N = 5 R.
`PeelingPlacement` needs a seventh of the slots and delivers all.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import attrs
import numpy as np
from attrs.validators import ge, instance_of, optional
from numpy.typing import NDArray

from anonloom_dpf.placement import DecodedTables, Placement


def success_rate(messages: int, slots: int) -> float:
    """Share of messages that arrive, by the paper's formula."""
    return float(_formula(messages, slots))


def slots_for(messages: int, rate: float) -> int:
    """Smallest table for which the paper's formula promises a rate.

    100,000 messages need 947,214 slots for 0.9. The paper takes 1,000,000, which the formula gives
    for 0.905.

    Parameters
    ----------
    messages
        Number of messages.
    rate
        Share of them that has to arrive, at least 0.5 and below 1: the formula never falls below.
    """
    if not 0.5 <= rate < 1:
        raise ValueError(f"the success rate must be at least 0.5 and below 1. Got {rate} instead.")
    # Exact, for all servers have to find the same size whatever their arithmetic.
    wanted = Fraction(repr(rate))
    slots = max(1, math.floor(messages / (1 - math.sqrt(2 * rate - 1))) - 2)
    while _formula(messages, slots) < wanted or slots < messages:
        slots += 1
    return slots


def _formula(messages: int, slots: int) -> Fraction:
    load = Fraction(messages, slots)
    return 1 - load + load * load / 2


def _rate(instance: object, attribute: object, value: float) -> None:
    slots_for(1, value)


@attrs.frozen(kw_only=True)
class SingleSlot(Placement):
    """One random slot for each message.

    Parameters
    ----------
    capacity, message_size, slots_per_leaf, salt
        As of every placement.
    success_rate
        Share of messages that has to arrive by the paper's formula; the default is the table of
        the paper, ten slots for each sender.
    table
        Number of slots, instead of what the success rate asks for.
    """

    success_rate: float = attrs.field(default=0.905, validator=_rate)
    table: int | None = attrs.field(default=None, validator=optional([instance_of(int), ge(1)]))

    @cached_property
    def tables(self) -> tuple[int, ...]:
        """The one table, rounded up to whole leaves."""
        slots = self.table or slots_for(self.capacity, self.success_rate)
        return (-(-slots // self.slots_per_leaf) * self.slots_per_leaf,)

    def decode(
        self, tables: Sequence[NDArray[np.uint8]], expected: int | None = None
    ) -> DecodedTables:
        """Read every slot that holds one record; all others that are not empty are collisions."""
        rows = self.stack_tables(tables)
        filled = np.flatnonzero(rows.any(axis=1))
        result, _ = self.recognise(rows[filled], np.zeros_like(filled), filled)
        records = rows[filled[result]]
        # The same tag in two slots can't be: both would be in the slot of the tag.
        messages, tags = self.read(records)
        return DecodedTables(
            messages=messages,
            tags=tags,
            undelivered_slots=len(filled) - len(result),
            expected=expected,
        )

    def estimate(self, decoded: DecodedTables) -> float:
        """Estimate how many messages met in the slots that could not be read.

        For when the number of uploads is unknown: from the share of empty slots, e^(-R/N).
        """
        slots = self.tables[0]
        empty = slots - decoded.delivered_count - decoded.undelivered_slots
        if empty == 0:
            return math.inf
        return max(0.0, slots * math.log(slots / empty) - decoded.delivered_count)
