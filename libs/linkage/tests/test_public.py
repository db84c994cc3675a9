"""What plugins may import: the modules that the package names, and what each of them names."""

from importlib import import_module

import pytest

import anonloom_linkage


@pytest.mark.parametrize("name", anonloom_linkage.__all__)
def test_a_public_module_has_all_that_it_names(name):
    module = import_module(f"anonloom_linkage.{name}")
    assert module.__all__
    assert [] == [public for public in module.__all__ if not hasattr(module, public)]
    assert len(set(module.__all__)) == len(module.__all__)
