"""The case that auditors are measured on: simulated touchpoints, perturbed, with the truth known.

Columns, blocking and features are those of the CVPL paper's appendix C, the noise that of its
medium perturbation; what the paper leaves open is said in the read-me of `perturb` and `marketing`.
"""

import numpy as np
import pandas as pd

from anonloom import AuditInput, Column, Release, Schema, StageContext
from anonloom.hierarchies import Tree
from anonloom_linkage.blocking import Granularity
from anonloom_linkage.features import Clock
from anonloom_marketing.source import Marketing
from anonloom_perturbation.perturb import Perturb

PARTS = ("North", "South", "East", "West")
SURROUNDINGS = ("Urban", "Suburban", "Rural")
REGIONS = {part: [f"{part}/{around}" for around in SURROUNDINGS] for part in PARTS}

SCHEMA = Schema(
    (
        Column(name="person_id", role="truth"),
        Column(name="age", role="quasi", type="number"),
        Column(name="gender", role="quasi"),
        Column(name="region", role="quasi", hierarchy=Tree(tree=REGIONS)),
        Column(name="brand_product", role="other"),
        Column(name="purchase_place", role="other"),
        Column(name="purchase_time", role="other", type="time"),
        Column(name="days_after_ad", role="other", type="number"),
        Column(name="ad_channel", role="other"),
    )
)
CATEGORIES = ("gender", "region", "brand_product", "purchase_place", "ad_channel")
#: Standard deviation of the noise: years, seconds, days. Also how far pairs may be apart and agree.
NOISE = {"age": 3.0, "purchase_time": 86_400.0, "days_after_ad": 1.5}
PERTURB = Perturb(level="medium", noise=NOISE)

AGE_BINS = 10.0
BLOCKING: dict[str, Granularity] = {"age": AGE_BINS, "region": 1, "gender": "exact"}
CLOCK: tuple[Clock, ...] = ("hour", "weekday")


def case(rows: int, seed: int = 1) -> AuditInput:
    """Simulate so many people and perturb them; every row of the release is somebody's."""
    original = Marketing(rows=rows).load(SCHEMA, StageContext(stage="source", seed=seed))
    perturbed = PERTURB.protect(original, StageContext(stage="perturb", seed=seed))
    release = Release.as_it_is(perturbed)
    return AuditInput(release=release, original=original, truth=release.rows_in(original))


def frames(made: AuditInput) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Original and release as other packages take them: plain columns, and the blocking key.

    The truth is the number of the row. Times become what the audit compares, hour and weekday,
    beside the seconds that record linkage compares.
    """
    assert made.original is not None
    names = [column.name for column in SCHEMA if column.role != "truth"]
    result = made.original.frame[names], made.release.frame[names]
    return _plain(result[0]), _plain(result[1])


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    moments = pd.to_datetime(frame["purchase_time"])
    plain = {name: frame[name].astype(str) for name in CATEGORIES}
    plain |= {name: frame[name].to_numpy(float) for name in ("age", "days_after_ad")}
    seconds = moments.to_numpy("datetime64[s]").astype(np.int64)
    key = [(frame["age"].to_numpy(float) // AGE_BINS).astype(int).astype(str)]
    key += [frame["region"].astype(str).str.split("/").str[0], plain["gender"]]
    joined = key[0] + "|" + key[1] + "|" + key[2]
    return pd.DataFrame(plain).assign(
        hour=moments.dt.hour, weekday=moments.dt.weekday, seconds=seconds, block=joined
    )


def true_agreement(made: AuditInput) -> dict[str, float]:
    """How often each column agrees in the true pairs that share a block: what m should be."""
    original, release = frames(made)
    together = (original["block"] == release["block"]).to_numpy()
    agree = {name: original[name] == release[name] for name in CATEGORIES}
    for name, most in NOISE.items():
        written = "seconds" if name == "purchase_time" else name
        agree[name] = (original[written] - release[written]).abs() <= most
    return {name: float(agree[name].to_numpy()[together].mean()) for name in agree}
