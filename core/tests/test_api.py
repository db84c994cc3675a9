"""Descriptors check themselves where they are made, so that the plugin is blamed and not core."""

import copy
import pickle
import subprocess
import sys

import pytest

from anonloom import Registry
from anonloom._registry.kinds import kind_of_class
from anonloom.api import ROLES, Command, Kind, Method

KINDS = Registry.empty().kinds
GOOD = {"name": "cut-wide", "target": "pkg.mod:Cut", "summary": "Cuts."}


def test_a_method_reads_quasi_identifiers_unless_it_says_otherwise():
    method = Method(**GOOD)
    assert ("cut-wide", "pkg.mod:Cut", "Cuts.", "", frozenset({"quasi"})) == (
        method.name,
        method.target,
        method.summary,
        method.paper,
        method.reads,
    )
    assert frozenset({"label", "quasi"}) == Method(**GOOD, reads=("quasi", "label")).reads
    assert frozenset({"label"}) == Method(**GOOD, reads="label").reads


def test_a_method_says_what_it_is_a_default_of_and_which_evidence_it_gives():
    method = Method(**GOOD, default=True, evidence={"trace": "collect: x"})
    assert (True, (("trace", "collect: x"),)) == (method.default, method.evidence)
    assert (False, ()) == (Method(**GOOD).default, Method(**GOOD).evidence)


def test_descriptors_are_frozen_hashable_and_picklable():
    for descriptor in (
        Method(**GOOD),
        Command(name="serve", target="pkg.serve", summary="Serves."),
        Method(**GOOD, default=True, evidence={"trace": "collect: x"}),
        Kind(key="seer", name="seer", base="pkg.mod:Seer", where="section"),
    ):
        with pytest.raises(AttributeError):
            descriptor.name = "other"
        assert descriptor == pickle.loads(pickle.dumps(descriptor))
        assert {descriptor} == {copy.deepcopy(descriptor)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Cut"}, "name must be lower-case words joined by '-'. Got 'Cut' instead."),
        ({"name": 3}, "name must be lower-case words joined by '-'. Got 3 instead."),
        ({"target": "pkg.mod"}, "target must read 'package.module:Class'. Got 'pkg.mod' instead."),
        ({"target": "a b:C"}, "target must read 'package.module:Class'. Got 'a b:C' instead."),
        ({"summary": ""}, "summary must be one line of text. Got '' instead."),
        ({"summary": "a\nb"}, "summary must be one line of text. Got 'a\\nb' instead."),
        (
            {"reads": ["quazi"]},
            "reads must hold roles (identifier, quasi, sensitive, label, other, person, group, "
            "truth). Got ['quazi'] instead.",
        ),
    ],
)
def test_a_wrong_descriptor_is_refused(change, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        Method(**{**GOOD, **change})
    assert message == str(caught.value)


def test_a_command_is_a_module():
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        Command(name="serve", target="pkg.serve:main", summary="Serves.")
    assert "target must be the dotted name of a module. Got 'pkg.serve:main' instead." == str(
        caught.value
    )


def test_a_hook_module_imports_nothing_heavy():
    code = "import sys, anonloom.api; print([m for m in ('attr', 'numpy', 'pandas') if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "[]" == answer.stdout.strip()


def test_there_are_thirteen_kinds_with_one_hook_and_one_base_each():
    assert 13 == len(KINDS) == len({k.hook for k in KINDS.values()})
    for key, kind in KINDS.items():
        module, _, name = kind.base.partition(":")
        base = getattr(__import__(module, fromlist=[name]), name)
        assert key == kind.key
        assert kind == kind_of_class(base)


def test_a_kind_is_found_by_key_name_and_plural():
    for word in ("outliers", "outlier handler", "outlier-handler", "Outlier_Handlers"):
        assert KINDS["outliers"] == KINDS.find(word)
    assert KINDS.find("loom") is None


def test_articles():
    assert "an auditor" == KINDS["auditor"].article
    assert "a sampler" == KINDS["sampler"].article


def test_roles_agree_with_the_schema():
    from anonloom.data import ROLES as SCHEMA_ROLES

    assert ROLES == SCHEMA_ROLES
