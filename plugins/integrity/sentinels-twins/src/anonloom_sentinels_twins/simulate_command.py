"""`anonloom outsource simulate`: the formula beside simulated campaigns, and who is accused."""

import argparse
import secrets
import sys

import attrs
import numpy as np

from anonloom.errors import UsageError
from anonloom_sentinels_twins.campaign_arguments import add_expectations, campaign_of, escape_of
from anonloom_sentinels_twins.dry_run import DryRun, dry_run
from anonloom_sentinels_twins.scheme import SentinelsTwins
from anonloom_sentinels_twins.simulation import Setting, Share, simulate
from anonloom_sentinels_twins.tolerant import campaign_level, most_tolerated
from anonloom_sentinels_twins.work_check import Campaign, Sizing
from anonloom_sentinels_twins.workers import BEHAVIOURS, Behaviour, Opportunistic

#: Zipf's law with four classes, as in the paper's figure 8.
_SHARES = "0.48,0.24,0.16,0.12"
#: Whom the formulas are about, and in whose favour they err.
_BLIND = ("lazy", "opportunistic", "malicious")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_expectations(parser)
    parser.add_argument(
        "--jobs", type=int, default=1000, metavar="N", help="genuine rows, 1000 by default"
    )
    parser.add_argument(
        "--shares",
        default=_SHARES,
        metavar="S,S,...",
        help=f"how often each result occurs; {_SHARES} by default (Zipf's law)",
    )
    parser.add_argument(
        "--actual",
        type=int,
        metavar="N",
        help="how many workers are lazy in the simulated campaigns, if not as many as expected",
    )
    parser.add_argument(
        "--behaviour",
        choices=[name for name in BEHAVIOURS if name != "honest"],
        default="opportunistic",
        help="of the lazy workers: 'lazy' answers any class, 'opportunistic' (the default) the "
        "most frequent one, 'malicious' a wrong one; 'colluding' ones compare their jobs; "
        "'proxy' ones use a cheap model where it is sure",
    )
    parser.add_argument(
        "--certain",
        type=float,
        default=0.7,
        metavar="P",
        help="the share of the jobs that the cheap model of proxy workers is sure of, 0.7 by "
        "default",
    )
    parser.add_argument(
        "--accuracy",
        type=float,
        default=0.9,
        metavar="P",
        help="how often it is right on these, 0.9 by default",
    )
    parser.add_argument(
        "--campaigns", type=int, default=2000, metavar="N", help="campaigns, 2000 by default"
    )
    parser.add_argument(
        "--judged",
        type=int,
        default=50,
        metavar="N",
        help="campaigns that are played from plan to verdict, 50 by default",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="repeat a simulation")


def execute(arguments: argparse.Namespace) -> int:
    """Size the controls, play campaigns, and print both side by side."""
    for option in ("campaigns", "judged"):
        if getattr(arguments, option) < 1:
            raise UsageError(
                f"--{option} must be at least 1. Got {getattr(arguments, option)} instead."
            )
    for option in ("certain", "accuracy"):
        if not 0 <= getattr(arguments, option) <= 1:
            raise UsageError(
                f"--{option} must lie between 0 and 1. Got {getattr(arguments, option):g} instead."
            )
    if arguments.seed is not None and arguments.seed < 0:
        raise UsageError(f"--seed must be at least 0. Got {arguments.seed} instead.")
    campaign = _campaign(arguments)
    actual = campaign.lazy if arguments.actual is None else arguments.actual
    if not 1 <= actual <= campaign.workers:
        raise UsageError(
            f"--actual must lie between 1 and {campaign.workers}, the number of workers. "
            f"Got {actual} instead."
        )
    sizing = SentinelsTwins(escape=escape_of(arguments)).size(campaign)
    seed = arguments.seed if arguments.seed is not None else secrets.randbits(256)
    rng = np.random.default_rng(seed)
    behaviour = _behaviour(arguments)
    setting = Setting(
        behaviour=behaviour,
        certain=arguments.certain,
        accuracy=arguments.accuracy,
        allowed=_tolerances(campaign, sizing),
    )
    sentinels, twins = (sizing.controls.get(sort, 0) for sort in ("sentinels", "twins"))
    met = attrs.evolve(campaign, lazy=actual)
    missed = simulate(met, sentinels, twins, arguments.campaigns, rng, setting)
    played = dry_run(campaign, sizing, setting, arguments.judged, rng, actual)
    lines = _lines(arguments.behaviour, campaign, actual, sizing, missed, played)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _campaign(arguments: argparse.Namespace) -> Campaign:
    try:
        shares = tuple(float(part) for part in arguments.shares.split(","))
    except ValueError:
        raise UsageError(
            f"--shares must be numbers with commas between them. Got '{arguments.shares}' instead."
        ) from None
    return campaign_of(arguments, arguments.jobs, shares)


def _behaviour(arguments: argparse.Namespace) -> Behaviour:
    kind = BEHAVIOURS[arguments.behaviour]
    # Only a proxy's omission follows from its model.
    return kind(arguments.omission) if issubclass(kind, Opportunistic) else kind()


def _tolerances(campaign: Campaign, sizing: Sizing) -> tuple[int, int]:
    """Return how many sentinels may fail and twins differ before it is called omission."""
    level = campaign_level(SentinelsTwins().level)
    sentinels, twins = (
        int(most_tolerated(sizing.controls.get(sort, 0), campaign.error, level))
        for sort in ("sentinels", "twins")
    )
    return sentinels, twins


def _lines(
    behaviour: str,
    campaign: Campaign,
    actual: int,
    sizing: Sizing,
    missed: Share,
    played: DryRun,
) -> list[str]:
    controls = ", ".join(f"{number} {sort}" for sort, number in sizing.controls.items())
    honest = campaign.workers - actual
    lines = [
        f"controls: {controls}; {actual} of {campaign.workers} workers are {behaviour}",
        f"undetected, formula for blind omission: {sizing.undetected:.3g} at most",
        f"undetected, simulated: {_share(missed)}",
        f"undetected, played from plan to verdict: {_share(played.unnoticed)}",
        f"accused of {actual} lazy workers: {played.named:.2f} on average",
    ]
    if honest:
        lines.append(f"campaigns that accuse any honest worker: {_share(played.wronged)}")
    lines += [
        f"campaigns in which a dispute is left open: {_share(played.disputed)}",
        f"results that are relied on: {played.believed.share:.1%} of the wrong ones, "
        f"{played.relied.share:.1%} of the right ones",
    ]
    # Nobody must read the formula as a promise about workers whom it does not describe.
    if actual > campaign.lazy:
        lines.append(f"the formula is for {campaign.lazy} lazy workers")
    declared = behaviour == "colluding" and campaign.colluding
    if behaviour not in _BLIND and not declared:
        lines.append(
            f"the formula does not hold for {behaviour} workers: they omit what is not noticed"
        )
    return lines


def _share(share: Share) -> str:
    low, high = share.interval()
    return f"{share.share:.3g} ({low:.3g} to {high:.3g}; {share.runs} campaigns)"
