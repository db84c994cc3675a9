"""`anonloom prove`: prove a part of a sealed release to somebody who does not have the rest."""

import argparse
import sys
from pathlib import Path

from anonloom import Registry
from anonloom.errors import UsageError
from anonloom_cli.summary import print_done
from anonloom_runner.atomic_file import atomic_file, refuse_target
from anonloom_seals.proof_file import prove, query_of
from anonloom_seals.verification import public_folder


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", metavar="FOLDER", help="a sealed release")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--row",
        type=int,
        action="append",
        metavar="N",
        help="this row is in the release; the first row is 1; may be repeated",
    )
    what.add_argument(
        "--where",
        metavar="CONDITION",
        help="these are all rows of which it holds: 'age between 30 and 40', 'age >= 30', "
        "'city = Rome'",
    )
    what.add_argument(
        "--since",
        metavar="HEAD",
        help="the version with this head is the beginning of the release",
    )
    parser.add_argument(
        "--to", metavar="FILE", help="write the proof there; without it, to standard output"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Make the proof and write it whole or not at all."""
    target = None if arguments.to is None else Path(arguments.to)
    if target is not None:
        _check_target(target, Path(arguments.folder))
    query = query_of(arguments.row, arguments.where, arguments.since)
    proof = prove(Path(arguments.folder), Registry.installed(), query)
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(proof)
        return 0
    with atomic_file(target) as aside:
        aside.write_bytes(proof)
    print_done(f"proof: {target} ({len(proof):,} bytes)", f"the proof is written to '{target}'")
    return 0


def _check_target(target: Path, folder: Path) -> None:
    """Refuse a file that cannot be made, or would be one too many in the release."""
    if target.parent.resolve().is_relative_to(public_folder(folder).resolve()):
        raise UsageError(
            f"'{target}' would lie in the sealed folder, and break its seal",
            hint="Write to another folder.",
        )
    refuse_target(target)
