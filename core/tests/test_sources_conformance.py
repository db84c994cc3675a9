"""The kit's checks of core's own sources and of its collector."""

from anonloom.kinds._curator import Curator
from anonloom.sources import Csv, Frame, Parquet
from anonloom_testing import CollectorConformance, SourceConformance


class TestCsv(SourceConformance):
    method = Csv
    params = {"path": "table.csv"}  # the kit's own form

    def source(self, frame, folder):
        frame.to_csv(folder / "table.csv", index=False)
        return Csv(path=folder / "table.csv")


class TestParquet(SourceConformance):
    method = Parquet
    params = {"path": "table.parquet"}  # the kit's own form

    def source(self, frame, folder):
        frame.to_parquet(folder / "table.parquet")
        return Parquet(path=folder / "table.parquet")


class TestFrame(SourceConformance):
    method = Frame

    def source(self, frame, folder):
        return Frame.of(frame)


class TestCurator(CollectorConformance):
    method = Curator
