"""What linkage auditors share: aligned columns, blocking, vectors, exact search, bootstrap.

The modules named here are public, each with what its own `__all__` names; they are not imported
with the package, because most auditors need only some of them.
"""

__all__ = [
    "aligned_columns",
    "approximate_search",
    "blocking",
    "bootstrap",
    "features",
    "large_blocks",
    "marginals",
    "top2_search",
    "vectors",
]
