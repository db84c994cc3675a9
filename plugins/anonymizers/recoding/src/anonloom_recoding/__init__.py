"""Recoding: how the classes that a partitioner found become published cells."""
