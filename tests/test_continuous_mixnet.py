"""The simulated continuous mixnet agrees with what queues and entropies must be."""

import importlib.util
import itertools
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from anonloom import Registry

PATH = Path(__file__).resolve().parents[1] / "benchmarks" / "poisson_mixes.py"


@pytest.fixture(scope="module")
def mixes() -> ModuleType:
    """The module beside the benchmark; the benchmarks folder is no package."""
    spec = importlib.util.spec_from_file_location("poisson_mixes", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["poisson_mixes"] = module  # attrs looks its classes' module up
    spec.loader.exec_module(module)
    return module


def test_pool_and_latency_are_those_of_the_queue(mixes: ModuleType) -> None:
    """M/M/inf: who arrives finds lambda / mu packets, and waits 1 / mu in every mix."""
    net = mixes.Net(hops=2, width=2, delay=1.0)
    result = mixes.simulate(net, 2000, np.random.default_rng(1))
    assert net.pool == pytest.approx(5)
    assert result.pool == pytest.approx(net.pool, rel=0.1)
    assert result.latency == pytest.approx(2.0, rel=0.1)
    assert result.overhead == 1


def test_entropy_of_one_large_mix_tends_to_its_limit(mixes: ModuleType) -> None:
    net = mixes.Net(hops=1, width=1, delay=3.0)
    result = mixes.simulate(net, 2000, np.random.default_rng(2))
    assert result.entropy == pytest.approx(mixes.large_pool_entropy(net), abs=0.15)


def test_entropy_grows_with_waits_and_with_cover(mixes: ModuleType) -> None:
    def bits(**kind: float) -> float:
        result = mixes.simulate(mixes.Net(**kind), 1200, np.random.default_rng(3))
        return float(result.entropy)

    assert bits(delay=0.1) < bits(delay=0.5) < bits(delay=2.0)
    assert bits(cover=0.0) < bits(cover=4.0)


def test_mixes_that_tell_hide_nothing_and_hold_as_much(mixes: ModuleType) -> None:
    result = mixes.simulate(mixes.Net(corrupted=1), 1200, np.random.default_rng(3))
    honest = mixes.simulate(mixes.Net(), 1200, np.random.default_rng(3))
    assert honest.pool == result.pool
    assert result.entropy < honest.entropy


def test_no_honest_mix_hides_nothing(mixes: ModuleType) -> None:
    result = mixes.simulate(mixes.Net(corrupted=3), 600, np.random.default_rng(4))
    assert (0, 0) == (result.entropy, result.min_entropy)


def test_distributions_are_those_of_all_ways_to_leave(mixes: ModuleType) -> None:
    """By enumeration: whatever order those inside leave in, each is as likely as any other."""
    packets = mixes.draw(mixes.Net(users=3, hops=2, width=1, rate=1.0), 4, np.random.default_rng(5))
    known, _ = mixes.follow(mixes.Net(users=3, hops=2, width=1), packets)
    expected = np.zeros((4, 4))
    worlds = list(_worlds(packets.times))
    for world, weight in worlds:
        for left, entered in world.items():
            expected[left, entered] += weight
    assert sum(weight for _, weight in worlds) == pytest.approx(1)
    np.testing.assert_allclose(known, expected, atol=1e-12)


def _worlds(times: np.ndarray) -> "itertools.chain[tuple[dict[int, int], float]]":
    """All ways in which packets seen entering may be the ones seen leaving, with their chances."""
    order = np.argsort(times, axis=None, kind="stable")
    events = [tuple(map(int, np.unravel_index(index, times.shape))) for index in order]

    def go(left: list[tuple[int, int]], inside: tuple[tuple[int, ...], ...], done: dict[int, int]):  # type: ignore[no-untyped-def]
        if not left:
            yield done, 1.0
            return
        (packet, step), rest = left[0], left[1:]
        if step == 0:
            yield from go(rest, ((*inside[0], packet), inside[1]), done)
            return
        pool = inside[step - 1]
        for index, origin in enumerate(pool):
            fewer = pool[:index] + pool[index + 1 :]
            if step == 1:
                after = go(rest, (fewer, (*inside[1], origin)), done)
            else:
                after = go(rest, (inside[0], fewer), {**done, packet: origin})
            for world, weight in after:
                yield world, weight / len(pool)

    return itertools.chain(go(events, ((), ()), {}))


def test_too_few_packets_are_refused(mixes: ModuleType) -> None:
    with pytest.raises(
        ValueError, match="no message lies far enough from both ends: simulate more"
    ):
        mixes.simulate(mixes.Net(delay=10.0), 20, np.random.default_rng(6))


def test_closed_batch(mixes: ModuleType) -> None:
    """A batch of 8 at 2 packets a second: the first waits 3.5 s, the last not at all."""
    assert mixes.batch_wait(3, 2.0) == pytest.approx(1.75)


def test_it_is_no_transport() -> None:
    """A continuous net has no closed batch: nothing that a pipeline could select."""
    offered = Registry.installed().methods("transport")
    assert not [
        item for item in offered if "poisson" in item.method.target or "continuous" in item.name
    ]
    assert not any((PATH.parents[1] / "plugins").glob("*/*/src/*/poisson_mixes.py"))
