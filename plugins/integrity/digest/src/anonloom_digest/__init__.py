"""Digest: one signed digest over a release, so that any changed byte is noticed."""
