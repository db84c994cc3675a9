"""The clinic and its toy methods."""

from anonloom_testing.clinic import clinic, registry, simulated_clinic
from anonloom_testing.hospital import hospital

__all__ = ["clinic", "hospital", "registry", "simulated_clinic"]
