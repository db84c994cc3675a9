"""Integrity schemes that keep their promises, and those that break one."""

import hashlib
import io
import json
import os

import attrs
import numpy as np
import pandas as pd
import pytest
from kit_toy_tests import ToyTests

from anonloom import param
from anonloom.errors import IntegrityError
from anonloom.kinds import (
    JOB,
    RESULT,
    Assignment,
    Judgement,
    OmittedWork,
    Proved,
    ProvingSeal,
    Seal,
    Sealed,
    Sizing,
    Verified,
    WorkCheck,
    WorkerEvidence,
)
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
        return Sealed(public=("sums.json",))

    def verify(self, public, *, key=None, known=None):
        try:
            proof = json.loads((public / "sums.json").read_text())
        except (OSError, ValueError):
            raise IntegrityError("the proof cannot be read") from None
        if proof != self.listed(public):
            raise IntegrityError("a file was changed")
        return Verified(covers=("all files",))


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


class Tells(Sums, ProvingSeal):
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
        return Proved(verified=Verified(covers=("the rows",)), rows=rows)


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
        return Sealed(public=("sums.json", "key.txt"), private=("key.txt",))

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
class Controls(WorkCheck):
    """Mixes rows of known result among the others, the same number for every worker."""

    controls: int = param(help="How many per worker.", default=5)

    def size(self, campaign):
        passes = 1 - campaign.omission * (1 - max(campaign.classes))
        return Sizing(
            controls={"known": self.controls * campaign.workers},
            undetected=passes ** (self.controls * campaign.lazy),
        )

    def assign(self, jobs, known, campaign, sizing, rng):
        worker = rng.permutation(len(jobs)) % campaign.workers
        drawn = known.sample(sizing.extra, random_state=rng)
        batches, key = [], {"rows": {}, "controls": {}, "asked": [], "count": len(jobs)}
        for index in range(campaign.workers):
            rows = np.flatnonzero(worker == index)
            controls = drawn.iloc[index :: campaign.workers]
            names = [rng.bytes(8).hex() for _ in range(len(rows) + len(controls))]
            key["rows"] |= dict(zip(names, rows.tolist(), strict=False))
            key["controls"] |= dict(zip(names[len(rows) :], controls[RESULT], strict=True))
            key["asked"].append(set(names))
            batch = pd.concat([jobs.iloc[rows], controls[list(jobs.columns)]])
            batches.append(batch.assign(**{JOB: names})[[JOB, *jobs.columns]])
        return Assignment(batches=tuple(batches), key=key)

    def verify(self, key, answers):
        workers, results = [], [None] * key["count"]
        for worker, (answer, asked) in enumerate(zip(answers, key["asked"], strict=True)):
            found = [] if answer is None else list(zip(answer[JOB], answer[RESULT], strict=True))
            wrong = sum(job in key["controls"] and key["controls"][job] != r for job, r in found)
            for job, result in found:
                if job in key["rows"]:
                    results[key["rows"][job]] = result
            names = [job for job, _ in found]
            workers.append(
                WorkerEvidence(
                    worker=worker,
                    jobs=len(asked),
                    missing=len(asked - set(names)),
                    strange=len(names) - len(asked & set(names)),
                    controls={"known": (wrong, self.controls)},
                    lazy=float(wrong > 0),
                    accused=wrong > 0,
                )
            )
        return self.judged(tuple(workers), results)

    def judged(self, workers, results):
        judgement = Judgement(
            workers=workers,
            results=pd.Series(results),
            distrusted=np.zeros(len(results), bool),
            prior="none",
        )
        if judgement.accused or any(worker.missing or worker.strange for worker in workers):
            raise OmittedWork("some work was not done", judgement)
        return judgement


class Boasts(Controls):
    def size(self, campaign):
        return attrs.evolve(super().size(campaign), undetected=0.0001)


class Forgets(Controls):
    """Sends a row less than it was given."""

    def assign(self, jobs, known, campaign, sizing, rng):
        given = super().assign(jobs.iloc[1:], known, campaign, sizing, rng)
        return attrs.evolve(given, key=given.key | {"count": len(jobs)})


class Overlooks(Controls):
    """Does not count the answers."""

    def judged(self, workers, results):
        workers = tuple(attrs.evolve(worker, missing=0, strange=0) for worker in workers)
        return super().judged(workers, results)


class Frames(Controls):
    """Accuses the first worker, whatever he did."""

    def judged(self, workers, results):
        return super().judged((attrs.evolve(workers[0], accused=True), *workers[1:]), results)


class Votes(Controls):
    """Takes the side of the many: where most workers failed a control, accuses the others."""

    def judged(self, workers, results):
        failed = [worker.accused for worker in workers]
        if 2 * sum(failed) > len(workers):
            workers = tuple(attrs.evolve(worker, accused=not worker.accused) for worker in workers)
        return super().judged(workers, results)


class FewTrials(IntegrityConformance):
    trials = 60


@pytest.mark.parametrize(
    ("method", "failed"),
    [
        (Controls, []),
        (Boasts, ["check_omitted_work_is_noticed"]),
        (Forgets, ["check_all_work_is_assigned", "check_honest_work_passes"]),
        (Overlooks, ["check_missing_answers_are_noticed"]),
        (
            Frames,
            [
                "check_copes_with_every_table",
                "check_honest_work_passes",
                "check_a_colluding_majority_frames_nobody",
            ],
        ),
        (Votes, ["check_a_colluding_majority_frames_nobody"]),
    ],
)
def test_a_work_check_keeps_its_promises(judged, method, failed):
    assert failed == list(judged(FewTrials, method).failed)
