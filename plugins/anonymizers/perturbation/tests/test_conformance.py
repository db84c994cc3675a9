"""The mechanism keeps the promises of its kind, with every important setting."""

from anonloom_perturbation.perturb import Perturb
from anonloom_testing import MechanismConformance

# By its notes, of which every row has its own, the kit tells rows apart.
NOTES_STAY = {"note": 0}


class TestExample(MechanismConformance):
    method = Perturb


class TestLow(MechanismConformance):
    method = Perturb
    params = {"level": "low", "swap": NOTES_STAY}


class TestRedraw(MechanismConformance):
    method = Perturb
    params = {"swapping": "redraw", "swap": NOTES_STAY, "clip": False}


class TestNamedColumnsOnly(MechanismConformance):
    method = Perturb
    params = {"level": None, "swap": {"illness": 0.5, "outcome": 0.5}}


class TestSwapsOfEveryCategory(MechanismConformance):
    method = Perturb
    params = {"level": None, "columns": ["illness", "outcome"], "swap": 1.0}
