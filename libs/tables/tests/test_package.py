"""The package itself: what it exports and what importing it costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import anonloom_tables


def test_every_public_name_is_found_and_seen_by_type_checkers():
    assert anonloom_tables.__all__ == dir(anonloom_tables)
    assert [] == [name for name in anonloom_tables.__all__ if not hasattr(anonloom_tables, name)]
    tree = ast.parse(Path(anonloom_tables.__file__).read_text(encoding="utf-8"))
    typed = [
        alias.asname
        for branch in tree.body
        if isinstance(branch, ast.If)
        for line in branch.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    ]
    assert anonloom_tables.__all__ == sorted(typed)


def test_a_name_that_is_not_there_is_told_as_by_any_module():
    with pytest.raises(AttributeError) as caught:
        assert anonloom_tables.Excel
    assert "module 'anonloom_tables' has no attribute 'Excel'" == str(caught.value)


def test_its_names_are_imported_without_frames():
    code = (
        "import sys, anonloom_tables as tables\n"
        "[getattr(tables, name) for name in tables.__all__]\n"
        "print({'pandas', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "set()\n" == done.stdout
