#!/usr/bin/env python3
"""A fictitious clinic: writes `clinic.csv` beside itself, the same bytes every time.

    python examples/data/make_clinic.py

No person in it exists. What matters for anonymization is kept: jobs follow age, diagnoses follow
age, sex and job, costs follow the diagnosis, people live in a few towns of unequal size, and some
combinations are rare enough to single a person out.
"""

import csv
import datetime
import math
import random
import sys
from pathlib import Path
from typing import TextIO

ROWS = 1200
SEED = 20240229

# First digits of the postal codes of four towns, their share of the patients, and how many codes
# each has. Leading zeros are part of a code: it is text, not a number.
TOWNS = {"021": (0.45, 14), "024": (0.25, 9), "018": (0.20, 8), "107": (0.10, 5)}

FEMALE = "Ada Amina Beatriz Clara Dora Elif Emma Fatima Greta Hana Ines Julia Karin Lena Mei Nora"
FEMALE += " Olga Paula Rosa Sofia Tara Uma Vera Yuki Zoe"
MALE = "Adam Ali Bruno Carl Daniel Emil Felix Goran Hugo Ivan Jonas Karim Leo Marco Nils Omar"
MALE += " Pavel Rafael Samir Theo Ugo Viktor Wei Yusuf Zoltan"
FAMILY = "Abel Bauer Costa Diaz Eklund Fischer Garcia Haddad Ito Jansen Kowalski Larsen Moreau"
FAMILY += " Nguyen Okafor Petrov Quinn Rossi Silva Tanaka Ueda Varga Weber Xu Young Zimmer"

# Job: weight for women, weight for men, among those of working age.
JOBS = {
    "accountant": (4, 3),
    "baker": (2, 3),
    "bus driver": (1, 4),
    "butcher": (0.3, 2),
    "carpenter": (0.3, 4),
    "cleaner": (6, 2),
    "clerk": (9, 5),
    "cook": (3, 4),
    "courier": (1, 3),
    "doctor": (2, 2),
    "electrician": (0.3, 5),
    "engineer": (2, 6),
    "hairdresser": (4, 0.6),
    "homemaker": (6, 0.4),
    "lawyer": (1.5, 1.5),
    "librarian": (1.2, 0.4),
    "manager": (4, 6),
    "mason": (0.1, 3),
    "nurse": (9, 1.5),
    "painter": (0.4, 2.5),
    "pharmacist": (1.6, 0.7),
    "plumber": (0.1, 3),
    "professor": (0.5, 0.8),
    "programmer": (2, 6),
    "salesperson": (8, 6),
    "teacher": (8, 3),
    "technician": (1.5, 5),
    "truck driver": (0.3, 5),
    "unemployed": (4, 4),
    "waiter": (4, 2),
}
MANUAL = {"bus driver", "carpenter", "cleaner", "electrician", "mason", "painter", "plumber"}
MANUAL |= {"nurse", "truck driver"}

# Diagnosis: weight, the age at which it is most frequent, how widely it spreads around it (years),
# factor for women, factor for manual work, typical cost.
DIAGNOSES = {
    "anxiety disorder": (4, 32, 16, 1.5, 0.9, 1400),
    "appendicitis": (4, 24, 14, 0.9, 1.0, 4200),
    "arthrosis": (7, 70, 12, 1.4, 1.4, 7800),
    "asthma": (5, 28, 22, 1.1, 1.1, 1100),
    "atrial fibrillation": (4, 74, 11, 0.8, 1.0, 5200),
    "back pain": (9, 48, 15, 1.0, 2.0, 1300),
    "bowel cancer": (2, 70, 11, 0.8, 1.0, 18500),
    "breast cancer": (3, 61, 13, 40.0, 1.0, 16800),
    "chronic bronchitis": (4, 66, 12, 0.7, 1.5, 3100),
    "coronary artery disease": (5, 69, 11, 0.5, 1.1, 9700),
    "depression": (6, 45, 19, 1.7, 0.9, 2600),
    "gallstones": (4, 52, 16, 1.9, 1.0, 4800),
    "gastritis": (5, 42, 19, 1.0, 1.1, 900),
    "heart attack": (3, 67, 11, 0.4, 1.2, 14200),
    "heart failure": (4, 79, 8, 1.0, 1.0, 8300),
    "hepatitis": (1, 40, 15, 0.7, 1.1, 6100),
    "hip fracture": (3, 82, 8, 2.2, 1.0, 12600),
    "hypertension": (9, 64, 15, 1.0, 1.0, 700),
    "influenza": (4, 40, 27, 1.0, 1.1, 1600),
    "knee injury": (6, 27, 14, 0.7, 1.4, 3900),
    "lung cancer": (2, 68, 9, 0.6, 1.4, 21400),
    "migraine": (4, 33, 13, 2.8, 0.8, 600),
    "pneumonia": (4, 72, 20, 0.9, 1.1, 5600),
    "stroke": (4, 75, 11, 1.0, 1.0, 13900),
    "thyroid disorder": (3, 47, 17, 4.0, 1.0, 1200),
    "type 1 diabetes": (1.5, 24, 14, 0.9, 1.0, 2300),
    "type 2 diabetes": (7, 64, 13, 0.8, 1.1, 2700),
    "varicose veins": (3, 53, 14, 2.5, 1.4, 2100),
    "wrist fracture": (4, 45, 26, 1.3, 1.2, 2400),
}

