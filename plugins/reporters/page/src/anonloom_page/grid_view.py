"""From the data of an experiment to one comparison table and the plots above it."""

from itertools import groupby, zip_longest
from statistics import fmean
from typing import Any

from anonloom_page.limits import Limits
from anonloom_page.report_view import found_view
from anonloom_page.tradeoff import tradeoffs
from anonloom_page.verdict import tone_of
from anonloom_page.wording import brief, figure, number, plain, short

#: Plots above the table; further ones are there to be opened.
MOST_PLOTS = 8

#: Characters of a text in the comparison.
MOST_TEXT = 28

#: The setting that names the case of a run, where cases are crossed with a product.
CASE = "case"
#: The setting in which runs differ that repeat each other.
SEED = "seed"

#: Lines that can be told apart in one plot.
MOST_LINES = 8

_TONES = {"published": "good", "refused": "warn", "failed": "bad"}


def grid_view(report: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Return what the template shows."""
    runs = report.get("runs") or []
    counts = dict.fromkeys(_TONES, 0)
    for run in runs:
        counts[str(run.get("status"))] = counts.get(str(run.get("status")), 0) + 1
    tiles = [{"name": "Runs", "value": figure(len(runs)), "under": _varied_settings(report)}]
    tiles += [
        {"name": status.capitalize(), "value": figure(count), "under": _UNDER.get(status, "")}
        for status, count in counts.items()
        if count
    ]
    plots = _plots(report)[: limits.charts]
    return {
        "report": report,
        "tiles": tiles if runs or not report.get("chapters") else [],
        "chapters": [
            {**chapter, "charts": (chapter.get("charts") or [])[: limits.charts]}
            for chapter in report.get("chapters") or []
        ],
        "tradeoffs": tradeoffs(report, _published_runs(report))[: limits.charts],
        "plots": plots[:MOST_PLOTS],
        "more_plots": plots[MOST_PLOTS:],
        "table": _table(report, limits),
        "summaries": [
            {
                "title": summary.get("auditor", ""),
                "found": found_view(summary.get("findings") or [], limits),
                "tables": tables[: limits.charts],
            }
            for summary in report.get("summaries") or []
            if (tables := _tables(summary)) or summary.get("findings")
        ],
        "swaps": [short(sentence, 4000) for sentence in report.get("swaps") or []],
    }


def _tables(summary: dict[str, Any]) -> list[dict[str, Any]]:
    return [chart for chart in summary.get("charts") or [] if chart.get("kind") == "table"]


_UNDER = {
    "published": "every check passed",
    "refused": "a guarantee or limit did not hold",
    "failed": "stopped with an error",
}


def _varied_settings(report: dict[str, Any]) -> str:
    varied = report.get("varied") or []
    return short(f"over {', '.join(str(path) for path in varied)}", 120) if varied else ""


def _table(report: dict[str, Any], limits: Limits) -> dict[str, Any]:
    runs, varied = report.get("runs") or [], report.get("varied") or []
    figures = [dict(repeat) for repeat in _without_repeats(report.get("figures") or [])]
    shown = figures[: limits.figures]
    for item in shown:
        item["group"], item["name"] = _parts(item["key"])
    # Figures of one auditor stand side by side under its name.
    order = {
        name: index for index, name in enumerate(dict.fromkeys(item["group"] for item in shown))
    }
    shown.sort(key=lambda one: order[one["group"]])
    best = {item["key"]: _best(runs, item) for item in shown}
    return {
        "varied": varied,
        "figures": shown,
        "groups": [
            {"name": name or "run", "width": len(list(members))}
            for name, members in groupby(shown, key=lambda one: one["group"])
        ],
        "rows": [_row(run, varied, shown, best) for run in runs[: limits.runs]],
        "left_out": max(0, len(figures) - limits.figures),
        "more_runs": max(0, len(runs) - limits.runs),
    }


def _parts(key: Any) -> tuple[str, str]:
    group, dot, name = str(key).partition(".")
    return (group, name) if dot else ("", group)


def _best(runs: list[dict[str, Any]], one: dict[str, Any]) -> float | None:
    """The best value of a figure; None when none is better than another."""
    values = [
        value
        for run in runs
        if run.get("status") == "published"
        and (value := number((run.get("findings") or {}).get(one["key"]))) is not None
    ]
    if len(set(values)) < 2 or one.get("better") not in ("lower", "higher"):
        return None
    return min(values) if one["better"] == "lower" else max(values)


def _row(
    run: dict[str, Any], varied: list[str], figures: list[dict[str, Any]], best: dict[str, Any]
) -> dict[str, Any]:
    parameters, findings = run.get("parameters") or {}, run.get("findings") or {}
    published = run.get("status") == "published"
    cells = []
    for item in figures:
        value = findings.get(item["key"])
        is_best = best[item["key"]] is not None and number(value) == best[item["key"]] and published
        text = figure(value)
        cells.append(
            {
                "text": short(text, MOST_TEXT),
                "whole": text if len(text) > MOST_TEXT else "",
                "order": _sort_key(value),
                "best": is_best,
            }
        )
    return {
        "label": run.get("label", ""),
        "brief": brief(run.get("label", "")),
        "status": run.get("status", ""),
        "tone": _TONES.get(str(run.get("status")), ""),
        "verdict": tone_of(run["verdict"]) if run.get("verdict") else None,
        "message": "" if published else short(run.get("message") or "no figures", 300),
        "parameters": [
            {"text": _setting(parameters, path), "order": _sort_key(parameters.get(path))}
            for path in varied
        ],
        "cells": cells,
    }


def _setting(parameters: dict[str, Any], path: str) -> str:
    return short(plain(parameters[path]), 60) if path in parameters else ""


def _sort_key(value: Any) -> str | None:
    result = number(value)
    return None if result is None else f"{result:.10g}"


# --- plots --------------------------------------------------------------------------------------


def _plots(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What auditors drew of the whole, then single figures."""
    runs = _published_runs(report)
    drawn = [
        (f"{summary.get('auditor')}.{chart.get('name')}", chart)
        for summary in report.get("summaries") or []
        for chart in summary.get("charts") or []
        if chart.get("kind") != "table"
    ]
    charts = [chart for _, chart in drawn]
    if len(runs) < 2:
        return charts
    names = {name for name, _ in drawn}
    figures = [
        repeat
        for repeat in _without_repeats(report.get("figures") or [])
        if _tells(runs, repeat) and repeat["key"] not in names
    ]
    along = _numeric_parameter(runs, report.get("varied") or [])
    plots = [
        _over(runs, turn, along) if along else _side_by_side(runs, turn)
        for turn in _in_turns(figures)
    ]
    return [*charts, *plots]


def _published_runs(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [run for run in report.get("runs") or [] if run.get("status") == "published"]


def _without_repeats(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out the run's own figures that an auditor measures under the same name."""
    measured = {_parts(item["key"])[1] for item in figures if _parts(item["key"])[0]}
    return [item for item in figures if "." in item["key"] or item["key"] not in measured]


def _in_turns(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Order figures so that every auditor has its turn, its figures of single columns last."""
    turns: dict[str, list[dict[str, Any]]] = {}
    for item in sorted(figures, key=lambda one: _parts(one["key"])[1].count(".")):
        turns.setdefault(_parts(item["key"])[0], []).append(item)
    rounds = zip_longest(*turns.values())
    return [item for round_ in rounds for item in round_ if item is not None]


def _tells(runs: list[dict[str, Any]], one: dict[str, Any]) -> bool:
    """Whether a figure has a good direction and differs between runs."""
    values = {number((run.get("findings") or {}).get(one["key"])) for run in runs} - {None}
    return one.get("better") in ("lower", "higher") and len(values) > 1


def _numeric_parameter(runs: list[dict[str, Any]], varied: list[str]) -> str | None:
    for path in varied:
        values = [number((run.get("parameters") or {}).get(path)) for run in runs]
        if None not in values and len(set(values)) > 1:
            return path
    return None


def _series(run: dict[str, Any], names: list[str]) -> str:
    """Name the line that a run is on: its case, and its other settings."""
    parameters = run.get("parameters") or {}
    parts = (
        plain(parameters[name])
        if name == CASE
        else f"{str(name).rpartition('.')[2]} = {plain(parameters[name])}"
        for name in names
        if name in parameters
    )
    return brief(", ".join(parts))


def _others(runs: list[dict[str, Any]], along: str) -> list[str]:
    """Settings beside the one that a plot goes along, of those that differ between runs."""
    values: dict[str, set[str]] = {}
    nested = set()
    for run in runs:
        for name, value in (run.get("parameters") or {}).items():
            values.setdefault(name, set()).add(plain(value))
            nested |= {name} if isinstance(value, dict | list) else set()
    # Whole stages need no words where their case has a name; runs with other seeds are one line.
    dropped = {along, SEED} | (nested if CASE in values else set())
    return [name for name, result in values.items() if name not in dropped and len(result) > 1]


def _over(runs: list[dict[str, Any]], one: dict[str, Any], along: str) -> dict[str, Any]:
    others = _others(runs, along)
    points: dict[str, dict[Any, list[float]]] = {}
    for run in sorted(runs, key=lambda run: number(run["parameters"][along]) or 0.0):
        value = number((run.get("findings") or {}).get(one["key"]))
        if value is None:
            continue
        line = points.setdefault(_series(run, others) or one["key"], {})
        line.setdefault(run["parameters"][along], []).append(value)
    data = {
        name: {"x": list(line), "y": [fmean(values) for values in line.values()]}
        for name, line in points.items()
    }
    if len(data) <= MOST_LINES:
        return {**_titles(one), "kind": "line", "x": along, "data": data}
    rows = ", ".join(name.rpartition(".")[2] for name in others)
    return {**_titles(one), "kind": "heat", "x": along, "y": rows, "data": _map(data)}


def _map(lines: dict[str, dict[str, list[Any]]]) -> dict[str, Any]:
    """Return lines, too many to be told apart, as the rows of a heat map."""
    places = sorted({x for line in lines.values() for x in line["x"]})
    results = {name: dict(zip(line["x"], line["y"], strict=True)) for name, line in lines.items()}
    return {
        "x": [plain(x) for x in places],
        "y": list(lines),
        "z": [[results[name].get(x) for x in places] for name in lines],
    }


def _side_by_side(runs: list[dict[str, Any]], one: dict[str, Any]) -> dict[str, Any]:
    shown = [run for run in runs if number((run.get("findings") or {}).get(one["key"])) is not None]
    grouped = _by_case(shown, one["key"])
    if grouped is not None:
        return {**_titles(one), "kind": "bars", "x": CASE, "data": grouped}
    labels = [str(run.get("label")) for run in shown]
    values = [run["findings"][one["key"]] for run in shown]
    data = {"labels": labels, str(one["key"]): values}
    return {**_titles(one), "kind": "bars", "x": "run", "data": data}


def _by_case(runs: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    """Return the bars of every case, one for each value of the setting that cases are crossed with.

    None when cases are crossed with nothing or with more than one setting, or a run is missing.
    """
    settings = [run.get("parameters") or {} for run in runs]
    crossed = set.intersection(*map(set, settings)) - {CASE} if settings else set()
    if len(crossed) != 1 or any(CASE not in setting for setting in settings):
        return None
    path = crossed.pop()
    cases = list(dict.fromkeys(plain(setting[CASE]) for setting in settings))
    values = list(dict.fromkeys(plain(setting[path]) for setting in settings))
    results = {
        (plain(setting[CASE]), plain(setting[path])): run["findings"][key]
        for setting, run in zip(settings, runs, strict=True)
    }
    if len(results) < len(runs) or len(results) < len(cases) * len(values):
        return None
    if not 1 < len(values) <= MOST_LINES:
        return None
    bars = {value: [results[case, value] for case in cases] for value in values}
    return {"labels": cases, **bars}


def _titles(one: dict[str, Any]) -> dict[str, str]:
    name = _parts(one["key"])[1]
    return {
        "name": str(one["key"]),
        "title": str(one["key"]),
        "y": f"{name} ({one['unit']})" if one.get("unit") else name,
        "meaning": f"{short(one.get('meaning', ''), 200)} {str(one['better']).capitalize()} is "
        "better.",
    }
