"""A plugin that `anonloom new` made for API 1 is told what changed, and which imports are new."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OLD = Path(__file__).parent / "fixtures" / "plugin_of_api_1"

WHAT_CHANGED = (
    "it speaks plugin API 1, this core speaks 2: upgrade anonloom-halving; if it is yours, import "
    "what methods need from the package itself: 'from anonloom import Partitioner, Classes, Guard, "
    "Table, StageContext, param' instead of 'anonloom.kinds.partitioner', 'anonloom.data.classes' "
    "and the like; 'Run' is now 'StageContext', 'Case' is 'AuditInput'; checks of parameters stay "
    "in 'anonloom.params', everything else public is listed in docs/stability.md; then say "
    "ANONLOOM_API = 2"
)


@pytest.fixture
def installed(tmp_path):
    """The plugin as an installer leaves it, and a command in an environment that has it."""
    site = tmp_path / "site"
    shutil.copytree(OLD / "src", site)
    shutil.copytree(OLD / "example", tmp_path / "example")
    info = site / "anonloom_halving-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: anonloom-halving\nVersion: 0.1.0\n"
    )
    (info / "entry_points.txt").write_text("[anonloom]\nhalving = anonloom_halving.plugin\n")

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "anonloom", *words],
            env={**os.environ, "PYTHONPATH": str(site)},
            cwd=tmp_path / "example",
            capture_output=True,
            text=True,
            check=False,
        )

    run.hooks = site / "anonloom_halving" / "plugin.py"
    return run


def test_the_list_of_plugins_says_what_changed(installed):
    done = installed("plugins")
    assert 0 == done.returncode
    assert f"  anonloom-halving 0.1.0 ({WHAT_CHANGED})\n" in done.stdout


def test_a_pipeline_that_names_its_method_says_what_changed(installed):
    done = installed("check", "pipeline.yaml")
    assert 2 == done.returncode
    assert "no partitioner is named 'halving'" in done.stderr
    assert f"not loaded: anonloom-halving 0.1.0 ({WHAT_CHANGED})" in done.stderr


def test_who_raises_the_number_only_is_told_the_new_imports(installed):
    text = installed.hooks.read_text()
    installed.hooks.write_text(text.replace("ANONLOOM_API = 1", "ANONLOOM_API = 2"))
    done = installed("plugins", "show", "halving")
    assert 2 == done.returncode
    assert (
        "anonloom: partitioner 'halving' of anonloom-halving 0.1.0 cannot be imported\n"
        "    ModuleNotFoundError: No module named 'anonloom.data.classes'\n"
        "    from anonloom import Table, Schema, Column, Classes, Release, AuditInput; the rest is "
        "in anonloom.data\n"
    ) == done.stderr


def test_the_fixture_speaks_the_old_version():
    """A rename over the whole repository must not reach it."""
    hooks = (OLD / "src" / "anonloom_halving" / "plugin.py").read_text()
    assert "ANONLOOM_API = 1\n" in hooks
    method = (OLD / "src" / "anonloom_halving" / "partitioner.py").read_text()
    assert "from anonloom.kinds.context import Run\n" in method
