"""Compiled kernels that several anonymizers share: no plugin, and no paper's method.

Import from its modules, each of which says in its `__all__` what others may use.
"""

__all__ = [
    "admissible_windows",
    "coarse_blocks",
    "compiled",
    "height_distance",
    "hierarchy_levels",
    "level_order_key",
    "losses",
    "merge_cost",
    "optimal_cuts",
]
