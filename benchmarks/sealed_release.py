"""A sealed release of many rows, for `proofs.py`: sealing, verifying, and a range as a file."""

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
from environments import run

from anonloom.kinds import Query
from anonloom_merkle.scheme import Merkle
from anonloom_runner.table_files import write_csv

MOST_SECONDS = 300.0
_RECIPIENT = """
import json, pathlib, sys, time
from anonloom_merkle.scheme import Merkle
proof, calls = pathlib.Path(sys.argv[1]).read_bytes(), int(sys.argv[2])
taken = []
for _ in range(calls):
    start = time.process_time()
    proved = Merkle().verify_proof(proof)
    taken.append(time.process_time() - start)
print(json.dumps({"cpu": min(taken), "rows": len(proved.rows)}))
"""

_CITIES = ("berlin", "lisbon", "madrid", "paris", "rome", "vienna")


def rows_of(count: int) -> pd.DataFrame:
    """Rows of about 64 bytes; one column is a number that no two rows share, one a code."""
    drawn = random.Random(4)
    serial = list(range(count))
    drawn.shuffle(serial)
    return pd.DataFrame(
        {
            "serial": serial,
            "age": drawn.choices(range(90), k=count),
            "city": drawn.choices(_CITIES, k=count),
            "code": [f"c{drawn.randrange(10**8):08d}" for _ in range(count)],
            "diagnosis": [f"illness {index}" for index in drawn.choices(range(200), k=count)],
        }
    )


def measured(folder: Path, count: int, found: int, calls: int) -> dict[str, Any]:
    """Seal, verify, prove a range of `found` rows and check the proof; CPU of the best call."""
    public, private = folder / "public", folder / "private"
    public.mkdir()
    private.mkdir()
    frame = rows_of(count)
    write_csv(frame, public / "release.csv")
    columns = {name: {"type": "number"} for name in ("serial", "age")}
    (public / "manifest.json").write_text(json.dumps({"spec": {"columns": columns}}))
    seal = Merkle(index=("serial",))
    first = count // 3
    query = Query(where=f"serial between {first} and {first + found - 1}")
    clock = [time.process_time()]
    seal.seal(public, private)
    clock.append(time.process_time())
    seal.verify(public)
    clock.append(time.process_time())
    proof = folder / "range.proof"
    proof.write_bytes(seal.prove(public, query))
    # In a process of its own, as a recipient does who has nothing but the proof.
    message = run([sys.executable, "-c", _RECIPIENT, str(proof), str(calls)], MOST_SECONDS)
    recipient = json.loads(message.splitlines()[-1])
    if recipient["rows"] != found:
        raise SystemExit(f"the proof shows {recipient['rows']} rows instead of {found}")
    return {
        "cpu": clock[1] - clock[0],
        "verified": clock[2] - clock[1],
        "check_us": 1e6 * recipient["cpu"],
        "proof_bytes": proof.stat().st_size,
    }
