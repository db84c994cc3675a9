"""Verifying a published folder: its manifest's digests, and its seal when there is one."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from anonloom import Registry
from anonloom.errors import (
    AnonloomError,
    FaultyPluginError,
    IntegrityError,
    PluginError,
    UsageError,
)
from anonloom.files import read_json
from anonloom.kinds import KnownVersion, Seal, VerifiedScope
from anonloom.registry import left_by, strange

__all__ = ["public_folder", "scheme_named", "verify_folder"]

T = TypeVar("T")

#: Files that lie in a public folder, never in the folder that holds it.
_RELEASED = ("release.csv", "release.parquet", "manifest.json", "report.json")


def verify_folder(
    folder: Path,
    registry: Registry,
    key: Path | None = None,
    known: KnownVersion | None = None,
    *,
    unsealed: bool = False,
) -> VerifiedScope:
    """Check a release.

    Parameters
    ----------
    folder
        The public folder, or the output folder that holds it.
    key
        The publisher's public key, obtained elsewhere; demands a seal.
    known
        What is known of the data set's versions; demands a seal that keeps versions.
    unsealed
        Whether digests are enough where there is no seal: whoever changed a file could have
        changed its digest, and taken a seal away.

    Raises
    ------
    IntegrityError
        Saying which check failed.
    UsageError
        When the folder holds no release.
    """
    public = public_folder(folder)
    _check_outputs(public, _read(public / "manifest.json"))
    named = scheme_named(public)
    if named is None:
        for given, what in ((key, "a key"), (known, "a known version")):
            if given is not None:
                raise IntegrityError(f"{what} was given, but the release is not sealed")
        if not unsealed:
            raise IntegrityError(
                "the release is not sealed: its digests agree, which whoever changed it could have "
                "arranged",
                hint="Ask the publisher for a sealed release; --unsealed is content with digests.",
            )
        return VerifiedScope(
            covers=("every file that the manifest lists has the digest that it lists",),
            does_not_cover=(
                "the manifest itself, the reports, and files that the manifest does not list",
                "who published it: the release is not sealed",
            ),
        )
    with seal_errors():
        return answer_of(
            VerifiedScope, seal_named(named, registry).verify(public, key=key, known=known)
        )


@contextmanager
def seal_errors() -> Iterator[None]:
    """Take every failure of a seal for what it is to a recipient: nothing was verified.

    Raises
    ------
    IntegrityError
        When the seal's own code failed. What it says of the release passes as it is, and so does
        what the machine does not allow, such as reading a key.
    """
    try:
        yield
    except FaultyPluginError as error:
        raise _cannot_be_checked(error.what) from error
    except (AnonloomError, OSError):
        raise
    except Exception as error:
        raise _cannot_be_checked(f"this is a bug of {left_by(error)}: {strange(error)}") from error


def _cannot_be_checked(why: str, hint: str = "") -> IntegrityError:
    return IntegrityError(f"the seal cannot be checked: {why}", hint=hint)


def answer_of(expected: type[T], answer: object) -> T:
    """Return what a seal answered, if it answered at all.

    Raises
    ------
    IntegrityError
        When it is something else: a seal without an answer has verified nothing.
    """
    if not isinstance(answer, expected):
        result = type(answer).__name__
        raise _cannot_be_checked(f"it must answer with {expected.__name__}. Got {result} instead.")
    return answer


def public_folder(folder: Path) -> Path:
    """Return the public folder of a release, given that or the folder that holds it.

    Raises
    ------
    UsageError
        When it holds no release.
    """
    public = folder / "public" if (folder / "public").is_dir() else folder
    if public != folder and any((folder / name).exists() for name in _RELEASED):
        # What is verified must be what is then read.
        raise UsageError(
            f"'{folder}' holds a release, and another one in its folder 'public'",
            hint="Name the one that you mean; a release has no folder 'public'.",
        )
    if not public.is_dir():
        raise UsageError(f"there is no folder '{folder}'")
    if not any((public / name).exists() for name in _RELEASED):
        raise UsageError(f"'{folder}' holds no release: it has no manifest.json")
    return public


def scheme_named(public: Path) -> str | None:
    """Return the name of the scheme that sealed a release, or None when none did.

    Raises
    ------
    IntegrityError
        When the report does not say it: a damaged word must not make a sealed release one that was
        never sealed.
    """
    report = _read(public / "report.json")
    integrity = report.get("integrity", "")
    if integrity is None:
        return None
    name = integrity.get("scheme") if isinstance(integrity, dict) else None
    if not isinstance(name, str):
        raise IntegrityError("report.json does not say whether the release is sealed")
    return name


def seal_named(name: str, registry: Registry) -> Seal:
    """Return the seal of this name.

    Raises
    ------
    IntegrityError
        When there is none: what it sealed cannot be checked.
    """
    try:
        scheme = registry.load("integrity", name)()
    except PluginError as error:
        raise _cannot_be_checked(error.what, error.hint) from error
    if not isinstance(scheme, Seal):
        raise IntegrityError("the release names an integrity scheme that is no seal")
    return scheme


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        # A pipe of that name would be read for ever.
        raise IntegrityError(f"{path.name} is missing")
    try:
        content = read_json(path)
    except (OSError, ValueError):
        raise IntegrityError(f"{path.name} cannot be read as JSON") from None
    if not isinstance(content, dict):
        raise IntegrityError(f"{path.name} is no JSON object")
    return content


def _check_outputs(public: Path, manifest: dict[str, Any]) -> None:
    outputs = manifest.get("outputs")
    if not isinstance(outputs, dict) or not outputs:
        raise IntegrityError("manifest.json lists no outputs")
    for name, expected in outputs.items():
        path = public / str(name)
        # A name such as '../x' must not lead out of the folder.
        if path.name != name or not path.is_file() or path.is_symlink():
            raise IntegrityError(f"{path.name!r}, which the manifest lists, is missing")
        try:
            with path.open("rb") as file:
                result = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise IntegrityError(f"{name!r} cannot be read: {error.strerror}") from None
        if result != expected:
            raise IntegrityError(f"{name!r} is not what the manifest says: its digest differs")
