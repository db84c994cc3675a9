"""`python -m anonloom` is `anonloom`, which a package of its own brings."""

import sys
from importlib.metadata import entry_points

if __name__ == "__main__":
    points = entry_points(group="console_scripts", name="anonloom")
    if not points:
        print(
            "anonloom: the command line is not installed\n    pip install anonloom-cli",
            file=sys.stderr,
        )
        sys.exit(2)
    sys.exit(next(iter(points)).load()())
