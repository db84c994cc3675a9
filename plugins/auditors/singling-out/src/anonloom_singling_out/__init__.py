"""Auditor singling-out for Anonloom."""
