"""Dask as the way to the workers: each batch goes to one dask worker, in pieces, and to no other.

Only rows and the names of jobs leave; the key is not an argument of anything here. Answers come
back as JSON and are taken apart with care: a worker may say what it likes. Dask itself trusts its
workers (it unpickles what they send, and lets them talk to each other): against workers who attack
the client, and not only its results, send files.
"""

import json
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import attrs
import numpy as np
import pandas as pd

from anonloom.errors import PluginError, UsageError
from anonloom_sentinels_twins.work_check import JOB, RESULT
from anonloom_sentinels_twins.workers import Behaviour, Jobs, Work

#: Rows that are sent at a time, and pieces that a worker has at a time.
PIECE, AHEAD = 2000, 2
#: Seconds after which it is looked whether workers are still there.
_LOOK = 1.0
#: Seconds that an answer may take on its way: it is lost when its worker dies just then.
_FETCH = 30.0


@attrs.frozen
class BehaviourWork:
    """A worker's work for dry runs: what it answers instead of what honest work gives.

    Attributes
    ----------
    work
        What honest work gives for rows.
    behaviour
        What becomes of that; one that needs neither other workers' jobs nor a model.
    classes
        The results that there are, the most frequent one first.
    """

    work: Work
    behaviour: Behaviour
    classes: tuple[Any, ...] = attrs.field(converter=tuple)

    def __call__(self, rows: pd.DataFrame) -> Any:
        """Answer some rows."""
        jobs = Jobs(
            truth=np.asarray(self.work(rows)), classes=pd.Series(list(self.classes)).to_numpy()
        )
        return self.behaviour.answer(jobs, np.random.default_rng())


def execute(
    batches: Sequence[pd.DataFrame],
    work: Work | Sequence[Work],
    client: Any,
    *,
    addresses: Sequence[str] | None = None,
    piece: int = PIECE,
    patience: float | None = None,
    tell: Callable[[str], None] | None = None,
) -> tuple[pd.DataFrame | None, ...]:
    """Let dask workers do the jobs, and return what they answer.

    Parameters
    ----------
    batches
        One frame per worker, as `assign` made them.
    work
        What to do with rows (without the column `job`): one result per row. Or one such function
        per worker, in order to try what controls notice.
    client
        A `distributed.Client`, not an asynchronous one.
    addresses
        The dask worker of each batch; by default the first ones in the order of their addresses.
    piece
        Rows that are sent at a time.
    patience
        Seconds that a worker may take for one piece before it is given up; for ever by default.
    tell
        Is told, in a sentence, what went wrong with a worker.

    Returns
    -------
    tuple of DataFrame or None
        Columns `job` and `result`, one per worker: what came back, however little; None where
        nothing did, such as from a worker that died.

    Raises
    ------
    UsageError
        When there are fewer workers than batches, or other numbers do not fit.
    PluginError
        When dask is not installed.
    """
    dask = _import_distributed()
    if piece < 1:
        raise UsageError(f"piece must be at least 1. Got {piece} instead.")
    works = list(work) if isinstance(work, Sequence) else [work] * len(batches)
    if len(works) != len(batches):
        raise UsageError(f"there are {len(batches)} batches and {len(works)} functions")
    chosen = _addresses(client, len(batches), addresses)
    lines = [
        _Line(
            number=number,
            address=address,
            work=item,
            pieces=[batch.iloc[index : index + piece] for index in range(0, len(batch), piece)],
        )
        for number, (batch, item, address) in enumerate(zip(batches, works, chosen, strict=True))
    ]
    # Waiting is done by the current client, whichever that is.
    with client.as_current():
        _run(lines, client, dask, patience, tell or (lambda _: None))
    return tuple(line.answers() for line in lines)


def _import_distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise PluginError(
            "dask is not installed", hint="Install it: pip install 'anonloom-sentinels-twins[dask]'"
        ) from None


def _alive(client: Any) -> set[str]:
    return set(client.scheduler_info(n_workers=-1)["workers"])


def _addresses(client: Any, number: int, given: Sequence[str] | None) -> list[str]:
    alive = _alive(client)
    chosen = sorted(alive)[:number] if given is None else list(given)
    if len(chosen) < number:
        raise UsageError(f"there are {number} batches and {len(chosen)} dask workers")
    if len(chosen) > number or len(set(chosen)) < number:
        # Two batches at one worker would show it both copies of a twin.
        raise UsageError(f"{number} batches need as many addresses, each another one")
    return chosen


