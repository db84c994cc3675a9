"""Utility: how much of the original table a release still tells."""
