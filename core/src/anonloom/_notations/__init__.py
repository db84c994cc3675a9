"""Readers of the notations that `table` lists."""
