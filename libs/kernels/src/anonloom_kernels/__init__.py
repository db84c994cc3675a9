"""Kernels that several anonymizers share, and how they run: no plugin, and no paper's method.

Import from its modules, each of which says in its `__all__` what others may use.
"""

__all__ = [
    "admissible_windows",
    "bound_kernel",
    "coarse_blocks",
    "comparison",
    "compiled",
    "height_distance",
    "hierarchy_levels",
    "level_order_key",
    "losses",
    "merge_cost",
    "numba_kernel",
    "optimal_cuts",
]
