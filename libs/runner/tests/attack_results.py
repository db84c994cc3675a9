"""Results of attacks that never took place."""

from hypothesis import strategies as st

from anonloom.findings import AttackResult
from anonloom_runner.headline import QUESTIONS, NamedAttack


def attack(name="nearest", success=0.6, baseline=0.1, reason="", auditor="linking", **more):
    """Return an attack on 1,000 people and 500 of a control."""
    values = {
        "question": "linkability",
        "people": 1000,
        "strangers": 500,
        "baseline_kind": "control",
        "copy": 1.0,
        "of_strangers": (-0.02, 0.02),
        "exposed": 0 if reason else 300,
    }
    result = AttackResult(
        name=name,
        meaning="An attacker tries something.",
        success=success,
        baseline=baseline,
        reason=reason,
        **{**values, **more},
    )
    return NamedAttack(auditor, result)


def some_attacks():
    """Draw attacks with different names; some of them say nothing."""
    one = st.tuples(
        st.floats(0, 1), st.floats(0, 0.9), st.sampled_from(["", "it missed"]),
        st.sampled_from(QUESTIONS),
    )  # fmt: skip
    return st.lists(one, max_size=6).map(
        lambda drawn: [
            attack(f"a{index}", success, baseline, reason, question=question)
            for index, (success, baseline, reason, question) in enumerate(drawn)
        ]
    )
