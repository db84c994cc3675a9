"""Toy methods of every kind that a pipeline names; they declare much and do nothing."""

from pathlib import Path
from typing import Literal

import attrs
import numpy as np

from anonloom import (
    Auditor,
    Collector,
    Generalizer,
    Mechanism,
    OutlierHandler,
    Partitioner,
    PrivacyModel,
    Reporter,
    Sampler,
    Transport,
    param,
)
from anonloom.api import KnownPlugin, Method, hookimpl
from anonloom.kinds import IntegrityScheme, Seal
from anonloom.params import above, at_least, between

ANONLOOM_API = 2


def toy(cls):
    """Make a method whose abstract verbs stay empty: these tests build methods and run none."""
    cls = attrs.frozen(cls)
    cls.__abstractmethods__ = frozenset()
    return cls


@toy
class Noise(Mechanism):
    scale: float = param(help="How much noise.", check=above(0))
    columns: tuple[str, ...] = param(help="Columns to change.", default=())

    def problem(self, schema):
        return schema.publication_problem(self.columns)


@toy
class Cut(Partitioner):
    """A toy."""


@toy
class Grow(Partitioner):
    size: int = param(help="How large a seed is.", default=5, check=at_least(1))
    shape: Literal["ball", "box"] = param(help="What grows.", default="ball")
    weights: dict[str, float] = param(help="Weight per column.", default={})

    def problem(self, schema):
        strange = [name for name in self.weights if name not in schema.quasi]
        return f"no quasi-identifiers: {', '.join(strange)}" if strange else None


@toy
class Trim(OutlierHandler):
    low: float = param(help="Lower end.", default=0.0)
    high: float = param(help="Upper end.", default=1.0)
    recovery: Partitioner | None = param(help="What divides the outliers again.", default=None)

    def __attrs_post_init__(self):
        if self.low > self.high:
            raise ValueError("'low' must not exceed 'high'")

    def problem(self, schema):
        return self.recovery.problem(schema) if self.recovery is not None else None


@toy
class Blur(Generalizer):
    """A toy."""


@toy
class Share(Sampler):
    share: float = param(help="The share of every class.", check=between(0, 1, least_open=True))

    def least_kept(self, sizes):
        return np.floor(sizes * self.share).astype(np.int64)


@toy
class Coin(Sampler):
    def least_kept(self, sizes):
        return np.zeros_like(sizes)


@toy
class Crowd(PrivacyModel):
    monotone = True
    k: int = param(help="Least number of rows.", check=at_least(2))


@toy
class Narrow(Crowd):
    def combinations(self, schema):
        return (schema.quasi[1:],)


@toy
class Variety(PrivacyModel):
    monotone = True
    of: str = param(help="The sensitive column.")

    def problem(self, schema):
        if self.of not in schema.names_with_role("sensitive"):
            return f"'{self.of}' is not a sensitive column"
        return None


@toy
class Pipe(Transport):
    """A toy."""


@toy
class Donate(Collector):
    transport: Transport = param(help="What carries the donations.")


@toy
class Ballot(Collector):
    """Not registered: a test does it."""

    partitions_by = frozenset({"quasi", "person"})


@toy
class Meter(Auditor):
    measures = "utility"
    columns: tuple[str, ...] = param(help="Columns to look at.", default=())
    token: str | None = param(help="A secret.", default=None, private=True)
    lookup: Path | None = param(help="A table on disk.", default=None)

    def problem(self, schema):
        return schema.publication_problem(self.columns)


@toy
class Rival(Auditor):
    measures = "risk"
    needs = frozenset({"control", "groups", "before_sampling"})


@toy
class Historian(Auditor):
    """Not registered: a test does it."""

    measures = "risk"
    needs = frozenset({"other_releases"})


@toy
class Wax(Seal):
    over: tuple[str, ...] = param(help="Columns to seal.", default=())

    def problem(self, schema):
        return schema.publication_problem(self.over)


@toy
class Spy(IntegrityScheme):
    """A toy."""


@toy
class Poster(Reporter):
    """A toy."""


def _method(name: str) -> Method:
    return Method(name=name, target=f"{__name__}:{name.title()}", summary=f"A toy: {name}.")


@hookimpl
def anonloom_register_mechanisms() -> list[Method]:
    return [_method("noise")]


@hookimpl
def anonloom_register_partitioners() -> list[Method]:
    return [_method("cut"), _method("grow")]


@hookimpl
def anonloom_register_outlier_handlers() -> list[Method]:
    return [_method("trim")]


@hookimpl
def anonloom_register_generalizers() -> list[Method]:
    return [_method("blur")]


@hookimpl
def anonloom_register_samplers() -> list[Method]:
    return [_method("share"), _method("coin")]


@hookimpl
def anonloom_register_privacy_models() -> list[Method]:
    return [_method("crowd"), _method("variety")]


@hookimpl
def anonloom_register_transports() -> list[Method]:
    return [_method("pipe")]


@hookimpl
def anonloom_register_collectors() -> list[Method]:
    return [_method("donate")]


@hookimpl
def anonloom_register_auditors() -> list[Method]:
    return [_method("meter"), _method("rival")]


@hookimpl
def anonloom_register_integrity_schemes() -> list[Method]:
    return [_method("wax"), _method("spy")]


@hookimpl
def anonloom_register_known_plugins() -> list[KnownPlugin]:
    return [
        KnownPlugin(
            distribution=f"anonloom-{package}",
            install=f"pip install ./plugins/anonymizers/{package}",
            methods=[(hook, name)],
        )
        for package, hook, name in (
            ("mondrian", "anonloom_register_partitioners", "mondrian"),
            ("privacy-models", "anonloom_register_privacy_models", "k-anonymity"),
        )
    ]


@hookimpl
def anonloom_register_reporters() -> list[Method]:
    return [_method("poster")]
