"""Who there is and how ill they are: every number of the simulator.

The numbers are aggregates of the diabetes prediction table: shares, means, and coefficients of
regressions, all rounded. What depends on age is given at knots and runs straight between them.
"""

from typing import Any

import numpy as np

from anonloom.typing import FloatArray

# --- age ------------------------------------------------------------------------------------------

#: Infants are counted in twelfths of a year, written as multiples of 0.08.
_MONTHS = np.round(np.arange(1, 12) * 0.08, 2)
AGES: FloatArray = np.concatenate([_MONTHS, [1.0], 1 + _MONTHS, np.arange(2.0, 81.0)])

#: Persons per thousand of each year of age; whoever is older than 80 is 80.
_YEARS = (0, 1, 2, 4, 9, 14, 19, 26, 28, 36, 38, 47, 57, 62, 63, 66, 70, 79)
_PER_MILLE = (
    (9.1, 11.9, 11.9, 9.7, 8.2, 9.3, 12.5, 12.6, 13.6),
    (12.6, 14.3, 15.5, 14.6, 14.3, 11.0, 11.6, 9.2, 6.4),
)
OLDEST_SHARE = 0.056


def _age_shares() -> FloatArray:
    year = np.floor(AGES).astype(np.int64)
    weight = np.interp(np.arange(80), _YEARS, np.ravel(_PER_MILLE))
    share = np.empty(len(AGES))
    young = year < 80
    # The persons of a year share its weight: 11 months, 12, then one age per year.
    share[young] = weight[year[young]] / np.bincount(year)[year[young]]
    share[young] *= (1 - OLDEST_SHARE) / share[young].sum()
    share[~young] = OLDEST_SHARE
    return share


AGE_SHARES: FloatArray = _age_shares()

#: Where the numbers below change direction. The last is the pile of all who are 80 or older.
KNOTS = (0, 5, 10, 15, 20, 30, 40, 50, 60, 70, 79, 80)


def by_age(at_knots: Any) -> FloatArray:
    """Return a number for every age, given one for every knot."""
    return np.asarray(np.interp(AGES, KNOTS, at_knots), np.float64)


# --- gender and smoking ---------------------------------------------------------------------------

GENDERS = ("Female", "Male", "Other")
FEMALE = by_age((0.48, 0.49, 0.475, 0.485, 0.65, 0.66, 0.60, 0.595, 0.58, 0.555, 0.575, 0.625))
OTHER = 0.0002

SMOKING = ("No Info", "current", "ever", "former", "never", "not current")
#: Shares by age; a row per value of `SMOKING`.
SMOKING_BY_AGE = (
    (0.930, 0.835, 0.810, 0.580, 0.295, 0.270, 0.275, 0.250, 0.255, 0.265, 0.290, 0.320),
    (0.002, 0.001, 0.003, 0.003, 0.116, 0.150, 0.125, 0.150, 0.090, 0.080, 0.036, 0.024),
    (0.000, 0.001, 0.001, 0.001, 0.030, 0.056, 0.042, 0.056, 0.053, 0.052, 0.041, 0.034),
    (0.000, 0.000, 0.000, 0.002, 0.030, 0.072, 0.070, 0.107, 0.154, 0.203, 0.196, 0.174),
    (0.062, 0.142, 0.146, 0.368, 0.471, 0.380, 0.424, 0.370, 0.374, 0.312, 0.343, 0.361),
    (0.006, 0.021, 0.040, 0.046, 0.058, 0.072, 0.064, 0.067, 0.074, 0.088, 0.094, 0.087),
)
#: By how much the logarithm of a share is raised for men over that for women.
SMOKING_OF_MEN = (0.06, 0.25, 0.20, 0.39, -0.27, -0.05)


def _smoking_shares() -> FloatArray:
    shares = np.stack([by_age(row) for row in SMOKING_BY_AGE], axis=1)[:, None, :]
    # Women and men are moved apart around the shares of both together.
    men = np.array([-0.4, 0.6, 0.0])[None, :, None]
    table = shares * np.exp(men * np.array(SMOKING_OF_MEN))
    table /= table.sum(axis=2, keepdims=True)
    return np.asarray(table, np.float64)


