"""The outlier handler `regroup`."""
