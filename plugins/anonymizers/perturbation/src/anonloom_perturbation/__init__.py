"""Perturbation: noise on numbers and moments, swapped categories, as a mechanism."""
