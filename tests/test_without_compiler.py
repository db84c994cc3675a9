"""Without a C compiler everything installs, runs interpreted, and says what to install."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: All libraries, and the plugins that the quickstart names.
PACKAGES = (
    "core",
    *(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("libs/*"))),
    "plugins/anonymizers/mondrian",
    "plugins/anonymizers/privacy-models",
    "plugins/anonymizers/recoding",
    "plugins/auditors/disclosure",
    "plugins/auditors/utility",
)
NOTICE = (
    "anonloom-mondrian was installed without its compiled kernels: this step is interpreted; to "
    "make it fast, install a C compiler and then anonloom-kernels and anonloom-mondrian again"
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment whose packages were built where every compiler fails."""
    folder = tmp_path_factory.mktemp("no compiler")
    uv = Path(sys.executable).with_name("uv")
    if not uv.is_file():
        pytest.skip("uv is not installed beside this Python; venv and pip would take minutes")
    # Copies: a build leaves files in the folder of its sources.
    copies = [folder / "sources" / path for path in PACKAGES]
    unwanted = shutil.ignore_patterns("*.so", "build", "dist", "*.egg-info", "tests", ".*")
    for path, copy in zip(PACKAGES, copies, strict=True):
        shutil.copytree(ROOT / path, copy, ignore=unwanted)
    python = folder / "environment/bin/python"
    settings = os.environ | {"CC": "/bin/false"}
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, python.parents[1]], check=True)
    install = [uv, "pip", "install", "-q", "--no-config", "--python", python]
    subprocess.run([*install, *copies], env=settings, cwd=folder, check=True)
    return python


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="CC is not asked by the compiler of Windows")
def test_the_quickstart_runs_interpreted_and_says_what_to_install(environment, tmp_path):
    done = subprocess.run(
        [environment.with_name("anonloom"), "run", ROOT / "examples/quickstart.yaml",
         "--to", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
        env={key: value for key, value in os.environ.items() if not key.startswith("ANONLOOM")},
    )  # fmt: skip

    assert 0 == done.returncode, done.stderr
    assert NOTICE in " ".join(done.stderr.split())
    assert not list(environment.parents[1].rglob("anonloom_*/*.so"))
    assert (tmp_path / "out/public/release.csv").is_file()
