"""`anonloom check`: everything that is wrong with a pipeline file, before any data are read."""

import argparse

from anonloom.data import check_columns
from anonloom.errors import comma_list
from anonloom_cli.pipeline_file import add_pipeline_arguments, load
from anonloom_cli.survey import check_hierarchies, survey


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_pipeline_arguments(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Check the file, its hierarchies, and the columns of its source."""
    spec = load(arguments)
    check_hierarchies(spec.data)
    seen = survey(spec.data)
    if seen.columns is not None:
        check_columns(seen.columns, spec.data.schema)
    runs = f", {len(spec.grid)} runs" if spec.grid else ""
    print(f"{arguments.file}: ok{runs}")
    undeclared = seen.undeclared_columns(spec.data)
    if undeclared:
        print(f"not declared, therefore not published: {comma_list(undeclared)}")
    if seen.note:
        print(f"the data were not looked at: {seen.note}")
    if not spec.privacy:
        print("privacy: none is declared; the release is not protected by any model")
    return 0
