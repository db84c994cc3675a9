"""The clinic and its toy methods."""

from anonloom_testing.clinic import clinic, registry, shop
from anonloom_testing.commands import anonloom
from anonloom_testing.leaving_methods import acme, acme_shop, leaving

__all__ = ["acme", "acme_shop", "anonloom", "clinic", "leaving", "registry", "shop"]
