"""Compiled kernels that several anonymizers share; no plugin, and nothing that a paper describes."""
