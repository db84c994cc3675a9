"""Integrity schemes that keep their promises, and those that break one."""

import hashlib
import io
import json
import os

import attrs
import pandas as pd
from kit_toy_tests import ToyTests

from anonloom import IntegrityScheme
from anonloom.errors import IntegrityError
from anonloom.kinds import ProofSystem, ProvedRows, Seal, SealFiles, VerifiedScope
from anonloom_testing import (
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
        return SealFiles(public=("sums.json",))

    def verify(self, public, *, key=None, known=None):
        try:
            proof = json.loads((public / "sums.json").read_text())
        except (OSError, ValueError):
            raise IntegrityError("the proof cannot be read") from None
        if proof != self.listed(public):
            raise IntegrityError("a file was changed")
        return VerifiedScope(covers=("all files",))


class ReturnsVerdict(Sums):
    def verify(self, public, *, key=None, known=None):
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
    def verify(self, public, *, key=None, known=None):
        json.loads((public / "sums.json").read_text())
        return super().verify(public)


class Rewrites(Sums):
    def seal(self, public, private):
        release = public / "release.csv"
        release.write_bytes(release.read_bytes() + b"\n")
        return super().seal(public, private)


class CoversNothing(Sums):
    def verify(self, public, *, key=None, known=None):
        return attrs.evolve(super().verify(public), covers=())


class Tells(Sums, ProofSystem):
    """Proves a row by telling it, with a sum over what it tells."""

    def prove(self, public, query):
        lines = (public / "release.csv").read_text().splitlines()
        text = json.dumps({row: lines[row] for row in (0, *query.rows)}).encode()
        return hashlib.sha256(text).hexdigest().encode() + text

    def verify_proof(self, proof, *, key=None, known=None, asked=None):
        if hashlib.sha256(proof[64:]).hexdigest().encode() != proof[:64]:
            raise IntegrityError("the proof was changed")
        text = json.loads(proof[64:])
        if asked is not None and [0, *asked.rows] != [int(row) for row in text]:
            raise IntegrityError("something else was asked")
        rows = pd.read_csv(io.StringIO("\n".join(text.values())))
        return ProvedRows(verified=VerifiedScope(covers=("the rows",)), rows=rows)


class TellsOthers(Tells):
    def verify_proof(self, proof, *, key=None, known=None, asked=None):
        proved = super().verify_proof(proof, asked=asked)
        return attrs.evolve(proved, rows=proved.rows.iloc[:1])


class Believes(Tells):
    def verify_proof(self, proof, *, key=None, known=None, asked=None):
        good = hashlib.sha256(proof[64:]).hexdigest().encode() + proof[64:]
        return super().verify_proof(good, asked=asked)


class AnswersAnything(Tells):
    def verify_proof(self, proof, *, key=None, known=None, asked=None):
        return super().verify_proof(proof)


class TestToys(ToyTests):
    good = [(IntegrityConformance, Sums), (IntegrityConformance, Tells)]
    broken = [
        (IntegrityConformance, ReturnsVerdict, "check_verify_raises"),
        (IntegrityConformance, ForgetsManifest, "check_flipped_bytes_are_noticed"),
        (IntegrityConformance, ForgetsOrder, "check_changed_rows_are_noticed"),
        (IntegrityConformance, AllowsMore, "check_changed_files_are_noticed"),
        (IntegrityConformance, Stumbles, "check_broken_proof_is_noticed"),
        (IntegrityConformance, Rewrites, "check_sealing_changes_no_file"),
        (IntegrityConformance, CoversNothing, "check_untouched_release_verifies"),
        (IntegrityConformance, TellsOthers, "check_proofs_show_the_rows"),
        (IntegrityConformance, AnswersAnything, "check_other_answers_are_refused"),
        (IntegrityConformance, Believes, "check_changed_proofs_are_noticed"),
    ]
    inapplicable = 9  # three of proofs, five of work, one that needs a key
    elsewhere = {
        "check_foreign_seal_is_noticed",
        "check_all_work_is_assigned",
        "check_honest_work_passes",
        "check_a_colluding_majority_frames_nobody",
        "check_missing_answers_are_noticed",
        "check_omitted_work_is_noticed",
    }


class Keyed(Sums):
    """Sums with a key file: whoever knows the key can tell who sealed."""

    def seal(self, public, private):
        (public / "key.txt").write_text(os.urandom(8).hex())
        (private / "key.txt").write_text((public / "key.txt").read_text())
        super().seal(public, private)
        return SealFiles(public=("sums.json", "key.txt"), private=("key.txt",))

    def verify(self, public, *, key=None, known=None):
        verified = super().verify(public)
        if key is not None and key.read_text() != (public / "key.txt").read_text():
            raise IntegrityError("sealed by somebody else")
        return verified


class TrustsAnybody(Keyed):
    def verify(self, public, *, key=None, known=None):
        return Sums.verify(self, public)


class KeyedConformance(IntegrityConformance):
    def public_key(self, public, private):
        return private / "key.txt"


def test_a_foreign_seal_must_be_noticed_when_the_key_is_known(judged):
    assert {} == judged(KeyedConformance, Keyed).failed
    assert ["check_foreign_seal_is_noticed"] == list(judged(KeyedConformance, TrustsAnybody).failed)


@attrs.frozen(kw_only=True)
class Other(IntegrityScheme):
    """A scheme of a sort that the kit does not know; its plugin brings the checks."""

    def verify(self):
        return None


class OtherConformance(IntegrityConformance):
    def inputs(self):
        return {"number": 3}

    def call_method(self, method, inputs, context):
        return inputs["number"]


OtherConformance.checks = IntegrityConformance.common_checks


def test_a_scheme_of_another_sort_is_held_to_what_its_plugin_brings(judged):
    assert {} == judged(OtherConformance, Other).failed
    assert len(OtherConformance.checks) == len(judged(OtherConformance, Other))


def test_a_scheme_that_is_no_seal_does_not_pass_for_one(judged):
    results = judged(IntegrityConformance, Other)
    assert "check_copes_with_every_table" in results.failed
