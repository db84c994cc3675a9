"""Pages from reports: fills the templates and keeps a page small enough to open anywhere."""

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from anonloom_page import wording
from anonloom_page.audit_view import audit_view
from anonloom_page.charts import draw
from anonloom_page.grid_view import grid_view
from anonloom_page.limits import LARGEST, Limits
from anonloom_page.report_view import report_view


def render_report(report: dict[str, Any]) -> bytes:
    """Return the page of a run."""
    return _render_within_limit("report.html", report, report_view)


def render_grid(report: dict[str, Any]) -> bytes:
    """Return the page of an experiment."""
    return _render_within_limit("grid.html", report, grid_view)


def render_audit(report: dict[str, Any]) -> bytes:
    """Return the page of an audit."""
    return _render_within_limit("audit.html", report, audit_view)


def _render_within_limit(
    template: str,
    report: dict[str, Any],
    view: Callable[[dict[str, Any], Limits], dict[str, Any]],
) -> bytes:
    """Render the page, with less on it as long as it is too large."""
    limits = Limits()
    while True:
        page = _templates().get_template(template).render(view(report, limits)).encode()
        if len(page) <= LARGEST or limits == limits.half():
            return page
        limits = limits.half()


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("anonloom_page"),
        # Everything that a report holds may come from a hostile column name: escape it all.
        autoescape=True,
        undefined=jinja2.ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("figure", "percent", "short", "plain", "settings", "day", "words"):
        environment.filters[name] = getattr(wording, name)
    environment.filters["draw"] = draw
    script = _text("sort.js") + _text("pairs.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals["style"] = Markup(_text("style.css"))  # our own file
    environment.globals["script"] = Markup(script)  # our own file
    environment.globals["script_hash"] = f"sha256-{digest}"
    return environment


def _text(name: str) -> str:
    return (files("anonloom_page") / "templates" / name).read_text(encoding="utf-8")
