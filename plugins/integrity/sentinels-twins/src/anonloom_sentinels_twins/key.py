"""The private key of a campaign: what tells the controls from the genuine jobs.

It never reaches a worker, and nothing of it is shown: a `repr` says how large the campaign is.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import attrs
import numpy as np
from numpy.typing import NDArray

from anonloom.errors import IntegrityError
from anonloom.files import read_bytes
from anonloom.lazy import pd
from anonloom_sentinels_twins.work_check import Campaign, Sizing

CONTEXT = "anonloom sentinels-twins private key"
VERSION = 2

#: In `row` of a sentinel, and in `expected` of a genuine job.
NONE = -1

_JOB = re.compile(r"[0-9a-f]{32}")
_DECIMAL = re.compile(r"(-?)(0|[1-9]\d*)(?:\.(\d+))?")
_FINGERPRINT = 16
_FIELDS = {
    "context",
    "version",
    "campaign",
    "sizing",
    "rows",
    "results",
    "disguised",
    "salt",
    "used",
    "workers",
}
_COLUMNS = ("jobs", "rows", "expected", "copies")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Key:
    """Which job of which worker is what; one entry per job sent, grouped by worker.

    Attributes
    ----------
    campaign, sizing
        What the batches were made for.
    rows
        How many genuine rows there are.
    results
        The results that sentinels may have, as `spelled`.
    job, worker
        The name of each job, and who has it.
    row
        Which genuine row it is; `NONE` for a sentinel. A twin's row has two jobs.
    expected
        Which of `results` a sentinel must give; `NONE` for a genuine job.
    copy
        Whether it is the second job of its row.
    disguised
        Whether second jobs were changed a little.
    salt, used
        Fingerprints of the rows that served as sentinels, so that no later campaign uses them
        again: a worker may have kept the results.
    """

    campaign: Campaign
    sizing: Sizing
    rows: int
    results: tuple[str, ...]
    job: NDArray[np.str_]
    worker: NDArray[np.int64]
    row: NDArray[np.int64]
    expected: NDArray[np.int64]
    copy: NDArray[np.bool_]
    disguised: bool
    salt: bytes
    used: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Key({self.rows} rows, {self.campaign.workers} workers)"

    def jobs_of(self, worker: int) -> NDArray[np.int64]:
        """Return the places of one worker's jobs."""
        return np.flatnonzero(self.worker == worker)

    def pairs(self) -> NDArray[np.int64]:
        """Return one line per twin: the places of its first and of its second job."""
        second = np.flatnonzero(self.copy)
        first = np.full(self.rows, NONE, dtype=np.int64)
        originals = np.flatnonzero(~self.copy & (self.row != NONE))
        first[self.row[originals]] = originals
        return np.column_stack([first[self.row[second]], second])

    def was_sentinel(self, rows: "pd.DataFrame") -> NDArray[np.bool_]:
        """Return which of these rows were sentinels in this campaign."""
        used = set(self.used)
        return np.array(
            [fingerprint in used for fingerprint in fingerprints(rows, self.salt)], dtype=bool
        )


def fresh(known: "pd.DataFrame", earlier: Iterable[Key], result: str) -> "pd.DataFrame":
    """Return the known rows that served in none of the earlier campaigns.

    Only sentinels that a worker has never seen show that it computed anything now: a job's name
    stops an old file from being sent again, not an old computation from being used again.
    """
    cells = known.drop(columns=result)
    served = np.zeros(len(known), dtype=bool)
    for key in earlier:
        served |= key.was_sentinel(cells)
    return known.loc[~served]


def spell(values: "pd.Series") -> NDArray[np.object_]:
    """Return each value as a text, the same for 1, 1.0 and ' 1.0'; None where there is none.

    Answers come back as numbers from one worker and as text from another, a single missing answer
    turns a column of integers into floats, and some programs put spaces around cells: none of this
    is a difference.
    """
    try:
        codes, uniques = pd.factorize(values)
    except TypeError:
        # Lists and the like are nobody's result, but a worker may send them.
        plain = [value if isinstance(value, str | int | float) else repr(value) for value in values]
        codes, uniques = pd.factorize(pd.Series(plain, dtype=object))
    texts = np.empty(len(uniques) + 1, dtype=object)
    texts[: len(uniques)] = [_spell_value(value) for value in uniques]
    result: NDArray[np.object_] = texts[codes]  # a missing value has code -1: the last, None
    return result


def _spell_value(value: Any) -> str | None:
    if isinstance(value, float | np.floating):
        value = int(value) if float(value).is_integer() else repr(float(value))
    try:
        text = str(value).strip()
    except ValueError:
        # Python writes no integers of thousands of digits, for fear of the time that it takes.
        text = hex(value)
    number = _DECIMAL.fullmatch(text)
    if number is None:
        return text or None
    sign, whole, part = number[1], number[2], (number[3] or "").rstrip("0")
    digits = f"{whole}.{part}" if part else whole
    return digits if digits == "0" else sign + digits


