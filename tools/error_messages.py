"""Every message that the code can give, read from its source: no list to keep up to date.

The message of ``raise DataError(f"{path}: there is no such file")`` is given as
``«path»: there is no such file``: what stands between « and » is filled in when it happens. Where
a function only puts its arguments into an error, its callers have the words, and they are given.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from anonloom import errors

#: The classes of errors that the command line turns into an exit code.
CLASSES: dict[str, type[errors.AnonloomError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.AnonloomError)
}

# An expression that is longer than this says less than dots do.
_LONGEST = 32

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Message:
    """One message in the source.

    Attributes
    ----------
    error
        The name of its class.
    text, hint
        Its words, with «...» for what is filled in; `hint` may be empty.
    file
        The module that gives it, below the folder that was searched.
    """

    error: str
    text: str
    hint: str
    file: str

    @property
    def exit_code(self) -> int:
        """What the command line returns when this error ends it."""
        return CLASSES[self.error].exit_code

    @property
    def speaks(self) -> bool:
        """Whether it has words of its own, and does not only pass on another message."""
        return bool(re.search(r"[^\W\d]", re.sub(r"«[^»]*»", "", self.text)))


@dataclass(frozen=True)
class _Call:
    """A call with the function that it stands in."""

    node: ast.Call
    inside: _Function | None
    file: str


def messages_of(folder: Path) -> list[Message]:
    """Return the messages of all modules below a folder, by file, in the order of their lines."""
    trees = {
        path.relative_to(folder).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.py"))
    }
    calls = [call for file, tree in trees.items() for call in _calls(tree, file)]
    results: list[Message] = []
    for call in calls:
        name = _called(call.node)
        if name in CLASSES and name != "SpecError" and call.node.args:
            hints = [word.value for word in call.node.keywords if word.arg == "hint"]
            text = _template(call.node.args[0], call.inside)
            hint = _template(hints[0], call.inside) if hints else ""
            results += _by_callers(Message(name, text, hint, call.file), call.inside, calls)
    order = list(trees)
    return sorted(dict.fromkeys(results), key=lambda message: order.index(message.file))


def _calls(tree: ast.Module, file: str) -> Iterator[_Call]:
    def visit(node: ast.AST, inside: _Function | None) -> Iterator[_Call]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield _Call(child, inside, file)
            yield from visit(child, child if isinstance(child, _Function) else inside)

    return visit(tree, None)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _by_callers(message: Message, inside: _Function | None, calls: list[_Call]) -> list[Message]:
    """Return the message once per caller when the words come from the function's arguments."""
    if inside is None:
        return [message]
    names = [each.arg for each in (*inside.args.args, *inside.args.kwonlyargs)]
    if names[:1] == ["self"]:
        names = names[1:]
    words = {"what", "hint"} & {
        name for name in names if f"«{name}»" in message.text + message.hint
    }
    callers = [call for call in calls if _called(call.node) == inside.name]
    if not words or not callers:
        return [message]
    results = []
    for call in callers:
        given = dict(zip(names, call.node.args, strict=False))
        given |= {word.arg: word.value for word in call.node.keywords if word.arg}
        text, hint = message.text, message.hint
        for word in words:
            filled = _template(given[word], call.inside) if word in given else ""
            text, hint = text.replace(f"«{word}»", filled), hint.replace(f"«{word}»", filled)
        results.append(replace(message, text=text, hint=hint, file=call.file))
    return results


def _template(node: ast.expr, inside: _Function | None) -> str:
    """Return the text that an expression gives, with «...» for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part, inside) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _filled_in(node.value, inside)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _template(node.left, inside) + _template(node.right, inside)
    return _filled_in(node, inside)


def _filled_in(node: ast.expr, inside: _Function | None) -> str:
    """Name what is filled in: words that are put together before, a choice of words, a value."""
    if isinstance(node, ast.IfExp):
        either = (
            _template(part, inside).strip("«»") or "nothing" for part in (node.body, node.orelse)
        )
        return f"«{' | '.join(either)}»"
    if isinstance(node, ast.Name):
        message = _assigned(node, inside)
        if message is not None:
            return _template(message, None)
    if isinstance(node, ast.Call):
        # `rows(bad, "not a number")` counts rows and says what is wrong with them.
        said_here = [arg for arg in node.args if isinstance(arg, ast.Constant | ast.JoinedStr)]
        texts = [_template(arg, inside) for arg in said_here]
        if texts and _called(node).startswith("_"):
            return f"«... {re.sub('[«»]', '', texts[0])} ...»"
    text = ast.unparse(node)
    return f"«{text}»" if len(text) <= _LONGEST else "«...»"


def _assigned(name: ast.Name, inside: _Function | None) -> ast.expr | None:
    """Return the text that the function gives a name last before it is used."""
    result: ast.expr | None = None
    for node in ast.walk(inside) if inside is not None else ():
        targets = node.targets if isinstance(node, ast.Assign) and node.lineno < name.lineno else []
        if any(isinstance(target, ast.Name) and target.id == name.id for target in targets):
            assert isinstance(node, ast.Assign)
            text = isinstance(node.value, ast.JoinedStr) or _is_text(node.value)
            if text and (result is None or result.lineno < node.lineno):
                result = node.value
    return result


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
