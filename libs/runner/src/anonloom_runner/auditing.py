"""Auditors by themselves, without a pipeline that is run."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from anonloom import AuditInput, Findings, Registry
from anonloom.spec import MethodUse, Unit
from anonloom_runner.execute import run_auditor
from anonloom_runner.observation import available_cores, observe_work
from anonloom_runner.stage_log import StageLog
from anonloom_runner.unread import Unreadable

__all__ = [
    "run_auditors",
]


def run_auditors(
    auditors: Sequence[MethodUse],
    case: AuditInput,
    registry: Registry,
    *,
    seed: int = 0,
    workers: int | None = None,
    unit: Unit = "person",
) -> dict[str, Findings]:
    """Return what every auditor finds, by its id; observers are told like of a run.

    Parameters
    ----------
    workers
        Threads of an auditor; by default one per core that this process may use.
    unit
        What is counted: all that is said is said of that.
    """
    run_id = secrets.token_hex(8)
    ids = tuple(use.id for use in auditors)
    with (
        TemporaryDirectory(prefix="anonloom-") as scratch,
        observe_work("audit", ids, registry, run_id) as status,
    ):
        journal = StageLog(
            registry,
            run_id,
            seed,
            workers=workers or available_cores(),
            scratch=Path(scratch),
            unit=unit,
        )
        unreadable = Unreadable.of(case)
        results = {use.id: run_auditor(use, case, journal, unreadable) for use in auditors}
        # Nothing is published.
        status.value = "dry-run"
    return results
