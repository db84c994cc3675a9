"""The CVPL paper: its tables and claims, beside those of an experiment."""
