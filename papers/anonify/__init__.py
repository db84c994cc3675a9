"""The Anonify paper: its claims and figures, beside those of an experiment."""