@attrs.define(eq=False)
class _Line:
    """The pieces of one batch on their way to one worker, and back."""

    number: int
    address: str
    work: Work
    pieces: list[pd.DataFrame]
    next: int = 0
    open: dict[Any, float] = attrs.field(factory=dict)
    back: list[pd.DataFrame] = attrs.field(factory=list)

    def send(self, client: Any) -> None:
        """Send pieces until the worker has as many as it may have at a time."""
        while self.next < len(self.pieces) and len(self.open) < AHEAD:
            future = client.submit(
                answer,
                self.work,
                self.pieces[self.next].reset_index(drop=True),
                workers=[self.address],
                allow_other_workers=False,
                pure=False,
                retries=0,
            )
            self.open[future] = time.monotonic()
            self.next += 1

    def take(self, future: Any) -> str:
        """Take what came back for one piece; return what is wrong with it, if anything."""
        del self.open[future]
        # The pieces after it wait no longer.
        self.open = dict.fromkeys(self.open, time.monotonic())
        if future.status != "finished":
            # Its message may hold cells, and comes from the worker.
            return f"worker {self.number + 1} failed on {_rows(self.pieces)} rows or fewer"
        try:
            frame = _read(future.result(timeout=_FETCH))
        except Exception:
            # Whatever cannot be unpacked, or was lost with its worker: anything may come here.
            frame = None
        if frame is None:
            return f"worker {self.number + 1} sent something else than answers"
        self.back.append(frame)
        return ""

    def give_up(self, client: Any) -> None:
        """Expect nothing more of the worker."""
        client.cancel(list(self.open), force=True)
        self.open, self.next = {}, len(self.pieces)

    def answers(self) -> pd.DataFrame | None:
        """Return all that came back."""
        return pd.concat(self.back, ignore_index=True) if self.back else None


def _rows(pieces: list[pd.DataFrame]) -> int:
    return max(map(len, pieces))


def _run(
    lines: list[_Line],
    client: Any,
    dask: Any,
    patience: float | None,
    tell: Callable[[str], None],
) -> None:
    """Keep all workers busy until all have answered or are given up."""
    looked = time.monotonic()
    while True:
        for line in lines:
            line.send(client)
        owner = {future: line for line in lines for future in line.open}
        if not owner:
            return
        try:
            done = dask.wait(list(owner), timeout=_LOOK, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            done = set()
        for future in done:
            wrong = owner[future].take(future)
            if wrong:
                tell(wrong)
        now = time.monotonic()
        if done and now - looked < _LOOK:
            continue
        looked, alive = now, _alive(client)
        for line in filter(lambda one: one.open, lines):
            # Its pieces may go to no other worker, so they would wait for ever.
            if line.address not in alive:
                tell(f"worker {line.number + 1} is gone")
                line.give_up(client)
            elif patience is not None and now - min(line.open.values()) > patience:
                tell(f"worker {line.number + 1} did not answer within {patience:g} seconds")
                line.give_up(client)


def answer(work: Work, jobs: pd.DataFrame) -> bytes:
    """Do some jobs: what runs at a worker. Returns JSON with the names of jobs and results."""
    results = pd.Series(np.asarray(work(jobs.drop(columns=JOB))))
    values = [
        None if none else result
        for result, none in zip(results.tolist(), results.isna(), strict=True)
    ]
    return json.dumps({JOB: jobs[JOB].tolist(), RESULT: values}, default=str).encode()


def _read(said: object) -> pd.DataFrame | None:
    """Return the answers in what a worker sent; None when it is something else."""
    if not isinstance(said, bytes):
        return None
    try:
        content = json.loads(said)
        jobs, results = content[JOB], content[RESULT]
        fits = isinstance(jobs, list) and isinstance(results, list) and len(jobs) == len(results)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not fits:
        return None
    return pd.DataFrame(
        {
            JOB: pd.Series([str(job) for job in jobs], dtype=object),
            RESULT: pd.Series([_plain(result) for result in results], dtype=object),
        }
    )


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else str(value)
