"""A YAML file as a tree that knows where everything is written.

The tree is plain: texts, numbers, lists and mappings, each with its place. What YAML allows and a
pipeline should not contain is an error with a place: a key written twice, merge keys, unknown
tags, several documents, lists that hold themselves, aliases that grow without end.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
import yaml

from anonloom._representation import short_repr
from anonloom._spec.scalars import Scalar, meaning
from anonloom.errors import Place, Problem, SpecError, UsageError
from anonloom.files import read_bytes

Step = str | int

#: How many nodes aliases may add to those that are written out.
MOST_REPEATED = 100_000

_TAG = "tag:yaml.org,2002:"
_TAGGED = re.compile(r"(&\S+\s+)?!")


@short_repr
@attrs.frozen(eq=False)
class Node:
    """A value and its place.

    Parameters
    ----------
    value : text, number, truth value, None, tuple of Node, or dict of text to Node
        What is written.
    place : Place
        Where the value begins.
    key_place : Place or None
        Where the key begins, if the node is a value in a mapping.
    """

    # A document holds seeds, URLs with passwords, and whole hierarchies.
    value: "Scalar | tuple[Node, ...] | dict[str, Node]" = attrs.field(repr=False)
    place: Place
    key_place: Place | None = None

    @property
    def mapping(self) -> "dict[str, Node] | None":
        """The entries, if the node is a mapping."""
        return self.value if isinstance(self.value, dict) else None

    @property
    def items(self) -> "tuple[Node, ...] | None":
        """The elements, if the node is a list."""
        return self.value if isinstance(self.value, tuple) else None

    def plain(self) -> object:
        """Return the value without places: dict, list and scalars."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, tuple):
            return [node.plain() for node in self.value]
        return self.value

    def at(self, path: tuple[Step, ...]) -> "Node":
        """Return the node that is nearest to the end of `path`."""
        node: Node = self
        for step in path:
            below = node._child(step)
            if below is None:
                return node
            node = below
        return node

    def _child(self, step: Step) -> "Node | None":
        if isinstance(self.value, dict):
            return self.value.get(str(step))
        if isinstance(self.value, tuple) and isinstance(step, int) and step < len(self.value):
            return self.value[step]
        return None


def path_text(path: tuple[Step, ...]) -> str:
    """Return a path as messages write it: ``stages[0].with.k``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("-", "_").replace("_", "a").isalnum():
            text += f".{step}" if text else step
        else:
            text += f"[{step!r}]"
    return text


def read(file: Path) -> Node:
    """Read a YAML file.

    Raises
    ------
    UsageError
        If there is no such file, or it cannot be opened.
    SpecError
        If it is not a YAML file as described above.
    """
    try:
        content = read_bytes(file)
    except FileNotFoundError:
        raise UsageError(f"{file}: there is no such file") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise SpecError(
            [
                Problem(
                    "the file is not UTF-8 text",
                    place=Place(str(file), line, column),
                    hint="save it as UTF-8",
                )
            ]
        ) from None
    return read_text(text, str(file))


def read_plain(text: str, name: str) -> object:
    """Return the content of YAML text without places; see `read`."""
    return read_text(text, name).plain()


def read_text(text: str, name: str) -> Node:
    """Read YAML text; `name` is what its places call the file."""
    lines = text.splitlines()
    strange = next((i for i, c in enumerate(text) if not (c.isprintable() or c in "\t\n\r")), None)
    if strange is not None and ord(text[strange]) < 0x20:
        # PyYAML would stop here too, with an offset instead of a line.
        line = text.count("\n", 0, strange) + 1
        place = Place(name, line, strange - text.rfind("\n", 0, strange))
        what = f"the file is not text: it holds the control character {ord(text[strange]):#04x}"
        raise SpecError([Problem(what, place=place)])
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise SpecError([_syntax_problem(error, name, lines)]) from None
    except yaml.reader.ReaderError as error:
        what = f"the file is not text: it holds the character {error.character:#06x}"
        raise SpecError([Problem(what, place=Place(name, 1, 1))]) from None
    except RecursionError:
        raise SpecError([Problem("nested too deeply", place=Place(name, 1, 1))]) from None
    if node is None:
        raise SpecError([Problem("the file is empty", place=Place(name, 1, 1))])
    return _Walk(name, lines).whole(node)


class _Loader(yaml.SafeLoader):
    """PyYAML's reader, scanner and composer; what words mean is decided by `meaning`."""

    def fetch_more_tokens(self) -> None:
        """Refuse what PyYAML stumbles over: an escape that stands for no character, a number."""
        try:
            super().fetch_more_tokens()
        except (ValueError, OverflowError):
            raise yaml.scanner.ScannerError(
                None, None, "there is no such character or number", self.get_mark()
            ) from None


# Without implicit resolvers every plain scalar is left as it is written.
_Loader.yaml_implicit_resolvers = {}

_INDENT = "check the indentation: align the line with what it belongs to"
_HINTS = {
    "found character '\\t' that cannot start any token": "indent with spaces; YAML allows no tabs",
    "mapping values are not allowed here": "a text that holds ': ' needs quotes",
    "found character '>' that cannot start any token": "a text that begins with '>' needs quotes",
    "expected <block end>, but found '?'": _INDENT,
    "expected <block end>, but found '-'": _INDENT,
    "expected <block end>, but found '<block mapping start>'": _INDENT,
}


