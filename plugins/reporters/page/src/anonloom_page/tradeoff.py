"""Risk against utility: every run of an experiment as a point, for the pairs of figures that count.

Utility is what an auditor of utility measures, risk what one of risk does. Loss of information
stands in for utility where no auditor measures it.
"""

import re
from collections import Counter
from typing import Any

from anonloom_page.wording import brief, number, plain, short

#: Figures of each sort that can be chosen, and of an experiment with many runs, whose pictures
#: would fill the page.
MOST, MOST_OF_MANY = 4, 2
MANY_RUNS = 150

#: More families than this cannot be told apart by colour.
MOST_FAMILIES = 8

#: What risk and utility are first looked for under, in this order.
_RISKS = (
    "linkage_excess",
    "precision_at_1",
    "prosecutor_average",
    "marketer",
    "records_at_risk",
    "identifiability_excess",
    "excess",
    "risk",
)
_UTILITIES = (
    "gcp",
    "correlation_preserved",
    "distances_preserved",
    "marginals_preserved",
    "accuracy_preserved",
)


def tradeoffs(report: dict[str, Any], runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the scatters of all pairs: the first is the one to look at first."""
    figures = [item for item in report.get("figures") or [] if _differs(runs, item)]
    most = MOST if len(runs) <= MANY_RUNS else MOST_OF_MANY
    risks = _choose([figure for figure in figures if _is_risk(figure)], _RISKS, runs)[:most]
    gains = _choose([figure for figure in figures if _is_utility(figure)], _UTILITIES, runs)[:most]
    families = _families(report, runs)
    charts = (_scatter(runs, families, x, y) for y in risks for x in gains)
    return [chart for chart in charts if chart["data"]]


def _differs(runs: list[dict[str, Any]], one: dict[str, Any]) -> bool:
    values = {number((run.get("findings") or {}).get(one["key"])) for run in runs}
    return one.get("better") in ("lower", "higher") and len(values - {None}) > 1


def _name(one: dict[str, Any]) -> str:
    return str(one["key"]).partition(".")[2] or str(one["key"])


def _is_risk(one: dict[str, Any]) -> bool:
    if one.get("better") != "lower" or "." not in str(one["key"]):
        return False
    if one.get("measures"):
        return bool(one["measures"] == "risk")
    return any(wanted in _name(one) for wanted in _RISKS)


def _is_utility(one: dict[str, Any]) -> bool:
    if one.get("measures"):
        return bool(one["measures"] == "utility")
    return _name(one) in _UTILITIES


def _choose(
    figures: list[dict[str, Any]], wanted: tuple[str, ...], runs: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Put figures first that are known to tell most; of equal names that of an auditor.

    One that is the same, or missing, in most runs comes last: loss is 0 wherever values are
    changed and not generalized.
    """
    ranks = {name: rank for rank, name in enumerate(wanted)}
    whole = [figure for figure in figures if "." not in _name(figure)]
    known = sorted(
        (item for item in whole if _name(item) in ranks),
        key=lambda one: (_mostly_one(runs, one), ranks[_name(one)], "." not in str(one["key"])),
    )
    distinct: dict[str, dict[str, Any]] = {}
    for item in known or whole:
        # The run's own loss repeats what an auditor of utility says.
        same = _name(item) if "." not in str(item["key"]) else str(item["key"])
        if same not in {_name(other) for other in distinct.values()}:
            distinct.setdefault(same, item)
    return list(distinct.values())


def _mostly_one(runs: list[dict[str, Any]], one: dict[str, Any]) -> bool:
    values = Counter(number((run.get("findings") or {}).get(one["key"])) for run in runs)
    return 2 * max(values.values()) > len(runs)


def _families(report: dict[str, Any], runs: list[dict[str, Any]]) -> dict[str, str]:
    """Name the family of every run: its value of what was varied first, and is no number."""
    for path in report.get("varied") or []:
        values = {
            str(run.get("label")): plain((run.get("parameters") or {}).get(path)) for run in runs
        }
        numbers = all(number((run.get("parameters") or {}).get(path)) is not None for run in runs)
        private = any(value.startswith("<private") for value in values.values())
        nested = any(
            isinstance((run.get("parameters") or {}).get(path), dict | list) for run in runs
        )
        if len(set(values.values())) > 1 and not (numbers or private or nested):
            return _few(values)
    return _few({str(run.get("label")): brief(run.get("label")) for run in runs})


def _few(names: dict[str, str]) -> dict[str, str]:
    """Shorten names until there are few enough of them: `perturb-low` is of family `perturb`."""
    # A hyphen may be part of a word: `k-anonymity, k = 5` is of family `k-anonymity`.
    for ends in (None, r"[\s,/=:(]", r"[\s,/=:(-]"):
        short_ = {
            label: name if ends is None else re.split(ends, name, maxsplit=1)[0]
            for label, name in names.items()
        }
        if len(set(short_.values())) <= MOST_FAMILIES:
            return short_
    return dict.fromkeys(names, "runs")


def _scatter(
    runs: list[dict[str, Any]], families: dict[str, str], x: dict[str, Any], y: dict[str, Any]
) -> dict[str, Any]:
    data: dict[str, dict[str, list[Any]]] = {}
    for run in runs:
        result = run.get("findings") or {}
        place = number(result.get(x["key"])), number(result.get(y["key"]))
        if None in place:
            continue
        label = str(run.get("label"))
        series = data.setdefault(families[label] or "runs", {"x": [], "y": [], "labels": []})
        series["x"].append(place[0])
        series["y"].append(place[1])
        series["labels"].append(brief(label))
    side = "left" if x.get("better") == "lower" else "right"
    return {
        "name": f"{y['key']} against {x['key']}",
        "kind": "scatter",
        "title": "Risk against utility",
        "x": str(x["key"]),
        "y": str(y["key"]),
        "meaning": f"Every point is a run; the lower {side} corner is best. "
        f"{short(y.get('meaning', ''), 160)}",
        "data": data,
    }
