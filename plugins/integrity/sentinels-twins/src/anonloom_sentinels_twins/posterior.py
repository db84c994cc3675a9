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

With few workers all combinations of rates are summed. With many the sum is estimated by Gibbs
sampling, in many chains at once; each step adds the exact probability of one worker given the
others, which is less noisy than counting. The chains are seeded with a fixed number: the same
evidence gives the same probabilities.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.kinds.work import Campaign

Floats = NDArray[np.float64]

#: What a lazy worker's rate may be, in parts of the rate that the campaign expects.
SPREAD = (0.25, 0.5, 1.0, 2.0)
#: Up to so many combinations of rates are summed exactly.
MOST_STATES = 50_000

# The logarithm of 'impossible'. Finite, so that zero times it is zero.
_NEVER = -700.0
# Two workers who both omitted a job may differ all the same, such as by answering at random.
_STRAY = 0.01
# Where there is one class only, an omitted sentinel cannot fail; evidence that it did is not 0.
_RARELY = 1e-9
_SEED = 7
# How many numbers one step may handle, which bounds the memory.
_STEP = 2_000_000


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
    rates = {min(campaign.omission * part, 1.0) for part in SPREAD} - {0.0}
    # Whoever does nothing at all must be a possibility: several of them agree with each other.
    return Prior(lazy, tuple(sorted(rates | {1.0})))


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

    failed: Floats
    passed: Floats
    different: Floats
    same: Floats


@attrs.frozen(eq=False)
class Model:
    """Logarithms of what the evidence has as probability, by rate; the first rate is 0."""

    prior: Floats
    fail: Floats
    accept: Floats
    differ: Floats
    match: Floats

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
        logs = (_log(values) for values in (weight, fail, 1 - fail, differ, 1 - differ))
        return cls(*logs)


def _log(values: Floats) -> Floats:
    return np.log(values, out=np.full(values.shape, _NEVER), where=values > 0)


def laziness(counts: Counts, prior: Prior, campaign: Campaign, chains: int | None = None) -> Floats:
    """Return the probability that each worker omits work, by campaign and worker.

    Parameters
    ----------
    chains
        How many chains sample beside each other if there are too many workers to sum: by default
        as many as a single campaign can be given; fewer do where there are thousands.
    """
    model = Model.of(prior, campaign)
    campaigns, workers = counts.failed.shape
    chains = chains or min(64, max(8, 1600 // workers))
    states = len(model.prior) ** workers if workers < 20 else MOST_STATES + 1
    if states <= MOST_STATES:
        step = max(1, _STEP // (2 * states))
    else:
        step = max(1, _STEP // (workers * chains * len(model.prior)))
    parts = []
    for start in range(0, campaigns, step):
        part = _part(counts, start, start + step)
        exact = states <= MOST_STATES
        parts.append(exactly(part, model) if exact else sampled(part, model, chains))
    return np.concatenate(parts) if parts else np.zeros((0, workers))


def _part(counts: Counts, start: int, end: int) -> Counts:
    return Counts(
        counts.failed[start:end],
        counts.passed[start:end],
        counts.different[start:end],
        counts.same[start:end],
    )


def _alone(counts: Counts, model: Model) -> Floats:
    """Return what prior and sentinels say, by campaign, worker and rate."""
    return (
        model.prior
        + counts.failed[:, :, None] * model.fail
        + counts.passed[:, :, None] * model.accept
    )


def exactly(counts: Counts, model: Model) -> Floats:
    """Sum over all combinations of rates."""
    campaigns, workers = counts.failed.shape
    rates = len(model.prior)
    alone = _alone(counts, model)
    total = np.zeros((campaigns, *(rates,) * workers))

    def along(values: Floats, *axes: int) -> Floats:
        shape = [campaigns] + [rates if axis in axes else 1 for axis in range(workers)]
        return values.reshape(shape)

    for one in range(workers):
        total += along(alone[:, one], one)
        for other in range(one + 1, workers):
            total += along(
                counts.different[:, one, other, None, None] * model.differ
                + counts.same[:, one, other, None, None] * model.match,
                one,
                other,
            )
    total -= total.max(axis=tuple(range(1, workers + 1)), keepdims=True)
    np.exp(total, out=total)
    found = np.empty((campaigns, workers))
    everything = total.reshape(campaigns, -1).sum(axis=1)
    for one in range(workers):
        honest = np.take(total, 0, axis=one + 1).reshape(campaigns, -1).sum(axis=1)
        found[:, one] = 1 - honest / everything
    return np.clip(found, 0.0, 1.0)


def sampled(counts: Counts, model: Model, chains: int) -> Floats:
    """Estimate the same sum by Gibbs sampling."""
    campaigns, workers = counts.failed.shape
    sweeps = min(400, max(120, 6000 // workers))
    left_out = sweeps // 5
    rates, rng = len(model.prior), np.random.default_rng(_SEED)
    alone, numbers = _alone(counts, model), np.arange(rates)
    both = np.stack([counts.different, counts.same], axis=2)
    # That everybody is lazy is the one state which no evidence rules out.
    state = rng.integers(1, rates, size=(campaigns, workers, chains))
    shown = (state[..., None] == numbers).astype(np.float64)
    flat = shown.reshape(campaigns, workers, chains * rates)
    guilty = np.zeros((campaigns, workers))
    for sweep in range(sweeps):
        for one in rng.permutation(workers):
            # How many differing and matching twins it has with workers of each rate.
            met = (both[:, one] @ flat).reshape(campaigns, 2, chains, rates)
            weight = alone[:, None, one] + met[:, 0] @ model.differ + met[:, 1] @ model.match
            weight -= weight.max(axis=-1, keepdims=True)
            np.exp(weight, out=weight)
            cumulated = np.cumsum(weight, axis=-1)
            whole = cumulated[..., -1]
            if sweep >= left_out:
                guilty[:, one] += (1 - weight[..., 0] / whole).mean(axis=1)
            drawn = rng.random(whole.shape) * whole
            new = (drawn[..., None] >= cumulated[..., :-1]).sum(axis=-1)
            shown[:, one] = new[..., None] == numbers
    return np.asarray(np.clip(guilty / (sweeps - left_out), 0.0, 1.0))
