"""A bank of wrong pipeline files, one mistake each, with the whole message beside each.

After a deliberate change of a message, ``ANONLOOM_REWRITE=1 pytest`` writes the texts anew; read
the difference before you commit it.
"""

import os
from pathlib import Path

import pytest

from anonloom._spec.pipeline import load_pipeline
from anonloom.errors import SpecError

BANK = Path(__file__).parent / "bad"
FILES = sorted(BANK.glob("*.yaml"))


def test_the_bank_holds_at_least_forty_five_files():
    assert len(FILES) >= 45


def test_every_file_has_its_message_and_every_message_its_file():
    assert [file.stem for file in FILES] == sorted(text.stem for text in BANK.glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_wrong_file_gets_exactly_this_message(file, registry, monkeypatch):
    # Places name the file as the user did: from its own folder that is the bare name.
    monkeypatch.chdir(BANK)
    with pytest.raises(SpecError) as caught:
        load_pipeline(file.name, registry)
    expected = file.with_suffix(".txt")
    if os.environ.get("ANONLOOM_REWRITE"):
        expected.write_text(f"{caught.value}\n", encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == f"{caught.value}\n"
    assert 1 == len(caught.value.problems)
