"""Transport: how messages of many senders reach the servers, and what that hides."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import attrs

from anonloom._representation import short_repr


def _guarantee(words: str, default: Any = attrs.NOTHING, **more: Any) -> Any:
    """Declare a guarantee with the words that tell its value in a sentence."""
    return attrs.field(default=default, metadata={"words": words}, **more)


@short_repr
@attrs.frozen(kw_only=True)
class Guarantees:
    """What a transport promises, field by field, so that a swap can be told honestly.

    Attributes
    ----------
    honest_senders_min
        Among how many honest senders a message hides at least; 1 means that it does not hide.
    colluding_servers
        How many servers may put together all that they know without ending that.
    server_behaviour
        What the servers must do for it: they follow the protocol, or a server that does not is
        detected before anything is opened, detected after it, or detected and named.
    donors
        What the senders must do for delivery: all are honest, dishonest ones are contained up to a
        share, or detected.
    eligibility
        How often one person can send.
    presence_visible_to, presence_visible_when
        Who sees that a person took part, and from when on.
    presence_of_erased_visible
        Whether servers see which positions were filled, erased ones too, before `open`.
    exclusion
        Whether a server can leave a sender out unnoticed, or only so that it can be named.
    erasure_condition
        What must be true for an erased record to stay unknown.
    post_quantum
        Whether every layer that hides something withstands a quantum computer. Signatures hide
        nothing: they only have to hold as long as the round lasts.
    delivery
        Which messages arrive.
    lost_server
        What happens when a server is lost.
    measured_or_argued
        What stands behind these statements.
    not_covered
        What nobody should expect.
    """

    honest_senders_min: int = _guarantee("honest senders among whom a message hides: at least {}")
    colluding_servers: int = _guarantee("servers that may collude: {}")
    server_behaviour: Literal[
        "follows", "detected before open", "detected after open", "attributed"
    ] = _guarantee("a server that deviates: {}")
    donors: str = _guarantee("senders: {}")
    eligibility: str = _guarantee("eligibility: {}")
    presence_visible_to: str = _guarantee("taking part is visible to {}")
    presence_visible_when: str = _guarantee("taking part is visible {}")
    presence_of_erased_visible: bool = _guarantee(
        "servers see before opening which positions were filled: {}"
    )
    exclusion: Literal["possible", "attributable"] = _guarantee("leaving a sender out is {}")
    erasure_condition: str = _guarantee("an erased record stays unknown if {}")
    post_quantum: bool = _guarantee("what is hidden withstands a quantum computer: {}")
    delivery: str = _guarantee("delivery: {}")
    lost_server: str = _guarantee("when a server is lost, {}")
    measured_or_argued: str = _guarantee("evidence: {}")
    not_covered: tuple[str, ...] = _guarantee("not covered: {}", default=(), converter=tuple)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as the manifest holds them."""
        return {**attrs.asdict(self), "not_covered": list(self.not_covered)}

    def sentences(self) -> tuple[str, ...]:
        """Return every guarantee in words, in order."""
        return tuple(
            _sentence(field, getattr(self, field.name)) for field in attrs.fields(type(self))
        )


def _sentence(field: "attrs.Attribute[Any]", value: Any) -> str:
    return str(field.metadata["words"]).format(_value_text(value))


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return _numbered_list(value) if value and isinstance(value, tuple) else str(value or "nothing")


def _numbered_list(items: Sequence[str]) -> str:
    """Number what is listed: each item is a phrase with commas of its own."""
    if len(items) == 1:
        return items[0]
    return ", ".join(f"({number}) {item}" for number, item in enumerate(items, start=1))


def swap_sentence(name: str, before: Guarantees, other: str, after: Guarantees) -> str:
    """Say what changes when one transport takes the place of another.

    The sentence names every declared difference and claims nothing beyond: that two transports
    declare the same does not make them equally anonymous.

    Parameters
    ----------
    name, other
        Names of the transport that was used and of the one that takes its place.
    """
    changed = [
        f"{_sentence(field, getattr(after, field.name))} "
        f"(with {name}: {_value_text(getattr(before, field.name))})"
        for field in attrs.fields(Guarantees)
        if field.name != "not_covered" and getattr(before, field.name) != getattr(after, field.name)
    ]
    # Long lists: only what one of them names and the other does not.
    for words, these, those in (
        (f"not covered, and not named by {name}", after, before),
        (f"not covered by {name}, and not named here", before, after),
    ):
        alone = [item for item in these.not_covered if item not in those.not_covered]
        if alone:
            changed.append(f"{words}: {_numbered_list(alone)}")
    if not changed:
        return f"With {other} instead of {name}, no declared guarantee changes."
    return f"With {other} instead of {name}: {'; '.join(changed)}."


class Transport(ABC):
    """How messages of many senders reach the servers, and what that hides.

    This is what a pipeline, its report and its manifest need. How a transport is driven, by engines
    for clients and servers, is the contract of `anonloom_transport.EngineTransport`, a library's:
    every transport derives from it. A round is described by that library's `Round`.

    Promise: what the transport hides is what `guarantees` says.
    """

    @abstractmethod
    def guarantees(self, round: Any) -> Guarantees:
        """Return what such a round promises."""

    def problem(self, round: Any) -> str | None:
        """Say why the transport cannot carry such a round, or None; asked before it begins."""
        return None
