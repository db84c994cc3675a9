"""The kit's checks of the sources csv and parquet."""

from anonloom_tables import Csv, Parquet
from anonloom_testing import SourceConformance


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
