"""Disclosure: what a release gives away about single persons."""
