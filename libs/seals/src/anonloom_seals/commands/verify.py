"""`anonloom verify`: check everything that a recipient of a release, or of a proof, can check."""

import argparse
from pathlib import Path

from anonloom import Registry
from anonloom.errors import UsageError, on_one_line
from anonloom.kinds import KnownVersion, Query, VerifiedScope
from anonloom_runner.atomic_file import atomic_file, refuse_target
from anonloom_runner.table_files import write_csv
from anonloom_seals.proof_file import query_of, verify_proof
from anonloom_seals.verification import public_folder, scheme_named, verify_folder


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", help="a release: the folder with manifest.json"
    )
    parser.add_argument(
        "--proof", metavar="FILE", help="check a proof, made by 'anonloom prove', instead"
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument(
        "--row",
        type=int,
        action="append",
        metavar="N",
        help="refuse a proof of other rows than this one; may be repeated",
    )
    asked.add_argument(
        "--where", metavar="CONDITION", help="refuse a proof of another range than this one"
    )
    parser.add_argument("--rows", metavar="FILE", help="write the rows that the proof shows as CSV")
    parser.add_argument(
        "--key", metavar="FILE", help="the publisher's public key, obtained elsewhere"
    )
    parser.add_argument(
        "--unsealed",
        action="store_true",
        help="be content with digests where a release has no seal; they prove nothing to anybody",
    )
    parser.add_argument(
        "--head",
        metavar="FILE",
        help="the head of a version that you know: an older release is refused",
    )
    parser.add_argument(
        "--at-least", type=int, metavar="VERSION", help="refuse versions before this one"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Verify and say what that covers."""
    if (arguments.folder is None) == (arguments.proof is None):
        raise UsageError("give either a folder with a release, or a proof with --proof")
    if arguments.unsealed and (arguments.proof is not None or arguments.key is not None):
        raise UsageError("--unsealed is for a release without a seal: give it without proof or key")
    if arguments.rows is not None and arguments.proof is None:
        raise UsageError("--rows writes the rows of a proof: give one with --proof")
    asked = _query(arguments)
    key = _file(arguments.key, "key")
    known = _known_version(arguments)
    registry = Registry.installed()
    if arguments.proof is None:
        folder = Path(arguments.folder)
        verified = verify_folder(folder, registry, key, known, unsealed=arguments.unsealed)
        sealed = scheme_named(public_folder(folder)) is not None
        _print_coverage(arguments.folder, "seal" if sealed else None, key, verified)
        return 0
    if arguments.rows is not None:
        refuse_target(Path(arguments.rows))
    proved = verify_proof(Path(arguments.proof), registry, key, known, asked)
    if arguments.rows is not None:
        with atomic_file(Path(arguments.rows)) as aside:
            write_csv(proved.rows, aside)
    _print_coverage(arguments.proof, "proof", key, proved.verified)
    return 0


def _query(arguments: argparse.Namespace) -> Query | None:
    if arguments.row is None and arguments.where is None:
        return None
    if arguments.proof is None:
        raise UsageError("--row and --where say what a proof must answer: give one with --proof")
    return query_of(arguments.row, arguments.where)


def _known_version(arguments: argparse.Namespace) -> KnownVersion | None:
    if arguments.head is None and arguments.at_least is None:
        return None
    if arguments.at_least is not None and arguments.at_least < 1:
        raise UsageError(f"--at-least must be at least 1. Got {arguments.at_least} instead.")
    return KnownVersion(head=_file(arguments.head, "head"), version=arguments.at_least)


def _file(named: str | None, what: str) -> Path | None:
    """Return a file that an argument names; one that is not there says nothing of the release."""
    if named is not None and not Path(named).is_file():
        raise UsageError(f"there is no file '{named}' with a {what}")
    return None if named is None else Path(named)


def _print_coverage(
    what: str, checked: str | None, key: Path | None, verified: VerifiedScope
) -> None:
    """Say first which of three things was done, then what it covers."""
    if checked is None:
        print(f"{what}: digests only, no seal: they agree with the manifest, which proves nothing")
    elif key is None:
        print(f"{what}: {checked} verified with the key beside it, which proves no publisher")
    else:
        print(f"{what}: {checked} verified with a key obtained elsewhere")
    for line in verified.covers:
        print(f"  covers: {on_one_line(line)}")
    for line in verified.does_not_cover:
        print(f"  does not cover: {on_one_line(line)}")
