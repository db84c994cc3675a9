"""`python -m anonloom` is `anonloom`."""

import sys

from anonloom_cli import main

if __name__ == "__main__":
    sys.exit(main())
