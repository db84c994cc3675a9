"""The clinic and its toy methods."""

from anonloom_testing.clinic import clinic, registry

__all__ = ["clinic", "registry"]
