"""An old release does not pass for the newest, as far as what the recipient knows can tell."""

import attrs
import pytest
from proofs_toys import DATASET, Flat, bound, head_of

from anonloom.errors import IntegrityError
from anonloom.kinds import KnownVersion
from anonloom_seals.versions import compare_versions, read_head

FIRST = head_of(bound({"age": ("number", ["1"])}, (), Flat))
SECOND = attrs.evolve(FIRST, version=2, previous=FIRST.digest)
THIRD = attrs.evolve(FIRST, version=3, previous=SECOND.digest)

SINCE = "whether a version newer than this one was published since"
MEANT = (
    f"whether this is the data set that you mean, of those of the signer: it is {DATASET}; give a "
    "head that you know with --head"
)


@pytest.fixture
def knowing(tmp_path):
    def known(head, version=None):
        path = tmp_path / "known.json"
        path.write_bytes(head.write())
        return KnownVersion(head=path, version=version)

    return known


def test_without_knowledge_nothing_is_said():
    nothing = (
        (),
        (
            MEANT,
            "whether there is a newer version than this one, 2: give a head that you know with "
            "--head, or the least version with --at-least",
        ),
    )
    for known in (None, KnownVersion()):
        assert nothing == attrs.astuple(compare_versions(SECOND, known))


def test_a_least_version(knowing):
    comparison = compare_versions(SECOND, KnownVersion(version=2))
    assert (("that it is version 2, at least 2",), (MEANT, SINCE)) == attrs.astuple(comparison)


def test_the_known_version_and_the_one_behind_it(knowing):
    assert (("that it is the known version 2",), (SINCE,)) == attrs.astuple(
        compare_versions(SECOND, knowing(SECOND))
    )
    assert (("that it is version 2 and follows the known version 1",), (SINCE,)) == attrs.astuple(
        compare_versions(SECOND, knowing(FIRST))
    )
    assert (
        (
            "that it is version 3, at least 3",
            "that it is version 3 of the same data set and signer as the known version 1, though "
            "not that it follows it",
        ),
        (SINCE,),
    ) == attrs.astuple(compare_versions(THIRD, knowing(FIRST, 3)))


def refusal(head, known):
    with pytest.raises(IntegrityError) as caught:
        compare_versions(head, known)
    return str(caught.value)


def test_old_versions_and_foreign_heads(knowing):
    assert "the release is version 2; at least 3 is demanded" == refusal(
        SECOND, KnownVersion(version=3)
    )
    assert "the release is version 2, older than the known version 3" == refusal(
        SECOND, knowing(THIRD)
    )
    foreign = attrs.evolve(THIRD, dataset="f" * 32)
    assert "the release is of another data set than the known head" == refusal(
        foreign, knowing(FIRST)
    )
    stolen = attrs.evolve(THIRD, key="0" * 64)
    assert "the release is signed with another key than the known head" == refusal(
        stolen, knowing(FIRST)
    )


def test_two_releases_of_one_version(knowing):
    other = attrs.evolve(SECOND, created="2026-02-01T10:00:00Z")
    assert "there are two releases of version 2: this one is not the known one" == refusal(
        other, knowing(SECOND)
    )
    assert "version 3 does not follow the known version 2: it names another predecessor" == refusal(
        THIRD, knowing(other)
    )


def test_a_known_head_that_is_none(tmp_path):
    path = tmp_path / "known.json"
    with pytest.raises(IntegrityError) as caught:
        read_head(path)
    assert f"the known head {path} cannot be read: No such file or directory" == str(caught.value)
    path.write_text("{}")
    with pytest.raises(IntegrityError) as caught:
        read_head(path)
    assert f"'{path}' is malformed: it is no head of a release" == str(caught.value)
