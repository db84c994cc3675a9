"""Guarantees are told in words, and a swap of transports by what differs."""

import attrs
import pytest

from anonloom.kinds import Guarantees
from anonloom.kinds._transport import swap_sentence
from anonloom_testing.sample_guarantees import guarantees

GUARANTEES = guarantees()


def test_a_swap_is_told_by_what_differs():
    other = attrs.evolve(
        GUARANTEES, honest_senders_min=1, presence_of_erased_visible=True, not_covered=()
    )
    assert (
        "With plain instead of hiding: honest senders among whom a message hides: at least 1 (with "
        "hiding: 1,000); servers see before opening which positions were filled: yes (with "
        "hiding: no); not covered by hiding, and not named here: coercion."
        == swap_sentence("hiding", GUARANTEES, "plain", other)
    )


def test_a_swap_without_a_declared_difference_claims_no_more():
    assert "With b instead of a, no declared guarantee changes." == swap_sentence(
        "a", GUARANTEES, "b", GUARANTEES
    )


@pytest.mark.parametrize("field", [field.name for field in attrs.fields(Guarantees)])
def test_a_change_of_any_guarantee_is_told(field):
    changed = attrs.evolve(GUARANTEES, **{field: ("something else",)})
    assert "something else" in swap_sentence("a", GUARANTEES, "b", changed)


def test_several_things_that_are_not_covered_are_numbered():
    other = attrs.evolve(GUARANTEES, not_covered=("rain, or snow", "coercion", "hail"))
    assert (
        "With b instead of a: not covered, and not named by a: (1) rain, or snow, (2) hail."
        == swap_sentence("a", GUARANTEES, "b", other)
    )
    assert "not covered: (1) rain, or snow, (2) coercion, (3) hail" == other.sentences()[-1]


def test_guarantees_in_words_and_for_the_manifest():
    assert len(attrs.fields(Guarantees)) == len(GUARANTEES.sentences())
    assert "honest senders among whom a message hides: at least 1,000" == GUARANTEES.sentences()[0]
    assert ["coercion"] == GUARANTEES.as_dict()["not_covered"]
    assert 1000 == GUARANTEES.as_dict()["honest_senders_min"]
