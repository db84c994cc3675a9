"""`anonloom shadow`: run a pipeline with and without people, and tell its releases apart."""

import argparse
import sys
from contextlib import suppress
from pathlib import Path

from anonloom import Registry
from anonloom_cli.pipeline_file import add_pipeline_arguments
from anonloom_cli.summary import print_done, relative_path
from anonloom_membership.shadow.study import FEWEST_RELEASES, ShadowStudy, run_study
from anonloom_runner.findings_text import finding_sections


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_pipeline_arguments(parser)
    parser.add_argument("--to", metavar="FOLDER", required=True, help="the folder of the study")
    parser.add_argument(
        "--targets",
        type=_at_least(2),
        default=64,
        metavar="N",
        help="people who are looked for, half of them the most isolated (default: 64)",
    )
    parser.add_argument(
        "--releases",
        type=_at_least(FEWEST_RELEASES),
        default=64,
        metavar="N",
        help="how often the pipeline is run, one half to learn from (default: 64)",
    )
    parser.add_argument(
        "--share",
        type=_share,
        default=0.5,
        metavar="SHARE",
        help="share of the other people that each release is made of (default: 0.5); 1 is an "
        "attacker who knows all of them",
    )
    parser.add_argument(
        "--jobs", type=_at_least(1), default=1, metavar="N", help="releases at a time (default: 1)"
    )
    parser.add_argument("--replace", action="store_true", help="replace an existing study")
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def _at_least(least: int) -> "type[int]":
    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}. Got {text!r} instead.")
        return value

    return number  # type: ignore[return-value]  # argparse calls it like a type


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"must be above 0, and at most 1. Got {text!r} instead.")
    return share


def execute(arguments: argparse.Namespace) -> int:
    """Run what is not done yet of a study, and say what it shows."""
    study = ShadowStudy(
        Path(arguments.file),
        tuple(arguments.settings),
        arguments.allow_local_code,
        arguments.targets,
        arguments.releases,
        arguments.share,
    )

    def tell(release: int, status: str) -> None:
        if not arguments.quiet:
            # Nobody who looks on can stop a study.
            with suppress(OSError):
                print(
                    f"shadow release {release + 1} of {study.releases}: {status}",
                    file=sys.stderr,
                    flush=True,
                )

    folder = Path(arguments.to)
    report = run_study(
        study,
        Registry.installed(),
        folder,
        jobs=arguments.jobs,
        replace=arguments.replace,
        tell=tell,
    )
    part = {
        "id": "shadow",
        "measures": "risk",
        "summary": "whether releases with a person can be told from those without",
        "findings": [finding | {"key": True} for finding in report["findings"]],
    }
    lines = [*finding_sections([part]), f"report: {relative_path(folder, 'public', 'shadow.json')}"]
    print_done("\n".join(lines), f"the study is complete in '{relative_path(folder)}'")
    return 0
