"""Merkle: a tree over the rows of a release, with proofs of rows, ranges and growth."""
