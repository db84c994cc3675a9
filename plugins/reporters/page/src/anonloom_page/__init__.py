"""Page: draws the findings of a run as one self-contained HTML page."""
