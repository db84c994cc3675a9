"""What flows through a pipeline: schema, table, axes, classes, release, what auditors are given."""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom.data._audit_input import MOST_UNREAD as MOST_UNREAD
    from anonloom.data._audit_input import AuditInput as AuditInput
    from anonloom.data._audit_input import Draw as Draw
    from anonloom.data._audit_input import Need as Need
    from anonloom.data._axis import Axis as Axis
    from anonloom.data._axis import Cover as Cover
    from anonloom.data._axis import Reader as Reader
    from anonloom.data._classes import Classes as Classes
    from anonloom.data._classes import Regions as Regions
    from anonloom.data._classes import Rows as Rows
    from anonloom.data._classes import row_keys as row_keys
    from anonloom.data._coding import LARGEST as LARGEST
    from anonloom.data._coding import SHOWN as SHOWN
    from anonloom.data._coding import EncodedColumn as EncodedColumn
    from anonloom.data._coding import coerce as coerce
    from anonloom.data._coding import encode as encode
    from anonloom.data._persons import LikelyPersonColumn as LikelyPersonColumn
    from anonloom.data._persons import may_differ as may_differ
    from anonloom.data._persons import numbering_persons as numbering_persons
    from anonloom.data._release import Release as Release
    from anonloom.data._schema import ISO as ISO
    from anonloom.data._schema import PUBLISHED as PUBLISHED
    from anonloom.data._schema import ROLES as ROLES
    from anonloom.data._schema import Column as Column
    from anonloom.data._schema import Form as Form
    from anonloom.data._schema import Role as Role
    from anonloom.data._schema import Schema as Schema
    from anonloom.data._schema import Type as Type
    from anonloom.data._table import EMPTY as EMPTY
    from anonloom.data._table import Table as Table
    from anonloom.data._table import check_columns as check_columns
    from anonloom.data._table import on_own_axes as on_own_axes
    from anonloom.data._text import changed_cells as changed_cells
    from anonloom.data._text import normalize_column as normalize_column
    from anonloom.data._text import normalize_text as normalize_text
    from anonloom.data._text import visible_form as visible_form

__all__ = [
    "AuditInput",
    "Axis",
    "Classes",
    "Column",
    "Cover",
    "Draw",
    "EMPTY",
    "EncodedColumn",
    "Form",
    "ISO",
    "LARGEST",
    "LikelyPersonColumn",
    "MOST_UNREAD",
    "Need",
    "PUBLISHED",
    "ROLES",
    "Reader",
    "Regions",
    "Release",
    "Role",
    "Rows",
    "SHOWN",
    "Schema",
    "Table",
    "Type",
    "changed_cells",
    "check_columns",
    "coerce",
    "encode",
    "may_differ",
    "normalize_column",
    "normalize_text",
    "numbering_persons",
    "on_own_axes",
    "row_keys",
    "visible_form",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom.data._audit_input": (
            "AuditInput",
            "Draw",
            "MOST_UNREAD",
            "Need",
        ),
        "anonloom.data._axis": (
            "Axis",
            "Cover",
            "Reader",
        ),
        "anonloom.data._classes": (
            "Classes",
            "Regions",
            "Rows",
            "row_keys",
        ),
        "anonloom.data._coding": (
            "EncodedColumn",
            "LARGEST",
            "SHOWN",
            "coerce",
            "encode",
        ),
        "anonloom.data._persons": (
            "LikelyPersonColumn",
            "may_differ",
            "numbering_persons",
        ),
        "anonloom.data._release": ("Release",),
        "anonloom.data._schema": (
            "Column",
            "Form",
            "ISO",
            "PUBLISHED",
            "ROLES",
            "Role",
            "Schema",
            "Type",
        ),
        "anonloom.data._table": (
            "EMPTY",
            "Table",
            "check_columns",
            "on_own_axes",
        ),
        "anonloom.data._text": (
            "changed_cells",
            "normalize_column",
            "normalize_text",
            "visible_form",
        ),
    },
)
