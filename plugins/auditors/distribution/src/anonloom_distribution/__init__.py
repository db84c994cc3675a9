"""Distribution: whether a release shows the groups and associations of the original."""