HEADER = ["patient", "name", "age", "sex", "zip", "job", "admitted", "diagnosis", "cost"]


def patients(rows: int = ROWS, seed: int = SEED) -> list[list[str]]:
    """Make up patients, in the order of their admission."""
    # Only random() and what is defined through it: the same numbers in every version of Python.
    draw = random.Random(seed)
    codes = {town: _town_codes(draw, town, count) for town, (_, count) in TOWNS.items()}
    found = [_patient(draw, codes) for _ in range(rows)]
    found.sort(key=lambda patient: patient[HEADER.index("admitted")])
    numbers = sorted(draw.random() for _ in range(rows))
    for patient, number in zip(found, numbers, strict=True):
        patient[0] = f"P{100000 + int(number * 900000):06d}"
    return found


def _patient(draw: random.Random, codes: dict[str, list[str]]) -> list[str]:
    sex = "F" if draw.random() < 0.53 else "M"
    # Two waves: those of working age, and the old, who come more often.
    middle, spread = (41, 15) if draw.random() < 0.6 else (71, 11)
    age = min(97, max(18, round(_normal(draw, middle, spread))))
    town = _pick(draw, {town: share for town, (share, _) in TOWNS.items()})
    # A town's first codes are its crowded quarters.
    place = codes[town][int(len(codes[town]) * draw.random() ** 1.7)]
    job = _job(draw, age, sex)
    diagnosis = _diagnosis(draw, age, sex, job)
    day = datetime.date(2023, 1, 1) + datetime.timedelta(days=int(draw.random() * 730))
    cost = DIAGNOSES[diagnosis][5] * math.exp(_normal(draw, 0, 0.35)) * (1 + max(0, age - 60) / 100)
    name = _word(draw, FEMALE if sex == "F" else MALE) + " " + _word(draw, FAMILY)
    return [
        "",
        name,
        str(age),
        sex,
        place,
        job,
        day.isoformat(),
        diagnosis,
        str(round(cost / 10) * 10),
    ]


def _town_codes(draw: random.Random, town: str, count: int) -> list[str]:
    ends: list[str] = []
    while len(ends) < count:
        end = f"{int(draw.random() * 100):02d}"
        if end not in ends:
            ends.append(end)
    return [town + end for end in ends]


def _job(draw: random.Random, age: int, sex: str) -> str:
    if draw.random() < 1 / (1 + math.exp((65 - age) / 1.5)):
        return "retired"
    if age < 27 and draw.random() < (27 - age) / 10:
        return "student"
    return _pick(draw, {job: weights[sex == "M"] for job, weights in JOBS.items()})


def _diagnosis(draw: random.Random, age: int, sex: str, job: str) -> str:
    weights = {}
    for name, (weight, peak, spread, women, manual, _) in DIAGNOSES.items():
        near = 0.04 + math.exp(-((age - peak) ** 2) / (2 * spread**2))
        # The factor is split between the sexes, so that it changes the ratio and not the total.
        share = 2 * women / (1 + women) if sex == "F" else 2 / (1 + women)
        weights[name] = weight * near * share * (manual if job in MANUAL else 1)
    return _pick(draw, weights)


def _pick(draw: random.Random, weights: dict[str, float]) -> str:
    left = draw.random() * sum(weights.values())
    for name, weight in weights.items():
        left -= weight
        if left < 0:
            return name
    return name


def _word(draw: random.Random, words: str) -> str:
    choices = words.split()
    return choices[int(draw.random() * len(choices))]


def _normal(draw: random.Random, mean: float, spread: float) -> float:
    angle, length = draw.random() * 2 * math.pi, math.sqrt(-2 * math.log(1 - draw.random()))
    return mean + spread * length * math.cos(angle)


def write(out: TextIO) -> None:
    """Write the table as CSV."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(patients())


def main() -> int:
    """Write `clinic.csv` beside this program."""
    path = Path(__file__).with_name("clinic.csv")
    with path.open("w", encoding="utf-8", newline="") as out:
        write(out)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
