"""What packages that add commands, or run pipelines in a way of their own, build on.

A method never needs this: it is given its table, its guard and its context. Names are looked up
when they are first used.
"""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._cli import main as main
    from anonloom._cli.pipeline_file import add_pipeline_arguments as add_pipeline_arguments
    from anonloom._cli.progress import show_progress as show_progress
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
    from anonloom._run.auditing import run_auditors as run_auditors
    from anonloom._run.check import ModelVerdicts as ModelVerdicts
    from anonloom._run.check import judge_models as judge_models
    from anonloom._run.check import refuse_broken_models as refuse_broken_models
    from anonloom._run.check import refuse_telling_stars as refuse_telling_stars
    from anonloom._run.collection import declared_guarantees as declared_guarantees
    from anonloom._run.declared import persons_behind as persons_behind
    from anonloom._run.execute import group_codes as group_codes
    from anonloom._run.execute import refuse_hopeless as refuse_hopeless
    from anonloom._run.exposure import examine_exposures as examine_exposures
    from anonloom._run.exposure import exposure_notices as exposure_notices
    from anonloom._run.external import other_releases as other_releases
    from anonloom._run.external import read_cells as read_cells
    from anonloom._run.external import read_foreign_table as read_foreign_table
    from anonloom._run.external import release_from as release_from
    from anonloom._run.external import rows_in_original as rows_in_original
    from anonloom._run.external import with_known_rows as with_known_rows
    from anonloom._run.findings_text import finding_sections as finding_sections
    from anonloom._run.key_findings import mark_key_findings as mark_key_findings
    from anonloom._run.outputs import MANIFEST as MANIFEST
    from anonloom._run.outputs import atomic_folder as atomic_folder
    from anonloom._run.outputs import digests as digests
    from anonloom._run.outputs import is_output as is_output
    from anonloom._run.outputs import make_folder as make_folder
    from anonloom._run.outputs import refuse_existing as refuse_existing
    from anonloom._run.outputs import require_writable as require_writable
    from anonloom._run.outputs import write_json as write_json
    from anonloom._run.persons import refuse_shared_identifiers as refuse_shared_identifiers
    from anonloom._run.persons import warn_of_person_numbers as warn_of_person_numbers
    from anonloom._run.provenance import package_versions as package_versions
    from anonloom._run.published_cells import describe_cells as describe_cells
    from anonloom._run.reporting import NO_PRIVACY as NO_PRIVACY
    from anonloom._run.reporting import chart_data as chart_data
    from anonloom._run.reporting import finding_data as finding_data
    from anonloom._run.reporting import record_text as record_text
    from anonloom._run.reporting import report_outline as report_outline
    from anonloom._run.reporting import report_parts as report_parts
    from anonloom._run.reporting import suppression_data as suppression_data
    from anonloom._run.reporting import terminal_text as terminal_text
    from anonloom._run.reporting import utc_now as utc_now
    from anonloom._run.sanitize import sanitize as sanitize
    from anonloom._run.suppression import refuse_excess_suppression as refuse_excess_suppression
    from anonloom._run.suppression import withhold_failing as withhold_failing
    from anonloom._run.table_files import write_csv as write_csv
    from anonloom._run.table_files import write_parquet as write_parquet
    from anonloom._run.transformation import HIERARCHY_BUILDERS as HIERARCHY_BUILDERS
    from anonloom._run.transformation import TRANSFORMATION_FORMAT as TRANSFORMATION_FORMAT
    from anonloom._run.transformation import describe_axis as describe_axis
    from anonloom._run.transformation import describe_column as describe_column
    from anonloom._run.verdict import refusal_verdict as refusal_verdict
    from anonloom._spec.columns import BUILDERS as BUILDERS
    from anonloom._spec.experiment import run_label as run_label
    from anonloom._spec.grammar import DataOptions as DataOptions
    from anonloom._spec.grammar import Header as Header
    from anonloom._spec.grammar import sections_of as sections_of
    from anonloom._spec.model import COMPARISONS as COMPARISONS
    from anonloom._spec.model import GridCase as GridCase
    from anonloom._spec.model import MethodUse as MethodUse
    from anonloom._spec.model import PipelineSpec as PipelineSpec
    from anonloom._spec.model import Publish as Publish
    from anonloom._spec.model import Suppression as Suppression
    from anonloom._spec.pipeline import load_pipeline as load_pipeline
    from anonloom._spelling import comma_list as comma_list
    from anonloom._spelling import did_you_mean as did_you_mean
    from anonloom._spelling import on_one_line as on_one_line
    from anonloom.data._lookalikes import lookalike_warnings as lookalike_warnings
    from anonloom.data._unit import Unit as Unit
    from anonloom.kinds._transport import swap_sentence as swap_sentence

