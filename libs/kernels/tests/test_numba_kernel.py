"""Kernels that numba compiles: announced once, only when it happens, and kept on disk."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

from anonloom import StageContext

numba = pytest.importorskip("numba", reason="the extra 'numba' is not installed")

from anonloom_kernels.numba_kernel import (  # noqa: E402  # only where numba is
    NOTICE,
    announce_compilation,
    numba_kernel,
)


def test_says_once_that_it_compiles_and_never_again_for_the_same_types():
    texts = []
    context = StageContext(say=texts.append)

    def fresh(number):
        return 3 * number + 1

    once = numba.njit(fresh)
    with announce_compilation(context):
        results = [once(2), once(2.5)]
    assert [7, 8.5] == results
    assert ["compiling; this happens once after an installation"] == texts == [NOTICE]

    with announce_compilation(context):
        once(3)
    assert 1 == len(texts)


def test_says_nothing_when_nothing_is_compiled():
    texts = []

    with announce_compilation(StageContext(say=texts.append)):
        pass

    assert [] == texts


PROGRAM = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from anonloom import StageContext
    from anonloom_kernels.numba_kernel import announce_compilation
    with announce_compilation(StageContext(say=print)):
        from counting import doubled
        print(doubled(4))
"""
SOURCE = """
    from anonloom_kernels.numba_kernel import numba_kernel
    from factor import FACTOR

    @numba_kernel
    def doubled(number):
        return FACTOR * number
"""


def outcome(folder):
    """Lines that a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(folder)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / "kept"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.long
def test_what_was_compiled_is_kept_until_a_source_beside_it_changes(tmp_path):
    """A change elsewhere in the package may change what was built into a kernel."""
    (tmp_path / "counting.py").write_text(textwrap.dedent(SOURCE))
    (tmp_path / "factor.py").write_text("FACTOR = 2\n")

    assert [NOTICE, "8"] == outcome(tmp_path)
    assert ["8"] == outcome(tmp_path)

    (tmp_path / "factor.py").write_text("FACTOR = 3\n")
    assert [NOTICE, "12"] == outcome(tmp_path)


def test_a_changed_source_changes_the_name_of_a_kernel(tmp_path):
    names = []
    for index, body in enumerate(("return 1", "return 2")):
        folder = tmp_path / str(index)
        folder.mkdir()
        source = folder / "one.py"
        source.write_text(f"def number():\n    {body}\n")
        spec = importlib.util.spec_from_file_location("one", source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        numba_kernel(module.number)
        names.append(module.number.__qualname__)

    assert names[0] != names[1]
    assert ["number", "number"] == [name.rpartition("_")[0] for name in names]
