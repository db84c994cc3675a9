"""`anonloom schema`: a JSON schema of pipeline files, made from everything that is installed."""

import argparse
import json

from anonloom import Registry
from anonloom_editor_schema.schema import editor_schema


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: there are none."""


def execute(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    print(json.dumps(editor_schema(Registry.installed()), indent=2))
    return 0
