"""What the public table of an experiment shows of its runs: what was varied, without secrets.

A seed repeats the random choices of a run, and the path or the URL of a source is nobody's
business. Such values are numbered instead: runs that share one can still be told from others. The
values themselves are in the private results.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from anonloom import short_repr
from anonloom.params import params_of
from anonloom.spec import GridCase, PipelineSpec, run_label

#: Parameters of a run itself that are private, beside those of its methods.
_OF_A_RUN = frozenset({"seed", "other_releases"})

_STEPS = re.compile(r"[.\[\]'\"]+")


@short_repr
@attrs.frozen
class PublicRun:
    """What is public of one run."""

    label: str
    parameters: dict[str, Any]


def redact(cases: Sequence[GridCase]) -> dict[str, PublicRun]:
    """Return what is public of every run, by its label.

    What somebody wrote of a label stays as it is; what was made of the values is made again.
    """
    numbers: dict[str, dict[str, int]] = {}
    results = {}
    for case in cases:
        private = _OF_A_RUN | private_names(case.spec)
        parameters = {
            path: _number_private(path, value, private, numbers)
            for path, value in case.values.items()
        }
        label = run_label(case.name, {path: parameters[path] for path in case.varied})
        results[case.label] = PublicRun(label, parameters)
    return results


def private_names(spec: PipelineSpec) -> frozenset[str]:
    """Return the names of all private parameters that the methods of a pipeline have."""
    methods = [use.method for use in spec.uses]
    methods += [*(spec.publish.reporters or ()), spec.publish.integrity, *spec.data.schema]
    return frozenset(name for method in methods for name in _private(method))


def _private(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        for element in value:
            yield from _private(element)
    elif attrs.has(type(value)):
        for name, declared in params_of(type(value)).items():
            if declared.private:
                yield name
            yield from _private(getattr(value, name))


def _number_private(
    path: str, value: Any, private: frozenset[str], numbers: dict[str, dict[str, int]]
) -> Any:
    """Replace private values by their number among all values of that path."""
    if private.isdisjoint(_STEPS.split(path)):
        if isinstance(value, Mapping):
            return {
                key: _number_private(f"{path}.{key}", below, private, numbers)
                for key, below in value.items()
            }
        if isinstance(value, list):
            return [_number_private(path, below, private, numbers) for below in value]
        return value
    seen = numbers.setdefault(path, {})
    number = seen.setdefault(json.dumps(value, sort_keys=True, default=str), len(seen) + 1)
    return f"<private {number}>"
