"""The auditor `cvpl-variants`: the attacks of the paper's ablation tables.

Appendix B varies one operator at a time.
"""

from typing import Any

import attrs
import numpy as np

from anonloom import AuditInput, Finding, Findings, StageContext, param
from anonloom.errors import UsageError
from anonloom.findings import FindingBuilder
from anonloom.params import between
from anonloom_cvpl import rates
from anonloom_cvpl.attacker import Attacker, true_rows
from anonloom_cvpl.evidence import Evidence, announce_search

#: Blocks with fewer records say nothing about a rate (U26).
LEAST_RECORDS = 30

#: What each row of Tables 24 to 26 changes.
PROJECTIONS: dict[str, dict[str, Any]] = {
    "pca": {},
    "none": {"projection": "none"},
    "robust": {"projection": "robust"},
    "umap": {"projection": "umap"},
    "random": {"projection": "random"},
}
SIMILARITIES: dict[str, dict[str, Any]] = {
    "cosine": {},
    "rbf (Euclidean)": {"similarity": "rbf"},
    "whitened (Mahalanobis)": {"similarity": "whitened"},
    "jaccard": {"similarity": "jaccard"},
}
FITS: dict[str, dict[str, Any]] = {
    "joint": {},
    "source": {"fit": "source"},
    "target": {"fit": "target"},
}


@attrs.frozen(kw_only=True)
class Variants(Attacker):
    """Repeats an attack with one operator changed at a time."""

    threshold: float = param(
        help="The attacker's strictness: a pair this similar is a plausible link.",
        default=0.9,
        check=between(0, 1),
    )
    slow: bool = param(
        help="Whether robust PCA and UMAP are tried; each needs an extra and some seconds.",
        default=False,
    )

    def link(self, case: AuditInput, context: StageContext) -> Findings:
        """Attack with every variant."""
        assert case.original is not None
        truth = true_rows(case)
        known = truth is not None and bool((truth >= 0).any())
        results: list[Finding] = []
        seen: dict[str, Evidence | None] = {}
        for table, name, changes in self._variants():
            key = repr(sorted(changes.items()))
            if key not in seen:
                seen[key] = self._evidence(case, changes, truth, context)
            evidence = seen[key]
            if evidence is not None:
                results += self._figures(table, name, evidence, known)
        default = seen.get("[]")
        return Findings.of(results, [] if default is None else self._blocks(default))

    def _variants(self) -> list[tuple[str, str, dict[str, Any]]]:
        rows = [("blocking", name, changes) for name, changes in self._blockings().items()]
        for table, variants in (
            ("projection", PROJECTIONS),
            ("similarity", SIMILARITIES),
            ("fit", FITS),
        ):
            rows += [
                (table, name, changes)
                for name, changes in variants.items()
                if self.slow or name not in ("robust", "umap")
            ]
        return rows

    def _blockings(self) -> dict[str, dict[str, Any]]:
        """Table 23: the paper's blocks, none, one key, all keys exactly, any two of the keys."""
        keys = self.blocking if isinstance(self.blocking, dict) else {}
        if len(keys) < 2:
            return {"default": {}, "no blocking": {"blocking": ()}}
        names = list(keys)
        coarse = next((name for name in names if keys[name] == 1), names[-1])
        pairs = [{name: keys[name] for name in names if name != left} for left in names]
        return {
            "default": {},
            "no blocking": {"blocking": ()},
            "weak": {"blocking": {coarse: keys[coarse]}},
            "strong": {"blocking": dict.fromkeys(names, "exact")},
            "ensemble": {"blocking": pairs[0], "also": tuple(pairs[1:])},
        }

    def _evidence(
        self, case: AuditInput, changes: dict[str, Any], truth: Any, context: StageContext
    ) -> Evidence | None:
        assert case.original is not None
        method = attrs.evolve(self, **changes)
        try:
            setup = method.configuration.prepare(case.original, [case.release], context)
        except UsageError:
            # A package of an extra is not there: the table has a gap, and says so.
            return None
        if setup is None:
            return None
        if not changes:
            announce_search(setup.task(), len(self._variants()), context)
        return setup.task().evidence(context, truth)

    def _figures(self, table: str, name: str, evidence: Evidence, known: bool) -> list[Finding]:
        without = float((evidence.candidates == 0).mean())
        unfit = "" if without <= 0.05 else f"{without:.1%} of the records have no candidate"
        finding = FindingBuilder((f"at similarity {self.threshold:g}",), unfit)
        rate = float((evidence.best >= self.threshold).mean()) if len(evidence) else None
        results = [
            finding(f"{table}.{name}.linkage_rate", rate,
                    f"Share of the records that are linked with {table}: {name}.", "neither")
        ]  # fmt: skip
        if known:
            results.append(
                finding(f"{table}.{name}.precision_at_1", rates.precision_at_1(evidence),
                        f"Share of right best candidates with {table}: {name}.", "neither")
            )  # fmt: skip
        return results

    def _blocks(self, evidence: Evidence) -> list[Finding]:
        """Table 20: how the linkage rate differs between blocks."""
        linked = evidence.best >= self.threshold
        _, block = np.unique(evidence.block, return_inverse=True)
        sizes = np.bincount(block)
        of_blocks = np.bincount(block, linked)[sizes >= LEAST_RECORDS]
        shares = of_blocks / sizes[sizes >= LEAST_RECORDS]
        lacking = "" if len(shares) else f"no block has {LEAST_RECORDS} records"
        finding = FindingBuilder((f"blocks of at least {LEAST_RECORDS} records",))
        values = {
            "sd": shares.std() if len(shares) else None,
            "p95": np.quantile(shares, 0.95) if len(shares) else None,
            "above_0.5": (shares > 0.5).mean() if len(shares) else None,
            "above_0.7": (shares > 0.7).mean() if len(shares) else None,
        }
        return [
            finding(f"blocks.{name}", value, f"Linkage rates of the blocks: {name}.", "neither",
                    lacking=lacking)
            for name, value in values.items()
        ]  # fmt: skip
