"""Executes a checked pipeline: guard, stages, final check, audits, outputs, provenance."""
