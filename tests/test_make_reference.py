"""The reference is read from the code: messages with what is filled in, pages that go stale."""

import textwrap

import make_reference
import pytest
from error_messages import Message, messages_of


def messages(tmp_path, code):
    (tmp_path / "module.py").write_text(textwrap.dedent(code), encoding="utf-8")
    return [message.text for message in messages_of(tmp_path)]


def test_what_is_filled_in_stands_in_its_place(tmp_path):
    code = """
        def load(path):
            raise DataError(f"{path}: there is no such file") from None
    """
    assert ["«path»: there is no such file"] == messages(tmp_path, code)


def test_words_that_are_put_together_before_are_found(tmp_path):
    code = """
        def refuse(name):
            what = f"no method is named {name!r}"
            raise PluginError(what + ", sorry")
    """
    assert ["no method is named «name», sorry"] == messages(tmp_path, code)


def test_a_choice_of_words_is_shown_as_a_choice(tmp_path):
    code = """
        def refuse(n):
            raise DataError(f"{n} row{'s' if n > 1 else ''} {'are' if n > 1 else 'is'} empty")
    """
    assert ["«n» row«s | nothing» «are | is» empty"] == messages(tmp_path, code)


def test_the_words_of_callers_are_given_where_a_function_only_passes_them_on(tmp_path):
    code = """
        def broken(path, what, *, hint=""):
            return DataError(f"{path}: {what}", hint=hint)

        def load(path):
            if not path.exists():
                raise broken(path, "there is no such file")
            raise broken(path, f"it has {len(path)} parts", hint="use one")
    """
    expected = ["«path»: there is no such file", "«path»: it has «len(path)» parts"]
    assert expected == messages(tmp_path, code)
    assert ["", "use one"] == [message.hint for message in messages_of(tmp_path)]


def test_a_message_says_which_exit_code_it_ends_with(tmp_path):
    message = Message("PrivacyError", "«n» rows", "", "module.py")
    assert (3, True) == (message.exit_code, message.speaks)
    assert not Message("DataError", "«where»: «error»", "", "module.py").speaks


def test_a_page_that_is_missing_or_changed_is_stale(tmp_path, monkeypatch, capsys):
    assert list(make_reference.PAGE_MAKERS) == make_reference.stale(tmp_path)

    def page():
        return iter(["# A page"])

    monkeypatch.setattr(make_reference, "PAGE_MAKERS", {"a.md": page})
    monkeypatch.setattr(make_reference, "ROOT", tmp_path)
    monkeypatch.setattr(make_reference, "PAGES", tmp_path / "docs")
    monkeypatch.setattr("sys.argv", ["make_reference.py"])
    assert 0 == make_reference.main()
    assert [] == make_reference.stale(tmp_path / "docs")
    (tmp_path / "docs/a.md").write_text("# Another page\n", encoding="utf-8")
    assert ["a.md"] == make_reference.stale(tmp_path / "docs")


@pytest.mark.parametrize("page", make_reference.PAGE_MAKERS)
def test_a_page_is_the_same_each_time(page):
    make = make_reference.PAGE_MAKERS[page]
    assert list(make()) == list(make())
