"""Calling a method under observation: what it returned, and what else it did."""

import contextlib
import io
import logging
import random
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd

from anonloom import StageContext, Table

# It draws a random number when it is first imported, which scikit-learn does where it is installed:
# no method is to be blamed for that.
with contextlib.suppress(ImportError):
    import rich.style  # noqa: F401


@attrs.frozen(eq=False)
class Observation:
    """What one call did.

    Attributes
    ----------
    result
        What it returned; None if it raised.
    error
        What it raised, or None.
    printed
        What it wrote to the standard streams, warnings included.
    drew_globally
        Whether the global state of `random` or `numpy.random` changed.
    connections
        Addresses that it tried to reach.
    changed
        Names of the inputs that were not the same afterwards.
    logged
        What it wrote to any log, whatever the level.
    run, notes
        What it was given to speak with, and what it noted there; None where it was given nothing.
    """

    result: Any = None
    error: Exception | None = None
    printed: str = ""
    drew_globally: bool = False
    connections: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    logged: str = ""
    run: StageContext | None = None
    notes: tuple[str, ...] = ()


def watch(call: Callable[[], Any], inputs: Mapping[str, object]) -> Observation:
    """Call something and note what it does.

    Parameters
    ----------
    call
        Takes nothing; the inputs are already inside.
    inputs
        What it must not change, by name.
    """
    before = {name: fingerprint(value) for name, value in inputs.items()}
    connections: list[str] = []
    result, error = None, None
    with (
        _fixed_global_randomness() as drew,
        _no_network(connections),
        collect_logs() as logged,
        _capture_output() as message,
    ):
        try:
            result = call()
        except Exception as raised:
            error = raised
    return Observation(
        result=result,
        error=error,
        printed="".join(message),
        drew_globally=bool(drew),
        connections=tuple(connections),
        changed=tuple(name for name in inputs if fingerprint(inputs[name]) != before[name]),
        logged="\n".join(logged),
    )


@contextlib.contextmanager
def _capture_output() -> Iterator[list[str]]:
    """Collect what is printed, and warnings, which a terminal would show too."""
    messages: list[str] = []
    stream = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(stream),
        contextlib.redirect_stderr(stream),
    ):
        warnings.simplefilter("always")
        yield messages
    messages += [stream.getvalue(), *(f"{w.category.__name__}: {w.message}\n" for w in warned)]


class _LogCollector(logging.Handler):
    """Keeps what is logged, with the traceback of an error."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self.said = said

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(self.format(record))


@contextlib.contextmanager
def collect_logs() -> Iterator[list[str]]:
    """Collect everything that is logged anywhere, also what nobody would be shown."""
    messages: list[str] = []
    root, handler = logging.getLogger(), _LogCollector(messages)
    # A compiler writes down every step: it sees code and no table, and would take minutes.
    compiler = logging.getLogger("numba")
    levels = root.level, compiler.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    compiler.setLevel(logging.WARNING)
    try:
        yield messages
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        compiler.setLevel(levels[1])


@contextlib.contextmanager
def _fixed_global_randomness() -> Iterator[list[str]]:
    """Fix the global generators, note whether they were used, and put them back.

    They are fixed so that a method that draws from them is blamed for that, and not also for being
    different at every call.
    """
    drew: list[str] = []
    kept = random.getstate(), np.random.get_state()  # noqa: NPY002  # the old global state is what is watched
    random.seed(20)
    np.random.seed(20)  # noqa: NPY002  # as above
    fixed = _global_state()
    try:
        yield drew
    finally:
        if _global_state() != fixed:
            drew.append("global")
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002  # as above


def _global_state() -> object:
    return random.getstate(), fingerprint(np.random.get_state())  # noqa: NPY002  # as above


@contextlib.contextmanager
def _no_network(connections: list[str]) -> Iterator[None]:
    """Refuse connections to other machines, and note them."""

    def connect(self: socket.socket, address: object) -> None:
        # Workers of one machine may talk over sockets of the file system.
        if self.family == getattr(socket, "AF_UNIX", None):
            plain(self, address)
            return
        connections.append(str(address))
        raise OSError("the conformance kit allows no network")

    def look_up(host: object, *_: object, **__: object) -> None:
        connections.append(str(host))
        raise OSError("the conformance kit allows no network")

    plain: Any = socket.socket.connect
    asked, ours = socket.getaddrinfo, "connect" in vars(socket.socket)
    socket.socket.connect = connect  # type: ignore[assignment, method-assign]  # on purpose
    socket.getaddrinfo = look_up  # type: ignore[assignment]  # on purpose
    try:
        yield
    finally:
        socket.getaddrinfo = asked
        if ours:
            socket.socket.connect = plain  # type: ignore[method-assign]  # as it was
        else:
            # The method was inherited from C: take ours away instead of freezing it in.
            del socket.socket.connect


def fingerprint(value: object) -> object:
    """Return something that is equal for equal contents, however deep, and for nothing else."""
    if isinstance(value, np.ndarray):
        # 'nan' reads the same everywhere, though it does not equal itself.
        return ("array", value.dtype.str, value.shape, repr(value.tolist()))
    if isinstance(value, pd.Series | pd.Index | pd.Categorical):
        return (type(value).__name__, str(value.dtype), repr(value.tolist()))
    if isinstance(value, pd.DataFrame):
        return ("frame", [(str(name), fingerprint(value[name])) for name in value])
    if isinstance(value, Table):
        # Not the store of coded columns: it fills as they are asked for.
        whole = value.with_all_columns()
        parts = (whole.schema, whole.axes, whole.codes, whole.origin, whole.incomplete, whole.frame)
        return ("table", fingerprint(parts))
    if isinstance(value, Mapping):
        return ("mapping", [(str(key), fingerprint(element)) for key, element in value.items()])
    if isinstance(value, tuple | list):
        return ("sequence", [fingerprint(element) for element in value])
    if isinstance(value, set | frozenset):
        return ("set", sorted(repr(element) for element in value))
    if attrs.has(type(value)) and not isinstance(value, type):
        fields = attrs.fields(type(value))  # type: ignore[arg-type]  # asked one line above
        inside = [(field.name, fingerprint(getattr(value, field.name))) for field in fields]
        return (type(value).__qualname__, inside)
    if callable(value):
        return ("callable", getattr(value, "__qualname__", type(value).__qualname__))
    return (type(value).__qualname__, repr(value))


def loaded_pytest() -> Any:
    """Return pytest if it runs this process, None otherwise; the kit never imports it itself."""
    return sys.modules.get("pytest")
