"""The auditor `cvpl-ensemble`: several attackers, drawn so that nobody could prepare for them.

A protection that was tuned to one configuration of an audit may fail against the next (section
10.7). So the family of configurations is declared, the draw follows from a secret, and the hash of
the secret is published before the release is made. Afterwards the secret is published, and anybody
can repeat the draw.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from anonloom import AuditInput, Chart, Finding, Findings, Schema, StageContext, Table, param
from anonloom.errors import IntegrityError, UsageError
from anonloom.files import read_bytes
from anonloom.findings import FindingBuilder
from anonloom.kinds import stream
from anonloom.params import at_least, between
from anonloom_cvpl import rates
from anonloom_cvpl.attacker import Attacker, configured_link, one_thread, true_rows
from anonloom_cvpl.evidence import announce_search
from anonloom_cvpl.representation import MOST_WITHOUT
from anonloom_risk import Answers

#: Configurations that differ in projection, similarity and encoding.
FAMILY: tuple[dict[str, Any], ...] = (
    {},
    {"variance": 0.8},
    {"variance": 0.95},
    {"projection": "none"},
    {"projection": "random"},
    {"similarity": "whitened"},
    {"similarity": "rbf"},
    {"similarity": "jaccard"},
    {"fit": "source"},
    {"fit": "target"},
    {"categories": "hierarchical"},
    {"scale_categories": True},
)

_HEXADECIMAL = re.compile(r"[0-9a-f]{64}")


@attrs.frozen(kw_only=True)
class Ensemble(Attacker):
    """Links with several configurations that were drawn from a declared family."""

    threshold: float = param(
        help="The attacker's strictness: a pair this similar is a plausible link.",
        default=0.9,
        check=between(0, 1),
    )
    family: tuple[dict[str, object], ...] = param(
        help="The configurations that may be drawn: parameters that differ from this auditor's; "
        "a family of twelve by default.",
        default=FAMILY,
    )
    draw: int = param(help="How many configurations are drawn.", default=3, check=at_least(1))
    secret: Path | None = param(
        help="File with the secret that decides the draw (`anonloom audit-secret` makes one); by "
        "default the run's seed decides, and nobody is committed to anything.",
        default=None,
        private=True,
    )
    commitment: str | None = param(
        help="SHA-256 of the secret as it was published before the release was made.",
        default=None,
    )

    def problem(self, schema: Schema) -> str | None:
        """Say which configuration of the family is none."""
        for number, changes in enumerate(self.family, start=1):
            try:
                wrong = Attacker.problem(self._member(changes), schema)
            except (TypeError, ValueError) as error:
                wrong = str(error)
            if wrong is not None:
                return f"configuration {number} of the family: {wrong}"
        if self.draw > len(self.family):
            return f"{self.draw} configurations cannot be drawn from {len(self.family)}"
        if self.commitment is not None and self.secret is None:
            return "'commitment' goes with 'secret': the file with what was committed to"
        if self.commitment is not None and not _HEXADECIMAL.fullmatch(self.commitment):
            return "'commitment' must be 64 hexadecimal digits"
        return super().problem(schema)

    def _member(self, changes: Mapping[str, object]) -> "Attacker":
        own = {field.name for field in attrs.fields(Attacker)}
        unknown = sorted(set(changes) - own)
        if unknown:
            raise ValueError(f"'{unknown[0]}' is no parameter of an attacker")
        return attrs.evolve(self, family=(), draw=1, **changes)  # type: ignore[arg-type]  # checked

    def attack(self, case: AuditInput, targets: Table, context: StageContext) -> Sequence[Answers]:
        """Name the most similar row, as each drawn configuration does."""
        chosen = draw_configurations(self._secret(context), self.family, self.draw)
        with one_thread():
            return [
                configured_link(
                    self._member(self.family[number]).configuration,
                    case,
                    targets,
                    context,
                    f"attacker_{place}",
                )
                for place, number in enumerate(chosen, start=1)
            ]

    def _secret(self, context: StageContext) -> bytes:
        """Return what decides the draw: the same in all attacks of a run."""
        if self.secret is None:
            return stream(context.seed, "drawn configurations").bytes(32)
        return self._read_secret(self.secret)

    def link(self, case: AuditInput, context: StageContext) -> Findings:
        """Draw configurations, and link with each."""
        assert case.original is not None
        secret = self._secret(context)
        truth = true_rows(case)
        chosen = draw_configurations(secret, self.family, self.draw)
        outcomes: list[Outcome] = []
        for number in chosen:
            member = self._member(self.family[number])
            setup = member.configuration.prepare(case.original, [case.release], context)
            if setup is None:
                continue
            if not outcomes:
                announce_search(setup.task(), 2 * len(chosen), context)
            evidence = setup.task().evidence(context, truth)
            everyone = np.arange(len(evidence))
            null_evidence = setup.null_task(len(case.release), context.rng).evidence(
                context, everyone
            )
            outcomes.append(
                Outcome(
                    words=setup.words,
                    rate=float((evidence.best >= self.threshold).mean()),
                    null=float((null_evidence.wrong >= self.threshold).mean()),
                    precision=None if truth is None else rates.precision_at_1(evidence),
                    without=float((evidence.candidates == 0).mean()),
                )
            )
        return Findings.of(self._commitment(secret, chosen), self._figures(outcomes))

    def _read_secret(self, file: Path) -> bytes:
        try:
            secret = bytes.fromhex(read_bytes(file).decode("ascii").strip())
        except (OSError, ValueError):
            raise UsageError(
                "the secret of the ensemble cannot be read: it must be a file of 64 hexadecimal "
                "digits",
                hint="`anonloom audit-secret FILE` makes one.",
            ) from None
        if len(secret) != 32:
            raise UsageError("the secret of the ensemble must be 32 bytes, 64 hexadecimal digits")
        if self.commitment is not None and not hmac.compare_digest(
            commitment_to(secret), self.commitment
        ):
            raise IntegrityError(
                "the secret of the ensemble is not what was committed to",
                hint="Somebody has another secret, or changed it after the commitment.",
            )
        return secret

    def _commitment(self, secret: bytes, chosen: Sequence[int]) -> list[Finding]:
        finding = FindingBuilder()
        before = "was published before the release was made"
        if not self.commitment:
            before = "was not published before, so that nothing proves that the draw was fair"
        return [
            finding.about_audit("commitment", commitment_to(secret),
                                f"SHA-256 of the secret; it {before}.", columns=()),
            finding.about_audit("revealed_secret", secret.hex(),
                                "The secret that decided the draw; with it anybody can repeat it.",
                                columns=()),
            finding.about_audit("drawn", ", ".join(str(number + 1) for number in chosen),
                                "Configurations that were drawn from the family of "
                                f"{len(self.family)}.", columns=()),
        ]  # fmt: skip

    def _figures(self, outcomes: Sequence["Outcome"]) -> Findings:
        fit = [outcome for outcome in outcomes if outcome.without <= MOST_WITHOUT]
        unfit = "" if fit else "no drawn configuration finds candidates for all but a few records"
        finding = FindingBuilder(
            ("the worst of the drawn attackers; others may do better",
             f"at similarity {self.threshold:g}"), unfit,
        )  # fmt: skip
        precise = [outcome.precision for outcome in fit if outcome.precision is not None]
        excess = [outcome.rate - outcome.null for outcome in fit]
        rate = [outcome.rate for outcome in fit]
        results = [
            finding("linkage_rate", max(rate, default=None),
                    "Share of the records that the worst attacker links."),
            finding("linkage_rate_mean", float(np.mean(rate)) if rate else None,
                    "Share of the records that the drawn attackers link on average."),
            finding("linkage_excess", max(excess, default=None),
                    "The highest share that an attacker links beyond chance.", key=True),
            finding("precision_at_1", max(precise, default=None),
                    "Share of the records that the best attacker gets right.",
                    lacking="" if precise or unfit else "nobody says which row is whose", key=True),
        ]  # fmt: skip
        if not outcomes:
            return Findings.of(results)
        labels = [f"{index}" for index in range(1, len(outcomes) + 1)]
        chart = Chart(
            name="attackers",
            kind="bars",
            title="The drawn attackers",
            x="; ".join(f"{index}: {o.words}" for index, o in zip(labels, outcomes, strict=True)),
            y="share of the records",
            meaning="A release that only one kind of attacker cannot link is not protected.",
            data={
                "labels": labels,
                "linkage rate": [outcome.rate for outcome in outcomes],
                "chance alone": [outcome.null for outcome in outcomes],
            },
        )
        return Findings.of(results, chart)


@attrs.frozen
class Outcome:
    """What one configuration found."""

    words: str
    rate: float
    null: float
    precision: float | None
    without: float


def commitment_to(secret: bytes) -> str:
    """What is published before: the hash tells nothing about a secret of 32 random bytes."""
    return hashlib.sha256(secret).hexdigest()


def draw_configurations(
    secret: bytes, family: Sequence[Mapping[str, object]], number: int
) -> tuple[int, ...]:
    """Draw configurations: those whose keyed hashes are the smallest.

    The whole family goes into every hash, so that none can be added or taken away afterwards.
    """
    whole = [json.dumps(changes, sort_keys=True, default=str) for changes in family]
    digest = hashlib.sha256("\n".join(whole).encode()).digest()
    keyed = [
        hmac.new(secret, digest + index.to_bytes(4, "big") + text.encode(), "sha256").digest()
        for index, text in enumerate(whole)
    ]
    return tuple(sorted(sorted(range(len(whole)), key=keyed.__getitem__)[:number]))
