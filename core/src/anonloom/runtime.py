"""What packages that add commands, or run pipelines in a way of their own, build on.

A method never needs this: it is given its table, its guard and its context. Names are looked up
when they are first used.
"""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._cli import main as main
    from anonloom._cli.progress import show_progress as show_progress
    from anonloom._cli.summary import print_done as print_done
    from anonloom._registry.boundary import left_by as left_by
    from anonloom._registry.boundary import strange as strange
    from anonloom._registry.loading import Entry as Entry
    from anonloom._registry.registry import Registry as Registry
    from anonloom._run.atomic_file import atomic_file as atomic_file
    from anonloom._run.atomic_file import refuse_target as refuse_target
    from anonloom._run.auditing import run_auditors as run_auditors
    from anonloom._run.execute import group_codes as group_codes
    from anonloom._run.external import other_releases as other_releases
    from anonloom._run.external import read_cells as read_cells
    from anonloom._run.external import read_foreign_table as read_foreign_table
    from anonloom._run.external import release_from as release_from
    from anonloom._run.external import rows_in_original as rows_in_original
    from anonloom._run.external import with_known_rows as with_known_rows
    from anonloom._run.findings_text import finding_sections as finding_sections
    from anonloom._run.key_findings import mark_key_findings as mark_key_findings
    from anonloom._run.outputs import built_aside as built_aside
    from anonloom._run.outputs import require_writable as require_writable
    from anonloom._run.reporting import chart_data as chart_data
    from anonloom._run.reporting import finding_data as finding_data
    from anonloom._run.table_files import write_csv as write_csv
    from anonloom._run.table_files import write_parquet as write_parquet
    from anonloom._spec.model import MethodUse as MethodUse
    from anonloom._spec.pipeline import load_pipeline as load_pipeline
    from anonloom._spelling import comma_list as comma_list
    from anonloom._spelling import on_one_line as on_one_line
    from anonloom.data._unit import Unit as Unit

__all__ = [
    "Entry",
    "MethodUse",
    "Registry",
    "Unit",
    "atomic_file",
    "built_aside",
    "chart_data",
    "comma_list",
    "finding_data",
    "finding_sections",
    "group_codes",
    "left_by",
    "load_pipeline",
    "main",
    "mark_key_findings",
    "on_one_line",
    "other_releases",
    "print_done",
    "read_cells",
    "read_foreign_table",
    "refuse_target",
    "release_from",
    "require_writable",
    "rows_in_original",
    "run_auditors",
    "show_progress",
    "strange",
    "with_known_rows",
    "write_csv",
    "write_parquet",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._cli": ("main",),
        "anonloom._cli.progress": ("show_progress",),
        "anonloom._cli.summary": ("print_done",),
        "anonloom._registry.boundary": ("left_by", "strange"),
        "anonloom._registry.loading": ("Entry",),
        "anonloom._registry.registry": ("Registry",),
        "anonloom._run.atomic_file": ("atomic_file", "refuse_target"),
        "anonloom._run.auditing": ("run_auditors",),
        "anonloom._run.execute": ("group_codes",),
        "anonloom._run.external": (
            "other_releases",
            "read_cells",
            "read_foreign_table",
            "release_from",
            "rows_in_original",
            "with_known_rows",
        ),
        "anonloom._run.findings_text": ("finding_sections",),
        "anonloom._run.key_findings": ("mark_key_findings",),
        "anonloom._run.outputs": ("built_aside", "require_writable"),
        "anonloom._run.reporting": ("chart_data", "finding_data"),
        "anonloom._run.table_files": ("write_csv", "write_parquet"),
        "anonloom._spec.model": ("MethodUse",),
        "anonloom._spec.pipeline": ("load_pipeline",),
        "anonloom._spelling": ("comma_list", "on_one_line"),
        "anonloom.data._unit": ("Unit",),
    },
)
