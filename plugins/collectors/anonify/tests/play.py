"""Small studies to play with: classes by the first byte, and a sampler that leaves out one each."""

from contextlib import suppress

import attrs
import numpy as np
import pytest

from anonloom import Registry
from anonloom.errors import PluginError, TransportError
from anonloom_anonify.aggregator import Aggregator
from anonloom_anonify.campaign import Campaign
from anonloom_anonify.simulation import Behaviour
from anonloom_anonify.study import Study
from anonloom_anonify.work import ClassAssignment
from anonloom_testing.collector import PlainStages
from anonloom_testing.transport import Carrier, SeededEntropy
from anonloom_transport import MemoryVault, ServerConfig, new_identity

REGISTRATION, ANSWER = 2, 3


def transports():
    """The real transports as parameters of a test; those that are not installed are skipped."""
    installed = {entry.name for entry in Registry.installed().methods("transport")}
    return [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                name not in installed, reason=f"anonloom-{name} is not installed"
            ),
        )
        for name in ("direct", "dpf", "mixnet")
    ]


def real(name, **parameters):
    """Return a real transport."""
    return Registry.installed().load("transport", name)(**parameters)


def installed(**wanted):
    """Whether these methods are installed: kind=names."""
    registry = Registry.installed()
    with suppress(PluginError):
        return all(
            name in {entry.name for entry in registry.methods(kind)}
            for kind, names in wanted.items()
            for name in names.split()
        )
    return False


@attrs.define(eq=False)
class ByFirstByte:
    """Classes by the first byte of a record; 0 is suppressed, 255 is none that can be read."""

    classes: int = 3
    erased: int = 1
    shift: int = 0
    seeds: list = attrs.field(factory=list)

    def classify(self, records, seed):
        self.seeds.append(seed)
        first = records[:, 0].astype(np.int64)
        known = first <= self.classes
        cells = (
            ("*",),
            *((f"class {index + self.shift}",) for index in range(1, self.classes + 1)),
        )
        strange = {"no class": int((~known).sum())} if not known.all() else {}
        return ClassAssignment(np.where(known, first, -1), cells, strange)

    def draw(self, numbers, seed):
        self.seeds.append(seed)
        rng, kept = np.random.default_rng(seed), np.ones(len(numbers), bool)
        for number in np.unique(numbers):
            kept[rng.permutation(np.flatnonzero(numbers == number))[: self.erased]] = False
        return kept

    def readable(self, answers):
        return answers[:, 0] != 255


def study(**more):
    """A study of two servers."""
    described = {
        "id": "s",
        "servers": 2,
        "donors": 40,
        "k": 2,
        "min_batch": 2,
        "registration_size": REGISTRATION,
        "answer_size": ANSWER,
        "versions": ("toys 1",),
        **more,
    }
    return Study(**described)


def records(*firsts):
    """Encoded quasi-identifiers of donors with these first bytes; the second tells them apart."""
    return np.array([[first, index] for index, first in enumerate(firsts)], np.uint8)


def answers_of(donors, iterations=1):
    """Answers from which donor and iteration can be read."""
    return [
        (
            np.array([[donor, now, 7] for donor in range(donors)], np.uint8),
            np.ones(donors, bool),
        )
        for now in range(1, iterations + 1)
    ]


#: Five donors in each of three classes.
FIRSTS = (1, 2, 3) * 5


def played(firsts=FIRSTS, *, works=None, behaviour=None, answers=None, transport=None, **more):
    """Return a campaign that has not begun; what `Study` does not know goes to the campaign."""
    known = {field.name for field in attrs.fields(Study)} - {"authority"}
    described = {name: more.pop(name) for name in list(more) if name in known}
    if "authority" in more:
        described["authority"] = more["authority"].public
    agreed = study(**{"donors": len(firsts), **described})
    return Campaign(
        transport=transport or Carrier(),
        study=agreed,
        works=works or [ByFirstByte() for _ in range(agreed.servers)],
        records=records(*firsts),
        answers=answers or answers_of(len(firsts), agreed.iterations),
        behaviour=behaviour or Behaviour.honest(len(firsts), agreed.iterations),
        entropy=more.pop("entropy", None) or SeededEntropy(),
        **more,
    )


def refusal(act, error=TransportError):
    """Return the whole text with which something is refused."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


def servers(agreed=None, works=None, number=2):
    """Return servers that have not begun."""
    entropy = SeededEntropy()
    identities = [new_identity(entropy) for _ in range(number)]
    pins = tuple(identity.public for identity in identities)
    agreed = agreed or study(servers=number)
    several = agreed if isinstance(agreed, list) else [agreed] * number
    return [
        Aggregator(
            several[index],
            ServerConfig(index=index, identity=identities[index], pins=pins, vault=MemoryVault()),
            works[index] if works else ByFirstByte(),
            entropy,
        )
        for index in range(number)
    ]


def talk(parties, *sent, change=None):
    """Carry what servers say until nobody says anything; `change` may replace envelopes."""
    waiting = [envelope for envelopes in sent for envelope in envelopes]
    while waiting:
        envelope = waiting.pop(0)
        if change is not None:
            envelope = change(envelope)
        if envelope is not None:
            waiting += parties[envelope.receiver.index].receive(envelope)


def met(parties):
    """Let servers begin; return them."""
    talk(parties, *[party.begin() for party in parties])
    return parties


class Sampled(PlainStages):
    """Stages that leave one row of every class out: the first of each."""

    def sample_mask(self, labels):
        kept = np.ones(len(labels), bool)
        kept[np.unique(labels, return_index=True)[1]] = False
        return kept
