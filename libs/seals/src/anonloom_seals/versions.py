"""Whether a head is as new as what is known: an old release must not pass for the newest.

A signature says who published a version, not that it is the last one. Only what the recipient
remembers can tell: a head seen before, or the least version to accept.
"""

from pathlib import Path

from anonloom.errors import IntegrityError
from anonloom.files import read_bytes
from anonloom.kinds import KnownVersion, VerifiedScope
from anonloom_seals.head import Head

__all__ = ["compare_versions", "read_head"]


def compare_versions(head: Head, known: KnownVersion | None) -> VerifiedScope:
    """Hold a head against what is known, and say what that shows.

    Raises
    ------
    IntegrityError
        When the release is older than what is known, of another data set, or another release of a
        version that is known.
    """
    covers: list[str] = []
    if known is not None and known.version is not None:
        if head.version < known.version:
            raise IntegrityError(
                f"the release is version {head.version}; at least {known.version} is demanded"
            )
        covers.append(f"that it is version {head.version}, at least {known.version}")
    if known is not None and known.head is not None:
        covers.append(_against(head, read_head(known.head)))
    open_: list[str] = []
    if known is None or known.head is None:
        # Versions are counted per data set: an old one may have the number of another's newest.
        open_.append(
            f"whether this is the data set that you mean, of those of the signer: it is "
            f"{head.dataset}; give a head that you know with --head"
        )
    open_.append(
        "whether a version newer than this one was published since"
        if covers
        else f"whether there is a newer version than this one, {head.version}: give a head that "
        "you know with --head, or the least version with --at-least"
    )
    return VerifiedScope(tuple(covers), tuple(open_))


def read_head(path: Path) -> Head:
    """Read the head of a version that is known.

    Raises
    ------
    IntegrityError
        When it cannot be read, or is none.
    """
    try:
        data = read_bytes(path)
    except OSError as error:
        raise IntegrityError(f"the known head {path} cannot be read: {error.strerror}") from None
    return Head.read(data, str(path))


def _against(head: Head, seen: Head) -> str:
    if head.dataset != seen.dataset:
        raise IntegrityError("the release is of another data set than the known head")
    if head.key != seen.key:
        raise IntegrityError("the release is signed with another key than the known head")
    if head.version < seen.version:
        raise IntegrityError(
            f"the release is version {head.version}, older than the known version {seen.version}"
        )
    if head.version == seen.version:
        if head.digest != seen.digest:
            raise IntegrityError(
                f"there are two releases of version {head.version}: this one is not the known one"
            )
        return f"that it is the known version {head.version}"
    if head.version == seen.version + 1:
        if head.previous != seen.digest:
            raise IntegrityError(
                f"version {head.version} does not follow the known version {seen.version}: it "
                "names another predecessor"
            )
        return f"that it is version {head.version} and follows the known version {seen.version}"
    # What lies between is not here to be looked at.
    return (
        f"that it is version {head.version} of the same data set and signer as the known version "
        f"{seen.version}, though not that it follows it"
    )
