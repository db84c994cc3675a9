"""Findings: what became of the donors, what the study cost, and what it says of missing ones."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from anonloom import Chart, Finding
from anonloom_anonify.campaign import Campaign
from anonloom_anonify.donor_data import DonorData

_ROUNDS = "all rounds"


def findings_of(campaign: Campaign, donor_data: DonorData) -> Iterator[Finding | Chart]:
    """Yield what is to be told of a study that is over."""
    delivered, *others = _records(campaign, donor_data)
    # What experiments compare first comes first.
    yield delivered
    yield from campaign.ledger.traffic(donor_data.donors, _ROUNDS)
    yield from campaign.ledger.work(_ROUNDS)
    yield from others
    yield from _missing(campaign)
    yield from campaign.ledger.refusals(Counter(campaign.servers[0].refused))
    yield from _anonymity(campaign)


def _records(campaign: Campaign, donor_data: DonorData) -> Iterator[Finding | Chart]:
    server = campaign.servers[0]
    published = sum(len(rows) for rows in campaign.owners.values())
    answered = int((donor_data.rows >= 0).sum())
    classed = sum(number is not None for number in campaign.numbers)
    wanted = int(((donor_data.rows >= 0) & campaign.chosen).sum())
    yield Finding(
        name="delivered",
        value=published / wanted if wanted else None,
        status="measured" if wanted else "not assessable",
        meaning="Share of the answers that are published, of those whose positions are not erased.",
        better="higher",
    )
    for name, value, unit, meaning in (
        ("donors", donor_data.donors, "donors", "Donors that there are."),
        ("classed", classed, "donors", "Donors who registered and are in a class."),
        (
            "left_out",
            int(campaign.left_out.sum()),
            "donors",
            "Donors whose registration or reservation was not accepted; they stay away from what "
            "follows.",
        ),
        ("reserved", server.reserved, "positions", "Positions that donors reserved."),
        (
            "erased",
            server.erased,
            "positions",
            "Positions whose records were never opened: drawn by the sampler, or of classes that "
            "are withheld.",
        ),
        ("answers", answered, "records", "Answers that donors had."),
        ("published", published, "records", "Records that are published, of all iterations."),
        ("restarts", server.restarts, "", "How often reservations were made anew."),
        (
            "withheld_classes",
            sum(server.classes_withheld.values()),
            "classes",
            "Classes that are not published: too few reservations, or more than registered.",
        ),
        (
            "withheld_iterations",
            len(server.withheld),
            "iterations",
            "Iterations that were not opened, because somebody was missing or a round stopped.",
        ),
    ):
        yield Finding(name=name, value=value, unit=unit, meaning=meaning)
    lost = sum((item.lost for item in server.assembled.values()), Counter(server.classes_withheld))
    if lost:
        yield Chart(
            name="losses",
            kind="table",
            title="What was not published",
            meaning="Classes and records that are missing from the release, by reason.",
            data={"columns": ["reason", "how many"], "rows": [list(item) for item in lost.items()]},
        )


def _missing(campaign: Campaign) -> Iterator[Finding]:
    """Yield what it means for donors that some missed iterations."""
    absent = campaign.behaviour.absent
    yield Finding(
        name="absences",
        value=int(absent.sum()),
        unit="uploads",
        meaning="Uploads of donors who were missing from an iteration.",
        better="lower",
    )
    smallest = smallest_pattern(campaign)
    if smallest is not None:
        yield Finding(
            name="smallest_blank_pattern",
            value=smallest,
            unit="records",
            meaning="Fewest positions of one class that are empty in the same iterations: among "
            "so many does whoever misses iterations hide, and not among her class.",
            better="higher",
            assumptions=("an observer sees who is missing, and all see which positions are empty",),
        )


def smallest_pattern(campaign: Campaign) -> int | None:
    """Return the size of the smallest group of donors of a class who missed the same iterations.

    None when no iteration of several was missed by anybody whose record is published.
    """
    opened = sorted(campaign.owners)
    absent = campaign.behaviour.absent[[index - 1 for index in opened]]
    if len(opened) < 2 or not absent.any():
        return None
    numbers = campaign.numbers
    shown = np.unique(np.concatenate(list(campaign.owners.values())))
    groups: Counter[tuple[int | None, bytes]] = Counter(
        (numbers[donor], absent[:, donor].tobytes()) for donor in shown.tolist()
    )
    return min(groups.values())


def _anonymity(campaign: Campaign) -> Iterator[Finding]:
    yield Finding(
        name="anonymity_set",
        value=campaign.ledger.smallest,
        unit="donors",
        meaning="Donors whose uploads stood, in the smallest round: among so many could a donor "
        "hide, if the transport hides at all.",
        better="higher",
        assumptions=(
            "all donors are honest, and no person donates twice",
            "each party runs on a machine of its own: one process that plays all sees everything",
        ),
    )
    yield Finding(
        name="counted",
        value="yes" if campaign.study.counted else "no",
        meaning="Whether the servers knew how many records a class has before they opened any.",
    )
    if campaign.study.counted:
        yield Finding(
            name="miscounted",
            value=campaign.miscounted,
            unit="classes",
            meaning="Classes that were opened with another number of records than were counted: "
            "a server that falsifies counts shows here, and so do contested records.",
            better="lower",
        )
    yield Finding(
        name="simulated",
        value="yes" if campaign.ledger.is_simulated else "no",
        meaning="Whether keys and coins came from a seeded source, which protects nobody.",
    )
