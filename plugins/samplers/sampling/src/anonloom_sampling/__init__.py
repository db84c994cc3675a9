"""Sampling: which rows of the protected classes are published."""
