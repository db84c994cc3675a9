"""The sources that core offers: a text file, a Parquet file, a frame from Python."""
