"""Auditor `learning`: what classifiers still learn from a release."""
