"""Readers of the notations that `anonloom.notations` lists."""
