"""RAYDEN: a vantage-point tree over mixed columns, and connectivity-based outliers."""
