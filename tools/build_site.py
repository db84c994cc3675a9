#!/usr/bin/env python3
"""Builds the documents as a site in build/site; a warning, such as a broken link, is an error.

    python tools/build_site.py [--to FOLDER]

Sphinx, myst-parser and furo are in the dependency group `docs`.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Pages have the addresses of their files; whoever opens the site itself is sent to its first page.
START = """<!doctype html>
<meta charset="utf-8">
<title>Anonloom</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<a href="docs/index.html">Anonloom</a>
"""


def main() -> int:
    """Build the site and say where it is."""
    parser = argparse.ArgumentParser(description="Build the documents as a site.")
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "site")
    target: Path = parser.parse_args().to
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    # The cache of parsed pages lies outside the site, so that the folder can be served as it is.
    command += ["-b", "html", "-d", str(target.with_name(f"{target.name}-cache"))]
    command += ["-c", str(ROOT / "docs"), str(ROOT), str(target)]
    code = subprocess.run(command, check=False).returncode
    if code == 0:
        (target / "index.html").write_text(START, encoding="utf-8")
        print(f"{target}/index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
