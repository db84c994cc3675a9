"""Running the kit on an installed method without pytest; `anonloom plugins check` is this."""

from collections.abc import Callable, Mapping
from importlib import import_module

from anonloom import Registry
from anonloom_testing.conformance import Conformance
from anonloom_testing.results import CheckResult


def run_checks(
    kind: str,
    name: str,
    registry: Registry | None = None,
    params: Mapping[str, object] | None = None,
    *,
    on_progress: Callable[[str], None] | None = None,
    seconds: float | None = None,
) -> list[CheckResult]:
    """Check an installed method.

    Parameters
    ----------
    kind, name : str
        The kind's YAML key and the method's name.
    registry : Registry or None
        Where to look; the environment by default.
    params : mapping or None
        The parameters to check it with, as YAML gives them. By default those that the class
        offers as its `example`, a mapping; a class whose parameters all have defaults needs none.
    on_progress : callable or None
        Told which check is running, and on which table.
    seconds : float or None
        How long one check may take; the kit's own limit by default.

    Returns
    -------
    list of CheckResult
        One per check of the kind. What needs more than the class, such as a model's reference, is
        incomplete and says so: it belongs into the plugin's own tests.

    Raises
    ------
    PluginError
        If there is no such method.
    """
    registry = registry if registry is not None else Registry.installed()
    method = registry.load(kind, name)
    base = _own_class(method) or registry.kit(kind)
    attributes: dict[str, object] = {
        "method": method,
        "params": dict(params or {}),
        "registry": registry,
        "on_progress": staticmethod(on_progress) if on_progress else None,
    }
    if seconds is not None:
        attributes["seconds"] = seconds
    subject: type[Conformance] = type(f"{method.__name__}Conformance", (base,), attributes)
    return subject().results()


def _own_class(method: type) -> type[Conformance] | None:
    """Return the conformance class that a method names in `conformance`, ``module:Class``.

    For sorts of a kind that the kit does not know, which a plugin brings with checks of its own.
    """
    module, _, name = getattr(method, "conformance", "").partition(":")
    if not module:
        return None
    result: type[Conformance] = getattr(import_module(module), name)
    return result
