"""What packages that add commands, or run pipelines in a way of their own, build on.

A method never needs this: it is given its table, its guard and its context. Names are looked up
when they are first used.
"""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._cli import main as main
    from anonloom._cli.summary import print_done as print_done
    from anonloom._registry.registry import Registry as Registry
    from anonloom._run.atomic_file import atomic_file as atomic_file
    from anonloom._run.atomic_file import refuse_target as refuse_target
    from anonloom._spelling import did_you_mean as did_you_mean

__all__ = [
    "Registry",
    "atomic_file",
    "did_you_mean",
    "main",
    "print_done",
    "refuse_target",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._cli": ("main",),
        "anonloom._cli.summary": ("print_done",),
        "anonloom._registry.registry": ("Registry",),
        "anonloom._run.atomic_file": ("atomic_file", "refuse_target"),
        "anonloom._spelling": ("did_you_mean",),
    },
)
