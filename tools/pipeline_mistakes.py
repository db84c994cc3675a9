"""What the methods of this repository say to the wrong pipeline files of core's tests.

Core's tests need no plugin: their bank of wrong files names toy methods. Readers of the reference
have no toys, so here each file gets methods of this repository in their place and is loaded, and
the message that comes is the one that a user would see.
"""

import contextlib
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import importlib_metadata
from check_workspace import members

from anonloom import Registry
from anonloom._spec.pipeline import load_pipeline
from anonloom.errors import SpecError

ROOT = Path(__file__).resolve().parents[1]
BANK = ROOT / "core" / "tests" / "specs" / "bad"

#: Files that are left out, and why no method of this repository gives their message.
LEFT_OUT = {
    "audit-secret-not-shown": "no auditor has a private parameter; other-releases-text shows one",
}
#: Files whose method of this repository is not installed in core's tests, and is here.
_NOT_INSTALLED = frozenset({"privacy-not-installed", "stage-method-not-installed"})

# What stands in the files, and what is written in its place, one after another: a method with its
# parameters comes before the name alone.
_REPLACEMENTS = (
    # Parameters: none of our methods has those of a toy.
    ("meter\n    with: {columns", "distance\n    with: {columns"),
    ("fail_if: {loss:", "fail_if: {suppression_rate:"),
    (
        "noise\n    with: {scale: 1, columns: [height]}",
        "drop-columns\n    with: {columns: [height]}",
    ),
    ("noise\n    with: {scale: 1}", "perturb\n    with: {level: high}"),
    ("sampler: share\n", "sampler: stratified\n"),
    ("sampler: coin\n", "sampler: simple-random\n    with: {share: 0.5}\n"),
    (
        "partitioner: cut\n    with: {size: 3}\n  - generalizer: blur\n",
        "partitioner: mondrian\n  - generalizer: sets\n    with: {extent: tight}\n",
    ),
    ("partitioner: cut\n    whit: {size: 3}", "partitioner: mondrian\n    whit: {mode: relaxed}"),
    ("grow\n    with: {shape: bal}", "mondrian\n    with: {mode: relax}"),
    ("grow\n    with: {weights: {age: heavy}}", "kl-tree\n    with: {labels: {job: heavy}}"),
    ("grow\n    with: {weights: {age: 2, job: 1}}", "vp-tree\n    with: {distance: euclidean}"),
    ("grow, with: {weights: {who: 1}}", "vp-tree, with: {distance: euclidean}"),
    ("sise:", "most_node:"),
    ("size", "most_nodes"),
    (
        "  - outliers: trim\n    with: {low: 0.9, high: 0.1}\n  - generalizer: blur\n",
        "  - generalizer: hierarchy\n"
        "  - sampler: stratified\n    with: {share: 0.9, per_class: 4}\n",
    ),
    ("variety: {of:", "l-diversity: {l: 2, of:"),
    # k-anonymity needs quasi-identifiers itself, which would be a second mistake.
    (
        "label}\n    job: {role: sensitive}\nprivacy:\n  - crowd: {k: 5}\n",
        "label}\n    job: {role: sensitive}\nprivacy:\n  - l-diversity: {l: 2, of: job}\n",
    ),
    # Names, and names that are misspelt.
    ("crowds", "k-anonymous"),
    ("krowd", "k-anonimity"),
    ("crowd", "k-anonymity"),
    ("acme-anon:cut", "acme-anon:mondrian"),
    ("cutt", "mondrain"),
    ("partitioner: cut", "partitioner: mondrian"),
    ("[cut, grwo]", "[mondrian, vp-treee]"),
    ("[cut, grow]", "[mondrian, local-recoding]"),
    ("grow", "local-recoding"),
    ("trim", "cof"),
    ("blur", "hierarchy"),
    ("meter", "utility"),
    ("donate", "delivery"),
    ("collect: pipe", "collect: direct"),
    ("{name: pipe}", "{name: direct}"),
    ("{transport: pip}", "{transport: direkt}"),
    ("spy", "sentinels-twins"),
    ("[poster, postr]", "[page, pages]"),
)


def mistakes() -> Iterator[tuple[str, str]]:
    """Return the title and the message of every mistake that is shown."""
    for file in sorted(BANK.glob("*.yaml")):
        if file.stem not in LEFT_OUT:
            yield file.stem.replace("-", " "), _message(file)


def with_our_methods(text: str) -> str:
    """Return a wrong file with methods of this repository in place of the toys."""
    for toy, ours in _REPLACEMENTS:
        text = text.replace(toy, ours)
    return text


def _message(file: Path) -> str:
    if file.stem in _NOT_INSTALLED:
        return file.with_suffix(".txt").read_text(encoding="utf-8").rstrip()
    # Some of the files are not UTF-8; in Latin-1 every byte is a character and stays the same.
    content = with_our_methods(file.read_bytes().decode("latin-1")).encode("latin-1")
    # Places name the file as the user did: from its own folder that is the bare name.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path(file.name).write_bytes(content)
        try:
            load_pipeline(file.name, _our_methods())
        except SpecError as error:
            if len(error.problems) == 1:
                return str(error)
            raise AssertionError(f"{file.name} has more than one mistake:\n{error}") from None
    raise AssertionError(f"{file.name} is right with the methods of this repository")


@cache
def _our_methods() -> Registry:
    """Return the methods of core and of this repository's plugins, whatever else is installed."""
    ours = {member.distribution for member in members() if not member.is_tutorial}
    registry = Registry.empty()
    points = importlib_metadata.entry_points(group="anonloom")
    registry.discover(
        point for point in points if point.dist is not None and point.dist.name in ours
    )
    return registry
