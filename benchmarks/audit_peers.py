"""Other packages on the same case: each in an environment of its own."""

import json
import tempfile
from pathlib import Path
from typing import Any

from environments import environment, run
from marketing_case import CATEGORIES, NOISE, case, frames

CALLS = Path(__file__).with_name("audit_calls.py")
MOST_SECONDS = 300.0

#: What reads the tables; the calls need it in every environment.
_TABLES = "pandas>=2"

#: What is installed and called, by the name in the tables.
PEERS: dict[str, dict[str, Any]] = {
    "anonymeter, 2,000 attacks": {"peer": "anonymeter", "required": ("anonymeter==1.1.0",)},
    "sdmetrics, DCR of 1,000": {"peer": "sdmetrics", "required": ("sdmetrics==0.32.0",)},
    "recordlinkage": {"peer": "recordlinkage", "required": ("recordlinkage==0.16",)},
    "splink": {"peer": "splink", "required": ("splink==5.0.0", _TABLES)},
}
#: Search among vectors, not an audit.
SEARCHES: dict[str, dict[str, Any]] = {
    "faiss HNSW": {"peer": "faiss", "required": ("faiss-cpu==1.15.1", "hnswlib==0.8.0", _TABLES)},
    "hnswlib": {"peer": "hnswlib", "required": ("faiss-cpu==1.15.1", "hnswlib==0.8.0", _TABLES)},
}

QUASI = ("age", "gender", "region")
#: What is compared as the audit does it: of the time, hour and weekday.
COMPARED = (*CATEGORIES, "age", "days_after_ad", "hour", "weekday")
#: How far apart numbers are that agree; record linkage compares moments.
TOLERANCE = {{"purchase_time": "seconds"}.get(name, name): most for name, most in NOISE.items()}

_BEHAVIOUR = ("brand_product", "purchase_place", "ad_channel")
_NUMBERS = ("age", "seconds", "days_after_ad")
#: Columns that agree in the pairs from which splink learns about the others, session by session.
SESSIONS = (
    ("region", *_BEHAVIOUR, "seconds"),
    ("region", *_BEHAVIOUR, "gender", "age"),
    ("gender", *_NUMBERS, "region"),
    ("gender", *_NUMBERS, "brand_product"),
)


def audited(name: str, rows: int) -> dict[str, Any]:
    """Measure one peer on the case.

    Raises
    ------
    environments.Failed
        When it can't be installed, fails or takes too long.
    """
    python = environment(PEERS[name]["required"])
    with tempfile.TemporaryDirectory() as folder:
        files = {part: Path(folder) / f"{part}.csv" for part in ("original", "release", "control")}
        tables = (*frames(case(rows)), frames(case(rows, seed=2))[0])
        for file, table in zip(files.values(), tables, strict=True):
            table.to_csv(file, index=False)
        question = {
            "peer": PEERS[name]["peer"],
            "rows": rows,
            **{part: str(file) for part, file in files.items()},
            "compared": COMPARED,
            "quasi": QUASI,
            "categories": CATEGORIES,
            "tolerance": TOLERANCE,
            "sessions": SESSIONS,
        }
        return _asked(python, question)


def searched(name: str, rows: int, width: int) -> dict[str, Any]:
    """Measure one library's search among so many random directions."""
    python = environment(SEARCHES[name]["required"])
    question = {"peer": SEARCHES[name]["peer"], "rows": rows, "width": width, "seed": 1}
    return _asked(python, question)


def _asked(python: Path, question: dict[str, Any]) -> dict[str, Any]:
    message = run([str(python), str(CALLS), json.dumps(question)], MOST_SECONDS)
    result: dict[str, Any] = json.loads(message.splitlines()[-1])
    return {"calls": 1, **result}
