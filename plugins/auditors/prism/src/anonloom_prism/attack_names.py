"""What attacks are called, and what they know; nothing here needs scikit-learn."""

from typing import Literal

Attacker = Literal["logistic-regression", "random-forest"]

ATTACKERS: tuple[Attacker, ...] = ("logistic-regression", "random-forest")

#: What an attacker may know of people, by the name of its figures.
KNOWN = {
    "before": "all attributes of the original table",
    "published": "all published attributes",
    "outputs_before": "the answers of a model for the label that learned from the original table",
    "both_before": "all attributes of the original table and the answers of a model that learned "
    "from it",
    "outputs": "the answers of a model for the label that learned from the release",
    "both": "all published attributes and the answers of a model that learned from the release",
}
