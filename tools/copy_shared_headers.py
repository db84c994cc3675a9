#!/usr/bin/env python3
"""Copy the C headers that several packages share into each package that includes them.

    python tools/copy_shared_headers.py

A package is built without any other: what its C includes as "shared/NAME.h" lies beside it, as a
copy of the header of that name in libs/kernels, with all that it includes in turn.
`tools/check_workspace.py` fails where a copy is missing, differs or is not needed.
Needs nothing but the standard library.
"""

import sys

from check_workspace import ROOT, members, shared_headers


def main() -> int:
    """Write the copies that are missing or differ, and remove those that nothing includes."""
    wanted = shared_headers(ROOT)
    changed = []
    for copy, source in wanted.items():
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(source.read_bytes())
            changed.append(copy)
    for copy in {file for m in members(ROOT) for file in m.folder.glob("src/*/shared/*")}:
        if copy not in wanted:
            copy.unlink()
            changed.append(copy)
    for copy in sorted(changed):
        print(copy.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
