"""Ten rows of one person with one illness hold no model of any package, however they are spelt."""

import pandas as pd
import pytest

from anonloom import Pipeline
from anonloom.errors import PrivacyError

PIPELINE = """
version: 1
name: alone
data:
  source: frame
  columns:
    who: {role: person}
    zip: {role: quasi}
    illness: {role: sensitive}
privacy:
  - %s
stages:
  - partitioner: mondrian
  - generalizer: hierarchy
"""

#: One of every sort: formats, controls, marks of direction, selectors, fillers, tags.
UNSEEN = "\u200b\u00ad\ufeff\u2066\ufe0f\u034f\u3164\x01\U000e0061"


def spelt(word: str) -> list[str]:
    """Return ten spellings of one word."""
    return [word, *(f"{word[0]}{unseen}{word[1:]}" for unseen in UNSEEN)]


@pytest.mark.parametrize(
    ("model", "who", "illness", "what"),
    [
        ("k-anonymity: {k: 5}", spelt("anna"), ["flu", "cold"] * 5, "k-anonymity"),
        ("l-diversity: {l: 2, of: illness}", list("abcdefghij"), spelt("flu"), "l-diversity"),
        (
            "l-diversity: {l: 2, of: illness, kind: entropy}",
            list("abcdefghij"),
            spelt("flu"),
            "l-diversity",
        ),
    ],
)
def test_what_nobody_sees_holds_no_model(tmp_path, model, who, illness, what) -> None:
    path = tmp_path / "alone.yaml"
    path.write_text(PIPELINE % model)
    frame = pd.DataFrame({"who": who, "zip": "12345", "illness": illness})
    with pytest.raises(PrivacyError) as refused:
        Pipeline.load(path).run(frame)
    assert refused.value.what.startswith(f"the whole table does not satisfy {what}: ")


@pytest.mark.parametrize("separate", [spelt("12345"), ["12345", "1234\u200b5"] * 5])
def test_spellings_of_a_quasi_identifier_are_one_class(tmp_path, separate) -> None:
    path = tmp_path / "alone.yaml"
    path.write_text(PIPELINE % "k-anonymity: {k: 5}")
    frame = pd.DataFrame({"who": list("abcdefghij"), "zip": separate, "illness": "flu"})
    outcome = Pipeline.load(path).run(frame)
    assert (1, ["12345"] * 10) == (
        outcome.report["summary"]["published_classes"],
        outcome.release.frame["zip"].tolist(),
    )
