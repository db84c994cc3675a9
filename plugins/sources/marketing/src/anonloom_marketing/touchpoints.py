"""The rows: drawn step by step in the order of section 7.2, all rows at a time."""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import IntArray
from anonloom_marketing import population as facts
from anonloom_marketing.anomalies import HOLIDAYS, LATE, NIGHT, RARE_CHANNELS, TAIL, Hit
from anonloom_marketing.conditionals import draw
from anonloom_marketing.population import Population

_SECONDS_PER_DAY = 86_400


@attrs.frozen(eq=False)
class Touchpoints:
    """Simulated rows, as codes.

    Attributes
    ----------
    age
        In years.
    gender, region, channel, product, place
        Places in the lists of names; a channel beyond `CHANNELS` is a rare one.
    lag
        Days from the ad to the purchase.
    exposed
        When the ad was seen, in days since the first; not published.
    seconds
        When something was bought, in seconds since the first day began.
    hit
        Which rows are anomalies.
    """

    age: IntArray
    gender: IntArray
    region: IntArray
    channel: IntArray
    product: IntArray
    place: IntArray
    lag: NDArray[np.float64]
    exposed: NDArray[np.float64]
    seconds: IntArray
    hit: Hit


def simulate(rows: int, products: int, outliers: float, rng: np.random.Generator) -> Touchpoints:
    """Draw rows.

    Parameters
    ----------
    outliers
        Share of rows that are anomalies.
    """
    about = Population.of(products)
    hit = Hit(rows, outliers, rng)
    # 1. Demographics.
    year = draw(rng, about.age[None, :], np.zeros(rows, np.int64))
    gender = draw(rng, about.gender, year)
    region = draw(rng, about.region, year, gender)
    # 2. The channel, given who sees the ad; anomalies take hold at the end, so that all that
    # depends on a channel knows an ordinary one.
    channel = draw(rng, about.channel, year, gender, region)
    # 3. The lag, given the channel and the age.
    lag = _lag(channel, year, hit, rng)
    # 4. The product, given the channel and who buys, and the place.
    around = region % len(facts.SURROUNDINGS)
    product = draw(rng, about.product, channel, year, gender, around)
    place = draw(rng, about.place, channel, product)
    tail = hit.of("long-tail product")
    product[tail] = rng.integers(round(products * (1 - TAIL)), products, len(tail))
    place[tail] = rng.integers(0, len(facts.PLACES), len(tail))
    # 5. The time: that of the ad, the lag, and what calendar and clock make of it.
    exposed = rng.random(rows) * facts.DAYS
    seconds = _seconds(exposed + lag, about, hit, rng)
    rare = hit.of("rare channel")
    channel[rare] = len(facts.CHANNELS) + rng.integers(0, len(RARE_CHANNELS), len(rare))
    age = year + facts.YOUNGEST
    return Touchpoints(age, gender, region, channel, product, place, lag, exposed, seconds, hit)


def _lag(
    channel: IntArray, year: IntArray, hit: Hit, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Days, with one decimal."""
    middle = np.log(facts.LAG_MEDIANS)[channel] + facts.LAG_BY_AGE * facts.z_of(facts.AGES)[year]
    lag = np.exp(middle + facts.LAG_SPREAD * rng.standard_normal(len(middle)))
    lag = np.clip(lag, facts.SHORTEST_LAG, facts.LONGEST_LAG)
    at_once, late = hit.halves("lag outlier")
    lag[at_once] = 0.0
    lag[late] = rng.uniform(*LATE, len(late))
    return np.asarray(np.round(lag, 1), float)


def _seconds(
    wanted: NDArray[np.float64], about: Population, hit: Hit, rng: np.random.Generator
) -> IntArray:
    """Seconds since the first day, given the moment that ad and lag lead to, in days."""
    day = np.floor(wanted).astype(np.int64)
    wait = draw(rng, about.wait, day % 7)
    at_once, _ = hit.halves("lag outlier")
    wait[at_once] = 0
    day += wait
    at_night, on_holiday = hit.halves("odd time")
    day[on_holiday] = np.array(HOLIDAYS)[rng.integers(0, len(HOLIDAYS), len(on_holiday))]
    weekend = (day % 7 >= 5).astype(np.int64)
    hour = draw(rng, about.hour, weekend)
    hour[at_night] = rng.integers(*NIGHT, len(at_night))
    within = rng.integers(0, 3600, len(day))
    # Who buys at once buys at the hour of the ad, minutes later.
    moment = day * _SECONDS_PER_DAY + hour * 3600 + within
    moment[at_once] = np.floor(wanted[at_once] * _SECONDS_PER_DAY).astype(np.int64)
    moment[at_once] += rng.integers(1, 600, len(at_once))
    return moment
