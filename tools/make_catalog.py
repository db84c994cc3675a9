#!/usr/bin/env python3
"""Writes the catalogue of this repository's plugins from their hook modules.

    python tools/make_catalog.py

Run it after adding a plugin or a method; `check_workspace.py` compares.
"""

import sys

from check_workspace import CATALOGUE, ROOT, catalogue


def main() -> int:
    """Write the file and name it."""
    (ROOT / CATALOGUE).write_text(catalogue(ROOT), encoding="utf-8")
    print(CATALOGUE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
