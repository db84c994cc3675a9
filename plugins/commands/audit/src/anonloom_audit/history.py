"""What got worse since an earlier audit: differences that are larger than their uncertainty."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anonloom.errors import DataError
from anonloom.files import read_json

#: What has to be the same, so that a difference is one of the releases.
_CONFIGURATION = ("columns", "attacked", "auditors", "control")


def read_baseline(path: Path) -> dict[str, Any]:
    """Read the report of an earlier audit.

    Raises
    ------
    DataError
        When it cannot be read, or is none.
    """
    try:
        report = read_json(path)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    except ValueError:
        raise DataError(f"{path}: this is no JSON") from None
    if not isinstance(report, dict) or report.get("kind") != "audit":
        raise DataError(
            f"{path}: this is not the report of an audit",
            hint="Give report.json of a folder that 'anonloom audit --to' wrote.",
        )
    try:
        for release in report["releases"]:
            str(release["name"])
            for attack in release["attacks"]:
                _figures(attack)
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{path}: this report is damaged") from None
    return report


def compare_releases(
    configuration: Mapping[str, Any],
    releases: Sequence[dict[str, Any]],
    baseline: Mapping[str, Any],
) -> None:
    """Add `since` to every release: what each attack found then, and whether that got worse.

    Releases are compared by name; one release with one whatever their names are.
    """
    earlier = {release["name"]: release for release in baseline["releases"]}
    before = baseline.get("configuration")
    known = before if isinstance(before, dict) else {}
    differs = [key for key in _CONFIGURATION if known.get(key) != configuration[key]]
    for release in releases:
        then = earlier.get(release["name"])
        if then is None and len(releases) == len(earlier) == 1:
            (then,) = earlier.values()
        if then is None:
            continue
        attacks = _compare(release["attacks"], then["attacks"])
        release["since"] = {
            "created": str(baseline.get("created")),
            "name": then["name"],
            "configuration_differs": differs,
            "worse": sum(
                attack["change"] in ("worse", "no longer assessable") for attack in attacks
            ),
            "attacks": attacks,
        }


def _compare(now: Sequence[Mapping[str, Any]], then: Sequence[Mapping[str, Any]]) -> list[Any]:
    before = {attack["attack"]: attack for attack in then}
    names = [attack["attack"] for attack in now]
    results = []
    for attack in now:
        other = before.get(attack["attack"])
        change = "new" if other is None else _change(attack, other)
        then_risk = None if other is None else other["risk"]
        results.append(
            {"attack": attack["attack"], "change": change, "now": attack["risk"], "then": then_risk}
        )
    gone = [name for name in before if name not in names]
    return [
        *results,
        *({"attack": name, "change": "gone", "now": None, "then": before[name]["risk"]}
          for name in gone),
    ]  # fmt: skip


def _change(now: Mapping[str, Any], then: Mapping[str, Any]) -> str:
    """Compare two risks by the interval of their difference, made of both intervals (MOVER)."""
    first, second = _figures(then), _figures(now)
    if second is None:
        return "not assessable" if first is None else "no longer assessable"
    if first is None:
        return "now assessable"
    (old, old_low, old_high), (new, new_low, new_high) = first, second
    if new - old > math.hypot(new - new_low, old_high - old):
        return "worse"
    if old - new > math.hypot(new_high - new, old - old_low):
        return "better"
    return "same"


def _figures(attack: Mapping[str, Any]) -> tuple[float, float, float] | None:
    """Return risk and interval, where there are any."""
    str(attack["attack"])
    if attack["risk"] is None:
        return None
    low, high = attack["interval"]
    return float(attack["risk"]), float(low), float(high)
