"""The clinic with toy methods, and a town with attackers, as everything that is installed."""

import importlib.util
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonloom import Registry
from anonloom.api import Method, hookimpl
from anonloom_testing.clinic import clinic, shop
from anonloom_testing.toy_registry import toy_registry

__all__ = ["clinic", "shop"]

spec = importlib.util.spec_from_file_location(
    "audit_attackers", Path(__file__).with_name("attackers.py")
)
attackers = importlib.util.module_from_spec(spec)
sys.modules["audit_attackers"] = attackers
spec.loader.exec_module(attackers)


@pytest.fixture
def registry():
    """Core's own methods, the toys, and the command."""
    return toy_registry("anonloom-audit")


@pytest.fixture
def town(tmp_path, monkeypatch):
    """A folder with people of a town, releases of them and a control; and who attacks them."""
    registry = toy_registry("anonloom-audit")
    offered = [
        Method(name=name, target=f"audit_attackers:{cls}", summary=f"Tries {name}.", reads=READS)
        for name, cls in (("linking", "Linking"), ("presence", "Presence"))
    ]
    plugin = types.SimpleNamespace(
        ANONLOOM_API=2, anonloom_register_auditors=hookimpl(lambda: offered)
    )
    assert registry.register(plugin, distribution="acme", version="2.0")
    monkeypatch.setattr(Registry, "_environment", registry)
    monkeypatch.chdir(tmp_path)
    own = people(600, 1)
    own.to_csv("town.csv", index=False)
    own.to_csv("copy.csv", index=False)
    people(600, 2).to_csv("control.csv", index=False)
    people(600, 3).to_csv("others.csv", index=False)
    leaking = people(600, 3)
    leaking.iloc[:240] = own.iloc[:240].to_numpy()
    leaking.to_csv("leaking.csv", index=False)
    return tmp_path


READS = frozenset({"quasi", "sensitive", "label", "other"})


def people(number, seed):
    """Draw people of a town, nobody of whom is like another."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, number),
            "income": rng.integers(1_000, 9_000, number),
            "district": rng.choice(["Altstadt", "Bergen", "Colditz"], number, p=[0.6, 0.3, 0.1]),
            "illness": rng.choice(["flu", "cold", "gout"], number),
        }
    )
