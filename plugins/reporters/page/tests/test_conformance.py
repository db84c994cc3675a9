"""The promises of every reporter."""

from anonloom_page.reporter import Page
from anonloom_testing import ReporterConformance


class TestPage(ReporterConformance):
    method = Page
