"""The simulator: persons one attribute after the other, each given those before it."""

import attrs
import numpy as np

from anonloom.typing import BoolArray, FloatArray, IntArray
from anonloom_diabetes import population as facts


@attrs.frozen(eq=False)
class Persons:
    """Simulated persons; gender and smoking are places in the lists of `population`."""

    gender: IntArray
    age: FloatArray
    hypertension: BoolArray
    heart_disease: BoolArray
    smoking: IntArray
    bmi: FloatArray
    hba1c: FloatArray
    glucose: IntArray
    diabetes: BoolArray


def simulate(rows: int, rng: np.random.Generator) -> Persons:
    """Draw persons independently of each other."""
    age = _draw(facts.AGE_SHARES[None, :], np.zeros(rows, np.int64), rng)
    gender = _draw(_gender_shares(), age, rng)
    ages, genders, values = facts.SMOKING_SHARES.shape
    smoking_given = facts.SMOKING_SHARES.reshape(ages * genders, values)
    smoking = _draw(smoking_given, age * genders + gender, rng)
    man = gender == facts.GENDERS.index("Male")
    unknown = _happens(
        facts.UNKNOWN[age]
        + facts.UNKNOWN_OF_MEN * man
        + np.array(facts.UNKNOWN_BY_SMOKING)[smoking],
        rng,
    )
    bmi = np.where(unknown, facts.BMI_UNKNOWN, _bmi(age, gender, man, smoking, rng))

    def logit(illness: str, by_age: FloatArray) -> FloatArray:
        tens = np.minimum((bmi - facts.BMI_UNKNOWN) / 10, facts.MOST_TENS)
        result = by_age[age] + np.array(facts.OF_SMOKING[illness])[smoking]
        result += facts.OF_MEN[illness] * man + facts.OF_BMI[illness] * tens
        result += facts.OF_UNKNOWN_BMI[illness] * unknown
        return np.asarray(result, np.float64)

    hypertension = _happens(logit("hypertension", facts.HYPERTENSION), rng)
    heart = logit("heart_disease", facts.HEART_DISEASE)
    heart_disease = _happens(heart + facts.HYPERTENSION_TO_HEART * hypertension, rng)
    diabetes = _happens(
        logit("diabetes", facts.DIABETES)
        + facts.HYPERTENSION_TO_DIABETES * hypertension
        + facts.HEART_TO_DIABETES * heart_disease,
        rng,
    )
    return Persons(
        gender=gender,
        age=facts.AGES[age],
        hypertension=hypertension,
        heart_disease=heart_disease,
        smoking=smoking,
        bmi=bmi,
        hba1c=_level(diabetes, facts.HBA1C_WITH, facts.HBA1C_WITHOUT, rng),
        glucose=_level(diabetes, facts.GLUCOSE_WITH, facts.GLUCOSE_WITHOUT, rng).astype(np.int64),
        diabetes=diabetes,
    )


def _gender_shares() -> FloatArray:
    """Return (ages x genders)."""
    other = np.full(len(facts.AGES), facts.OTHER)
    return np.stack([facts.FEMALE, 1 - facts.FEMALE - other, other], axis=1)


def _bmi(
    age: IntArray, gender: IntArray, man: BoolArray, smoking: IntArray, rng: np.random.Generator
) -> FloatArray:
    """The index as it would be measured, with two decimals."""
    z = rng.standard_normal(len(age))
    z += facts.BMI_SKEW * (z * z - 1)
    spread = facts.LOG_BMI_SPREAD[:, None] * np.array(facts.SPREAD_BY_GENDER)
    middle = facts.LOG_BMI[age] + np.array(facts.LOG_BMI_BY_SMOKING)[smoking]
    measured = np.exp(middle + facts.LOG_BMI_OF_MEN * man + spread[age, gender] * z)
    clipped = np.clip(measured, facts.THINNEST, facts.FATTEST)
    return np.asarray(np.round(clipped, 2), np.float64)


def _draw(shares: FloatArray, given: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw an outcome for every row; `shares` has a row for every condition."""
    conditions, outcomes = shares.shape
    reach = np.cumsum(shares, axis=1)
    reach /= reach[:, -1:]
    # All distributions in one ascending line, each in a unit of its own: one search for all rows.
    line = (reach + np.arange(conditions)[:, None]).ravel()
    result = np.searchsorted(line, given + rng.random(len(given)), side="right")
    # Rounding may carry a number just below 1 into the next distribution.
    last: IntArray = np.minimum(result - given * outcomes, outcomes - 1)
    return last


def _happens(logit: FloatArray, rng: np.random.Generator) -> BoolArray:
    happens: BoolArray = rng.random(len(logit)) * (1 + np.exp(-logit)) < 1
    return happens


def _level(
    diabetes: BoolArray,
    levels_with: tuple[float, ...],
    levels_without: tuple[float, ...],
    rng: np.random.Generator,
) -> FloatArray:
    """One of the levels of its list, each as likely as any other."""
    levels = np.array([*levels_without, *levels_with], np.float64)
    count = np.where(diabetes, len(levels_with), len(levels_without))
    place = np.floor(rng.random(len(diabetes)) * count).astype(np.int64)
    return np.asarray(levels[place + len(levels_without) * diabetes], np.float64)
