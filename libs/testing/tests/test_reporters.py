"""Reporters that keep their promises, and those that break one."""

import json
import os

import attrs
from kit_toy_tests import ToyTests

from anonloom import Reporter
from anonloom_testing import ReporterConformance


@attrs.frozen(kw_only=True)
class Lines(Reporter):
    """Writes the report as a page of one line."""

    def write(self, report, folder):
        text = json.dumps(report).replace("<", "&lt;")
        (folder / "report.html").write_text(f"<p>{text}</p>")
        return ("report.html",)


class WritesElsewhere(Lines):
    def write(self, report, folder):
        (folder.parent / "copy.html").write_text("")
        return super().write(report, folder)


class Fetches(Lines):
    def write(self, report, folder):
        names = super().write(report, folder)
        page = folder / "report.html"
        page.write_text(page.read_text() + '<script src="https://cdn.example/x.js"></script>')
        return names


class Obeys(Lines):
    def write(self, report, folder):
        (folder / "report.html").write_text(f"<h1>{report['name']}</h1>")
        return ("report.html",)


class Misnames(Lines):
    def write(self, report, folder):
        return (*super().write(report, folder), "report.pdf")


class Dated(Lines):
    def write(self, report, folder):
        names = super().write(report, folder)
        with (folder / "report.html").open("a") as page:
            page.write(os.urandom(8).hex())
        return names


class ChangesReport(Lines):
    def write(self, report, folder):
        names = super().write(report, folder)
        report["name"] = "another"
        return names


class TestToys(ToyTests):
    good = [(ReporterConformance, Lines)]
    broken = [
        (ReporterConformance, WritesElsewhere, "check_writes_only_into_its_folder"),
        (ReporterConformance, Fetches, "check_pages_fetch_nothing"),
        (ReporterConformance, Obeys, "check_texts_are_not_markup"),
        (ReporterConformance, Misnames, "check_names_what_it_wrote"),
        (ReporterConformance, Dated, "check_same_seed_same_result"),
        (ReporterConformance, ChangesReport, "check_leaves_its_input_alone"),
    ]
