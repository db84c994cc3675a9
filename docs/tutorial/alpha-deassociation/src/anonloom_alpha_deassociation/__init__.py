"""A privacy model and a generalizer for Anonloom: the worked example of the tutorial."""
