"""The marks by which pluggy knows hooks, without pluggy.

Importing it takes as long as starting Python, and finding out what is installed does not need it.
"""

from collections.abc import Mapping
from types import FunctionType
from typing import Any


class Marker:
    """Marks a function as one of pluggy's markers does, which is asked for all but plain marks.

    Parameters
    ----------
    marker : str
        The name of pluggy's marker.
    attribute : str
        Where a function has its mark.
    plain : mapping
        The mark of a function that is marked without options.
    """

    def __init__(self, marker: str, attribute: str, plain: Mapping[str, object]) -> None:
        self.marker = marker
        self.attribute = attribute
        self.plain = dict(plain)

    def __call__(self, function: Any = None, *args: Any, **options: Any) -> Any:
        if args or options or not isinstance(function, FunctionType):
            import pluggy

            return getattr(pluggy, self.marker)("anonloom")(function, *args, **options)
        setattr(function, self.attribute, dict(self.plain))
        return function


hookspec = Marker(
    "HookspecMarker",
    "anonloom_spec",
    {"firstresult": False, "historic": False, "warn_on_impl": None, "warn_on_impl_args": None},
)

hookimpl = Marker(
    "HookimplMarker",
    "anonloom_impl",
    {
        "wrapper": False,
        "hookwrapper": False,
        "optionalhook": False,
        "tryfirst": False,
        "trylast": False,
        "specname": None,
    },
)
