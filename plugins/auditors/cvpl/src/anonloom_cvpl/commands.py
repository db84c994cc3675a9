"""`anonloom audit-secret`: make the secret of an ensemble audit, and what to publish of it."""

import argparse
import os
import secrets
import sys
from pathlib import Path

from anonloom.errors import UsageError
from anonloom_cvpl.ensemble import commitment_to


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", metavar="FILE", help="where to write the secret; it must not exist")


def execute(arguments: argparse.Namespace) -> int:
    """Write a secret that only its owner can read, and print its commitment."""
    path = Path(arguments.file)
    secret = secrets.token_bytes(32)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(
            f"'{path}' exists and is left as it is",
            hint="A secret that was committed to must not be replaced.",
        ) from None
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secret.hex() + "\n")
    sys.stdout.write(
        f"commitment: {commitment_to(secret)}\n"
        "Publish the commitment now, and keep the file to yourself until the audit.\n"
    )
    return 0
