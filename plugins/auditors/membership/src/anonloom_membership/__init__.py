"""Membership: whether a person is in a table at all."""
