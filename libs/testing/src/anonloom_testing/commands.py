"""Commands as a user types them, for tests of packages that build on `anonloom-cli`.

A `conftest.py` imports the fixture; it needs that of the clinic's shop, too.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonloom_cli import main
from anonloom_testing.clinic import Clinic

#: A pipeline that needs no method of a plugin: for processes, which find what is installed.
PLAIN = """
version: 1
name: clinic
seed: 1
data:
  source: csv
  with: {path: clinic.csv}
  columns: {sex: {role: other}}
privacy: none
publish: {to: out, reporters: []}
"""


@pytest.fixture
def anonloom(
    shop: Clinic, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command; return its exit code and what it said."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def run_in_process(folder: Path, *words: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "anonloom", *words],
        cwd=folder,
        text=True,
        check=False,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
    )
