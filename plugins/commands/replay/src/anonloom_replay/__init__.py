"""Replays of a transformation: new rows published in the classes of an earlier release."""

from anonloom_replay.publish import apply_file
from anonloom_replay.transformation import Replay, Transformation

__all__ = ["Replay", "Transformation", "apply_file"]
