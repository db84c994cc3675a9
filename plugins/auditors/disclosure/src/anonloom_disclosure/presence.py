"""Who is known to be in a release: certainty, SA uncertainty, anonymity sets (Anonify, 6.3)."""

from anonloom import AuditInput, Chart, Finding
from anonloom.findings import FindingBuilder, Status
from anonloom_disclosure.counting import PublishedClasses
from anonloom_disclosure.population import Population

#: What the attacker of sections 3.3 and 6.3 of the paper knows.
CLASS_KNOWN = "the attacker knows the person's class, and no sensitive value of anybody"


def presence(
    case: AuditInput, published: PublishedClasses, population: Population, counting: tuple[str, ...]
) -> list[Finding]:
    """Figures of who was kept, and of how many there were to hide among."""
    certainty = population.certainty(published)
    status: Status = "measured"
    assumed = [
        CLASS_KNOWN,
        *_presence_assumptions(published, counting),
        "suppressed records are in no class",
    ]
    if population.is_sample:
        assumed.insert(1, population.known)
    elif not population.complete:
        status = "bound"
        assumed.insert(1, "nobody is known to have been left out")
    if case.release.origin is None:
        status = "bound"
    unit, sizes = published.unit, population.sizes

    finding = FindingBuilder(tuple(assumed))
    return [
        finding("presence_certainty", float(certainty @ published.sizes) / published.total,
                "Chance that somebody of an average published record's class is in the release at "
                "all.", status=status),
        finding("presence_certainty_min", float(certainty.min()),
                "The same in the class whose members are least surely in the release.",
                status=status),
        finding("presence_certainty_max", float(certainty.max()),
                "The same in the class whose members are most surely in the release.",
                status=status),
        finding("rho", float(certainty.max()),
                "SA uncertainty: in every class, the chance that a person's sensitive values were "
                "published is at most this.", status=status),
        finding("anonymity_set_min", int(sizes.min()),
                f"Every published record had this many {unit} or more in its class before "
                "sampling.", "higher", status=status, unit=unit),
        finding("anonymity_set_mean", float(sizes @ published.sizes) / published.total,
                f"Number of {unit} in the class of an average published record before sampling.",
                "higher", status=status, unit=unit),
        *_delivery(case),
    ]  # fmt: skip


def _presence_assumptions(
    published: PublishedClasses, counting: tuple[str, ...]
) -> tuple[str, ...]:
    if published.persons is None:
        return counting
    return (*counting, "a person with many rows is more likely to be kept than one with few")


def _delivery(case: AuditInput) -> list[Finding]:
    """Say how many records came as far as the samplers, where rows can be traced."""
    reached = case.release if case.before_sampling is None else case.before_sampling
    if case.original is None or reached.rows_in(case.original) is None:
        return []
    rows = len(reached)
    if case.before_sampling is None:
        rows += case.release.dropped
    if case.presample is not None:
        rows += len(case.presample.among) - len(case.presample.kept)
    return [
        Finding(
            name="delivery",
            value=rows / len(case.original),
            better="higher",
            meaning="Share of the original's records that reached the release, or were left out "
            "by a sampler or suppressed.",
            assumptions=("what a collector erases on its way did not reach the release",),
        )
    ]


def version_charts(published: PublishedClasses, population: Population) -> list[Chart]:
    """Journalist risk and certainty of every version of the table (figures 11 and 12)."""
    before = population.before
    risk = population.risk(population.sizes)
    certainty = population.certainty(published)
    labels = ["anonymized"]
    average = [float(risk @ published.sizes) / published.total]
    most = [float(risk.max())]
    presence = [float(certainty @ published.sizes) / published.total]
    if before is not None and len(before):
        earlier = population.risk(before.sizes)
        labels.append("sampled")
        average.insert(0, float(earlier @ before.sizes) / before.total)
        most.insert(0, float(earlier.max()))
        presence.insert(0, population.drawn)
    return [
        Chart(
            name="journalist",
            kind="bars",
            title="Journalist risk",
            x="version of the table",
            y="chance to link a person to the right record",
            meaning="Sampling changes who is averaged over, not the chance of any single record: "
            "that is one in the class before sampling.",
            data={"labels": labels, "average": average, "highest": most},
        ),
        Chart(
            name="presence",
            kind="bars",
            title="Certainty that somebody is in the release",
            x="version of the table",
            y="chance that a person's record is there",
            meaning="Lower is safer: what a class tells may then not be told about her.",
            data={"labels": ["original", *labels], "certainty": [1.0, *presence]},
        ),
    ]
