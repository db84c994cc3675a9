"""Plots."""


def draw(outcome, stem):
    """Draw."""
