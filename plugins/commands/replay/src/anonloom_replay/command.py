"""`anonloom apply`: publish new rows by the regions of an earlier release."""

import argparse
from pathlib import Path

from anonloom import Registry
from anonloom_cli.summary import print_done
from anonloom_replay.publish import apply_file
from anonloom_runner.reporting import terminal_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "transformation", metavar="TRANSFORMATION", help="transformation.json of an earlier run"
    )
    parser.add_argument("data", metavar="DATA", help="new rows: a CSV or Parquet file")
    parser.add_argument("--to", metavar="FOLDER", required=True, help="the output folder")
    parser.add_argument("--replace", action="store_true", help="replace an existing output folder")
    parser.add_argument(
        "--suppress-at-most",
        type=_share,
        metavar="SHARE",
        help="the share of rows that may be suppressed, instead of the earlier run's limit",
    )


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1. Got {text!r} instead.")
    return share


def execute(arguments: argparse.Namespace) -> int:
    """Replay the transformation, check the result, and publish it."""
    report = apply_file(
        Path(arguments.transformation),
        Path(arguments.data),
        Path(arguments.to),
        Registry.installed(),
        replace=arguments.replace,
        at_most=arguments.suppress_at_most,
    )
    print_done(
        f"{terminal_text(report)}release: {Path(arguments.to) / 'public'}",
        f"the release is published in '{arguments.to}'",
    )
    return 0
