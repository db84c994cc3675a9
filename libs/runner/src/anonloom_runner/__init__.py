"""Anonloom's engine in one process, and the parts of it that commands and other engines use.

Every module says by ``__all__`` which of its names are for others.
"""
