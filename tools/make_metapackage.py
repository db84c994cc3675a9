#!/usr/bin/env python3
"""Writes the metapackage `anonloom` from the packages in the tree.

    python tools/make_metapackage.py

Its dependencies are core, its commands and what the quickstart needs; its extra `all` is every
package but the tutorial's. Run it after adding or removing a package; `check_workspace.py`
compares.
"""

import sys
from pathlib import Path

from check_workspace import METAPACKAGE, ROOT, members, metapackage_lists

TEXT = """\
# Written by tools/make_metapackage.py from the packages in the tree. Change nothing here.

[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "anonloom"
version = "{version}"
description = "Publish personal tables safely: core, its commands and what the quickstart needs"
readme = "README.md"
license = "Apache-2.0"
requires-python = "{python}"
dependencies = [
{quickstart}
]

[project.optional-dependencies]
all = [
{everything}
]

[tool.hatch.build.targets.wheel]
bypass-selection = true # no code: dependencies only
"""


def metapackage(root: Path) -> str:
    """The text of the metapackage's `pyproject.toml`."""
    packages = members(root)
    core = next(member for member in packages if member.is_core).project["project"]
    lists = metapackage_lists(packages, core["version"])
    quickstart, everything = ("\n".join(f'  "{line}",' for line in lines) for lines in lists)
    return TEXT.format(
        version=core["version"],
        python=core["requires-python"],
        quickstart=quickstart,
        everything=everything,
    )


def main() -> int:
    """Write the file and name it."""
    file = ROOT / METAPACKAGE / "pyproject.toml"
    file.write_text(metapackage(ROOT), encoding="utf-8")
    print(file.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
