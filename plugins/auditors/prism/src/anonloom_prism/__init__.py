"""PriSM: which attributes give a sensitive value away, and classifiers that do without them."""
