"""Fellegi-Sunter: who could be found again by probabilistic record linkage."""
