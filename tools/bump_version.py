#!/usr/bin/env python3
"""One version for all first-party packages: writes it wherever it stands.

    python tools/bump_version.py 0.2.0

Changes VERSION, the version of every package and of the metapackage, and the ranges in which they
ask for each other; turns the changelog's 'Unreleased' into the new version and opens a new one.
Commits nothing. Reinstall afterwards: the metadata of an editable install is frozen when it is
installed.
"""

import argparse
import datetime
import re
import sys
from pathlib import Path

from check_workspace import METAPACKAGE, ROOT, members, problems, range_of

VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


def bump(root: Path, new: str, day: datetime.date) -> list[Path]:
    """Write version `new` into the workspace at `root`.

    Parameters
    ----------
    root
        The workspace.
    new
        Three numbers, larger than the present version.
    day
        The date for the changelog.

    Returns
    -------
    list of Path
        The files that changed.

    Raises
    ------
    ValueError
        If `new` is not a version, or not a later one; or if the workspace disagrees with itself
        on the present version, in which case nothing is written.
    """
    file = root / "VERSION"
    old = file.read_text(encoding="utf-8").strip()
    if not VERSION.fullmatch(new):
        raise ValueError(f"the version must be three numbers such as 1.2.0. Got {new} instead.")
    if _numbers(new) <= _numbers(old):
        raise ValueError(f"the version must be later than {old}. Got {new} instead.")
    wrong = problems(root)
    if wrong:
        raise ValueError("the workspace disagrees with itself; first mend this:\n" + wrong[0])
    texts = {file: new + "\n"}
    packages = members(root)
    folders = [m.folder for m in packages] + [root / METAPACKAGE]
    for project in [folder / "pyproject.toml" for folder in folders]:
        text = project.read_text(encoding="utf-8")
        # The first version line belongs to [project]: check_workspace has just read it there.
        text = text.replace(f'\nversion = "{old}"\n', f'\nversion = "{new}"\n', 1)
        for name in [m.distribution for m in packages]:
            text = text.replace(f'"{range_of(name, old)}"', f'"{range_of(name, new)}"')
        texts[project] = text
    changes = root / "CHANGELOG.md"
    heading = f"## Unreleased\n\n## {new} - {day.isoformat()}\n"
    text = changes.read_text(encoding="utf-8")
    texts[changes] = text.replace("## Unreleased\n", heading, 1)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def main() -> int:
    """Bump, and list the files that changed."""
    parser = argparse.ArgumentParser(description="Give all packages of the workspace one version.")
    parser.add_argument("version", help="the new version, such as 0.2.0")
    try:
        changed = bump(ROOT, parser.parse_args().version, datetime.date.today())
    except ValueError as problem:
        print(f"bump_version: {problem}", file=sys.stderr)
        return 1
    for path in changed:
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
