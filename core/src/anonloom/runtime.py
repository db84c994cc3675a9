"""What packages that add commands, or run pipelines in a way of their own, build on.

A method never needs this: it is given its table, its guard and its context. Names are looked up
when they are first used.
"""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._cli import main as main
    from anonloom._cli.pipeline_file import add_pipeline_arguments as add_pipeline_arguments
    from anonloom._cli.summary import page_name as page_name
    from anonloom._cli.summary import print_done as print_done
    from anonloom._cli.summary import relative_path as relative_path
    from anonloom._registry.boundary import left_by as left_by
    from anonloom._registry.boundary import strange as strange
    from anonloom._registry.loading import Entry as Entry
    from anonloom._registry.registry import Registry as Registry
    from anonloom._representation import short_repr as short_repr
    from anonloom._run.atomic_file import atomic_file as atomic_file
    from anonloom._run.atomic_file import refuse_target as refuse_target
    from anonloom._run.check import judge as judge
    from anonloom._run.collection import declared_guarantees as declared_guarantees
    from anonloom._run.external import read_cells as read_cells
    from anonloom._run.outputs import atomic_folder as atomic_folder
    from anonloom._run.outputs import is_output as is_output
    from anonloom._run.outputs import make_folder as make_folder
    from anonloom._run.outputs import refuse_existing as refuse_existing
    from anonloom._run.outputs import require_writable as require_writable
    from anonloom._run.outputs import write_json as write_json
    from anonloom._run.reporting import chart_data as chart_data
    from anonloom._run.reporting import finding_data as finding_data
    from anonloom._run.reporting import report_parts as report_parts
    from anonloom._run.reporting import utc_now as utc_now
    from anonloom._run.table_files import write_csv as write_csv
    from anonloom._run.table_files import write_parquet as write_parquet
    from anonloom._run.verdict import refusal_verdict as refusal_verdict
    from anonloom._spec.experiment import run_label as run_label
    from anonloom._spec.model import GridCase as GridCase
    from anonloom._spec.model import PipelineSpec as PipelineSpec
    from anonloom._spec.pipeline import load_pipeline as load_pipeline
    from anonloom._spelling import did_you_mean as did_you_mean
    from anonloom._spelling import on_one_line as on_one_line
    from anonloom.kinds._transport import swap_sentence as swap_sentence

__all__ = [
    "Entry",
    "GridCase",
    "PipelineSpec",
    "Registry",
    "add_pipeline_arguments",
    "atomic_file",
    "atomic_folder",
    "chart_data",
    "declared_guarantees",
    "did_you_mean",
    "finding_data",
    "is_output",
    "judge",
    "left_by",
    "load_pipeline",
    "main",
    "make_folder",
    "on_one_line",
    "page_name",
    "print_done",
    "read_cells",
    "refusal_verdict",
    "refuse_existing",
    "refuse_target",
    "relative_path",
    "report_parts",
    "require_writable",
    "run_label",
    "short_repr",
    "strange",
    "swap_sentence",
    "utc_now",
    "write_csv",
    "write_json",
    "write_parquet",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._cli": ("main",),
        "anonloom._cli.pipeline_file": ("add_pipeline_arguments",),
        "anonloom._cli.summary": ("page_name", "print_done", "relative_path"),
        "anonloom._registry.boundary": ("left_by", "strange"),
        "anonloom._registry.loading": ("Entry",),
        "anonloom._registry.registry": ("Registry",),
        "anonloom._representation": ("short_repr",),
        "anonloom._run.atomic_file": ("atomic_file", "refuse_target"),
        "anonloom._run.check": ("judge",),
        "anonloom._run.collection": ("declared_guarantees",),
        "anonloom._run.external": ("read_cells",),
        "anonloom._run.outputs": (
            "atomic_folder",
            "is_output",
            "make_folder",
            "refuse_existing",
            "require_writable",
            "write_json",
        ),
        "anonloom._run.reporting": ("chart_data", "finding_data", "report_parts", "utc_now"),
        "anonloom._run.table_files": ("write_csv", "write_parquet"),
        "anonloom._run.verdict": ("refusal_verdict",),
        "anonloom._spec.experiment": ("run_label",),
        "anonloom._spec.model": ("GridCase", "PipelineSpec"),
        "anonloom._spec.pipeline": ("load_pipeline",),
        "anonloom._spelling": ("did_you_mean", "on_one_line"),
        "anonloom.kinds._transport": ("swap_sentence",),
    },
)
