#!/usr/bin/env python3
"""What the first run of every method costs after an installation, beside its second run.

    python benchmarks/first_run.py

Copies the tree, runs the README's first command there, which makes an environment and runs the
quickstart, and then runs every partitioner, every outlier handler and cvpl twice on that table,
each in a process of its own. Prints a table and writes
benchmarks/results/first_run.json.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import measure

ROOT = Path(__file__).resolve().parents[1]
#: The first run may cost so many times the second one.
LIMIT = 1.2

PIPELINE = (ROOT / "examples/quickstart.yaml").read_text(encoding="utf-8")
STAGES = {
    "mondrian": "[{partitioner: mondrian}, {generalizer: hierarchy}]",
    "level-order": "[{partitioner: level-order}, {generalizer: hierarchy}]",
    "local-recoding": "[{partitioner: local-recoding}, {generalizer: hierarchy}]",
    "full-domain": "[{partitioner: full-domain, with: {suppress_at_most: 1.0}}, "
    "{generalizer: hierarchy}]",
    "k-member": "[{partitioner: k-member}, {generalizer: hierarchy}]",
    "one-pass-kmeans": "[{partitioner: one-pass-kmeans}, {generalizer: hierarchy}]",
    "vp-tree": "[{partitioner: vp-tree}, {generalizer: hierarchy}]",
    "kl-tree": "[{partitioner: kl-tree, with: {task: clustering}}, {partitioner: mondrian}, "
    "{generalizer: hierarchy}]",
    "none": "[{partitioner: mondrian}, {outliers: none}, {generalizer: hierarchy}]",
    "suppress": "[{partitioner: mondrian}, {outliers: suppress}, {generalizer: hierarchy}]",
    "cof": "[{partitioner: mondrian}, {outliers: cof}, {generalizer: hierarchy}]",
    "regroup": "[{partitioner: mondrian}, {outliers: regroup}, {generalizer: hierarchy}]",
}


def pipelines(folder: Path) -> dict[str, Path]:
    """Write a pipeline file for every method; return the files."""
    files = {}
    for name, stages in STAGES.items():
        text = re.sub(r"stages:.*?audit:", f"stages: {stages}\naudit:", PIPELINE, flags=re.DOTALL)
        # What a method leaves over is not what is measured here.
        text += "suppression: {at_most: 1.0}\n"
        files[name] = folder / f"first-{name}.yaml"
        files[name].write_text(text, encoding="utf-8")
    files["cvpl"] = folder / "first-cvpl.yaml"
    audited = re.sub(r"audit: .*", "audit: [{auditor: cvpl}]", PIPELINE)
    files["cvpl"].write_text(audited, encoding="utf-8")
    return files


def main() -> int:
    """Install, and measure every method twice."""
    blocks = re.findall(
        r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    with tempfile.TemporaryDirectory() as made:
        tree = Path(made) / "anonloom"
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
        ).stdout.decode()
        for name in listed.rstrip("\0").split("\0"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
        start = time.monotonic()
        home = os.environ | {"HOME": made}
        subprocess.run(["bash", "-ec", blocks[0]], cwd=tree, check=True, env=home,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        installed = time.monotonic() - start
        size = sum(f.stat().st_size for f in (tree / ".venv").rglob("*") if f.is_file())
        print(f"README's first command: {installed:.0f} s, environment {size / 1e6:.0f} MB")
        print(f"{'method':16} {'first':>7} {'second':>7} {'ratio':>6}   CPU s")
        results = {}
        for name, file in pipelines(tree / "examples").items():
            command = [str(tree / ".venv/bin/anonloom"), "run", str(file), "--quiet", "--dry-run"]
            first, *later = [measure(command)["cpu_seconds"] for _ in range(4)]
            second = min(later)
            results[name] = {"first": first, "second": second, "ratio": first / second}
            print(f"{name:16} {first:7.2f} {second:7.2f} {first / second:6.2f}", flush=True)
    folder = ROOT / "benchmarks/results"
    folder.mkdir(exist_ok=True)
    outcome = {"installed_seconds": installed, "environment_bytes": size, "methods": results}
    (folder / "first_run.json").write_text(json.dumps(outcome, indent=2) + "\n", encoding="utf-8")
    return 0 if all(figures["ratio"] <= LIMIT for figures in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
