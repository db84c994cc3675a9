"""Conformance of engines: what is published was checked, and is written whole or not at all."""

import hashlib
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from anonloom import Engine, Pipeline
from anonloom.errors import AnonloomError, DataError, PrivacyError, UsageError
from anonloom_testing.conformance import Check, Conformance
from anonloom_testing.declaration import DECLARATION_CHECKS
from anonloom_testing.toy_registry import toy_registry

_ROWS = 60

_PIPELINE = """
version: 1
name: kit
seed: 7
data:
  source: csv
  with: {path: table.csv}
  columns:
    age: {role: quasi, type: number}
    sex: {role: quasi}
    illness: {role: sensitive}
privacy:
  - size: {k: 3}
stages:
  - partitioner: runs
  - generalizer: as-declared
audit:
  - counting
publish: {to: out}
"""

#: What the release of the table cannot keep: a privacy model, and a limit on a figure.
_BROKEN_PROMISES = (
    "privacy.size.k=1000",
    "audit=[{auditor: counting, fail_if: {rows: '> 0'}}]",
)

#: What stands in the table and must not be published.
_NAMES = "Quiqueg"


class EngineConformance(Conformance):
    """Checks of an engine.

    Every check lets it run a small pipeline of toy methods in an empty folder.

    Examples
    --------
    In ``tests/test_conformance.py``::

        class TestLocalEngine(EngineConformance):
            method = LocalEngine
    """

    kind = "engine"

    @contextmanager
    def shop(self) -> Iterator["Shop"]:
        """Give a folder with a table and a pipeline."""
        with TemporaryDirectory() as place:
            yield Shop(self.build_method(), Path(place))


class Shop:
    """A folder with a table and a pipeline that an engine runs."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.folder = folder
        self.registry = toy_registry()
        rng = np.random.default_rng(5)
        frame = pd.DataFrame(
            {
                "name": [f"{_NAMES} {index}" for index in range(_ROWS)],
                "age": rng.integers(20, 80, _ROWS),
                "sex": rng.choice(["f", "m"], _ROWS),
                "illness": rng.choice(["flu", "cold", "gout"], _ROWS),
            }
        )
        frame.to_csv(folder / "table.csv", index=False)
        (folder / "pipeline.yaml").write_text(textwrap.dedent(_PIPELINE), encoding="utf-8")

    @property
    def out(self) -> Path:
        """The folder that is published to."""
        return self.folder / "out"

    def pipeline(self, *settings: str) -> Pipeline:
        """Return the pipeline with some of its values changed."""
        return Pipeline.load(
            self.folder / "pipeline.yaml", settings=settings, registry=self.registry
        )

    def run(self, *settings: str) -> Any:
        """Let the engine run the pipeline."""
        return self.engine.run(self.pipeline(*settings).spec, self.registry, workers=1)

    def publish(self, *settings: str, replace: bool = False) -> Any:
        """Let the engine publish the release."""
        spec = self.pipeline(*settings).spec
        return self.engine.publish(spec, self.registry, to=self.out, replace=replace, workers=1)

    def digests(self) -> dict[str, str]:
        """Return every file of the folder with a digest of its content, hidden ones included."""
        return {
            path.relative_to(self.folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }


@contextmanager
def _refused(error: type[AnonloomError], what: str) -> Iterator[None]:
    """Say so unless what is done inside is refused by this error."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{what} must raise {error.__name__}")


def check_what_is_published_satisfies_the_declared_privacy(subject: EngineConformance) -> None:
    """Counted from the published file alone, every class has the size that is declared."""
    with subject.shop() as shop:
        outcome = shop.publish()
        release = pd.read_csv(shop.out / "public" / "release.csv")
        sizes = release.groupby(["age", "sex"]).size()
        assert len(release) == len(outcome.release) == _ROWS, "rows were lost or doubled"
        assert sizes.min() >= 3, f"a class of {sizes.min()} rows was published; at least 3 may be"
        assert outcome.folder == shop.out, "the outcome must say where the outputs are"


def check_undeclared_columns_are_not_published(subject: EngineConformance) -> None:
    """No cell of a column that is not declared is in any public file."""
    with subject.shop() as shop:
        shop.publish()
        for path in (shop.out / "public").rglob("*"):
            if path.is_file():
                assert _NAMES.encode() not in path.read_bytes(), f"{path.name} holds such a cell"


def check_a_broken_promise_is_refused_and_nothing_is_written(subject: EngineConformance) -> None:
    """A release that breaks its privacy, or a limit on a figure, leaves no trace."""
    with subject.shop() as shop:
        before = shop.digests()
        for setting in _BROKEN_PROMISES:
            for work in (shop.run, shop.publish):
                with _refused(PrivacyError, setting):
                    work(setting)
        assert before == shop.digests(), "a refused run left files behind"


def check_broken_data_are_refused_and_nothing_is_written(subject: EngineConformance) -> None:
    """A table that cannot be read leaves no trace."""
    with subject.shop() as shop:
        (shop.folder / "table.csv").write_text("age,sex,illness\n31,f\n", encoding="utf-8")
        before = shop.digests()
        with _refused(DataError, "a ragged table"):
            shop.publish()
        assert before == shop.digests(), "a run that failed left files behind"


def check_run_writes_nothing(subject: EngineConformance) -> None:
    """`run` returns the outcome that `publish` would write, and writes nothing."""
    with subject.shop() as shop:
        before = shop.digests()
        outcome = shop.run()
        assert before == shop.digests(), "run wrote files"
        assert outcome.folder is None, "nothing was written, and the outcome names a folder"
        published = shop.publish()
        assert outcome.release.frame.equals(published.release.frame), "publish made another release"


def check_an_existing_folder_is_replaced_only_when_asked(subject: EngineConformance) -> None:
    """An output is replaced only with `replace`, and what is no output never."""
    with subject.shop() as shop:
        shop.publish()
        before = shop.digests()
        with _refused(UsageError, "publishing over a release"):
            shop.publish()
        assert before == shop.digests(), "the release that was there has changed"
        shop.publish(replace=True)
        (shop.out / "thesis.txt").write_text("mine", encoding="utf-8")
        with _refused(UsageError, "replacing somebody's files"):
            shop.publish(replace=True)
        assert (shop.out / "thesis.txt").is_file(), "somebody's file is gone"


def check_same_seed_same_release(subject: EngineConformance) -> None:
    """The same pipeline with the same seed publishes the same bytes."""
    with subject.shop() as one, subject.shop() as other:
        one.publish()
        other.publish()
        first, second = (
            (shop.out / "public" / "release.csv").read_bytes() for shop in (one, other)
        )
        assert first == second, "two runs with one seed differ"


_CHECKS: tuple[Check, ...] = (
    check_what_is_published_satisfies_the_declared_privacy,
    check_undeclared_columns_are_not_published,
    check_a_broken_promise_is_refused_and_nothing_is_written,
    check_broken_data_are_refused_and_nothing_is_written,
    check_run_writes_nothing,
    check_an_existing_folder_is_replaced_only_when_asked,
    check_same_seed_same_release,
)
EngineConformance.checks = (*DECLARATION_CHECKS, *_CHECKS)
