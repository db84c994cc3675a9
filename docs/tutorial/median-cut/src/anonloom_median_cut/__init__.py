"""Partitioner median-cut for Anonloom."""
