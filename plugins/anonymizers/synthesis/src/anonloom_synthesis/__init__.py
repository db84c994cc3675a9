"""Synthesis: rows drawn from a Gaussian copula, as a mechanism."""
