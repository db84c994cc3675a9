"""What a plugin names through a hook can be used by its name."""

import attrs
import pandas as pd

from anonloom import Column, Registry, Schema, Source, StageContext, Table
from anonloom._registry import builtin
from anonloom.api import Method, hookimpl
from anonloom_tables import plugin as tables


@attrs.frozen(kw_only=True)
class Twins(Source):
    """Two people who look alike."""

    def load(self, schema, context):
        return Table.build(pd.DataFrame({"age": [30, 30]}), schema)


class Plugin:
    ANONLOOM_API = 2

    @hookimpl
    def anonloom_register_sources(self):
        return [Method(name="twins", target=f"{__name__}:Twins", summary="Two people.")]


def test_a_source_of_a_plugin_stands_beside_core_s_and_loads():
    registry = Registry.empty()
    assert registry.register(builtin, distribution="anonloom-core", version="0.1.0")
    assert registry.register(tables, distribution="anonloom-tables", version="0.1.0")
    assert registry.register(Plugin(), distribution="anonloom-twins", version="1.0")

    names = [entry.name for entry in registry.methods("source")]
    assert ["csv", "frame", "parquet", "twins"] == names

    schema = Schema([Column(name="age", role="quasi", type="number")])
    table = registry.load("source", "twins")().load(schema, StageContext())
    assert 2 == len(table)
