"""The reference is read from the code: messages with what is filled in, pages that go stale."""

import ast
import re
import textwrap

import make_reference
import pytest
from error_messages import Message, messages_of
from pipeline_mistakes import BANK, LEFT_OUT, mistakes


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


@pytest.fixture(scope="module")
def shown_mistakes():
    return dict(mistakes())


def test_every_wrong_file_of_the_bank_is_shown_or_left_out_for_a_reason(shown_mistakes):
    stems = {file.stem for file in BANK.glob("*.yaml")}
    assert set(LEFT_OUT) < stems
    assert {stem.replace("-", " ") for stem in stems - set(LEFT_OUT)} == set(shown_mistakes)


def toy_texts():
    """The names of the toys of core's tests, and the help of their parameters."""
    calls = [
        node
        for node in ast.walk(ast.parse((BANK.parent / "toys.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    names = {call.args[0].value for call in calls if "_method" == call.func.id}
    helps = {
        word.value.value
        for call in calls
        if "param" == call.func.id
        for word in call.keywords
        if "help" == word.arg
    }
    return names, helps


def test_no_mistake_is_shown_with_a_method_that_only_tests_have(shown_mistakes):
    names, helps = toy_texts()
    assert {"crowd", "cut", "blur", "share"} < names
    assert "How large a seed is." in helps
    # "A share of every class" and the parameter `share` are no method.
    toy = re.compile(rf"\b({'|'.join(sorted(names - {'share'}))})\b|: share$", re.M)
    for title, message in shown_mistakes.items():
        # What comes before the first space is the file and its place.
        said = message.partition(" ")[2]
        assert toy.search(said) is None, title
        assert [] == [text for text in helps if text in said], title
