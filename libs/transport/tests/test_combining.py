"""Of two rounds the weaker promise holds, field by field."""

import attrs
import pytest

from anonloom.kinds import Guarantees
from anonloom_testing.sample_guarantees import guarantees
from anonloom_transport.combining import both

ONE = guarantees()


def test_the_same_promise_twice_is_that_promise():
    assert ONE == both(ONE, ONE)


@pytest.mark.parametrize(
    ("field", "weaker", "stronger"),
    [
        ("honest_senders_min", 10, 1000),
        ("colluding_servers", 0, 2),
        ("server_behaviour", "follows", "detected after open"),
        ("server_behaviour", "detected after open", "detected before open"),
        ("server_behaviour", "detected before open", "attributed"),
        ("presence_of_erased_visible", True, False),
        ("exclusion", "possible", "attributable"),
        ("post_quantum", False, True),
    ],
)
def test_what_only_one_promises_holds_for_nobody(field, weaker, stronger):
    weak, strong = guarantees(**{field: weaker}), guarantees(**{field: stronger})
    assert weak == both(weak, strong) == both(strong, weak)


@pytest.mark.parametrize(
    "field",
    [
        "donors",
        "eligibility",
        "presence_visible_to",
        "presence_visible_when",
        "delivery",
        "lost_server",
        "measured_or_argued",
    ],
)
def test_words_are_said_of_each_where_they_differ(field):
    result = both(guarantees(**{field: "one"}), guarantees(**{field: "two"}))
    assert guarantees(**{field: "in the post, one; in the deposit, two"}) == result


def test_only_a_deposit_erases():
    post, deposit = guarantees(erasure_condition="-"), guarantees(erasure_condition="it burns")
    assert deposit == both(post, deposit)


def test_what_one_does_not_cover_is_not_covered():
    post, deposit = guarantees(not_covered=("a", "b")), guarantees(not_covered=("b", "c"))
    assert ("a", "b", "c") == both(post, deposit).not_covered


def test_no_guarantee_is_forgotten():
    """Every field of both differs: none is taken from one of them without a word."""
    other = guarantees(
        honest_senders_min=7,
        colluding_servers=0,
        server_behaviour="follows",
        presence_of_erased_visible=True,
        exclusion="possible",
        erasure_condition="never",
        post_quantum=False,
        not_covered=("rain",),
        **dict.fromkeys(
            (
                "donors",
                "eligibility",
                "presence_visible_to",
                "presence_visible_when",
                "delivery",
                "lost_server",
                "measured_or_argued",
            ),
            "otherwise",
        ),
    )
    together = attrs.asdict(both(ONE, other))
    assert {field.name for field in attrs.fields(Guarantees)} == set(together)
    assert [] == [name for name, message in attrs.asdict(ONE).items() if together[name] == message]
