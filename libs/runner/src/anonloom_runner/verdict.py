"""The verdict on a release: whether it can be acted on, why not, and what it does not speak of.

It is made here, as data; the terminal and the page only draw it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import attrs

from anonloom import PrivacyModel, Schema
from anonloom.findings import Notice

__all__ = [
    "refusal_verdict",
]

#: green: every declared model holds, and nothing speaks against it; amber: published, and somebody
#: should read the reasons first; refused: nothing is published.
Tone = Literal["green", "amber", "refused"]


@attrs.frozen
class Verdict:
    """The verdict on one release.

    Attributes
    ----------
    reasons
        Why the tone is not green, in sentences.
    covers
        What the declared models promise, in sentences.
    does_not_cover
        What nobody should read into it.
    """

    tone: Tone
    reasons: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    does_not_cover: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """Return the verdict as `report.json` has it."""
        return {
            "tone": self.tone,
            "reasons": list(self.reasons),
            "covers": list(self.covers),
            "does_not_cover": list(self.does_not_cover),
        }


def of_release(
    models: Sequence[PrivacyModel],
    published: Schema,
    notices: Iterable[Notice],
    unit: str = "persons",
) -> Verdict:
    """Return the verdict on a release that passed its check.

    Parameters
    ----------
    models
        The declared models, all of which were found to hold.
    published
        The columns of the release.
    notices
        All that stages, auditors and the runner had to say.
    unit
        What a row stands for, in the plural.
    """
    reasons = tuple(dict.fromkeys(notice.text for notice in notices if notice.privacy))
    return Verdict(
        tone="amber" if reasons or not models else "green",
        reasons=reasons,
        covers=tuple(filter(None, (model.meaning(unit) for model in models))),
        does_not_cover=tuple(_not_covered(models, published, unit)),
    )


def refusal_verdict(reason: str) -> Verdict:
    """Return the verdict on a release that was refused."""
    return Verdict("refused", (reason,))


def _not_covered(models: Sequence[PrivacyModel], published: Schema, unit: str) -> Iterable[str]:
    if not models:
        yield "Any formal guarantee: no privacy model was declared, and none was checked."
    judged = {name for model in models for name in model.judged}
    plain = [name for name in published.names_with_role("label", "other") if name not in judged]
    if models and plain:
        yield f"Columns that are published as they are: {_quoted_names(plain)}."
    unjudged = [name for name in published.names_with_role("sensitive") if name not in judged]
    if models and unjudged:
        yield (
            f"Sensitive values of which no privacy model speaks: {_quoted_names(unjudged)}. "
            "A group may share one."
        )
    if models:
        yield (
            "What somebody knows besides the quasi-identifiers, and whether the roles of the "
            "columns were chosen rightly."
        )
    if models and unit == "records":
        yield "Whom the records are about: whoever has several of them counts several times."
    yield f"Other releases about the same {unit}: two of them can be intersected."


def _quoted_names(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
