"""Diabetes: the diabetes prediction table, or a simulated one of the same shape."""
