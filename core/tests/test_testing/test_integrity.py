"""Integrity schemes that keep their promises, and those that break one."""

import hashlib
import json
import os
import random

import attrs
from kit_toy_tests import ToyTests

from anonloom.errors import IntegrityError
from anonloom.kinds.integrity import Seal, Sealed, Verified, WorkCheck
from anonloom.params import param
from anonloom.testing import (
    IntegrityConformance,
)


@attrs.frozen(kw_only=True)
class Sums(Seal):
    """Lists the digests of all files."""

    def digest(self, path):
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def listed(self, public):
        return {p.name: self.digest(p) for p in sorted(public.iterdir()) if p.name != "sums.json"}

    def seal(self, public, private):
        (public / "sums.json").write_text(json.dumps(self.listed(public)))
        return Sealed(public=("sums.json",))

    def verify(self, public, *, key=None):
        try:
            proof = json.loads((public / "sums.json").read_text())
        except (OSError, ValueError):
            raise IntegrityError("the proof cannot be read") from None
        if proof != self.listed(public):
            raise IntegrityError("a file was changed")
        return Verified(covers=("all files",))


class ReturnsVerdict(Sums):
    def verify(self, public, *, key=None):
        try:
            return super().verify(public)
        except IntegrityError:
            return False


class ForgetsManifest(Sums):
    def listed(self, public):
        return {n: d for n, d in super().listed(public).items() if n != "manifest.json"}


class ForgetsOrder(Sums):
    def digest(self, path):
        return hashlib.sha256(b"".join(sorted(path.read_bytes().splitlines(True)))).hexdigest()


class AllowsMore(Sums):
    def listed(self, public):
        return {n: d for n, d in super().listed(public).items() if n != "extra.csv"}


class Stumbles(Sums):
    def verify(self, public, *, key=None):
        json.loads((public / "sums.json").read_text())
        return super().verify(public)


class Rewrites(Sums):
    def seal(self, public, private):
        release = public / "release.csv"
        release.write_bytes(release.read_bytes() + b"\n")
        return super().seal(public, private)


class CoversNothing(Sums):
    def verify(self, public, *, key=None):
        return attrs.evolve(super().verify(public), covers=())


class TestToys(ToyTests):
    good = [(IntegrityConformance, Sums)]
    broken = [
        (IntegrityConformance, ReturnsVerdict, "check_verify_raises"),
        (IntegrityConformance, ForgetsManifest, "check_flipped_bytes_are_noticed"),
        (IntegrityConformance, ForgetsOrder, "check_changed_rows_are_noticed"),
        (IntegrityConformance, AllowsMore, "check_changed_files_are_noticed"),
        (IntegrityConformance, Stumbles, "check_broken_proof_is_noticed"),
        (IntegrityConformance, Rewrites, "check_sealing_changes_no_file"),
        (IntegrityConformance, CoversNothing, "check_untouched_release_verifies"),
    ]
    elsewhere = {"check_foreign_seal_is_noticed", "check_omitted_work_is_noticed"}


class Keyed(Sums):
    """Sums with a key file: whoever knows the key can tell who sealed."""

    def seal(self, public, private):
        (public / "key.txt").write_text(os.urandom(8).hex())
        (private / "key.txt").write_text((public / "key.txt").read_text())
        super().seal(public, private)
        return Sealed(public=("sums.json", "key.txt"), private=("key.txt",))

    def verify(self, public, *, key=None):
        verified = super().verify(public)
        if key is not None and key.read_text() != (public / "key.txt").read_text():
            raise IntegrityError("sealed by somebody else")
        return verified


class TrustsAnybody(Keyed):
    def verify(self, public, *, key=None):
        return Sums.verify(self, public)


class KeyedConformance(IntegrityConformance):
    def public_key(self, public, private):
        return private / "key.txt"


def test_a_foreign_seal_must_be_noticed_when_the_key_is_known(judged):
    assert {} == judged(KeyedConformance, Keyed).failed
    assert ["check_foreign_seal_is_noticed"] == list(judged(KeyedConformance, TrustsAnybody).failed)


@attrs.frozen(kw_only=True)
class Controls(WorkCheck):
    """Mixes jobs of known answer among the others."""

    controls: int = param(help="How many per worker.", default=5)

    def size(self, *, omitted):
        return {"noticed": 1 - (1 - omitted) ** self.controls}

    def assign(self, jobs, workers):
        known = list(range(1000, 1000 + self.controls))
        return [[*jobs, *known] for _ in range(workers)], known

    def verify(self, key, answers):
        for worker, answered in enumerate(answers):
            if any(answered.get(job) != 2 * job for job in key):
                raise IntegrityError(f"worker {worker} omitted work")
        return "all controls are right"


class Boasts(Controls):
    def size(self, *, omitted):
        return {"noticed": 0.99}


class ControlsConformance(IntegrityConformance):
    campaign = {"omitted": 0.2}
    jobs = tuple(range(20))

    def work(self, batches, lazy):
        coin = random.Random(os.urandom(8))
        omits = [lazy and worker == 0 for worker in range(len(batches))]
        return [
            {job: 2 * job for job in batch if not (omit and coin.random() < 0.2)}
            for batch, omit in zip(batches, omits, strict=True)
        ]

    def stated(self, sizing):
        return sizing["noticed"]


def test_omitted_work_must_be_noticed_as_often_as_is_stated(judged):
    """The probability, 0.67 here, may be missed by chance only: four standard deviations."""
    assert {} == judged(ControlsConformance, Controls).failed
    assert ["check_omitted_work_is_noticed"] == list(judged(ControlsConformance, Boasts).failed)
