"""What is installed: methods and who offers them, observers, and the border around plugin code."""

from anonloom._lazy import lazy_exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from anonloom._registry.boundary import Border as Border
    from anonloom._registry.boundary import left_by as left_by
    from anonloom._registry.boundary import strange as strange
    from anonloom._registry.loading import Entry as Entry
    from anonloom._registry.observers import Observers as Observers
    from anonloom._registry.registry import CommandEntry as CommandEntry
    from anonloom._registry.registry import Registry as Registry

__all__ = [
    "Border",
    "CommandEntry",
    "Entry",
    "Observers",
    "Registry",
    "left_by",
    "strange",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anonloom._registry.boundary": (
            "Border",
            "left_by",
            "strange",
        ),
        "anonloom._registry.loading": ("Entry",),
        "anonloom._registry.observers": ("Observers",),
        "anonloom._registry.registry": (
            "CommandEntry",
            "Registry",
        ),
    },
)