#: (ages x genders x smoking): the share of each value among persons of an age and gender.
SMOKING_SHARES: FloatArray = _smoking_shares()

# --- body mass index ------------------------------------------------------------------------------

#: What stands where the index was not measured, and the logit of that by age.
BMI_UNKNOWN = 27.32
UNKNOWN = by_age(
    (-3.56, -2.86, -2.54, -2.58, -1.56, -1.51, -1.65, -1.66, -1.72, -1.73, -1.58, -1.30)
)
UNKNOWN_OF_MEN = 0.18
UNKNOWN_BY_SMOKING = (1.42, 0.27, 0.0, 0.0, 0.0, 0.71)

#: Mean and standard deviation of the logarithm of the index.
LOG_BMI = by_age(
    (2.828, 2.821, 2.945, 3.146, 3.214, 3.323, 3.352, 3.359, 3.376, 3.342, 3.287, 3.236)
)
LOG_BMI_OF_MEN = 0.022
LOG_BMI_BY_SMOKING = (0.0, -0.007, 0.001, 0.036, 0.011, 0.018)
LOG_BMI_SPREAD = by_age(
    (0.145, 0.155, 0.21, 0.225, 0.225, 0.235, 0.235, 0.225, 0.215, 0.205, 0.195, 0.19)
)
#: The spread of women, men and others in comparison.
SPREAD_BY_GENDER = (1.07, 0.89, 1.0)
#: How far the logarithm leans to the right: z + skew (z^2 - 1) for a standard normal z.
BMI_SKEW = 0.08
THINNEST, FATTEST = 10.01, 95.69

# --- illnesses: logits ----------------------------------------------------------------------------

#: By age; those of children are guesses from a handful of cases.
HYPERTENSION = by_age(
    (-7.5, -7.5, -7.2, -7.0, -5.65, -3.90, -3.03, -2.29, -1.81, -1.47, -1.25, -1.16)
)
HEART_DISEASE = by_age(
    (-8.5, -8.5, -8.5, -8.5, -8.5, -7.8, -5.45, -4.23, -3.36, -2.69, -2.31, -2.14)
)
DIABETES = by_age(
    (-5.90, -5.30, -4.65, -4.40, -4.90, -4.11, -3.39, -2.76, -2.16, -1.74, -1.73, -1.78)
)
#: For men, for ten units of the index above `BMI_UNKNOWN`, and where it is not known.
OF_MEN = {"hypertension": 0.16, "heart_disease": 0.82, "diabetes": 0.28}
OF_BMI = {"hypertension": 0.57, "heart_disease": 0.24, "diabetes": 0.95}
OF_UNKNOWN_BMI = {"hypertension": -0.34, "heart_disease": -0.37, "diabetes": -0.08}
#: Tens of units beyond which the index makes nobody more ill.
MOST_TENS = 2.0
OF_SMOKING = {
    "hypertension": (-0.66, 0.11, -0.03, -0.05, 0.0, -0.34),
    "heart_disease": (0.13, 0.56, 0.74, 0.44, 0.0, 0.15),
    "diabetes": (-0.52, 0.20, 0.0, 0.04, 0.0, 0.02),
}
HYPERTENSION_TO_HEART = 0.47
HYPERTENSION_TO_DIABETES = 0.72
HEART_TO_DIABETES = 0.77

# --- blood: given diabetes, every level of its list is equally frequent ---------------------------

HBA1C_WITHOUT = (3.5, 4.0, 4.5, 4.8, 5.0, 5.7, 5.8, 6.0, 6.1, 6.2, 6.5, 6.6)
HBA1C_WITH = (5.7, 5.8, 6.0, 6.1, 6.2, 6.5, 6.6, 6.8, 7.0, 7.5, 8.2, 8.8, 9.0)
GLUCOSE_WITHOUT = (80, 85, 90, 100, 126, 130, 140, 145, 155, 158, 159, 160, 200)
GLUCOSE_WITH = (126, 130, 140, 145, 155, 159, 160, 200, 220, 240, 260, 280, 300)
