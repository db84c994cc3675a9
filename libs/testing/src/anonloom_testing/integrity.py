"""Conformance of integrity schemes: every change is noticed, and `verify` raises."""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import attrs

from anonloom import StageContext
from anonloom.errors import IntegrityError
from anonloom.kinds import ProofSystem, ProvedRows, Query, Seal, SealFiles, VerifiedScope
from anonloom_testing.conformance import Check, refuse_problems
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.purity import (
    PURITY_CHECKS,
    MethodConformance,
    Scenario,
    check_same_seed_same_result,
)
from anonloom_testing.results import NotApplicable

Change = Callable[[Path], None]

#: How many bytes of a long file are flipped.
_FLIPS = 40


def publish(folder: Path) -> dict[str, bytes]:
    """Write a small release into a folder and return its files."""
    rows = [f'"[{index}, {index + 9}]",north,illness {index % 4}' for index in range(0, 90, 10)]
    files = {
        "release.csv": "\n".join(["age,region,illness", *rows, ""]).encode(),
        "manifest.json": json.dumps({"format": 1, "outputs": ["release.csv"]}).encode(),
        "report.json": json.dumps({"format": 1, "summary": {"rows_out": 9}}).encode(),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return files


@attrs.frozen
class SealedFolder:
    """What sealing a folder did, and what verifying it said."""

    before: dict[str, bytes]
    after: dict[str, bytes]
    private: list[str]
    sealed: Any
    verified: Any


class IntegrityConformance(MethodConformance):
    """Checks of a seal.

    Nothing else is needed; a subclass may say where the publisher's public key is, so that a
    folder sealed by somebody else is tried too. A scheme that is no seal names a subclass for its
    own sort in its attribute `conformance` (``module:Class``), which overrides `inputs` and
    `call_method` and has checks of its own beside the `common_checks`.

    Attributes
    ----------
    common_checks
        What holds for integrity schemes of every sort.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestDigest(IntegrityConformance):
            method = Digest

            def public_key(self, public, private):
                return private / "key.pub"
    """

    kind = "integrity"
    common_checks: ClassVar[tuple[Check, ...]]

    def public_key(self, public: Path, private: Path) -> Path | None:
        """Return where the publisher's public key is after sealing, if there is one."""
        return None

    def seal(self) -> Seal:
        """Return the scheme, which must be a seal."""
        if not issubclass(self.method, Seal):
            raise NotApplicable("the scheme is no seal, and names no conformance class of its own")
        scheme: Seal = self.build_method()
        return scheme

    def call_method(self, method: Any, inputs: Mapping[str, Any], context: StageContext) -> Any:
        """Seal a folder and verify it."""
        with TemporaryDirectory() as place:
            public, private = _places(place)
            before = publish(public)
            sealed = method.seal(public, private)
            verified = method.verify(public)
            return SealedFolder(
                before, _read_files(public), sorted(_read_files(private)), sealed, verified
            )

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the one case that there is."""
        yield Scenario("a small case", self.inputs)

    def inputs(self) -> dict[str, Any]:
        """Return what `call_method` is given; a seal finds all in its folder."""
        return {}

    def verdict(self, change: Change) -> Any:
        """Change a sealed release and return what `verify` returned or raised."""
        scheme, stored = self.seal(), self._seal_once()
        with TemporaryDirectory() as place:
            public = _write_files(stored[0], Path(place))
            change(public)
            try:
                return scheme.verify(public)
            except Exception as error:
                return error

    def _seal_once(self) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """Return the public and the private files of a release that was sealed once."""

        def make() -> tuple[dict[str, bytes], dict[str, bytes]]:
            with TemporaryDirectory() as place:
                public, private = _places(place)
                publish(public)
                self.seal().seal(public, private)
                return _read_files(public), _read_files(private)

        self.successes()  # a scheme that cannot seal is blamed for that by another check
        result: tuple[dict[str, bytes], dict[str, bytes]] = self.keep("sealed", make)
        return result


def _places(place: str) -> tuple[Path, Path]:
    public, private = Path(place) / "public", Path(place) / "private"
    public.mkdir()
    private.mkdir()
    return public, private


def _read_files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _write_files(files: Mapping[str, bytes], folder: Path) -> Path:
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder


def _is_noticed(verdict: Any) -> bool:
    # That it must be noticed by raising is a check of its own.
    return isinstance(verdict, IntegrityError) or not isinstance(verdict, VerifiedScope | Exception)


def _changes_are_noticed(subject: IntegrityConformance, changes: Mapping[str, Change]) -> None:
    problems = []
    for name, change in changes.items():
        verdict = subject.verdict(change)
        if not _is_noticed(verdict):
            message = (
                "verified"
                if isinstance(verdict, VerifiedScope)
                else f"{type(verdict).__name__}: {verdict}"
            )
            problems.append(f"{name}: {message}")
    refuse_problems(problems, "a change was not noticed, or not with an IntegrityError")


def check_untouched_release_verifies(subject: IntegrityConformance) -> None:
    """An untouched folder verifies, and `VerifiedScope` says what that covers."""
    subject.seal()
    for item in subject.successes():
        verified = item.seen.result.verified
        assert isinstance(verified, VerifiedScope), f"verify returned a {type(verified).__name__}"
        assert verified.covers, "VerifiedScope.covers is empty"


def check_sealing_changes_no_file(subject: IntegrityConformance) -> None:
    """Sealing adds the files that it names, and leaves the others as they are."""
    subject.seal()
    for item in subject.successes():
        seen = item.seen.result
        assert isinstance(seen.sealed, SealFiles), f"seal returned a {type(seen.sealed).__name__}"
        kept = {name: seen.after.get(name) for name in seen.before}
        assert kept == seen.before, "published files were changed"
        assert sorted(seen.sealed.public) == sorted(set(seen.after) - set(seen.before))
        assert sorted(seen.sealed.private) == seen.private


def check_verify_raises(subject: IntegrityConformance) -> None:
    """A release that was emptied makes `verify` raise `IntegrityError`; it returns no verdict."""

    def empty(folder: Path) -> None:
        for name in ("release.csv", "manifest.json", "report.json"):
            (folder / name).write_bytes(b"")

    verdict = subject.verdict(empty)
    assert isinstance(verdict, IntegrityError), f"verify gave {verdict!r}"


def check_flipped_bytes_are_noticed(subject: IntegrityConformance) -> None:
    """One flipped bit anywhere in a sealed file is noticed."""
    stored, rng, changes = subject._seal_once()[0], random.Random(1), {}
    for name in ("release.csv", "manifest.json", "report.json"):
        size = len(stored[name])
        for index in sorted({0, size - 1, *(rng.randrange(size) for _ in range(_FLIPS))}):
            changes[f"{name}, byte {index}"] = _flip(name, index)
    _changes_are_noticed(subject, changes)


def _flip(name: str, at: int) -> Change:
    def change(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        content[at] ^= 1
        (folder / name).write_bytes(bytes(content))

    return change


def _edit(edit: Callable[[bytes], bytes]) -> Change:
    def change(folder: Path) -> None:
        path = folder / "release.csv"
        path.write_bytes(edit(path.read_bytes()))

    return change


def check_changed_rows_are_noticed(subject: IntegrityConformance) -> None:
    """A dropped, added, repeated or moved row is noticed, and a shortened file."""

    def rows(edit: Callable[[list[bytes]], list[bytes]]) -> Change:
        return _edit(lambda content: b"".join(edit(content.splitlines(keepends=True))))

    _changes_are_noticed(
        subject,
        {
            "a row is dropped": rows(lambda lines: lines[:3] + lines[4:]),
            "the last row is dropped": rows(lambda lines: lines[:-1]),
            "a row is repeated": rows(lambda lines: [*lines, lines[-1]]),
            "two rows change places": rows(
                lambda lines: [lines[0], *lines[2:3], lines[1], *lines[3:]]
            ),
            "the rows are reversed": rows(lambda lines: [lines[0], *lines[:0:-1]]),
            "the file is cut short": _edit(lambda content: content[: len(content) // 2]),
            "a byte is added": _edit(lambda content: content + b"\n"),
        },
    )


def check_changed_files_are_noticed(subject: IntegrityConformance) -> None:
    """A file that is dropped, added, renamed or exchanged for another is noticed."""

    def exchange(folder: Path) -> None:
        one, other = folder / "manifest.json", folder / "report.json"
        kept = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(kept)

    _changes_are_noticed(
        subject,
        {
            "a file is dropped": lambda folder: (folder / "report.json").unlink(),
            "a file is added": lambda folder: _write(folder / "extra.csv", b"age\n1\n"),
            "a file is renamed": lambda folder: _rename(folder / "report.json"),
            "two files change places": exchange,
        },
    )


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _rename(path: Path) -> None:
    path.rename(path.with_name("other.json"))


def check_broken_proof_is_noticed(subject: IntegrityConformance) -> None:
    """A proof that is missing, empty or cut short makes `verify` raise `IntegrityError`."""
    changes: dict[str, Change] = {}
    for name in sorted(
        set(subject._seal_once()[0]) - {"release.csv", "manifest.json", "report.json"}
    ):
        changes[f"{name} is missing"] = lambda folder, n=name: (folder / n).unlink()  # type: ignore[misc]  # mypy does not follow lambda defaults
        for share in (0, 2):
            changes[f"{name} is cut to 1/{share or 'none'}"] = _shorten(name, share)
    _changes_are_noticed(subject, changes)


def _shorten(name: str, share: int) -> Change:
    def change(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // share] if share else b"")

    return change


def check_foreign_seal_is_noticed(subject: IntegrityConformance) -> None:
    """A folder that somebody else sealed does not verify under the publisher's key."""
    public_files, private_files = subject._seal_once()
    with TemporaryDirectory() as place:
        public, private = _places(place)
        _write_files(public_files, public)
        _write_files(private_files, private)
        key = subject.public_key(public, private)
        if key is None:
            raise NotApplicable("no public_key(public, private): the plugin's own tests give it")
        subject.seal().verify(public, key=key)
        other = Path(place) / "other"
        other.mkdir()
        foreign, _ = _places(str(other))
        publish(foreign)
        subject.seal().seal(foreign, other / "private")
        try:
            subject.seal().verify(foreign, key=key)
        except IntegrityError:
            return
    raise AssertionError("a folder sealed by somebody else verified under the publisher's key")


def _proof(subject: IntegrityConformance) -> tuple[ProofSystem, bytes]:
    """Return a scheme that proves, and a proof of the third and the fifth row."""
    scheme = subject.seal()
    if not isinstance(scheme, ProofSystem):
        raise NotApplicable("the scheme proves nothing about a part of a release")
    with TemporaryDirectory() as place:
        public = _write_files(subject._seal_once()[0], Path(place))
        return scheme, scheme.prove(public, Query(rows=(3, 5)))


def check_proofs_show_the_rows(subject: IntegrityConformance) -> None:
    """A proof of some rows verifies without the release, and shows these rows and no other."""
    scheme, proof = _proof(subject)
    proved = scheme.verify_proof(proof)
    assert isinstance(proved, ProvedRows), f"verify_proof returned a {type(proved).__name__}"
    assert proved.verified.covers, "VerifiedScope.covers is empty"
    shown = proved.rows.astype(str).to_numpy().tolist()
    expected = [["[20, 29]", "north", "illness 0"], ["[40, 49]", "north", "illness 0"]]
    assert shown == expected, "the proof shows other rows than were asked for"


def check_other_answers_are_refused(subject: IntegrityConformance) -> None:
    """A proof of other rows than those that were asked makes `verify_proof` raise."""
    scheme, proof = _proof(subject)
    scheme.verify_proof(proof, asked=Query(rows=(3, 5)))
    for rows in ((3,), (3, 4), (3, 5, 6)):
        try:
            scheme.verify_proof(proof, asked=Query(rows=rows))
        except IntegrityError:
            continue
        raise AssertionError(f"a proof of rows 3 and 5 passed for one of rows {rows}")


def check_changed_proofs_are_noticed(subject: IntegrityConformance) -> None:
    """A proof with a flipped bit, or cut short, makes `verify_proof` raise `IntegrityError`."""
    scheme, proof = _proof(subject)
    rng, problems = random.Random(1), []
    changed = {
        f"byte {index}": proof[:index] + bytes([proof[index] ^ 1]) + proof[index + 1 :]
        for index in sorted(
            {0, len(proof) - 1, *(rng.randrange(len(proof)) for _ in range(_FLIPS))}
        )
    }
    changed |= {f"cut to {size} bytes": proof[:size] for size in (0, 1, len(proof) // 2)}
    for name, content in changed.items():
        try:
            scheme.verify_proof(content)
        except IntegrityError:
            continue
        except Exception as error:
            problems.append(f"{name}: {type(error).__name__}: {error}")
        else:
            problems.append(f"{name}: verified")
    refuse_problems(problems, "a change was not noticed, or not with an IntegrityError")


_PURITY_WITHOUT_SEED = tuple(
    check for check in PURITY_CHECKS if check is not check_same_seed_same_result
)
_CHECKS: tuple[Check, ...] = (
    check_untouched_release_verifies,
    check_sealing_changes_no_file,
    check_verify_raises,
    check_flipped_bytes_are_noticed,
    check_changed_rows_are_noticed,
    check_changed_files_are_noticed,
    check_broken_proof_is_noticed,
    check_foreign_seal_is_noticed,
    check_proofs_show_the_rows,
    check_other_answers_are_refused,
    check_changed_proofs_are_noticed,
)
# Keys come from the system's randomness, so that two seals of one folder differ, as they should.
IntegrityConformance.common_checks = (*DECLARATION_CHECKS, *_PURITY_WITHOUT_SEED)
IntegrityConformance.checks = (*IntegrityConformance.common_checks, *_CHECKS)
