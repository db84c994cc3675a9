"""CVPL: linkage by blocking, vectors, projection and similarity."""
