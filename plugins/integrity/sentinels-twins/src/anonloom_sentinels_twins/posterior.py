"""The probability that a worker omits work, given all controls of all workers at once.

A twin that does not match says that one of two workers is to blame, not which; a twin that matches
speaks for both. So no worker can be judged alone. Each worker i omits a share p_i of its jobs: 0 if
honest, else one of a few rates. Then

- a sentinel of i fails with p_i (1 - 1/c), since an omitted one is guessed among c classes that are
  equally frequent among sentinels;
- a twin of i and j does not match with (1 - P_max)(p_i (1 - p_j) + p_j (1 - p_i)): one of them
  worked, the other gave the most frequent result, and that is wrong;
- honest answers differ with the campaign's `error` besides;
- two lazy workers who may collude differ half as often.

With few workers all combinations of rates are summed. With many the sum is estimated by sampling.
Gibbs steps alone would not do: if every p_i becomes 1 - p_i, twins differ as often as before, so
twins have two explanations, one in which the many work and one in which the few do, and single
steps hardly ever lead from the one to the other. So the twins are brought in little by little
(population annealing, Hukushima and Iba 2003): many particles start from what prior and sentinels
say, which is sampled exactly, and each time that twins are given more weight, the particles that
explain them better are multiplied at the cost of the others; and every few rounds of steps each
particle is offered its mirror image. How many end in which explanation is how probable it is.
Particles are seeded with a fixed number: the same evidence gives the same probabilities.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import Float32Array, FloatArray
from anonloom_sentinels_twins.work_check import Campaign

# What particles are handled in: drawing them is far less precise than that.

#: What a lazy worker's rate may be, in parts of the rate that the campaign expects.
SPREAD = (0.25, 0.5, 1.0, 2.0)
#: Up to so many combinations of rates are summed exactly.
MOST_STATES = 100_000

# The logarithm of 'impossible'. Finite, so that zero times it is zero.
_NEVER = -700.0
# Two workers who both omitted a job may differ all the same, such as by answering at random.
_STRAY = 0.01
# Where there is one class only, an omitted sentinel cannot fail; evidence that it did is not 0.
_RARELY = 1e-9
_SEED = 7
# How many numbers one step may handle, which bounds the memory.
_STEP = 2_000_000
# Sweeps over all workers that are averaged, once the twins have their full weight.
_KEPT = 30
# After so many of them particles are offered their mirror images, which costs as much as a sweep.
_APART = 4
# Twins are given so much more weight at a time that particles count as this share of their number.
_LEFT = 0.5
# In so many steps twins have their full weight, whatever becomes of the particles.
_MOST_STEPS = 100


@attrs.frozen
class Prior:
    """What is assumed of a worker before any evidence.

    Attributes
    ----------
    lazy
        The probability that a worker omits work.
    rates
        The shares of jobs that such a worker may omit, each as probable as the others.
    """

    lazy: float
    rates: tuple[float, ...]

    def __str__(self) -> str:
        rates = ", ".join(f"{rate:.3g}" for rate in self.rates)
        several = f"one of the shares {rates} of its jobs, each as probable"
        return (
            f"every worker on its own omits work with probability {self.lazy:.3g}; whoever does "
            f"omits {several if len(self.rates) > 1 else f'the share {rates} of its jobs'}"
        )


def prior_of(campaign: Campaign, lazy: float | None = None) -> Prior:
    """Return the prior that the campaign's expectations make.

    Parameters
    ----------
    lazy
        The probability that a worker is lazy; the expected share of lazy workers without it.
    """
    if lazy is None:
        # However sure the client is, evidence must be able to say otherwise.
        least = 0.5 / max(campaign.workers, 1)
        lazy = min(max(campaign.lazy / campaign.workers, least), 1 - least)
    few = [min(campaign.omission * part, 1.0) for part in SPREAD]
    # Twins say the same if all shares p become 1 - p. With each share its mirror image is there,
    # too: otherwise many who omit much would be taken for many who omit little, and the one who
    # works for the one who does not. That of an honest worker is one who does nothing at all.
    rates = {round(rate, 12) for rate in (*few, *(1 - rate for rate in few), 1.0)}
    return Prior(lazy, tuple(sorted(rates - {0.0})))


@attrs.frozen(eq=False)
class Counts:
    """What the controls of several campaigns said; the first axis is the campaign.

    Attributes
    ----------
    failed, passed
        Sentinels by campaign and worker.
    different, same
        Twins by campaign, worker and worker; symmetric, each twin counted once on either side.
    """

    failed: FloatArray
    passed: FloatArray
    different: FloatArray
    same: FloatArray


@attrs.frozen(eq=False)
class Model:
    """Logarithms of what the evidence has as probability, by rate; the first rate is 0."""

    prior: FloatArray
    fail: FloatArray
    accept: FloatArray
    differ: FloatArray
    match: FloatArray
    #: Place of the rate 1 - p for every rate p; its own where there is none.
    mirror: NDArray[np.int64]

    @classmethod
    def of(cls, prior: Prior, campaign: Campaign) -> "Model":
        """Make the model of a campaign."""
        rates = np.array([0.0, *prior.rates])
        error, most = campaign.error, max(campaign.classes)
        weight = np.array([1 - prior.lazy, *[prior.lazy / len(prior.rates)] * len(prior.rates)])
        fail = rates * (1 - 1 / len(campaign.classes)) + (1 - rates) * error
        one, other = rates[:, None], rates[None, :]
        alone = one * (1 - other) + other * (1 - one)
        wrong = (1 - most) * (1 - error) + most * error
        differ = alone * wrong + (1 - one) * (1 - other) * error + one * other * _STRAY
        fail[1:] = np.clip(fail[1:], _RARELY, 1 - _RARELY)
        if campaign.colluding:
            # Lazy workers may compare their jobs: as probably as not they then give one answer.
            differ[1:, 1:] /= 2
        guilty = (one > 0) | (other > 0)
        differ = np.where(guilty, np.clip(differ, _RARELY, 1 - _RARELY), differ)
        return cls(
            prior=_log(weight),
            fail=_log(fail),
            accept=_log(1 - fail),
            differ=_log(differ),
            match=_log(1 - differ),
            mirror=_mirror(rates),
        )

    def to_float32(self) -> "Model":
        """Return the model as particles need it."""
        tables = {
            name: getattr(self, name).astype(np.float32)
            for name in ("prior", "fail", "accept", "differ", "match")
        }
        return attrs.evolve(self, **tables)


def _mirror(rates: FloatArray) -> NDArray[np.int64]:
    near = np.isclose(rates[:, None], 1 - rates[None, :], rtol=0, atol=1e-9)
    return np.where(near.any(axis=1), near.argmax(axis=1), np.arange(len(rates)))


def _log(values: FloatArray) -> FloatArray:
    return np.log(values, out=np.full(values.shape, _NEVER), where=values > 0)


def laziness(
    counts: Counts, prior: Prior, campaign: Campaign, particles: int | None = None
) -> FloatArray:
    """Return the probability that each worker omits work, by campaign and worker.

    Parameters
    ----------
    particles
        How many there are if there are too many workers to sum: by default as many as a single
        campaign can be given; fewer do where there are thousands.
    """
    model = Model.of(prior, campaign)
    campaigns, workers = counts.failed.shape
    particles = particles or min(1024, max(64, 16_000 // workers))
    states = len(model.prior) ** workers if workers < 20 else MOST_STATES + 1
    exact = states <= MOST_STATES
    step = max(1, _STEP // (2 * states if exact else workers * particles * len(model.prior)))
    parts = []
    for start in range(0, campaigns, step):
        part = _part(counts, start, start + step)
        parts.append(exactly(part, model) if exact else annealed_estimate(part, model, particles))
    return np.concatenate(parts) if parts else np.zeros((0, workers))


def _part(counts: Counts, start: int, end: int) -> Counts:
    return Counts(
        counts.failed[start:end],
        counts.passed[start:end],
        counts.different[start:end],
        counts.same[start:end],
    )


def _alone(counts: Counts, model: Model) -> FloatArray:
    """Return what prior and sentinels say, by campaign, worker and rate."""
    return (
        model.prior
        + counts.failed[:, :, None] * model.fail
        + counts.passed[:, :, None] * model.accept
    )


def exactly(counts: Counts, model: Model) -> FloatArray:
    """Sum over all combinations of rates."""
    campaigns, workers = counts.failed.shape
    rates = len(model.prior)
    alone = _alone(counts, model)
    total = np.zeros((campaigns, *(rates,) * workers))

    def along(values: FloatArray, *axes: int) -> FloatArray:
        shape = [campaigns] + [rates if axis in axes else 1 for axis in range(workers)]
        return values.reshape(shape)

    for indice in range(workers):
        total += along(alone[:, indice], indice)
        for other in range(indice + 1, workers):
            total += along(
                counts.different[:, indice, other, None, None] * model.differ
                + counts.same[:, indice, other, None, None] * model.match,
                indice,
                other,
            )
    total -= total.max(axis=tuple(range(1, workers + 1)), keepdims=True)
    np.exp(total, out=total)
    result = np.empty((campaigns, workers))
    everything = total.reshape(campaigns, -1).sum(axis=1)
    for indice in range(workers):
        honest = np.take(total, 0, axis=indice + 1).reshape(campaigns, -1).sum(axis=1)
        result[:, indice] = 1 - honest / everything
    return np.clip(result, 0.0, 1.0)


def annealed_estimate(counts: Counts, model: Model, particles: int) -> FloatArray:
    """Estimate the same sum by population annealing."""
    some = _Particles.of(counts, model, particles)
    for step in range(_MOST_STEPS):
        if (some.weight == 1).all():
            break
        some.multiply(1.0 if step == _MOST_STEPS - 1 else _LEFT)
        some.sweep()
        some.mirror()
    guilty = np.zeros(counts.failed.shape)
    for kept in range(_KEPT):
        # Each step has the exact probability of one worker given the others: better than counting.
        guilty += some.sweep()
        if kept % _APART == 0:
            some.mirror()
    return np.asarray(np.clip(guilty / _KEPT, 0.0, 1.0))


@attrs.define(eq=False)
class _Particles:
    """Combinations of rates, many for each campaign.

    Attributes
    ----------
    alone
        What prior and sentinels say, by campaign, worker and rate.
    twins
        Differing and matching twins, by campaign, worker, which of both, and worker.
    shown
        1 where a particle has a rate, else 0: by campaign, worker, rate and particle.
    weight
        By campaign: the power to which the probability of twins is raised, from 0 to 1.
    """

    model: Model
    alone: Float32Array
    twins: Float32Array
    shown: Float32Array
    weight: Float32Array
    rng: np.random.Generator

    @classmethod
    def of(cls, counts: Counts, model: Model, particles: int) -> "_Particles":
        """Draw particles as prior and sentinels say."""
        rng, alone = np.random.default_rng(_SEED), _alone(counts, model).astype(np.float32)
        chance = np.broadcast_to(alone[..., None], (*alone.shape, particles))
        twins = np.stack([counts.different, counts.same], axis=2).astype(np.float32)
        shown, _ = _draw_rates(chance, rng)
        return cls(model.to_float32(), alone, twins, shown, np.zeros(len(alone), np.float32), rng)

    def multiply(self, left: float) -> None:
        """Give twins more weight, and multiply the particles that explain them better.

        As much more that the particles are worth a share of `left` of their number; 1 is all.
        """
        fit = self._fit(self.shown)
        fit -= fit.max(axis=1, keepdims=True)
        more = 1 - self.weight if left == 1 else self._step(fit, left)
        chance = np.exp(more[:, None] * fit).cumsum(axis=1)
        number = fit.shape[1]
        # Evenly spaced: a particle is taken as often as it should be, but for rounding.
        draws = (np.arange(number) + self.rng.random((len(fit), 1))) / number * chance[:, -1:]
        taken = [np.searchsorted(*item, side="right") for item in zip(chance, draws, strict=True)]
        places = np.minimum(taken, number - 1)[:, None, None]
        self.shown = np.take_along_axis(self.shown, places, axis=3)
        self.weight = np.where(self.weight + more > 1 - 1e-6, 1.0, self.weight + more)

    def _step(self, fit: Float32Array, left: float) -> Float32Array:
        """Return by how much more weight the particles count as the share of them that is asked."""

        def worth(more: NDArray[np.floating[Any]]) -> Float32Array:
            chance = np.exp(more[:, None] * fit)
            return np.asarray(chance.sum(axis=1) ** 2 / (chance**2).sum(axis=1) / fit.shape[1])

        low, high = np.zeros(len(fit), np.float32), 1 - self.weight
        whole = worth(high) >= left
        for _ in range(30):
            middle = (low + high) / 2
            enough = worth(middle) >= left
            low, high = np.where(enough, middle, low), np.where(enough, high, middle)
        return np.where(whole, 1 - self.weight, low)

    def sweep(self) -> FloatArray:
        """Draw every worker's rate anew, given the others'; return how lazy each was on average."""
        guilty = np.empty(self.alone.shape[:2])
        for item in self.rng.permutation(self.alone.shape[1]):
            twins = self._twin_likelihood(self.twins[:, item], self.shown)
            chance = self.alone[:, item, :, None] + self.weight[:, None, None] * twins
            self.shown[:, item], honest = _draw_rates(chance, self.rng)
            guilty[:, item] = 1 - honest.mean(axis=1)
        return guilty

    def mirror(self) -> None:
        """Offer every particle its mirror image: Metropolis' rule says who takes it."""
        image = self.shown[:, :, self.model.mirror]
        gain = (self.alone[..., None] * (image - self.shown)).sum(axis=(1, 2))
        gain += self.weight[:, None] * (self._fit(image) - self._fit(self.shown))
        takes = np.log(1 - self.rng.random(gain.shape)) < gain
        self.shown = np.where(takes[:, None, None], image, self.shown)

    def _fit(self, shown: Float32Array) -> Float32Array:
        """Return the logarithm of the probability that all twins have, by campaign and particle."""
        # Every twin is on the side of two workers.
        return np.asarray((self._twin_likelihood(self.twins, shown) * shown).sum(axis=(1, 2)) / 2)

    def _twin_likelihood(self, twins: Float32Array, shown: Float32Array) -> Float32Array:
        """Return what twins say of each rate of a worker, or of all, given the others' rates."""
        campaigns, workers, *last = shown.shape
        # How many differing and matching twins there are with workers of each rate.
        met = twins.reshape(campaigns, -1, workers) @ shown.reshape(campaigns, workers, -1)
        met = met.reshape(*twins.shape[:-1], *last)
        differ, match = self.model.differ.T, self.model.match.T
        return np.asarray(differ @ met[..., 0, :, :] + match @ met[..., 1, :, :])


def _draw_rates(logs: Float32Array, rng: np.random.Generator) -> tuple[Float32Array, Float32Array]:
    """Draw a rate for every particle by logarithms; return it as 1 among 0, and how honest it was.

    The last axes are rates and particles.
    """
    until = np.exp(logs - logs.max(axis=-2, keepdims=True))
    honest = until[..., 0, :].copy()
    np.cumsum(until, axis=-2, out=until)
    honest /= until[..., -1, :]
    drawn = rng.random((*logs.shape[:-2], 1, logs.shape[-1]), np.float32) * until[..., -1:, :]
    until[..., -1, :] = np.inf
    shown = (drawn < until).astype(np.float32)
    # Up to the drawn one all are 0, from it on 1.
    shown[..., 1:, :] -= shown[..., :-1, :].copy()
    return shown, honest
