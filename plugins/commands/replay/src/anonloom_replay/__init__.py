"""Replays of a transformation: new rows published in the classes of an earlier release."""
