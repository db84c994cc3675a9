"""The border between core and plugin code, which no plugin crosses to end a command.

Every way into a plugin leads through a `Border`: imports, hooks and commands directly, methods
because the registry puts one around every entry of their classes when it loads them. So it holds
for whoever calls: core, another plugin, a thread, a worker process.

What may leave plugin code is an error, which passes, with a mark of where it came from, and an
interruption by the user. Whatever else does (``SystemExit`` with any value, ``GeneratorExit``, a
``BaseException`` of its own) is a bug of that plugin and becomes a `FaultyPluginError`.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType, TracebackType
from typing import Any

from anonloom.errors import AnonloomError, FaultyPluginError

#: Where the name of the plugin is kept on an error that left its code.
_MARK = "_anonloom_left"
#: Where an entry of a class keeps what it was before there was a border around it.
_INSIDE = "_anonloom_inside"
#: Where a class keeps whose it is.
_WHOSE = "_anonloom_whose"

#: Where what no plugin wrote comes from.
_NOT_THEIRS = ("anonloom", "builtins", "abc", "typing")


class Border:
    """What plugin code runs in: ``with Border("command 'serve' of acme 2.0"): ...``.

    It keeps nothing between two uses, so that threads and nested calls may share one.

    Parameters
    ----------
    whose : str
        The plugin as messages name it.
    marks : bool
        Whether errors that pass are marked as the plugin's; not where they may be core's.
    """

    def __init__(self, whose: str, *, marks: bool = True) -> None:
        self.whose = whose
        self.marks = marks

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or isinstance(error, KeyboardInterrupt | AnonloomError):
            return
        if isinstance(error, Exception):
            # The innermost plugin is the first to be left.
            if self.marks:
                error.__dict__.setdefault(_MARK, self.whose)
            return
        raise FaultyPluginError(f"this is a bug of {self.whose}: {strange(error)}") from error


def left_by(error: BaseException) -> str:
    """Return the plugin whose code an error left, as messages name it; empty if it left none."""
    return str(getattr(error, _MARK, ""))


def strange(error: BaseException) -> str:
    """Return type and place of an error without its text, which may hold a cell of the table."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = f" in {last.tb_frame.f_code.co_filename}:{last.tb_lineno}" if last is not None else ""
    return f"{type(error).__name__}{where}"


def put_around(cls: type, whose: str) -> None:
    """Put a border around everything of a class that core or another plugin can call.

    That is what a base class of core or of another package declares, such as the engines of a
    transport, and what Python calls by itself, such as ``__init__``; what the class does not take
    from plugin code stays as it is.

    Parameters
    ----------
    cls : type
        A method's class, or that of something that a method hands out, such as an engine.
    whose : str
        The plugin as messages name it; the last one who loads a class is named.
    """
    if not _theirs(cls) or vars(cls).get(_WHOSE) == whose:
        return
    border = Border(whose)
    setattr(cls, _WHOSE, whose)
    own = _package(cls)
    declared = {
        name
        for item in cls.__mro__
        if not _theirs(item) or _package(item) != own
        for name in vars(item)
    }
    # The nearest ancestor that has an entry is the one that is used.
    used: dict[str, tuple[type, Any]] = {}
    for item in reversed(cls.__mro__):
        used.update((name, (item, entry)) for name, entry in vars(item).items())
    for name, (owner, entry) in used.items():
        called = name in declared or (name.startswith("__") and name.endswith("__"))
        if called and name not in _UNTOUCHED and _theirs(owner):
            wrapped = _wrap_entry(entry, border)
            if wrapped is not None:
                setattr(cls, name, wrapped)


def around(method: type) -> AbstractContextManager[None]:
    """Return the border of a method's class; nothing is around a class that core wrote."""
    whose = getattr(method, _WHOSE, "")
    return Border(whose) if whose else nullcontext()


#: Called while classes are made or when objects are gone: nobody is there to be told.
_UNTOUCHED = frozenset({"__init_subclass__", "__class_getitem__", "__new__", "__del__"})


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def _theirs(cls: type) -> bool:
    """Whether a plugin wrote a class, or brought it with it."""
    return _package(cls) not in _NOT_THEIRS


def _wrap_entry(entry: Any, border: Border) -> Any:
    """Return an entry of a class with a border around it; None for plain values."""
    if isinstance(entry, property):
        get, put, drop = (
            part and _wrap_call(part, border) for part in (entry.fget, entry.fset, entry.fdel)
        )
        return property(get, put, drop, entry.__doc__)
    if isinstance(entry, staticmethod | classmethod):
        return type(entry)(_wrap_call(entry.__func__, border))
    if isinstance(entry, functools.cached_property):
        own = functools.cached_property(_wrap_call(entry.func, border))
        own.__set_name__(object, entry.attrname or entry.func.__name__)
        return own
    if isinstance(entry, FunctionType):
        return _wrap_call(entry, border)
    if callable(entry) and hasattr(entry, "__get__") and not isinstance(entry, type):
        # Something else that becomes a bound method: one that remembers its answers, perhaps.
        return _wrap_call(_bind_at_call(entry), border)
    return None


def _bind_at_call(entry: Any) -> Callable[..., Any]:
    @functools.wraps(entry)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        return entry.__get__(self, type(self))(*args, **options)

    return call


def _wrap_call(function: Callable[..., Any], border: Border) -> Callable[..., Any]:
    inside = getattr(function, _INSIDE, function)

    @functools.wraps(inside)
    def call_inside(*args: Any, **options: Any) -> Any:
        with border:
            answer = inside(*args, **options)
        return _handed_out(answer, border)

    setattr(call_inside, _INSIDE, inside)
    return call_inside


def _handed_out(answer: Any, border: Border) -> Any:
    """Take care of answers that hold code of the plugin which is yet to run."""
    if isinstance(answer, Iterator):
        return _elements(answer, border)
    cls = type(answer)
    if _theirs(cls) and _WHOSE not in vars(cls) and _fills_contract(cls):
        put_around(cls, border.whose)
    return answer


def _fills_contract(cls: type) -> bool:
    """Whether a class implements an abstract class of another package, whose code will call it."""
    # Imported here: listing plugins puts no border around classes.
    from inspect import isabstract

    own = _package(cls)
    return any(_package(item) != own and isabstract(item) for item in cls.__mro__)


def _elements(answer: Iterator[Any], border: Border) -> Iterator[Any]:
    try:
        while True:
            with border:
                try:
                    element = next(answer)
                except StopIteration:
                    return
            yield element
    finally:
        with border:
            if hasattr(answer, "close"):
                answer.close()
