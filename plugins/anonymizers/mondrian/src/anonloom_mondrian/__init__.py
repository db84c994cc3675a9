"""Mondrian: cuts the table at medians, one axis at a time, while every part stays admitted."""
