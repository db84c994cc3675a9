#!/usr/bin/env python3
"""The modules that one command passes through, in the order in which it first calls them.

    python tools/module_walk.py run examples/quickstart.yaml --dry-run --quiet

Runs `anonloom` with these arguments and lists every module of this project in which a function was
called, with the first function called there and how many different ones were. docs/how-it-flows.md
was made with it. Importing a module is no call.
"""

import sys
import threading
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType

from anonloom_cli import main as anonloom

MODULES = ("anonloom", "anonloom_")


class Walk:
    """What was called, in order."""

    def __init__(self) -> None:
        self.first: dict[str, str] = {}
        self.functions: dict[str, set[CodeType]] = {}

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """Take note of a call, as `sys.setprofile` tells it."""
        if event != "call":
            return
        module = frame.f_globals.get("__name__", "")
        name = frame.f_code.co_qualname
        # Bodies of modules and classes run once, when they are imported; only functions have fast
        # locals.
        if not module.startswith(MODULES) or not frame.f_code.co_flags & CO_OPTIMIZED:
            return
        self.first.setdefault(module, name)
        self.functions.setdefault(module, set()).add(frame.f_code)


def main() -> int:
    """Run the command and print the walk."""
    walk = Walk()
    threading.setprofile(walk.note)
    sys.setprofile(walk.note)
    try:
        code = anonloom(sys.argv[1:])
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    total = sum(len(functions) for functions in walk.functions.values())
    print(f"{len(walk.first)} modules, {total} functions")
    for number, (module, name) in enumerate(walk.first.items(), start=1):
        print(f"{number:4d}  {module}.{name}  ({len(walk.functions[module])})")
    return int(code or 0)


if __name__ == "__main__":
    sys.exit(main())
