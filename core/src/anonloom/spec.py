"""A pipeline that was read and checked, for engines and commands that work on one."""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._spec.columns import BUILDERS as BUILDERS
    from anonloom._spec.conditions import parse_condition as parse_condition
    from anonloom._spec.document import read_plain as read_plain
    from anonloom._spec.experiment import run_label as run_label
    from anonloom._spec.grammar import DataOptions as DataOptions
    from anonloom._spec.grammar import Header as Header
    from anonloom._spec.grammar import sections_of as sections_of
    from anonloom._spec.model import COMPARISONS as COMPARISONS
    from anonloom._spec.model import Audit as Audit
    from anonloom._spec.model import Condition as Condition
    from anonloom._spec.model import Data as Data
    from anonloom._spec.model import GridCase as GridCase
    from anonloom._spec.model import MethodUse as MethodUse
    from anonloom._spec.model import PipelineSpec as PipelineSpec
    from anonloom._spec.model import Publish as Publish
    from anonloom._spec.model import Suppression as Suppression
    from anonloom._spec.model import Unit as Unit
    from anonloom._spec.pipeline import load_pipeline as load_pipeline
    from anonloom._spec.pipeline import load_schema as load_schema

__all__ = [
    "Audit",
    "BUILDERS",
    "COMPARISONS",
    "Condition",
    "Data",
    "DataOptions",
    "GridCase",
    "Header",
    "MethodUse",
    "PipelineSpec",
    "Publish",
    "Suppression",
    "Unit",
    "load_pipeline",
    "load_schema",
    "parse_condition",
    "read_plain",
    "run_label",
    "sections_of",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._spec.columns": ("BUILDERS",),
        "anonloom._spec.conditions": ("parse_condition",),
        "anonloom._spec.document": ("read_plain",),
        "anonloom._spec.experiment": ("run_label",),
        "anonloom._spec.grammar": (
            "DataOptions",
            "Header",
            "sections_of",
        ),
        "anonloom._spec.model": (
            "Audit",
            "COMPARISONS",
            "Condition",
            "Data",
            "GridCase",
            "MethodUse",
            "PipelineSpec",
            "Publish",
            "Suppression",
            "Unit",
        ),
        "anonloom._spec.pipeline": ("load_pipeline", "load_schema"),
    },
)
