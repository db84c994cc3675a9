"""Campaigns of abstract jobs: what the controls would say, drawn from the model's assumptions."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from anonloom_sentinels_twins.posterior import Counts
from anonloom_sentinels_twins.work_check import Campaign

Rates = NDArray[np.float64]
Draw = Callable[[Campaign, int, int, Rates, np.random.Generator], Counts]


def _draw(
    campaign: Campaign, sentinels: int, twins: int, rates: Rates, rng: np.random.Generator
) -> Counts:
    """Draw the evidence of campaigns; `rates` says what each worker of each omits.

    Answers are drawn one by one, so that nothing of the posterior's formulas is used.
    """
    runs, workers = rates.shape
    classes = len(campaign.classes)
    index = np.arange(runs)[:, None]
    order = rng.permuted(np.tile(np.arange(workers), (runs, 1)), axis=1)
    worker = order[:, np.arange(sentinels) % workers]
    omits = rng.random((runs, sentinels)) < rates[index, worker]
    wrong = np.where(omits, rng.integers(classes, size=omits.shape) != 0, False)
    wrong |= ~omits & (rng.random(omits.shape) < campaign.error)
    pairs = np.argwhere(np.triu(np.ones((workers, workers)), 1))
    order = rng.permuted(np.tile(np.arange(len(pairs)), (runs, 1)), axis=1)
    one, other = pairs[order[:, np.arange(twins) % len(pairs)]].transpose(2, 0, 1)
    true = rng.choice(classes, size=(runs, twins), p=campaign.classes)
    differs = rng.random((runs, twins)) < campaign.error
    guess = int(np.argmax(campaign.classes))
    messages = [
        np.where(rng.random((runs, twins)) < rates[index, holder], guess, honest)
        for holder, honest in ((one, true), (other, np.where(differs, -1, true)))
    ]
    differ = messages[0] != messages[1]
    failed, passed = np.zeros((2, runs, workers))
    np.add.at(failed, (np.broadcast_to(index, worker.shape), worker), wrong)
    np.add.at(passed, (np.broadcast_to(index, worker.shape), worker), ~wrong)
    tables = np.zeros((2, runs, workers, workers))
    for table, chosen in zip(tables, (differ, ~differ), strict=True):
        for first, second in ((one, other), (other, one)):
            np.add.at(table, (np.broadcast_to(index, one.shape), first, second), chosen)
    return Counts(failed, passed, tables[0], tables[1])


@pytest.fixture
def draw() -> Draw:
    """Give the tests the way to draw evidence."""
    return _draw