def _syntax_problem(error: yaml.MarkedYAMLError, name: str, lines: list[str]) -> Problem:
    mark = error.problem_mark or error.context_mark
    place = _place(mark, name, lines) if mark else Place(name, 1, 1)
    if error.problem == "but found another document":
        return Problem("the file holds more than one document", place=place, hint="remove '---'")
    problem = error.problem or error.context or "unreadable"
    if problem.startswith("found undefined alias"):
        return Problem(problem.replace("found undefined", "there is no anchor for the"), "", place)
    context = f" {error.context}" if error.context and error.problem else ""
    what = f"this is not YAML:{context}: {problem}" if context else f"this is not YAML: {problem}"
    return Problem(what, place=place, hint=_HINTS.get(problem, ""))


def _place(mark: yaml.Mark, name: str, lines: list[str]) -> Place:
    line = lines[mark.line] if mark.line < len(lines) else ""
    return Place(name, mark.line + 1, mark.column + 1, line)


class _Walk:
    """Turns PyYAML's nodes into ours and collects what is wrong with them."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name = name
        self.lines = lines
        self.problems: list[Problem] = []
        # By identity: an alias is the same node again.
        self.done: dict[int, tuple[Node, int]] = {}
        self.open: set[int] = set()
        self.written = 0

    def whole(self, node: yaml.Node) -> Node:
        try:
            result, size = self.node(node)
        except RecursionError:
            raise SpecError([Problem("nested too deeply", place=Place(self.name, 1, 1))]) from None
        if size - self.written > MOST_REPEATED:
            what = f"aliases (*name) repeat more than {MOST_REPEATED} values"
            self.problems.append(Problem(what, place=Place(self.name, 1, 1)))
        if self.problems:
            raise SpecError(self.problems)
        return result

    def node(self, node: yaml.Node) -> tuple[Node, int]:
        """Return our node and how many nodes it stands for, aliases written out."""
        if id(node) in self.done:
            return self.done[id(node)]
        place = _place(node.start_mark, self.name, self.lines)
        if id(node) in self.open:
            self.problems.append(Problem("this value holds itself (*name)", place=place))
            return Node(None, place), 1
        self.open.add(id(node))
        self.written += 1
        if isinstance(node, yaml.ScalarNode):
            result, size = Node(self.scalar(node, place), place), 1
        elif isinstance(node, yaml.SequenceNode):
            self.check_tag(node, "seq", place)
            below = [self.node(child) for child in node.value]
            result = Node(tuple(child for child, _ in below), place)
            size = 1 + sum(count for _, count in below)
        else:
            assert isinstance(node, yaml.MappingNode)
            self.check_tag(node, "map", place)
            result, size = self.mapping(node, place)
        self.open.remove(id(node))
        self.done[id(node)] = result, size
        return result, size

    def mapping(self, node: yaml.MappingNode, place: Place) -> tuple[Node, int]:
        entries: dict[str, Node] = {}
        size = 1
        for key, value in self.pairs(node):
            key_place = _place(key.start_mark, self.name, self.lines)
            child, count = self.node(value)
            size += count
            if key.value in entries:
                first = entries[key.value].key_place
                line = first.line if first else 0
                what = f"the key {key.value!r} is written twice; it is on line {line} already"
                self.problems.append(Problem(what, place=key_place))
            elif key.value == "<<" and key.style is None:
                what = "merge keys (<<) are not supported"
                self.problems.append(Problem(what, place=key_place, hint="write the keys out"))
            else:
                entries[key.value] = attrs.evolve(child, key_place=key_place)
        return Node(entries, place), size

    def pairs(self, node: yaml.MappingNode) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                key.value = self.text(key)
                # A key is a text as it is written: `2020:` is a year's name, not a number.
                yield key, value
            else:
                place = _place(key.start_mark, self.name, self.lines)
                self.problems.append(Problem("a key must be a text", place=place))

    def scalar(self, node: yaml.ScalarNode, place: Place) -> Scalar:
        tag, plain = node.tag.removeprefix(_TAG), node.style is None
        text = self.text(node)
        if tag == "str" and (not plain or self.has_text_tag(node)):
            return text
        try:
            value = meaning(text)
        except ValueError as error:
            self.problems.append(Problem(str(error), place=place, hint="write it in quotes"))
            return None
        if tag == "str":
            return value
        return self.convert(node.tag, text, value, place)

    def text(self, node: yaml.ScalarNode) -> str:
        """Return the text of a scalar; PyYAML leaves escaped surrogate pairs as two halves."""
        text: str = node.value
        if not any("\ud800" <= character <= "\udfff" for character in text):
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            place = _place(node.start_mark, self.name, self.lines)
            self.problems.append(Problem("this text holds half a character", place=place))
            return ""

    def has_text_tag(self, node: yaml.ScalarNode) -> bool:
        """Return whether ``!!str`` is written out, which composing does not tell."""
        line = self.lines[node.start_mark.line][node.start_mark.column :]
        return _TAGGED.match(line) is not None

    def convert(self, tag: str, text: str, value: Scalar, place: Place) -> Scalar:
        types: Mapping[str, type] = {
            "int": int,
            "float": float,
            "bool": bool,
            "null": type(None),
        }
        wanted = types.get(tag.removeprefix(_TAG))
        if wanted is None:
            self.problems.append(_unknown_tag(tag, place))
            return None
        if wanted is float and type(value) is int:
            return float(value)
        if type(value) is not wanted:
            shown = tag.replace(_TAG, "!!")
            self.problems.append(Problem(f"{text!r} is not what {shown} says", place=place))
        return value

    def check_tag(self, node: yaml.Node, expected: str, place: Place) -> None:
        if node.tag != _TAG + expected:
            self.problems.append(_unknown_tag(node.tag, place))


def _unknown_tag(tag: str, place: Place) -> Problem:
    shown = tag.replace(_TAG, "!!")
    hint = "remove it: values are texts, numbers, true, false, null, lists and mappings"
    return Problem(f"the tag {shown} is not supported", place=place, hint=hint)
