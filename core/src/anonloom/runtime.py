"""What packages that add commands, or run pipelines in a way of their own, build on.

A method never needs this: it is given its table, its guard and its context. Names are looked up
when they are first used.
"""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._registry.loading import Entry as Entry
    from anonloom._registry.registry import Registry as Registry
    from anonloom._run.atomic_file import atomic_file as atomic_file
    from anonloom._run.atomic_file import refuse_target as refuse_target
    from anonloom._run.check import judge as judge
    from anonloom._run.reporting import chart_data as chart_data
    from anonloom._run.reporting import finding_data as finding_data

__all__ = [
    "Entry",
    "Registry",
    "atomic_file",
    "chart_data",
    "finding_data",
    "judge",
    "refuse_target",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._registry.loading": ("Entry",),
        "anonloom._registry.registry": ("Registry",),
        "anonloom._run.atomic_file": ("atomic_file", "refuse_target"),
        "anonloom._run.check": ("judge",),
        "anonloom._run.reporting": ("chart_data", "finding_data"),
    },
)
