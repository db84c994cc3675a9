"""A JSON schema of pipeline files, made from everything that is installed, for editors.

The schema helps while one types; `anonloom check` decides. What depends on more than one place,
such as the order of stages, is left to the check.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from anonloom import Column, Registry
from anonloom.api import Kind
from anonloom.errors import FaultyPluginError, PluginError
from anonloom.params import describe
from anonloom.spec import (
    BUILDERS,
    COMPARISONS,
    DataOptions,
    Header,
    Publish,
    Suppression,
    sections_of,
)

Json = dict[str, Any]

# 'distribution:name' and './file.py:Class' are names, too, and cannot be listed.
_QUALIFIED = {"type": "string", "pattern": ":"}
_TEXT = {"type": "string", "minLength": 1}
_ID = {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$"}


def editor_schema(registry: Registry) -> Json:
    """Return the JSON schema (draft 2020-12) of pipeline files."""
    return _Maker(registry).whole()


def _of_kind(kind: Kind) -> Json:
    return {"$ref": f"#/$defs/{kind.key}"}


@attrs.frozen
class _Maker:
    registry: Registry

    def whole(self) -> Json:
        kinds = self.registry.kinds
        properties: Json = {
            **self.keys(Header),
            "data": self.data(),
            "privacy": {"anyOf": [{"const": "none"}, self.models()]},
            "suppression": self.section(Suppression),
            "collect": _of_kind(kinds["collector"]),
            "engine": _of_kind(kinds["engine"]),
            "stages": {"type": "array", "items": self.stage()},
            "audit": {"type": "array", "items": self.audit()},
            "publish": self.section(Publish),
            "vary": self.vary(),
            **{kind.key: self.own_section(kind) for kind in kinds.sections()},
        }
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Anonloom pipeline",
            "type": "object",
            "additionalProperties": False,
            "required": ["version", "data", "privacy"],
            "properties": {
                key: {"description": text, **properties[key]}
                for key, text in sections_of(self.registry).items()
            },
            "$defs": {kind.key: self.reference(kind) for kind in kinds.values()},
        }

    def keys(self, cls: type) -> Json:
        """Return the schema of every declared parameter of a class."""
        return {p.name: p.schema for p in describe(cls, self.registry.name_of, _of_kind)}

    def section(self, cls: type, **replaced: Json) -> Json:
        """Return the schema of a mapping whose keys are declared like parameters."""
        needed = [p.name for p in describe(cls, self.registry.name_of) if p.required]
        results: Json = {
            "type": "object",
            "additionalProperties": False,
            "properties": {**self.keys(cls), **replaced},
        }
        return {**results, "required": needed} if needed else results

    def names(self, key: str) -> Json:
        entries = self.registry.methods(key)
        choices: list[Json] = [
            {"const": entry.name, "description": entry.method.summary} for entry in entries
        ]
        return {"anyOf": [*choices, _QUALIFIED]}

    def parameters(self, key: str) -> Iterator[tuple[str, Json]]:
        """Return the parameters of every method of a kind that can be loaded."""
        for entry in self.registry.methods(key):
            try:
                cls = self.registry.load_entry(entry)
                yield entry.name, self.section(cls)
            except FaultyPluginError:
                raise
            except (PluginError, TypeError):
                # Broken methods are shown by `anonloom plugins`; an editor can go without.
                continue

    def conditions(self, keys: Iterable[str]) -> list[Json]:
        """Return, for every method, what its ``with`` must be."""
        results = []
        for key in keys:
            for name, schema in self.parameters(key):
                then: Json = {"properties": {"with": {"anyOf": [{"type": "null"}, schema]}}}
                if "required" in schema:
                    then = {"properties": {"with": schema}, "required": ["with"]}
                given = {"properties": {key: {"const": name}}, "required": [key]}
                results.append({"if": given, "then": then})
        return results

    def method(self, keys: tuple[str, ...], **beside: Json) -> Json:
        """Return the schema of ``{<kind>: name, with: {...}}``."""
        results: Json = {
            "type": "object",
            "additionalProperties": False,
            "properties": {**{key: self.names(key) for key in keys}, "with": {}, **beside},
            "oneOf": [{"required": [key]} for key in keys],
        }
        conditions = self.conditions(keys)
        return {**results, "allOf": conditions} if conditions else results

    def reference(self, kind: Kind) -> Json:
        return {"anyOf": [self.names(kind.key), self.method((kind.key,))]}

    def stage(self) -> Json:
        return self.method(self.registry.kinds.under("stages"), id=_ID)

    def own_section(self, kind: Kind) -> Json:
        """Return the schema of the section of a kind that a plugin adds."""
        return {"anyOf": [_of_kind(kind), {"type": "array", "items": _of_kind(kind)}]}

    def audit(self) -> Json:
        comparison = {
            "type": "string",
            "pattern": f"^\\s*({'|'.join(COMPARISONS)})\\s*[-+.0-9eE]+\\s*$",
        }
        fail_if = {"type": "object", "additionalProperties": comparison}
        keys = self.registry.kinds.under("audit")
        whole = self.method(keys, id=_ID, fail_if=fail_if)
        return {"anyOf": [self.names("auditor"), whole]}

    def models(self) -> Json:
        short: Json = {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": {
                name: schema if "required" in schema else {"anyOf": [{"type": "null"}, schema]}
                for name, schema in self.parameters("privacy")
            },
            "patternProperties": {":": {}},
        }
        item = {"anyOf": [_of_kind(self.registry.kinds["privacy"]), short]}
        return {"type": "array", "minItems": 1, "items": item}

    def data(self) -> Json:
        columns = {"type": "object", "minProperties": 1, "additionalProperties": self.column()}
        whole = self.method(("source",), columns=columns, **self.keys(DataOptions))
        return {**whole, "required": ["columns"]}

    def column(self) -> Json:
        built: list[Json] = [
            {
                **self.section(cls, build={"const": name}),
                "required": ["build", *self.section(cls).get("required", ())],
            }
            for name, cls in BUILDERS.items()
        ]
        hierarchy: Json = {"anyOf": [{"type": "null"}, _TEXT, *built]}
        result = self.section(Column, hierarchy=hierarchy)
        del result["properties"]["name"]
        result["required"].remove("name")
        return result

    def vary(self) -> Json:
        values = {"type": "array", "minItems": 1}
        case = {
            "type": "object",
            "additionalProperties": False,
            "required": ["label", "set"],
            "properties": {"label": _TEXT, "set": {"type": "object"}},
        }
        cases = {"type": "array", "minItems": 1, "items": case}
        product = {
            "type": "object",
            "minProperties": 1,
            "properties": {"cases": cases},
            "additionalProperties": values,
        }
        return {"anyOf": [product, cases]}
