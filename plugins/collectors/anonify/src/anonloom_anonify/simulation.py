"""Simulation: what donors of a study that one process plays do besides what they are asked for."""

import attrs
import numpy as np

from anonloom import param
from anonloom.params import ParameterGroup, between
from anonloom.typing import BoolArray


@attrs.frozen(eq=False)
class Behaviour:
    """Who does what; by the number of the donor.

    Attributes
    ----------
    leaving
        Donors who register and are never heard of again.
    absent
        For every iteration, donors who do not upload.
    lying
        Donors who claim another class than theirs.
    withdrawing
        For every iteration, donors who take their consent back before it is opened.
    """

    leaving: BoolArray = attrs.field(repr=False)
    absent: BoolArray = attrs.field(repr=False)
    lying: BoolArray = attrs.field(repr=False)
    withdrawing: BoolArray = attrs.field(repr=False)

    @classmethod
    def honest(cls, donors: int, iterations: int = 1) -> "Behaviour":
        """Return what the protocol asks for."""
        nobody, never = np.zeros(donors, bool), np.zeros((iterations, donors), bool)
        return cls(nobody, never, nobody.copy(), never.copy())

    @classmethod
    def sample(
        cls,
        donors: int,
        iterations: int,
        rng: np.random.Generator,
        *,
        leaving: float = 0.0,
        absent: float = 0.0,
        lying: float = 0.0,
        withdrawing: float = 0.0,
    ) -> "Behaviour":
        """Draw who does what, each with a probability; `leaving` and `lying` as exact shares."""
        return cls(
            _exactly(leaving, donors, rng),
            rng.random((iterations, donors)) < absent,
            _exactly(lying, donors, rng),
            rng.random((iterations, donors)) < withdrawing,
        )


@attrs.frozen(kw_only=True)
class Simulation(ParameterGroup):
    """How many donors deviate; whoever deploys a study has no such parameters."""

    leaving: float = param(
        help="Share of donors who register and are never heard of again.",
        default=0.0,
        check=between(0, 1),
    )
    absent: float = param(
        help="Chance of each donor to be missing from each iteration after the first.",
        default=0.0,
        check=between(0, 1),
    )
    lying: float = param(
        help="Share of donors who claim another class than theirs.",
        default=0.0,
        check=between(0, 1),
    )
    withdrawing: float = param(
        help="Chance of each donor to withdraw in each iteration.",
        default=0.0,
        check=between(0, 1),
    )

    def behaviour(self, donors: int, iterations: int, rng: np.random.Generator) -> Behaviour:
        """Draw who does what."""
        behaviour = Behaviour.sample(
            donors,
            iterations,
            rng,
            leaving=self.leaving,
            absent=self.absent,
            lying=self.lying,
            withdrawing=self.withdrawing,
        )
        # The first answer comes right after the reservation; whoever vanishes before is `leaving`.
        behaviour.absent[0] = False
        return behaviour


def _exactly(share: float, donors: int, rng: np.random.Generator) -> BoolArray:
    chosen = np.zeros(donors, bool)
    chosen[rng.choice(donors, round(share * donors), replace=False)] = True
    return chosen
