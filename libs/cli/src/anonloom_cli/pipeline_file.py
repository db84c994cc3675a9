"""The arguments that every command on a pipeline file takes."""

import argparse

from anonloom.spec import PipelineSpec, load_pipeline
from anonloom_cli.importing import keeping_everything

__all__ = ["add_pipeline_arguments", "load"]


def add_pipeline_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, ``--set`` and ``--allow-local-code``."""
    parser.add_argument("file", metavar="FILE", help="the pipeline, a YAML file")
    parser.add_argument(
        "--set",
        dest="settings",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        help="change a value of the file, such as seed=7 or privacy.k-anonymity.k=5; repeatable",
    )
    parser.add_argument(
        "--allow-local-code",
        action="store_true",
        help="run methods of the form ./file.py:Class, with your rights",
    )


def load(arguments: argparse.Namespace) -> PipelineSpec:
    """Read and check the file that the arguments name."""
    # Most of it is importing the classes of the methods.
    with keeping_everything():
        return load_pipeline(
            arguments.file,
            settings=arguments.settings,
            allow_local_code=arguments.allow_local_code,
        )
