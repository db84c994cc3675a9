"""Charts drawn as inline SVG: one module per family of kinds."""

from anonloom_page.charts.figure import draw

__all__ = ["draw"]
