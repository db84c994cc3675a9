"""The page on pipeline files: every key, from the declarations that the reader of files uses."""

from collections.abc import Iterator

from reference_table import NOTE, parameters, table

from anonloom import Column, Registry
from anonloom._spec import order, settings
from anonloom._spec.columns import BUILDERS
from anonloom._spec.experiment import MOST_RUNS
from anonloom._spec.grammar import SECTIONS, DataOptions, Header
from anonloom._spec.model import COMPARISONS, Publish, Suppression
from anonloom.data import PUBLISHED, ROLES, Role

KINDS = Registry.empty().kinds

_INTRODUCTION = """\
A pipeline file is YAML. It has these sections; `version`, `data` and `privacy` are required.
Unknown keys are errors, at every level. Paths are relative to the file.

YAML is read strictly: scalars follow YAML 1.2 (`no` is a word, `01234` stays text, `1e-3` is a
number), a repeated key is an error, merge keys and tags that make objects are refused. `anonloom
schema` prints the same grammar as a JSON schema for editors; `anonloom check FILE` decides."""

_METHOD = """\
A method is written as its name, or as a mapping of its kind's key and `with`:

    partitioner: mondrian
    with: {mode: relaxed}

`with` holds the method's parameters; [methods.md](methods.md) lists them. Where two installed
packages offer the same name, `distribution:name` picks one. `./file.py:Class` names a class that
belongs to no package and runs only with `--allow-local-code`. A parameter may itself be a method,
written as a name or as `{<kind>: name, with: {...}}`."""

# What a role means is nowhere in the code: code only asks which role a column has.
ROLE_MEANINGS: dict[Role, str] = {
    "identifier": "Names one person. Dropped, or a pseudonym with `pseudonymize: true`.",
    "quasi": "What others may know about a person. Generalized, and what classes are made of.",
    "sensitive": "What others must not learn. Published as it is; l-diversity and others judge it.",
    "label": "What somebody wants to predict or explain. Published as it is.",
    "other": "Published as it is, unprotected. Must be written out.",
    "person": "Which rows belong to one person; models then count persons. At most one column.",
    "group": "Groups that auditors compare.",
    "truth": "Ground truth for evaluation.",
}

_HIERARCHY = """\
`hierarchy` is a path, or a mapping with `build`.

A path that ends in `.yaml` or `.yml` is a tree: groups are mappings, the lowest groups are lists
of leaves. Any other path is CSV without a header, separated by `;`, one line per leaf: the leaf,
then its groups from fine to coarse, then `*`. Lines may stand in any order. Every leaf stands
once, every label means one group, and the only root is `*`."""

_PRIVACY = """\
`privacy` is a list of privacy models, or the word `none`. It has no default: publishing without
protection has to be written out. A model is `- name`, `- name: {parameters}`, or `- {privacy:
name, with: {...}}`. Together the models make one guard: methods have no k of their own."""

_STAGES = """\
A list; each element names one method by its kind's key, with `with` for its parameters and, if
wanted, `id`, a word of letters, digits, `-` and `_` that is unique in the file. Without one, the
id is the kind's key, numbered from the second of its kind on (`partitioner`, `partitioner-2`). A
stage's random numbers depend on the seed and on its id."""

_AUDIT = """\
A list of auditors: a name, or a mapping with `auditor`, `with`, `id` and `fail_if`. `fail_if`
maps the name of a finding to a comparison ({comparisons}) with a number, in quotes: `fail_if:
{{prosecutor_risk: '> 0.2'}}`. When a comparison is true the release is not published (exit code
3). A finding that is missing, not a number or not assessable counts as a failure."""

_VARY = """\
An experiment instead of a single run, of at most {most:,} runs. A mapping of paths to lists asks
for their product; a list of cases names each run:

    vary:
      privacy.k-anonymity.k: [5, 10, 20]
      stages.partitioner.mode: [strict, relaxed]

    vary:
      - {{label: careful, set: {{privacy.k-anonymity.k: 20}}}}
      - {{label: plain, set: {{privacy.k-anonymity.k: 5, suppression.at_most: 0.01}}}}
"""


def pipeline_page() -> Iterator[str]:
    """Return the lines of the page."""
    yield from (NOTE, "", "# Pipeline files", "", _INTRODUCTION, "")
    yield from table(("key", "what it is"), ((f"`{k}`", text) for k, text in SECTIONS.items()))
    yield from ("", "## Methods in a file", "", _METHOD, "")
    yield from ("## `version`, `name`, `seed`", "", *parameters(Header, head="key"), "")
    yield from _data()
    yield from ("## `privacy`", "", _PRIVACY, "")
    yield from _section("suppression", Suppression)
    yield from ("## `collect`", "", SECTIONS["collect"], "")
    yield "A collector, by name or as a mapping with `collector` and `with`. Default: `curator`."
    yield ""
    yield from _stages()
    comparisons = ", ".join(f"`{sign}`" for sign in COMPARISONS)
    yield from ("## `audit`", "", _AUDIT.format(comparisons=comparisons), "")
    yield from _section("publish", Publish)
    yield from ("## `vary`", "", _VARY.format(most=MOST_RUNS), "### Paths", "")
    yield _paths()


def _section(key: str, cls: type) -> Iterator[str]:
    yield from (f"## `{key}`", "", SECTIONS[key], "", *parameters(cls, head="key"), "")


def _data() -> Iterator[str]:
    yield from ("## `data`", "", SECTIONS["data"], "")
    rows = [
        ("`source`", "required", "The source that loads the table."),
        ("`with`", "what the source needs", "The source's parameters."),
        ("`columns`", "required", "Column -> what it is. One that is not named is not published."),
    ]
    yield from table(("key", "default", "what it is for"), rows)
    yield from ("", *parameters(DataOptions, head="key"), "")
    yield from ("### A column", "", *parameters(Column, without=("name",), head="key"), "")
    assert set(ROLE_MEANINGS) == set(ROLES)
    yield from table(
        ("role", "published", "meaning"),
        (
            (f"`{role}`", "yes" if role in PUBLISHED else "no", ROLE_MEANINGS[role])
            for role in ROLES
        ),
    )
    yield from ("", "### Hierarchies", "", _HIERARCHY, "")
    for name, cls in BUILDERS.items():
        text = (cls.__doc__ or "").strip().splitlines()[0]
        suits = " or ".join(f"`{type_}`" for type_ in sorted(cls.suits))
        yield from (f"#### `build: {name}`", "", f"{text} For columns of type {suits}.", "")
        yield from (*parameters(cls, head="key"), "")


def _stages() -> Iterator[str]:
    yield from ("## `stages`", "", _STAGES, "")
    yield from table(
        ("key", "is"), ((f"`{key}`", KINDS[key].article) for key in KINDS.under("stages"))
    )
    yield from ("", "Stages hand over a table, then classes, then a release. Refused orders:", "")
    yield from table(("what is refused", "what to do"), dict.fromkeys(order._REFUSED.values()))
    yield ""


def _paths() -> str:
    """Return how `vary` and `--set` address a node: the words of the module that does it."""
    text = (settings.__doc__ or "").split("\n\n", 1)[1].strip()
    words = " ".join(text.split()).replace("``", "`")
    return f"`vary` and `--set PATH=VALUE` address a file alike. {words}"