__all__ = [
    "BUILDERS",
    "COMPARISONS",
    "HIERARCHY_BUILDERS",
    "MANIFEST",
    "NO_PRIVACY",
    "TRANSFORMATION_FORMAT",
    "DataOptions",
    "Entry",
    "GridCase",
    "Header",
    "MethodUse",
    "ModelVerdicts",
    "PipelineSpec",
    "Publish",
    "Registry",
    "Suppression",
    "Unit",
    "add_pipeline_arguments",
    "atomic_file",
    "atomic_folder",
    "chart_data",
    "comma_list",
    "declared_guarantees",
    "describe_axis",
    "describe_cells",
    "describe_column",
    "did_you_mean",
    "digests",
    "examine_exposures",
    "exposure_notices",
    "finding_data",
    "finding_sections",
    "group_codes",
    "is_output",
    "judge_models",
    "left_by",
    "load_pipeline",
    "lookalike_warnings",
    "main",
    "make_folder",
    "mark_key_findings",
    "on_one_line",
    "other_releases",
    "package_versions",
    "page_name",
    "persons_behind",
    "print_done",
    "read_cells",
    "read_foreign_table",
    "record_text",
    "refusal_verdict",
    "refuse_broken_models",
    "refuse_excess_suppression",
    "refuse_existing",
    "refuse_hopeless",
    "refuse_shared_identifiers",
    "refuse_target",
    "refuse_telling_stars",
    "relative_path",
    "release_from",
    "report_outline",
    "report_parts",
    "require_writable",
    "rows_in_original",
    "run_auditors",
    "run_label",
    "sanitize",
    "sections_of",
    "short_repr",
    "show_progress",
    "strange",
    "suppression_data",
    "swap_sentence",
    "terminal_text",
    "utc_now",
    "warn_of_person_numbers",
    "with_known_rows",
    "withhold_failing",
    "write_csv",
    "write_json",
    "write_parquet",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._cli": ("main",),
        "anonloom._cli.pipeline_file": ("add_pipeline_arguments",),
        "anonloom._cli.progress": ("show_progress",),
        "anonloom._cli.summary": ("page_name", "print_done", "relative_path"),
        "anonloom._registry.boundary": ("left_by", "strange"),
        "anonloom._registry.loading": ("Entry",),
        "anonloom._registry.registry": ("Registry",),
        "anonloom._representation": ("short_repr",),
        "anonloom._run.atomic_file": ("atomic_file", "refuse_target"),
        "anonloom._run.auditing": ("run_auditors",),
        "anonloom._run.check": (
            "ModelVerdicts",
            "judge_models",
            "refuse_broken_models",
            "refuse_telling_stars",
        ),
        "anonloom._run.collection": ("declared_guarantees",),
        "anonloom._run.declared": ("persons_behind",),
        "anonloom._run.execute": ("group_codes", "refuse_hopeless"),
        "anonloom._run.exposure": ("examine_exposures", "exposure_notices"),
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
        "anonloom._run.outputs": (
            "MANIFEST",
            "atomic_folder",
            "digests",
            "is_output",
            "make_folder",
            "refuse_existing",
            "require_writable",
            "write_json",
        ),
        "anonloom._run.persons": ("refuse_shared_identifiers", "warn_of_person_numbers"),
        "anonloom._run.provenance": ("package_versions",),
        "anonloom._run.published_cells": ("describe_cells",),
        "anonloom._run.reporting": (
            "NO_PRIVACY",
            "chart_data",
            "finding_data",
            "record_text",
            "report_outline",
            "report_parts",
            "suppression_data",
            "terminal_text",
            "utc_now",
        ),
        "anonloom._run.sanitize": ("sanitize",),
        "anonloom._run.suppression": ("refuse_excess_suppression", "withhold_failing"),
        "anonloom._run.table_files": ("write_csv", "write_parquet"),
        "anonloom._run.transformation": (
            "HIERARCHY_BUILDERS",
            "TRANSFORMATION_FORMAT",
            "describe_axis",
            "describe_column",
        ),
        "anonloom._run.verdict": ("refusal_verdict",),
        "anonloom._spec.columns": ("BUILDERS",),
        "anonloom._spec.experiment": ("run_label",),
        "anonloom._spec.grammar": ("DataOptions", "Header", "sections_of"),
        "anonloom._spec.model": (
            "COMPARISONS",
            "GridCase",
            "MethodUse",
            "PipelineSpec",
            "Publish",
            "Suppression",
        ),
        "anonloom._spec.pipeline": ("load_pipeline",),
        "anonloom._spelling": ("comma_list", "did_you_mean", "on_one_line"),
        "anonloom.data._lookalikes": ("lookalike_warnings",),
        "anonloom.data._unit": ("Unit",),
        "anonloom.kinds._transport": ("swap_sentence",),
    },
)
