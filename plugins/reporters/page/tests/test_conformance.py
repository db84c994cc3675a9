"""The promises of every reporter."""

from anonloom.testing import ReporterConformance
from anonloom_page.reporter import Page


class TestPage(ReporterConformance):
    method = Page
