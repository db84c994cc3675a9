"""Who there is and what they do: every distribution of the simulator, with its numbers.

Margins are those of the paper's appendix C where it has them. Conditions work through effects on
the logarithm of a share, and through `z`, a person's age in standard deviations from the mean.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.typing import FloatArray
from anonloom_marketing.conditionals import fit_conditionals

# --- demographics (section 7.2, step 1; age and names of the regions: appendix C) ---------------

AGE_MEAN, AGE_SD, YOUNGEST, OLDEST = 42, 15, 18, 80
AGES = np.arange(YOUNGEST, OLDEST + 1)

GENDERS = ("M", "F", "Other")
GENDER_SHARES = (0.48, 0.49, 0.03)
#: Per standard deviation of age.
GENDER_BY_AGE = (-0.06, 0.06, -0.35)

PARTS = ("North", "South", "East", "West")
SURROUNDINGS = ("Urban", "Suburban", "Rural")
REGIONS = tuple(f"{part}/{around}" for part in PARTS for around in SURROUNDINGS)
#: Of everybody, by part of the country and surroundings.
REGION_SHARES = (
    (0.17, 0.08, 0.03),
    (0.10, 0.09, 0.07),
    (0.12, 0.08, 0.04),
    (0.11, 0.07, 0.04),
)
PART_BY_AGE = (0.0, 0.25, 0.0, -0.25)
SURROUNDINGS_BY_AGE = (-0.35, 0.10, 0.35)
#: By gender, of living in a city.
URBAN_BY_GENDER = (0.0, 0.10, 0.60)

# --- advertising (steps 2 and 3; names and shares of the channels: appendix C) ------------------

CHANNELS = ("Search", "Social", "Video", "Display", "Email")
CHANNEL_SHARES = (0.30, 0.25, 0.20, 0.15, 0.10)
CHANNEL_BY_AGE = (0.10, -0.70, -0.35, 0.25, 0.75)
CHANNEL_BY_GENDER = (
    (0.20, -0.25, 0.25, 0.0, -0.10),
    (-0.20, 0.25, -0.25, 0.0, 0.10),
    (0.0, 0.40, 0.20, -0.20, -0.20),
)
CHANNEL_BY_PART = (
    (0.15, 0.0, 0.0, -0.15, 0.0),
    (-0.15, 0.0, 0.15, 0.15, 0.0),
    (0.0, -0.10, 0.15, 0.0, 0.15),
    (0.0, 0.20, -0.20, 0.0, -0.10),
)
CHANNEL_BY_SURROUNDINGS = (
    (0.10, 0.25, 0.0, -0.20, -0.10),
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (-0.20, -0.40, 0.20, 0.40, 0.30),
)

#: Days from the ad to the purchase: median at the mean age, spread of the logarithm.
LAG_MEDIANS = (1.5, 4.0, 6.0, 9.0, 3.0)
LAG_SPREAD = 0.5
#: Growth of the logarithm per standard deviation of age.
LAG_BY_AGE = 0.18
SHORTEST_LAG, LONGEST_LAG = 0.1, 45.0

# --- purchase (step 4; number of products and exponent: appendix C) ------------------------------

POPULARITY_EXPONENT = 1.5
PRODUCT_BY_CHANNEL, PRODUCT_BY_AGE, PRODUCT_BY_GENDER, PRODUCT_BY_SURROUNDINGS = 0.9, 0.4, 0.6, 0.5

PLACES = ("Online", "App", "Supermarket", "Department store", "Local shop")
PLACE_SHARES = (0.34, 0.22, 0.20, 0.14, 0.10)
PLACE_BY_CHANNEL = (
    (0.50, 0.0, 0.0, 0.0, 0.0),
    (0.0, 0.80, 0.0, -0.20, -0.20),
    (0.10, 0.40, 0.0, 0.0, 0.0),
    (-0.40, -0.40, 0.40, 0.40, 0.20),
    (0.50, -0.30, 0.0, 0.0, 0.30),
)
PLACE_BY_PRODUCT = 0.8

# --- calendar and clock (step 5) -----------------------------------------------------------------

#: A Monday; exposures to ads fall on thirteen whole weeks from there, so that they know no weekday.
FIRST_DAY = np.datetime64("2024-01-01")
DAYS = 91
#: Monday to Sunday: how much people like to shop.
WEEKDAYS = (0.8, 0.8, 0.9, 1.0, 1.2, 1.5, 1.2)
#: Who waits for a better day waits one day more with this factor, at most so many days.
PATIENCE, LONGEST_WAIT = 0.35, 3
#: By hour, on Monday to Friday and at weekends.
HOURS = (
    (6, 3, 1, 1, 1, 3, 12, 25, 35, 40, 45, 55, 70, 60, 45, 42, 50, 65, 85, 95, 100, 80, 45, 18),
    (9, 5, 1, 1, 1, 2, 5, 12, 30, 60, 85, 95, 95, 90, 90, 85, 80, 70, 65, 62, 60, 50, 35, 20),
)


@attrs.frozen(eq=False)
class Population:
    """The conditional distributions, as tables; the last axis is the outcome.

    Attributes
    ----------
    age, gender, region
        P(age), P(gender | age), P(region | age, gender).
    channel
        P(channel | age, gender, region).
    product
        P(product | channel, age, gender, surroundings).
    place
        P(place | channel, product).
    wait
        P(days of waiting | weekday).
    hour
        P(hour | Monday to Friday or weekend).
    """

    age: FloatArray
    gender: FloatArray
    region: FloatArray
    channel: FloatArray
    product: FloatArray
    place: FloatArray
    wait: FloatArray
    hour: FloatArray

    @classmethod
    def of(cls, products: int) -> "Population":
        """Return the distributions for so many products."""
        age, gender, region = _demographics()
        # (age, gender, region)
        people = region * (age[:, None] * gender)[:, :, None]
        channel = _channel(people)
        # (channel, age, gender, surroundings)
        seen = np.moveaxis(people[..., None] * channel, -1, 0)
        seen = seen.reshape(*seen.shape[:3], len(PARTS), len(SURROUNDINGS)).sum(axis=3)
        product = _product(products, seen)
        place = _place(np.einsum("cags,cagsp->cp", seen, product))
        return cls(age, gender, region, channel, product, place, _wait(), _hour())


def z_of(ages: NDArray[np.integer]) -> NDArray[np.float64]:
    """Ages in standard deviations from the mean."""
    return (ages - AGE_MEAN) / AGE_SD


def _demographics() -> tuple[FloatArray, FloatArray, FloatArray]:
    """P(age), P(gender | age) and P(region | age, gender)."""
    z = z_of(AGES)
    # The truncated normal distribution of appendix C, in whole years.
    age = np.exp(-(z**2) / 2)
    age /= age.sum()
    gender = fit_conditionals(GENDER_SHARES, z[:, None] * GENDER_BY_AGE, age)
    by_age = np.add.outer(PART_BY_AGE, SURROUNDINGS_BY_AGE).ravel()
    urban = np.tile([1.0, 0.0, 0.0], len(PARTS))
    effects = z[:, None, None] * by_age + np.multiply.outer(URBAN_BY_GENDER, urban)
    return age, gender, fit_conditionals(np.ravel(REGION_SHARES), effects, age[:, None] * gender)


def _channel(people: FloatArray) -> FloatArray:
    by_part = np.repeat(CHANNEL_BY_PART, len(SURROUNDINGS), axis=0)
    by_region = by_part + np.tile(CHANNEL_BY_SURROUNDINGS, (len(PARTS), 1))
    effects = (
        (z_of(AGES)[:, None] * CHANNEL_BY_AGE)[:, None, None, :]
        + np.array(CHANNEL_BY_GENDER)[None, :, None, :]
        + by_region[None, None, :, :]
    )
    return fit_conditionals(CHANNEL_SHARES, effects, people)


def _product(products: int, seen: FloatArray) -> FloatArray:
    """P(product | channel, age, gender, surroundings); products by falling popularity.

    Every fifth product is the favourite of one channel, every third of one sort of surroundings,
    and so on: tastes differ between neighbours in popularity.
    """
    rank = np.arange(products)
    channel, gender, around = (
        strength * np.equal.outer(np.arange(count), rank % period)
        for strength, count, period in (
            (PRODUCT_BY_CHANNEL, len(CHANNELS), 5),
            (PRODUCT_BY_GENDER, len(GENDERS), 4),
            (PRODUCT_BY_SURROUNDINGS, len(SURROUNDINGS), 3),
        )
    )
    age = PRODUCT_BY_AGE * np.multiply.outer(z_of(AGES), rank % 3 - 1.0)
    effects = (
        channel[:, None, None, None, :]
        + age[None, :, None, None, :]
        + gender[None, None, :, None, :]
        + around[None, None, None, :, :]
    )
    return fit_conditionals((rank + 1.0) ** -POPULARITY_EXPONENT, effects, seen)


def _place(bought: FloatArray) -> FloatArray:
    """P(place | channel, product); every fifth product is at home in one place."""
    rank = np.arange(bought.shape[1])
    at_home = PLACE_BY_PRODUCT * np.equal.outer(rank % 5, np.arange(len(PLACES)))
    return fit_conditionals(PLACE_SHARES, np.array(PLACE_BY_CHANNEL)[:, None, :] + at_home, bought)


def _wait() -> FloatArray:
    """P(days of waiting | weekday): the liked days are waited for."""
    days = np.add.outer(np.arange(7), np.arange(LONGEST_WAIT + 1)) % 7
    table = np.array(WEEKDAYS)[days] * PATIENCE ** np.arange(LONGEST_WAIT + 1)
    return np.asarray(table / table.sum(axis=1, keepdims=True), float)


def _hour() -> FloatArray:
    hours = np.array(HOURS, float)
    return np.asarray(hours / hours.sum(axis=1, keepdims=True), float)
