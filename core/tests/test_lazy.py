"""Modules that are imported when something of them is used."""

import pickle
import subprocess
import sys

import pandas
import pytest

from anonloom.lazy import lazy_module, pd


def loaded(code):
    """Return what a fresh process has imported after some code, of what frames need."""
    answer = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{code}\nimport sys; print({{'pandas', 'pyarrow'}} & set(sys.modules))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return eval(answer.stdout)


def test_nothing_is_imported_before_it_is_used():
    assert set() == loaded("from anonloom.lazy import arrow_csv, pa, pc, pd, pq")
    assert {"pyarrow"} == loaded("from anonloom.lazy import pc; pc.equal")
    assert "pandas" in loaded("from anonloom.lazy import pd; pd.DataFrame")


def test_it_is_the_module_once_it_is_used(monkeypatch):
    assert pandas.DataFrame is pd.DataFrame
    monkeypatch.setattr(pandas, "concat", "changed")
    assert "changed" == pd.concat


def test_what_is_not_there_is_told_as_by_the_module():
    with pytest.raises(AttributeError) as caught:
        assert lazy_module("collections").nothing
    assert "module 'collections' has no attribute 'nothing'" == str(caught.value)
    with pytest.raises(ModuleNotFoundError) as caught:
        assert lazy_module("nowhere").anything
    assert "No module named 'nowhere'" == str(caught.value)


def test_it_can_be_sent_to_another_process():
    assert pandas.DataFrame is pickle.loads(pickle.dumps(pd)).DataFrame


def test_the_data_model_is_imported_without_frames():
    assert set() == loaded(
        "import anonloom, anonloom.data, anonloom.kinds, anonloom.sources\n"
        "for module in (anonloom, anonloom.data, anonloom.kinds, anonloom.sources):\n"
        "    [getattr(module, name) for name in module.__all__]"
    )
