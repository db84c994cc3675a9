"""Entry points, found by a look at folders, are those that importlib_metadata finds."""

import sys
import zipfile

import importlib_metadata
import pytest

from anonloom._registry import entry_points
from anonloom._registry.entry_points import installed_entry_points


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Return two folders that are all that can be imported from."""
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder) for folder in folders])
    # Whatever else finds distributions in this process, such as a tool that watches the tests.
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if _ours(finder)])
    importlib_metadata.MetadataPathFinder.invalidate_caches()
    return folders


def _ours(finder):
    return not hasattr(finder, "find_distributions") or finder.__module__.startswith(
        ("_frozen_importlib", "importlib_metadata")
    )


def install(place, folder, points, *, metadata="METADATA", name="acme", version="1.0"):
    path = place / folder
    path.mkdir()
    (path / "entry_points.txt").write_text(points, encoding="utf-8")
    if metadata:
        (path / metadata).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def found(points):
    return sorted((p.name, p.value, p.dist.name, p.dist.version) for p in points)


def assert_same(expected):
    assert expected == found(installed_entry_points("anonloom"))
    assert expected == found(importlib_metadata.entry_points(group="anonloom"))


def test_the_environment_of_these_tests_is_read_the_same():
    assert found(importlib_metadata.entry_points(group="anonloom")) == found(
        installed_entry_points("anonloom")
    )


def test_only_lines_of_the_group_count(places):
    install(
        places[0],
        "acme-1.0.dist-info",
        "[console_scripts]\nacme = acme:main\n\n[anonloom]\n# a = b\n one = acme.plugin \n"
        "two=acme.other:thing [extra]\n\n[anonloom.more]\nthree = acme.third\n",
    )
    install(places[0], "other-1.0.dist-info", "[other]\nanonloom = other\n", name="other")
    assert_same(
        [("one", "acme.plugin", "acme", "1.0"), ("two", "acme.other:thing [extra]", "acme", "1.0")]
    )


def test_the_first_distribution_of_a_name_hides_the_others(places):
    install(places[0], "Ac_me-2.0.dist-info", "", name="ac-me", version="2.0")
    install(places[1], "ac.me-1.0.dist-info", "[anonloom]\none = acme.plugin\n", name="ac-me")
    assert_same([])


def test_what_an_uninstallation_left_behind_hides_nothing(places):
    install(places[0], "acme-1.0.dist-info", "", metadata="")
    install(places[1], "acme-2.0.dist-info", "[anonloom]\none = acme.plugin\n", version="2.0")
    assert_same([("one", "acme.plugin", "acme", "2.0")])


def test_an_egg_info_folder_is_read(places):
    install(places[0], "acme.egg-info", "[anonloom]\none = acme.plugin\n", metadata="PKG-INFO")
    assert_same([("one", "acme.plugin", "acme", "1.0")])


def test_places_that_are_not_there_are_left_out(places, monkeypatch):
    install(places[1], "acme-1.0.dist-info", "[anonloom]\none = acme.plugin\n")
    monkeypatch.setattr(sys, "path", [str(places[0] / "nowhere"), str(places[1])])
    assert_same([("one", "acme.plugin", "acme", "1.0")])


def test_a_zip_file_is_left_to_importlib_metadata(places, monkeypatch):
    archive = places[0] / "acme.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("acme-1.0.dist-info/entry_points.txt", "[anonloom]\none = acme.plugin\n")
        file.writestr("acme-1.0.dist-info/METADATA", "Name: acme\nVersion: 1.0\n")
    monkeypatch.setattr(sys, "path", [str(archive)])
    with pytest.raises(entry_points.NotOnlyFolders):
        list(entry_points._entry_points_in_folders("anonloom"))
    assert_same([("one", "acme.plugin", "acme", "1.0")])


def test_finders_of_others_are_left_to_importlib_metadata(places, monkeypatch):
    class Finder:
        def find_spec(self, name, path=None, target=None):
            return None

        def find_distributions(self, context=None):
            return []

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    with pytest.raises(entry_points.NotOnlyFolders):
        list(entry_points._entry_points_in_folders("anonloom"))


@pytest.mark.parametrize("value", ["json", "json:loads", "json : decoder.JSONDecoder [extra]"])
def test_entry_points_are_loaded_as_importlib_metadata_does(places, value):
    install(places[0], "acme-1.0.dist-info", f"[anonloom]\none = {value}\n")
    (point,) = installed_entry_points("anonloom")
    assert importlib_metadata.EntryPoint("one", value, "anonloom").load() is point.load()


@pytest.mark.parametrize("value", ["no-module", "json:no_such_thing", "nowhere.plugin"])
def test_what_cannot_be_loaded_is_told_in_the_same_words(places, value):
    install(places[0], "acme-1.0.dist-info", f"[anonloom]\none = {value}\n")
    (point,) = installed_entry_points("anonloom")
    errors = []
    for each in (point, importlib_metadata.EntryPoint("one", value, "anonloom")):
        with pytest.raises(Exception) as caught:  # noqa: PT011  # the same, whatever it is
            each.load()
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


def test_metadata_that_are_no_text_hurt_nobody(places):
    install(places[0], "acme-1.0.dist-info", "[anonloom]\none = acme.plugin\n")
    install(places[1], "broken-1.0.dist-info", "", name="broken")
    (places[1] / "broken-1.0.dist-info" / "entry_points.txt").write_bytes(b"[anonloom]\n\xff")
    assert [("one", "acme.plugin", "acme", "1.0")] == found(installed_entry_points("anonloom"))
