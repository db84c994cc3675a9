"""From a method's name and parameters in a document to the method itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import attrs

from anonloom._registry.loading import Entry
from anonloom._registry.registry import Registry
from anonloom._spec.cursor import Cursor, values_of
from anonloom._spec.model import MethodUse
from anonloom.data._audit_input import Need
from anonloom.errors import FaultyPluginError, PluginError
from anonloom.params import InvalidValue, build

T = TypeVar("T")


@attrs.define
class MethodBuilder:
    """Builds methods and sections of a pipeline.

    Parameters
    ----------
    registry : Registry
        What is installed.
    folder : Path
        What relative paths are relative to.
    allow_local_code : bool
        Whether ``./file.py:Class`` may be run.
    evidence : frozenset of Need
        What auditors are given beside the document.
    local_code : bool
        Whether any was.
    """

    registry: Registry
    folder: Path
    allow_local_code: bool = False
    evidence: frozenset[Need] = frozenset()
    local_code: bool = attrs.field(default=False, init=False)

    def find(self, kind: str, name: str) -> Entry:
        """Return the entry of a method; see `Registry.find`."""
        entry = self.registry.find(kind, name, local=self.folder if self.allow_local_code else None)
        self.local_code = self.local_code or entry.local
        return entry

    def load(self, kind: str, name: str) -> type:
        """Return the class of a method; see `Registry.load`."""
        return self.registry.load_entry(self.find(kind, name))

    def section(
        self, cursor: Cursor, cls: type[T], name: str, values: Mapping[str, object]
    ) -> T | None:
        """Build a part of the pipeline that is no method."""
        try:
            return build(cls, values, load=self.load, folder=self.folder, section=name)
        except InvalidValue as invalid:
            cursor.report(invalid.errors)
            return None

    def method(
        self, kind: str, name: Cursor, parameters: Cursor | None, id: str = ""
    ) -> MethodUse | None:
        """Build a method.

        Parameters
        ----------
        kind : str
            The kind's YAML key.
        name : Cursor
            Where its name is.
        parameters : Cursor or None
            Where its parameters are, if there are any.
        id : str
            Its id; the method's name if it is empty.
        """
        values = values_of(parameters)
        if not isinstance(name.value, str) or not name.value:
            name.expect(f"the name of {self.registry.kinds[kind].article}")
            return None
        try:
            entry = self.find(kind, name.value)
            cls = self.registry.load_entry(entry)
        except FaultyPluginError:
            raise
        except PluginError as error:
            name.error(error.what, error.hint)
            return None
        if values is None:
            return None
        built: object
        try:
            built = build(cls, values, load=self.load, folder=self.folder, name=entry.name)
        except InvalidValue as invalid:
            (parameters or name).report(invalid.errors, whole=name)
            return None
        except TypeError as error:
            name.error(
                f"{self.registry.kinds[kind].name} {entry.name!r} of {entry.owner} is broken",
                str(error),
            )
            return None
        return MethodUse(id or entry.name, kind, entry, built, name.node.place)

    def reference(self, cursor: Cursor, kind: str) -> MethodUse | None:
        """Build a method from a name, or from ``{<kind>: name, with: {...}}``."""
        if cursor.node.mapping is None:
            if isinstance(cursor.value, str):
                return self.method(kind, cursor, None)
            cursor.expect(f"{self.registry.kinds[kind].article}", _form(kind))
            return None
        fields = cursor.fields((kind, "with"), self.registry.kinds[kind].article)
        if not fields:
            return None
        if kind not in fields:
            cursor.error(
                f"must name {self.registry.kinds[kind].article} with '{kind}'", _form(kind)
            )
            return None
        return self.method(kind, fields[kind], fields.get("with"))


def _form(kind: str) -> str:
    return f"write a name, or {{{kind}: NAME, with: {{...}}}}"
