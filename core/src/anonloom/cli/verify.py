"""`anonloom verify`: check everything that a recipient of a release can check."""

import argparse
from pathlib import Path

from anonloom.registry import Registry
from anonloom.run.verification import verify_folder


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", metavar="FOLDER", help="a release: the folder with manifest.json")
    parser.add_argument(
        "--key", metavar="FILE", help="the publisher's public key, obtained elsewhere"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Verify the folder and say what that covers."""
    key = Path(arguments.key) if arguments.key else None
    verified = verify_folder(Path(arguments.folder), Registry.installed(), key)
    print(f"{arguments.folder}: verified")
    for line in verified.covers:
        print(f"  covers: {line}")
    for line in verified.does_not_cover:
        print(f"  does not cover: {line}")
    return 0
