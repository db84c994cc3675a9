"""Compiled kernels that several anonymizers share: no plugin, and no paper's method."""
