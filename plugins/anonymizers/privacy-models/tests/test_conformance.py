"""The models keep the promises of their kind and agree with their definitions in plain Python."""

import math
from collections import Counter

from anonloom_privacy_models.k_anonymity import KAnonymity
from anonloom_privacy_models.l_diversity import LDiversity
from anonloom_privacy_models.t_closeness import TCloseness
from anonloom_testing.privacy import PrivacyModelConformance


def illnesses(rows):
    """Count the illnesses: a missing one is none, a person counts once per illness."""
    results = [(row.get("person", index), row["illness"]) for index, row in enumerate(rows)]
    return Counter(illness for _, illness in set(results) if illness is not None)


class TestKAnonymity(PrivacyModelConformance):
    method = KAnonymity
    params = {"k": 3}

    def reference(self, rows, everybody):
        return len({row.get("person", index) for index, row in enumerate(rows)}) >= 3


class TestDistinctLDiversity(PrivacyModelConformance):
    method = LDiversity
    params = {"l": 3, "of": "illness"}

    def reference(self, rows, everybody):
        return len(illnesses(rows)) >= 3


class TestEntropyLDiversity(PrivacyModelConformance):
    method = LDiversity
    params = {"l": 2.5, "of": "illness", "kind": "entropy"}

    def reference(self, rows, everybody):
        counts = illnesses(rows)
        total = sum(counts.values())
        entropy = -sum(n / total * math.log(n / total) for n in counts.values())
        return total > 0 and entropy >= math.log(2.5)


class TestRecursiveLDiversity(PrivacyModelConformance):
    method = LDiversity
    params = {"l": 2, "of": "illness", "kind": "recursive", "c": 1.5}

    def reference(self, rows, everybody):
        falling = sorted(illnesses(rows).values(), reverse=True)
        return len(falling) >= 2 and falling[0] < 1.5 * sum(falling[1:])


class TestTCloseness(PrivacyModelConformance):
    method = TCloseness
    params = {"t": 0.31, "of": "illness"}

    def reference(self, rows, everybody):
        inside, overall = illnesses(rows), illnesses(everybody)
        if not inside:
            return False
        shares = [
            abs(inside[value] / sum(inside.values()) - overall[value] / sum(overall.values()))
            for value in overall
        ]
        return sum(shares) / 2 <= 0.31
