"""Anonify: a donation protocol in two phases, from registration to a release."""