def fingerprints(rows: "pd.DataFrame", salt: bytes) -> list[str]:
    """Return a salted hash of each row's cells, whatever the order of the columns.

    Numbers are hashed by value: where a column is disguised it is one of numbers, and `007` is 7.
    """
    names = sorted(map(str, rows.columns))
    columns = [[_by_value(cell) for cell in spell(rows[name])] for name in names]
    start = hashlib.sha256(salt + json.dumps(names).encode())
    results = []
    for cells in zip(*columns, strict=True) if columns else [()] * len(rows):
        one = start.copy()
        one.update(json.dumps(cells).encode())
        results.append(one.hexdigest()[: 2 * _FINGERPRINT])
    return results


def _by_value(cell: str | None) -> str | None:
    try:
        number = float(cell or "")
    except ValueError:
        return cell
    return repr(number + 0.0)


def write(key: Key, path: Path) -> None:
    """Write the key into a new file that only its owner can read.

    Raises
    ------
    IntegrityError
        When the file exists already, or cannot be written.
    """
    text = json.dumps(_document(key), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        # Made with its mode, not changed to it: there is no moment at which others can read it.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise IntegrityError(f"the key {path} cannot be written: {error.strerror}") from None
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def _document(key: Key) -> dict[str, Any]:
    campaign = attrs.asdict(key.campaign, recurse=False)
    campaign["classes"] = list(key.campaign.classes)
    campaign["groups"] = [sorted(group) for group in key.campaign.groups]
    sizing = {
        "controls": {name: key.sizing.controls.get(name, 0) for name in ("sentinels", "twins")},
        "undetected": key.sizing.undetected,
        "escape": key.sizing.escape,
        "reasons": list(key.sizing.reasons),
        "assumptions": list(key.sizing.assumptions),
    }
    workers = []
    for worker in range(key.campaign.workers):
        own = key.jobs_of(worker)
        workers.append(
            {
                "jobs": key.job[own].tolist(),
                "rows": key.row[own].tolist(),
                "expected": key.expected[own].tolist(),
                "copies": key.copy[own].tolist(),
            }
        )
    return {
        "context": CONTEXT,
        "version": VERSION,
        "campaign": campaign,
        "sizing": sizing,
        "rows": key.rows,
        "results": list(key.results),
        "disguised": key.disguised,
        "salt": key.salt.hex(),
        "used": list(key.used),
        "workers": workers,
    }


def read(path: Path) -> Key:
    """Read a key, and accept nothing that `write` would not have written.

    Raises
    ------
    IntegrityError
        Saying what is wrong with the file; never what is in it.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except OSError as error:
        raise IntegrityError(f"the key {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise IntegrityError(f"the key {path} is no text") from None
    try:
        return _key(json.loads(text, object_pairs_hook=_once, parse_constant=_refuse_constant))
    except RecursionError:
        raise IntegrityError(f"the key {path} is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise IntegrityError(f"the key {path} is no JSON: line {error.lineno}") from None
    except _Wrong as error:
        raise IntegrityError(f"the key {path} cannot be used: {error}") from None


class _Wrong(ValueError):
    """What is wrong with a key, without what is in it."""


def _refuse_constant(_: str) -> NoReturn:
    raise _Wrong("a number is not finite")


def _once(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    results = dict(entries)
    if len(results) != len(entries):
        raise _Wrong("a name occurs twice")
    return results


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise _Wrong(what)


def _read_entries(value: Any, names: Iterable[str], where: str) -> dict[str, Any]:
    _demand(isinstance(value, dict) and set(value) == set(names), f"'{where}' has other entries")
    result: dict[str, Any] = value
    return result


def _read_list(value: Any, kind: type, where: str) -> list[Any]:
    # bool is an int to isinstance, but not to JSON
    fits = isinstance(value, list) and all(type(item) is kind for item in value)
    _demand(fits, f"'{where}' is no list of {kind.__name__}")
    result: list[Any] = value
    return result


def _key(document: Any) -> Key:
    _demand(isinstance(document, dict), "it is no mapping")
    _demand(document.get("context") == CONTEXT, "it is another sort of file")
    known = type(document.get("version")) is int and document["version"] == VERSION
    _demand(known, f"it is not of version {VERSION}")
    _read_entries(document, _FIELDS, "key")
    campaign, sizing = _campaign(document["campaign"]), _read_sizing(document["sizing"])
    workers = document["workers"]
    fits = isinstance(workers, list) and len(workers) == campaign.workers
    _demand(fits, "'workers' does not fit the campaign")
    lists = [_read_entries(worker, _COLUMNS, "workers") for worker in workers]
    jobs = [_read_list(item["jobs"], str, "jobs") for item in lists]
    rows = [_read_list(item["rows"], int, "rows") for item in lists]
    expected = [_read_list(item["expected"], int, "expected") for item in lists]
    copies = [_read_list(item["copies"], bool, "copies") for item in lists]
    sizes = [len(job) for job in jobs]
    for other in (rows, expected, copies):
        _demand(sizes == [len(item) for item in other], "a worker's lists differ in length")
    names = [name for job in jobs for name in job]
    _demand(all(_JOB.fullmatch(name) for name in names), "a job has a wrong name")
    _demand(len(set(names)) == len(names), "two jobs have one name")
    _demand(type(document["rows"]) is int, "'rows' is no integer")
    _demand(type(document["disguised"]) is bool, "'disguised' is no truth value")
    try:
        salt = bytes.fromhex(document["salt"])
    except (TypeError, ValueError):
        raise _Wrong("'salt' is no text of hexadecimal digits") from None
    key = Key(
        campaign=campaign,
        sizing=sizing,
        rows=document["rows"],
        results=tuple(_read_list(document["results"], str, "results")),
        job=np.array(names, dtype="<U32"),
        worker=np.repeat(np.arange(len(sizes), dtype=np.int64), sizes),
        row=_concatenate(rows),
        expected=_concatenate(expected),
        copy=np.array([item for part in copies for item in part], dtype=bool),
        disguised=document["disguised"],
        salt=salt,
        used=tuple(_read_list(document["used"], str, "used")),
    )
    _check(key)
    return key


def _concatenate(parts: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    try:
        return np.array([item for part in parts for item in part], dtype=np.int64)
    except OverflowError:
        raise _Wrong("a number is too large") from None


def _check(key: Key) -> None:
    """Check that the jobs make up the campaign."""
    genuine = key.row != NONE
    _demand(bool((genuine == (key.expected == NONE)).all()), "a job is neither row nor sentinel")
    _demand(not (key.copy & ~genuine).any(), "a sentinel is a twin")
    for values, most, what in (
        (key.row[genuine], key.rows, "row"),
        (key.expected[~genuine], len(key.results), "result"),
    ):
        _demand(bool(((values >= 0) & (values < most)).all()), f"a {what} does not exist")
    firsts = key.row[genuine & ~key.copy]
    once = len(firsts) == key.rows and len(np.unique(firsts)) == key.rows
    _demand(once, "not every row is one worker's job")
    seconds = key.row[key.copy]
    _demand(len(np.unique(seconds)) == len(seconds), "a row is the job of three workers")
    pairs = key.pairs()
    apart = key.worker[pairs[:, 0]] != key.worker[pairs[:, 1]]
    _demand(bool(apart.all()), "both jobs of a twin are one worker's")
    counted = {"sentinels": int((~genuine).sum()), "twins": len(pairs)}
    planned = {name: key.sizing.controls.get(name, 0) for name in counted}
    _demand(counted == planned, "the controls are not those of the sizing")


def _campaign(value: Any) -> Campaign:
    result = _read_entries(value, [field.name for field in attrs.fields(Campaign)], "campaign")
    whole = ("jobs", "workers")
    _demand(all(type(result[name]) is int for name in whole), "'campaign' has a wrong number")
    _demand(type(result["colluding"]) is bool, "'colluding' is no truth value")
    parts = [
        result["lazy"],
        result["omission"],
        result["error"],
        *_numbers(result["classes"], "classes"),
    ]
    parts += [result[name] for name in ("budget", "epsilon") if result[name] is not None]
    _numbers(parts, "campaign")
    _demand(isinstance(result["groups"], list), "'groups' is no list")
    for group in result["groups"]:
        _read_list(group, int, "groups")
    return Campaign(**result)


def _numbers(value: Any, where: str) -> list[float]:
    fits = isinstance(value, list) and all(type(item) in (int, float) for item in value)
    _demand(fits, f"'{where}' holds something else than numbers")
    result: list[float] = value
    return result


def _read_sizing(value: Any) -> Sizing:
    result = _read_entries(value, [field.name for field in attrs.fields(Sizing)], "sizing")
    controls: Mapping[str, int] = _read_entries(
        result["controls"], ("sentinels", "twins"), "controls"
    )
    _read_list(list(controls.values()), int, "controls")
    return Sizing(
        controls=controls,
        undetected=_numbers([result["undetected"]], "undetected")[0],
        escape=_numbers([result["escape"]], "escape")[0],
        reasons=tuple(_read_list(result["reasons"], str, "reasons")),
        assumptions=tuple(_read_list(result["assumptions"], str, "assumptions")),
    )
