"""Small donations over the real transports, whose releases can be compared with the truth.

Donors are in two classes by the parity of their number; of each class the sampler erases some. An
answer says whose it is and of which iteration.
"""

import functools
import importlib
import importlib.util

import attrs
import numpy as np
import pytest

from anonloom.errors import TransportError
from anonloom_anonify.campaign import Campaign
from anonloom_anonify.simulation import Behaviour
from anonloom_anonify.study import Study
from anonloom_anonify.work import ClassAssignment
from anonloom_testing.transport import SeededEntropy

TRANSPORTS = {
    "direct": ("anonloom_direct.transport", "Direct"),
    "dpf": ("anonloom_dpf.transport", "Dpf"),
    "mixnet": ("anonloom_mixnet.transport", "Mixnet"),
}
INSTALLED = [
    name
    for name, (module, _) in TRANSPORTS.items()
    if importlib.util.find_spec(module.split(".")[0])
]
DONORS, CLASSES, ERASED = 12, 2, 2
CELLS = (("*",), ("even",), ("odd",))


@functools.cache
def transport(name):
    module, cls = TRANSPORTS[name]
    return getattr(importlib.import_module(module), cls)()


def answer(donor, iteration):
    return f"answer {donor:03} of {iteration}".encode()


def donor_of(said):
    """Return donor and iteration of an answer."""
    _, donor, _, iteration = bytes(said).decode().split(" ")
    return int(donor), int(iteration)


@attrs.define(eq=False)
class Parity:
    """Classes by parity; a server that is told to computes something else."""

    erased: int = ERASED
    cells: tuple = CELLS
    shift: int = 0
    refuses: bool = False

    def classify(self, records, seed):
        return ClassAssignment(records[:, 0].astype(np.int64) % CLASSES + 1, self.cells)

    def draw(self, numbers, seed):
        rng, kept = np.random.default_rng(seed + self.shift), np.ones(len(numbers), bool)
        for number in np.unique(numbers):
            kept[rng.permutation(np.flatnonzero(numbers == number))[: self.erased]] = False
        return kept

    def readable(self, answers):
        return np.full(len(answers), not self.refuses)


@attrs.define(eq=False)
class Played:
    """A campaign, what became of it, and which donors were to be published."""

    campaign: Campaign
    recipient: object = None
    refused: str = ""
    steps: list = attrs.field(factory=list)
    kept: frozenset = frozenset()

    def __call__(self, campaign, step):
        self.steps.append(step)
        plan = campaign.servers[0].plan
        if plan is not None:
            owner = {donor.slot: number for number, donor in enumerate(campaign.donors)}
            slots = plan.reservations.slots
            self.kept = frozenset(owner[slots[index]] for index in np.flatnonzero(plan.choice.kept))

    @property
    def opened(self):
        """Return iteration and donor of all that the recipient got, and the cells beside it."""
        # What a recipient was given stays given when the study stops afterwards.
        given = self.campaign.recipient
        return {
            iteration: {
                donor_of(message): opened.classes[number]
                for message, number in zip(opened.answers, opened.numbers.tolist(), strict=True)
            }
            for iteration, opened in (given.opened if given else {}).items()
        }

    def expected(self, iterations, without=()):
        """Return what a valid release holds, `without` some (donor, iteration)."""
        return {
            now: {
                (donor, now): CELLS[1 + donor % CLASSES]
                for donor in sorted(self.kept)
                if (donor, now) not in without
            }
            for now in iterations
        }


def campaign(name, *, after=None, cls=Campaign, works=None, behaviour=None, **more):
    """Return a campaign that has not begun; what `Study` knows goes there."""
    known = {field.name for field in attrs.fields(Study)}
    described = {key: more.pop(key) for key in list(more) if key in known}
    donors = described.setdefault("donors", DONORS)
    study = Study(
        **{
            "id": "donation", "servers": 2, "k": 2, "min_batch": 4, "counted": name != "dpf",
            "registration_size": 1, "answer_size": len(answer(0, 1)), "versions": ("toys 1",),
            **described,
        }
    )  # fmt: skip
    now = range(1, study.iterations + 1)
    messages = [b"".join(answer(index, when) for index in range(donors)) for when in now]
    return cls(
        transport=transport(name),
        study=study,
        works=works or [Parity() for _ in range(study.servers)],
        records=np.arange(donors, dtype=np.uint8)[:, None],
        answers=[
            (np.frombuffer(of, np.uint8).reshape(donors, -1), np.ones(donors, bool))
            for of in messages
        ],
        behaviour=behaviour or Behaviour.honest(donors, study.iterations),
        entropy=more.pop("entropy", None) or SeededEntropy(name),
        **({"after": after} if after else {}),
        **more,
    )


def play(name, *, after=None, **more):
    """Play a study to its end, or to where it stops."""
    played = Played(None)

    def both(campaign_, step):
        played(campaign_, step)
        if after is not None:
            after(campaign_, step)

    played.campaign = campaign(name, after=both, **more)
    try:
        played.recipient = played.campaign.run()
    except TransportError as error:
        played.refused = str(error)
    return played


def once(act):
    """Return a hook that acts once at every step, however often it is told of the step."""
    done = set()

    def hook(campaign_, step):
        if step not in done:
            done.add(step)
            act(campaign_, step)

    return hook


transports = pytest.mark.parametrize("name", INSTALLED)
