"""Auditor inference for Anonloom."""
